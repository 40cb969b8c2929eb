import type { DatabaseSync } from 'node:sqlite';
import { defined } from '../../base/json.ts';
import { toUsd } from '../../base/money.ts';
import { PERIODS, type Period, TimeZone } from '../../base/time-zone.ts';
import { LATENCY_COLUMNS, percentile } from '../state/latency.ts';
import { divideTime, readSealedDay, type SealedQuery } from '../state/sealed-days.ts';
import { BUCKET_MS, bucketOf, ROW_SUMS } from '../state/usage-tables.ts';

/** Fields of the ledger by which usage can be grouped. */
const FIELDS = ['model', 'key', 'user', 'organization', 'provider', 'outcome'] as const;
type Field = (typeof FIELDS)[number];

/** A group: a field, a period of the calendar, or the value of one tag (`tag:project`). */
export type Group = Field | Period | `tag:${string}`;

/** The length of the parts of a series. */
export const STEPS = ['quarter', ...PERIODS] as const;
export type Step = (typeof STEPS)[number];

export interface UsageQuery {
  /** Unix milliseconds. */
  readonly since: number;
  /** Unix milliseconds, not included. */
  readonly until?: number | undefined;
  readonly by: readonly Group[];
  /** For periods; UTC by default. */
  readonly zone?: TimeZone;
  /** Only the rows with these values. */
  readonly key?: string | undefined;
  readonly user?: string | undefined;
  readonly organization?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** Divides the time: each row then has the `start` of its part. */
  readonly step?: Step | undefined;
  /** With `step`: rows only of this many groups, those with the highest cost. */
  readonly top?: number | undefined;
}

/** Sums of the ledger. Costs are in USD; answers of models without a price count as 0. */
export interface UsageSums {
  readonly [label: string]: string | number | null;
  readonly requests: number;
  /** Requests that failed or were refused. */
  readonly failures: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  /** Part of `cache_write_tokens` that is kept for an hour. */
  readonly cache_write_1h_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost: number;
  /** Part of the cost that organizations paid with their own credentials. */
  readonly byok_cost: number;
  /** Requests whose tokens are estimated because the upstream did not report them. */
  readonly estimated_requests: number;
  /** Null: no answer had a first byte. */
  readonly first_byte_p50_ms: number | null;
  readonly first_byte_p95_ms: number | null;
  readonly first_byte_p99_ms: number | null;
  /** Of the time in which answers were streamed. */
  readonly output_tokens_per_second: number | null;
  /** Milliseconds in which answers were streamed, of all requests together. */
  readonly output_ms: number;
}

export interface UsageReport {
  readonly rows: readonly UsageSums[];
  readonly total: UsageSums;
  /** Only with `step`. */
  readonly series?: UsageSeries;
}

export interface UsageSeries {
  /** The sums of each part of the time over all groups, with its `start`. */
  readonly steps: readonly UsageSums[];
  /** The sums of each group over the whole time, the highest cost first. */
  readonly groups: readonly UsageSums[];
}

