import { deserialize, serialize } from 'node:v8';
import * as z from 'zod';
import { BUCKET_MS, DAY_MS, HOUR_MS, SUMS } from './usage-sums.ts';

/** A day is sealed by hour, and an hour by quarter: most reports read days, and at their edges a few hours. */
export const LENGTHS = { day: { length: DAY_MS, unit: HOUR_MS }, hour: { length: HOUR_MS, unit: BUCKET_MS } } as const;
export type SealedSize = keyof typeof LENGTHS;

/** Columns by which sums can be grouped and filtered. */
const NAMES = ['key', 'organization', 'user', 'model', 'provider', 'outcome'] as const;
type Name = (typeof NAMES)[number];

/** A sum of a report: a column of `usage_rollup`, or the part of it where another column has a value. */
export interface SumColumn {
  readonly of: string;
  readonly when?:
    | { readonly column: 'byok'; readonly value: 1 }
    | { readonly column: 'outcome'; readonly value: string };
}

/**
 * A statement for SQLite and Postgres that removes the sealed hours and days of some times.
 *
 * @param times a statement that selects them as `at`.
 */
export function unseal(times: string): string {
  const sealed = Object.values(LENGTHS).map(
    ({ length }) => `length = ${length} AND start IN (SELECT at - at % ${length} FROM (${times}) AS times)`,
  );
  return `DELETE FROM usage_sealed WHERE ${sealed.join(' OR ')}`;
}

/** A statement for SQLite and Postgres: the sums of the units from `?1`, before `?2`. */
export function unitSums(size: SealedSize): string {
  const names = NAMES.map((name) => `"${name}"`).join(', ');
  return `SELECT bucket - bucket % ${LENGTHS[size].unit} AS unit, ${names}, byok,
    ${SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ')}
    FROM usage_rollup WHERE bucket >= ?1 AND bucket < ?2 GROUP BY unit, ${names}, byok`;
}

const numbers = z.union([
  z.instanceof(Uint8Array),
  z.instanceof(Uint16Array),
  z.instanceof(Uint32Array),
  z.instanceof(Float64Array),
]);
const sealedSums = z.object({
  /** The texts of a column; `cells` has indexes into it. */
  texts: z.record(z.enum(NAMES), z.array(z.string())),
  cells: z.record(z.enum(NAMES), numbers),
  /** Number of the hour within the day, or of the quarter within the hour. */
  units: numbers,
  byok: numbers,
  /** Columns of `usage_rollup` that are not 0 everywhere. */
  sums: z.record(z.string(), numbers),
});

/**
 * The sums of a day or an hour that is over, by column. Reports about weeks read them more than ten times as fast as the
 * rows of `usage_rollup` that they were made from (`npm run bench:admin`).
 */
export type SealedSums = z.infer<typeof sealedSums>;
type Numbers = z.infer<typeof numbers>;

/** @param rows of `unitSums`. */
export function sealSums(size: SealedSize, start: number, rows: readonly Readonly<Record<string, unknown>>[]): Buffer {
  const texts = NAMES.map((name) => [name, [...new Set(rows.map((row) => String(row[name])))]] as const);
  const cells = texts.map(([name, list]) => {
    const index = new Map(list.map((text, position) => [text, position]));
    return [name, pack(rows.map((row) => index.get(String(row[name])) ?? 0))] as const;
  });
  const sums = SUMS.map((name) => [name, rows.map((row) => Number(row[name]))] as const);
  const value = sealedSums.parse({
    texts: Object.fromEntries(texts),
    cells: Object.fromEntries(cells),
    units: pack(rows.map(({ unit }) => (Number(unit) - start) / LENGTHS[size].unit)),
    byok: pack(rows.map(({ byok }) => Number(byok))),
    sums: Object.fromEntries(
      sums.filter(([, list]) => list.some((each) => each !== 0)).map(([name, list]) => [name, pack(list)]),
    ),
  });
  return serialize(value);
}

/** @param value of `sealSums`. */
export function openSealed(value: Uint8Array): SealedSums {
  return sealedSums.parse(deserialize(value));
}

/** The smallest type that holds all numbers. */
function pack(list: readonly number[]): Numbers {
  let most = 0;
  for (const each of list) most = Math.max(most, each < 0 ? Number.POSITIVE_INFINITY : each);
  if (most < 2 ** 8) return Uint8Array.from(list);
  if (most < 2 ** 16) return Uint16Array.from(list);
  return most < 2 ** 32 ? Uint32Array.from(list) : Float64Array.from(list);
}

export interface SealedQuery {
  readonly fields: readonly Name[];
  readonly filters: Readonly<Partial<Record<Name, string>>>;
  readonly columns: readonly SumColumn[];
}

