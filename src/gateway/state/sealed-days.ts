import type { DatabaseSync } from 'node:sqlite';
import { deserialize, serialize } from 'node:v8';
import * as z from 'zod';
import { BUCKET_MS, SUMS } from './usage-tables.ts';

const DAY_MS = 86_400_000;

/** Columns by which sums can be grouped and filtered. */
const NAMES = ['key', 'organization', 'user', 'model', 'provider', 'outcome'] as const;
type Name = (typeof NAMES)[number];

const numbers = z.union([
  z.instanceof(Uint8Array),
  z.instanceof(Uint16Array),
  z.instanceof(Uint32Array),
  z.instanceof(Float64Array),
]);
const sealedDay = z.object({
  /** The texts of a column; `cells` has indexes into it. */
  texts: z.record(z.enum(NAMES), z.array(z.string())),
  cells: z.record(z.enum(NAMES), numbers),
  /** Number of the quarter of an hour within the day. */
  quarters: numbers,
  byok: numbers,
  /** Columns of `usage_rollup` that are not 0 everywhere. */
  sums: z.record(z.string(), numbers),
});

/**
 * The sums of a day that is over, by column. Reports about weeks read it about ten times as fast as the rows of
 * `usage_rollup` that it was made from (`npm run bench:admin`).
 */
type SealedDay = z.infer<typeof sealedDay>;
type Numbers = z.infer<typeof numbers>;

/** Seals the oldest day that is over and has sums but is not sealed. @returns whether there was one. */
export function sealNextDay(database: DatabaseSync, now = Date.now()): boolean {
  const today = dayOf(now);
  // Skips from day to day by the primary key, so that it does not read all sums.
  const next = database.prepare('SELECT min(bucket) AS bucket FROM usage_rollup WHERE bucket >= ? AND bucket < ?');
  const sealed = new Set(sealedDays(database, 0, today));
  let from = DAY_MS;
  for (;;) {
    const found = next.get(from, today)?.bucket;
    if (typeof found !== 'number') return false;
    const day = dayOf(found);
    if (!sealed.has(day)) {
      sealDay(database, day);
      return true;
    }
    from = day + DAY_MS;
  }
}

function sealDay(database: DatabaseSync, day: number): void {
  const rows = database.prepare('SELECT * FROM usage_rollup WHERE bucket >= ? AND bucket < ?').all(day, day + DAY_MS);
  const texts = NAMES.map((name) => [name, [...new Set(rows.map((row) => String(row[name])))]] as const);
  const cells = texts.map(([name, list]) => {
    const index = new Map(list.map((text, position) => [text, position]));
    return [name, pack(rows.map((row) => index.get(String(row[name])) ?? 0))] as const;
  });
  const sums = SUMS.map((name) => [name, rows.map((row) => Number(row[name]))] as const);
  const value = sealedDay.parse({
    texts: Object.fromEntries(texts),
    cells: Object.fromEntries(cells),
    quarters: pack(rows.map(({ bucket }) => (Number(bucket) - day) / BUCKET_MS)),
    byok: pack(rows.map(({ byok }) => Number(byok))),
    sums: Object.fromEntries(
      sums.filter(([, list]) => list.some((each) => each !== 0)).map(([name, list]) => [name, pack(list)]),
    ),
  });
  database.prepare('INSERT OR REPLACE INTO usage_days VALUES (?, ?)').run(day, serialize(value));
}

/** The smallest type that holds all numbers. */
function pack(list: readonly number[]): Numbers {
  let most = 0;
  for (const each of list) most = Math.max(most, each < 0 ? Number.POSITIVE_INFINITY : each);
  if (most < 2 ** 8) return Uint8Array.from(list);
  if (most < 2 ** 16) return Uint16Array.from(list);
  return most < 2 ** 32 ? Uint32Array.from(list) : Float64Array.from(list);
}

/** A part of the time of a report: a sealed day, or a time whose sums are read row by row. */
export interface ReportPart {
  readonly since: number;
  /** Absent: no end. */
  readonly until: number | undefined;
  readonly sealed: boolean;
}

/** Divides the time of a report at the sealed days that it contains as a whole. */
export function divideTime(database: DatabaseSync, since: number, until: number | undefined): ReportPart[] {
  const first = dayOf(since + DAY_MS - 1);
  const parts: ReportPart[] = [];
  let at = since;
  for (const day of sealedDays(database, first, dayOf(until ?? Number.MAX_SAFE_INTEGER))) {
    if (day > at) parts.push({ since: at, until: day, sealed: false });
    at = day + DAY_MS;
    parts.push({ since: day, until: at, sealed: true });
  }
  return [...parts, { since: at, until, sealed: false }];
}

/** The sealed days from `from`, before `to`, in order. */
function sealedDays(database: DatabaseSync, from: number, to: number): number[] {
  const rows = database.prepare('SELECT day FROM usage_days WHERE day >= ? AND day < ? ORDER BY day').all(from, to);
  return rows.map(({ day }) => Number(day));
}