export function parseGroup(text: string): Group | undefined {
  if (/^tag:[^"\\]{1,64}$/.test(text)) return `tag:${text.slice(4)}`;
  return [...FIELDS, ...PERIODS].find((each) => each === text);
}

/** Columns of the sums, in the order of `NAMES`. */
const COLUMNS = [
  ...['requests', 'input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'reasoning'],
  ...['cost_nano', 'cost_nano * byok', 'estimated', 'failures', 'output_ms'],
  ...LATENCY_COLUMNS,
];
const LATENCY = COLUMNS.length - LATENCY_COLUMNS.length;
/** The same columns for rows of single requests. */
const ROW_COLUMNS = COLUMNS.map((name) => ROW_SUMS.get(name) ?? name);

/** Names of the sums in the rows of the statement. */
const SUM_NAMES = COLUMNS.map((_, index) => `sum_${index}`);

type Sums = number[];

/**
 * Sums the ledger. Whole quarters of an hour are read from their sums, the rest from the rows; groups by tag from the
 * rows only. Without a period, the groups with the highest cost come first.
 */
export function readUsageReport(database: DatabaseSync, query: UsageQuery): UsageReport {
  return sumUp(query, readSums(database, query));
}

/** Days that are sealed are read as a whole, the rest by the statement of `usageSql`. */
function* readSums(database: DatabaseSync, query: UsageQuery): Generator<Readonly<Record<string, unknown>>> {
  const { since, until } = query;
  const whole = [{ since, until, sealed: false }];
  const tagged = query.by.some((each) => each.startsWith('tag:'));
  for (const part of tagged ? whole : divideTime(database, since, until)) {
    if (part.sealed) {
      yield* readSealedDay(database, part.since, sealedQuery(query)) ?? [];
      continue;
    }
    const { sql, values } = usageSql({ ...query, ...part }, (name) => `tags ->> '$."${name}"'`);
    yield* database.prepare(sql).iterate(...values);
  }
}

function sealedQuery(query: UsageQuery): SealedQuery {
  const { by, step, zone = new TimeZone('UTC'), key, user, organization, model, provider } = query;
  // Labels of quarters of an hour are the same if all their periods are.
  const periods = { by: by.filter((each) => PERIODS.some((name) => name === each)), step };
  const label = labeler({ since: 0, ...periods }, zone);
  return {
    fields: FIELDS.filter((each) => by.includes(each)),
    filters: defined({ key, user, organization, model, provider }),
    period: (bucket) => label({ bucket }).join(' '),
    columns: COLUMNS,
  };
}

/** The report of the rows that the statement of `usageSql` returns. */
export function sumUp(query: UsageQuery, rows: Iterable<Readonly<Record<string, unknown>>>): UsageReport {
  const { by, step, zone = new TimeZone('UTC') } = query;
  const [cells, steps, groups] = [new Map<string, Summed>(), new Map<string, Summed>(), new Map<string, Summed>()];
  const total: Sums = COLUMNS.map(() => 0);
  const label = labeler(query, zone);
  for (const row of rows) {
    const labels = label(row);
    const sums = row.sums instanceof Float64Array ? row.sums : SUM_NAMES.map((name) => Number(row[name] ?? 0));
    addSums(sumsOf(cells, labels), sums);
  }
  for (const { labels, sums } of cells.values()) {
    addSums(total, sums);
    if (step === undefined) continue;
    addSums(sumsOf(steps, labels.slice(0, 1)), sums);
    addSums(sumsOf(groups, labels.slice(1)), sums);
  }
  if (step === undefined) {
    const sorted = [...cells.values()].sort(isChronological(by) ? byLabels : byCost);
    return { rows: sorted.map((each) => describeGroup(by, each)), total: describeSums(total) };
  }
  const largest = [...groups.values()].sort(byCost);
  const top = new Set(largest.slice(0, query.top).map(({ labels }) => labels.join('\0')));
  const shown = [...cells.values()].filter(({ labels }) => top.has(labels.slice(1).join('\0'))).sort(byLabels);
  return {
    rows: shown.map((each) => describeGroup(['start', ...by], each)),
    total: describeSums(total),
    series: {
      steps: [...steps.values()].sort(byLabels).map((each) => describeGroup(['start'], each)),
      groups: largest.map((each) => describeGroup(by, each)),
    },
  };
}

function addSums(to: Sums, sums: ArrayLike<number>): void {
  for (let index = 0; index < sums.length; index += 1) to[index] = (to[index] ?? 0) + (sums[index] ?? 0);
}

function describeGroup(names: readonly string[], { labels, sums }: Summed): UsageSums {
  return {
    ...Object.fromEntries(names.map((name, index) => [name, labels[index] ?? null])),
    ...describeSums(sums),
  };
}

function sumsOf(groups: Map<string, Summed>, labels: readonly (string | null)[]): Sums {
  // No label is an empty text, so that null has an id of its own.
  const id = labels.join('\0');
  const group = groups.get(id) ?? { labels, sums: COLUMNS.map(() => 0) };
  groups.set(id, group);
  return group.sums;
}

/**
 * A statement for SQLite and Postgres, and the values of its parameters `?1`, `?2` and so on.
 *
 * @param tag an expression for the value of a tag, whose name contains no quotation mark that is not doubled.
 */
export function usageSql(
  query: UsageQuery,
  tag: (name: string) => string,
): { readonly sql: string; readonly values: readonly (string | number | null)[] } {
  const { since, until, by, step, key, user, organization, model, provider } = query;
  const end = until ?? Number.MAX_SAFE_INTEGER;
  const tags = by.filter((each) => each.startsWith('tag:'));
  // The sums of this range are exact; at its ends, single rows are read.
  const first = tags.length > 0 ? end : Math.min(end, bucketOf(since + BUCKET_MS - 1));
  const last = Math.max(first, until === undefined ? end : bucketOf(end));
  // In Postgres, `user` without quotation marks is the name of the role.
  const fields = FIELDS.filter((each) => by.includes(each)).map((name) => `"${name}"`);
  const periods = step !== undefined || PERIODS.some((each) => by.includes(each));
  const filters = Object.entries({ key, user, organization, model, provider }).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name: `"${name}"`, value }],
  );
  const where = ['1 = 1', ...filters.map(({ name }, index) => `${name} = ?${index + 5}`)].join(' AND ');
  const tagColumns = tags.map((each, index) => [tag(each.slice(4).replaceAll("'", "''")), `tag_${index}`]);
  const part = (table: string, bucket: string, sums: readonly string[], range: string) => {
    const labels = [
      ...fields,
      ...(periods ? [`${bucket} AS bucket`] : []),
      ...tagColumns.map(([value, name]) =>
        table === 'usage' ? `CASE WHEN tags <> '' THEN ${value} END AS ${name}` : `NULL AS ${name}`,
      ),
    ];
    const summed = sums.map((name, index) => `${name} AS sum_${index}`);
    return `SELECT ${[...labels, ...summed].join(', ')} FROM ${table} WHERE ${range} AND ${where}`;
  };
  const names = [...fields, ...(periods ? ['bucket'] : []), ...tagColumns.map(([, name]) => name)];
  const sums = COLUMNS.map((_, index) => `sum(sum_${index}) AS sum_${index}`);
  const sql = `SELECT ${[...names, ...sums].join(', ')} FROM (
    ${part('usage_rollup', 'bucket', COLUMNS, 'bucket >= ?2 AND bucket < ?3')} UNION ALL
    ${part('usage', `at - at % ${BUCKET_MS}`, ROW_COLUMNS, '(at >= ?1 AND at < ?2 OR at >= ?3 AND at < ?4)')}) AS parts
    ${names.length === 0 ? '' : `GROUP BY ${names.join(', ')}`}`;
  return { sql, values: [since, first, last, end, ...filters.map(({ value }) => value)] };
}