/** Rows like those of the statement of a report, with the sums as a list. */
export interface SealedRow {
  readonly [field: string]: string | number | Float64Array;
  readonly bucket: number;
  readonly sums: Float64Array;
}

/**
 * Sums a sealed day or hour.
 *
 * @param periods for each unit, the start of its period of the report; undefined leaves the unit out.
 */
export function sumSealed(
  sealed: SealedSums,
  periods: readonly (number | undefined)[],
  query: SealedQuery,
): SealedRow[] {
  const { fields, filters, columns } = query;
  const grouped = groupCells(sealed, fields, periods, matcher(sealed, filters));
  const { labels } = grouped;
  const width = columns.length;
  // The sums of one row after the other.
  const all = new Float64Array(labels.length * width);
  for (const [index, { of, when }] of columns.entries()) {
    const values = sealed.sums[of];
    if (values === undefined) continue;
    const sums = new Float64Array(labels.length);
    addCells(values, when ? keepOnly(grouped, sealed, when) : grouped, sums);
    for (let group = 0; group < sums.length; group += 1) all[group * width + index] = sums[group] ?? 0;
  }
  return labels.map((each, group) => ({ ...each, sums: all.subarray(group * width, (group + 1) * width) }));
}

/** Adds up in a list of its own, and counts that are 0 too: both take less time, most of all for few groups. */
function addCells(values: Numbers, { cells, groups }: Pick<Grouped, 'cells' | 'groups'>, sums: Float64Array): void {
  const { length } = cells;
  for (let index = 0; index < length; index += 1) {
    const group = groups[index] ?? 0;
    sums[group] = (sums[group] ?? 0) + (values[cells[index] ?? 0] ?? 0);
  }
}

/** The cells in which a column has a value. Mostly there is none. */
function keepOnly(
  { cells, groups }: Grouped,
  sealed: SealedSums,
  { column, value }: NonNullable<SumColumn['when']>,
): Pick<Grouped, 'cells' | 'groups'> {
  const byok = column === 'byok';
  const [list, wanted] = byok ? [sealed.byok, value] : [sealed.cells.outcome, sealed.texts.outcome.indexOf(value)];
  if (wanted === -1 || !list.includes(wanted)) return { cells: new Uint32Array(), groups: new Uint32Array() };
  const has = (_: number, index: number) => list[cells[index] ?? 0] === wanted;
  return { cells: cells.filter(has), groups: groups.filter(has) };
}

/** Whether a cell has the values of the filters. */
function matcher({ texts, cells }: SealedSums, filters: SealedQuery['filters']): (cell: number) => boolean {
  const wanted = NAMES.flatMap((name) => {
    const value = filters[name];
    return value === undefined ? [] : [{ column: cells[name], index: texts[name].indexOf(value) }];
  });
  if (wanted.length === 0) return () => true;
  return (cell) => wanted.every(({ column, index }) => column[cell] === index);
}

interface Grouped {
  readonly labels: readonly { readonly [field: string]: string | number; readonly bucket: number }[];
  /** The cells that match, and the group of each. */
  readonly cells: Uint32Array;
  readonly groups: Uint32Array;
}

function groupCells(
  sealed: SealedSums,
  fields: readonly Name[],
  periods: readonly (number | undefined)[],
  matches: (cell: number) => boolean,
): Grouped {
  const columns = fields.map((name) => ({ name, column: sealed.cells[name], texts: sealed.texts[name] }));
  const starts = [...new Set(periods.filter((start) => start !== undefined))];
  const periodOf = periods.map((start) => (start === undefined ? -1 : starts.indexOf(start)));
  const ids = new Map<number, number>();
  const labels: { [field: string]: string | number; bucket: number }[] = [];
  const { length } = sealed.units;
  const [cells, groups] = [new Uint32Array(length), new Uint32Array(length)];
  let count = 0;
  // Cells of a group mostly follow each other.
  let [last, group] = [-1, 0];
  for (let cell = 0; cell < length; cell += 1) {
    const period = periodOf[sealed.units[cell] ?? 0] ?? -1;
    if (period === -1 || !matches(cell)) continue;
    let id = period;
    for (const { column, texts } of columns) id = id * texts.length + (column[cell] ?? 0);
    if (id !== last) {
      last = id;
      group = ids.get(id) ?? labels.length;
      if (group === labels.length) {
        ids.set(id, group);
        const label: (typeof labels)[number] = { bucket: starts[period] ?? 0 };
        for (const { name, column, texts } of columns) label[name] = texts[column[cell] ?? 0] ?? '';
        labels.push(label);
      }
    }
    cells[count] = cell;
    groups[count] = group;
    count += 1;
  }
  return { labels, cells: cells.subarray(0, count), groups: groups.subarray(0, count) };
}