function dayOf(at: number): number {
  return at - (at % DAY_MS);
}

export interface SealedQuery {
  readonly fields: readonly Name[];
  readonly filters: Readonly<Partial<Record<Name, string>>>;
  /** Quarters of an hour with the same value are summed. */
  readonly period: (bucket: number) => string;
  /** Columns of sums; `cost_nano * byok` is that part of the cost. */
  readonly columns: readonly string[];
}

/** Rows like those of the statement of a report, with the sums as a list. */
export interface SealedRow {
  readonly [field: string]: string | number | Float64Array;
  readonly bucket: number;
  readonly sums: Float64Array;
}

/** Reads a sealed day. @returns undefined if it is not sealed any more. */
export function readSealedDay(database: DatabaseSync, day: number, query: SealedQuery): SealedRow[] | undefined {
  const found = database.prepare('SELECT sums FROM usage_days WHERE day = ?').get(day)?.sums;
  return found instanceof Uint8Array ? sumSealedDay(day, sealedDay.parse(deserialize(found)), query) : undefined;
}

function sumSealedDay(day: number, sealed: SealedDay, { fields, filters, period, columns }: SealedQuery): SealedRow[] {
  const cells = matchCells(sealed, filters);
  const groups = groupCells(day, sealed, fields, period, cells);
  const rows = groups.labels.map((labels) => ({ ...labels, sums: new Float64Array(columns.length) }));
  for (const [index, name] of columns.entries()) {
    const ofByok = name.endsWith(' * byok');
    const values = sealed.sums[ofByok ? 'cost_nano' : name];
    if (values === undefined) continue;
    const sums = new Float64Array(rows.length);
    // One type, so that the loop is compiled for it.
    const list = new Float64Array(values);
    if (ofByok) for (const [cell, byok] of sealed.byok.entries()) if (byok === 0) list[cell] = 0;
    addCells(sums, cells === undefined ? list : Float64Array.from(cells, (cell) => list[cell] ?? 0), groups.ofCell);
    for (const [group, row] of rows.entries()) row.sums[index] = sums[group] ?? 0;
  }
  return rows;
}

/** The loop over the cells of a column. */
function addCells(sums: Float64Array, values: Float64Array, groups: Uint32Array): void {
  const { length } = values;
  if (sums.length === 1) {
    let sum = 0;
    for (let cell = 0; cell < length; cell += 1) sum += values[cell] ?? 0;
    sums[0] = sum;
    return;
  }
  for (let cell = 0; cell < length; cell += 1) {
    const group = groups[cell] ?? 0;
    sums[group] = (sums[group] ?? 0) + (values[cell] ?? 0);
  }
}

/** The numbers of the cells that match; undefined without filters. */
function matchCells({ texts, cells, quarters }: SealedDay, filters: SealedQuery['filters']): Uint32Array | undefined {
  if (NAMES.every((name) => filters[name] === undefined)) return undefined;
  let found = new Uint32Array(quarters.length).map((_, cell) => cell);
  for (const name of NAMES) {
    const value = filters[name];
    if (value === undefined) continue;
    const [column, wanted] = [cells[name], texts[name].indexOf(value)];
    found = found.filter((cell) => column[cell] === wanted);
  }
  return found;
}

interface Groups {
  readonly labels: readonly { readonly [field: string]: string | number; readonly bucket: number }[];
  /** The group of each cell that matches. */
  readonly ofCell: Uint32Array;
}

function groupCells(
  day: number,
  { texts, cells, quarters }: SealedDay,
  fields: readonly Name[],
  period: SealedQuery['period'],
  matching: Uint32Array | undefined,
): Groups {
  const first = new Map<string, number>();
  const periods = Array.from({ length: DAY_MS / BUCKET_MS }, (_, quarter) => {
    const label = period(day + quarter * BUCKET_MS);
    if (!first.has(label)) first.set(label, quarter);
    return first.get(label) ?? 0;
  });
  const columns = fields.map((name) => ({ name, column: cells[name], texts: texts[name] }));
  const ids = new Map<number, number>();
  const labels: { [field: string]: string | number; bucket: number }[] = [];
  const numbers = matching ?? new Uint32Array(quarters.length).map((_, cell) => cell);
  const ofCell = numbers.map((cell) => {
    const quarter = periods[quarters[cell] ?? 0] ?? 0;
    let id = quarter;
    for (const { column, texts: list } of columns) id = id * list.length + (column[cell] ?? 0);
    const known = ids.get(id);
    if (known !== undefined) return known;
    ids.set(id, labels.length);
    const names = columns.map(({ name, column, texts: list }) => [name, list[column[cell] ?? 0] ?? '']);
    return labels.push({ ...Object.fromEntries(names), bucket: day + quarter * BUCKET_MS }) - 1;
  });
  return { labels, ofCell };
}