/** Returns the labels of a row. An empty name is null. */
function labeler({ by, step }: UsageQuery, zone: TimeZone) {
  const known = new Map<string, string>();
  const tags = by.filter((each) => each.startsWith('tag:'));
  const period = (name: Period, bucket: number) => {
    const id = `${name}${bucket}`;
    const found = known.get(id) ?? zone.label(name, bucket);
    known.set(id, found);
    return found;
  };
  const start = (bucket: number) =>
    new Date(step === undefined || step === 'quarter' ? bucket : zone.periodAt(step, bucket).start).toISOString();
  return (row: Readonly<Record<string, unknown>>): (string | null)[] => [
    ...(step === undefined ? [] : [start(Number(row.bucket))]),
    ...by.map((name) => {
      const calendar = PERIODS.find((each) => each === name);
      if (calendar !== undefined) return period(calendar, Number(row.bucket));
      const value = row[name.startsWith('tag:') ? `tag_${tags.indexOf(name)}` : name];
      return value === null || value === undefined || value === '' ? null : String(value);
    }),
  ];
}

function isChronological(by: readonly Group[]): boolean {
  return PERIODS.some((each) => each === by[0]);
}

type Summed = { readonly labels: readonly (string | null)[]; readonly sums: Sums };
const COST = COLUMNS.indexOf('cost_nano');

function byCost(a: Summed, b: Summed): number {
  return (b.sums[COST] ?? 0) - (a.sums[COST] ?? 0) || (b.sums[0] ?? 0) - (a.sums[0] ?? 0) || byLabels(a, b);
}

function byLabels(a: Summed, b: Summed): number {
  const [one, two] = [a.labels[0] ?? '', b.labels[0] ?? ''];
  if (one !== two) return one < two ? -1 : 1;
  return (b.sums[COST] ?? 0) - (a.sums[COST] ?? 0) || byRest(a.labels, b.labels);
}

/** Otherwise the database would decide the order of equal groups. */
function byRest(a: Summed['labels'], b: Summed['labels']): number {
  const index = a.findIndex((label, at) => label !== b[at]);
  return index === -1 ? 0 : (a[index] ?? '') < (b[index] ?? '') ? -1 : 1;
}

function describeSums(sums: Sums): UsageSums {
  const [requests = 0, input = 0, output = 0, read = 0, write = 0, hour = 0, reasoning = 0] = sums;
  const [cost = 0, byok = 0, estimated = 0, failures = 0, outputMs = 0] = sums.slice(COST);
  const latency = sums.slice(LATENCY);
  return {
    requests,
    failures,
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: read,
    cache_write_tokens: write,
    cache_write_1h_tokens: hour,
    reasoning_tokens: reasoning,
    cost: toUsd(cost),
    byok_cost: toUsd(byok),
    estimated_requests: estimated,
    first_byte_p50_ms: firstByte(latency, 0.5),
    first_byte_p95_ms: firstByte(latency, 0.95),
    first_byte_p99_ms: firstByte(latency, 0.99),
    output_tokens_per_second: outputMs === 0 ? null : Math.round((output / outputMs) * 10_000) / 10,
    output_ms: outputMs,
  };
}

function firstByte(latency: readonly number[], share: number): number | null {
  const ms = percentile(latency, share);
  return ms === undefined ? null : Math.round(ms * 10) / 10;
}
