import { defined } from '../../base/json.ts';
import { toUsd } from '../../base/money.ts';
import { type CalendarPeriod, PERIODS, type Period, TimeZone } from '../../base/time-zone.ts';
import { LATENCY_COLUMNS, percentile } from '../state/latency.ts';
import type { SealedQuery } from '../state/sealed-sums.ts';
import { readSealed, SEALED_PARTS, type Sealed, sealedTimes } from '../state/sealing.ts';
import { type Dialect, pause, run, type Steps } from '../state/steps.ts';
import { BUCKET_MS, bucketOf, DAY_MS, HOUR_MS } from '../state/usage-sums.ts';
import { type PeriodAt, planReport, type ReportPlan, type SealedPart, sealedRange } from './report-plan.ts';
import type { SumCache } from './sum-cache.ts';
import { FIELDS, type Group, type UsageQuery } from './usage-query.ts';
import { SUM_COLUMNS, SUM_NAMES, usageSql } from './usage-sql.ts';

/** Sums of the ledger. Costs are in USD; answers of models without a price count as 0. */
export interface UsageSums {
  readonly [label: string]: string | number | null;
  readonly requests: number;
  /** Requests that failed or were refused. */
  readonly failures: number;
  /** Part of `failures`: the gateway refused the request. The others failed at the provider. */
  readonly refused: number;
  /** Requests whose client left before the answer was complete. They are no failures. */
  readonly client_gone: number;
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
  /**
   * Only with `reasons`. Why attempts are estimated, with their number: `client_left 2, not_reported 1`. `unknown`: an
   * older release wrote them. Null: none is, or their rows were removed.
   */
  readonly estimate_reasons?: string | null;
  /** Only with `reasons`. Requests of models without a price: their cost is not known. */
  readonly unpriced_requests?: number;
  /** Null: no answer had a first byte. */
  readonly first_byte_p50_ms: number | null;
  readonly first_byte_p95_ms: number | null;
  readonly first_byte_p99_ms: number | null;
  /** Of `output_ms`. */
  readonly output_tokens_per_second: number | null;
  /** Milliseconds in which answers were made, of all requests together (usage-tables.ts). */
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

type Sums = Float64Array;
type Rows = Iterable<Readonly<Record<string, unknown>>>;

/** Rows that are read without a pause: about 10 ms. */
const ROWS_OF_PART = 4_000;

/**
 * Sums the ledger. Sealed hours and whole quarters of an hour are read from their sums, the rest from the rows; groups by
 * tag from the rows only. Without a period, the groups with the highest cost come first. All steps must see one moment.
 */
export function* usageReport(dialect: Dialect, query: UsageQuery, cache: SumCache): Steps<UsageReport> {
  const { since, until } = sealedRange(query);
  const plan = planUsage(query, yield* sealedTimes(dialect, since, until));
  const report = new UsageSum(query);
  yield* addSealed(dialect, query, plan.sealed, report, cache);
  const tag = (name: string) => dialect.member('tags', name);
  for (const part of yield* divide(dialect, plan)) {
    const { sql, values } = usageSql(query, part, tag);
    report.add(yield* run(sql, values));
    yield* pause();
  }
  if (query.reasons === true) {
    const rows = [{ since: query.since, until: query.until ?? Number.MAX_SAFE_INTEGER }];
    for (const part of yield* divide(dialect, { quarters: [], rows })) {
      const { sql, values } = usageSql(query, part, tag, dialect.member('details', 'estimated'));
      report.addReasons(yield* run(sql, values));
      yield* pause();
    }
  }
  return report.end();
}

function* addSealed(
  dialect: Dialect,
  query: UsageQuery,
  parts: readonly SealedPart[],
  report: UsageSum,
  cache: SumCache,
): Steps<void> {
  const sums = sealedQuery(query);
  const unknown: SealedPart[] = [];
  for (const part of parts) {
    const known = cache.find(part, sums);
    if (known === undefined) unknown.push(part);
    else report.add(known);
    yield* pause();
  }
  for (let first = 0; first < unknown.length; first += SEALED_PARTS) {
    for (const { part, open } of yield* readSealed(dialect, unknown.slice(first, first + SEALED_PARTS))) {
      report.add(cache.sum(part, sums, open()));
      yield* pause();
    }
  }
}

type Part = Pick<ReportPlan, 'quarters' | 'rows'>;

/** Only groups by tag read more than a quarter of an hour from single rows. A busy quarter may have many of them. */
function* divide({ blocking }: Dialect, { quarters, rows }: Part): Steps<readonly Part[]> {
  if (!blocking) return [{ quarters, rows }];
  const parts: Part[] = [{ quarters, rows: [] }];
  for (const { since, until } of rows) {
    for (let from = since; ; ) {
      const [next] = yield* run('SELECT min(at) AS at FROM usage WHERE at >= ?1 AND at < ?2', [from, until]);
      if (typeof next?.at !== 'number') break;
      const { at } = next;
      const end = Math.min(until, at + HOUR_MS);
      const after = `SELECT at FROM usage WHERE at >= ?1 AND at < ?2 ORDER BY at LIMIT 1 OFFSET ${ROWS_OF_PART}`;
      const [full] = yield* run(after, [at, end]);
      from = typeof full?.at === 'number' ? Math.max(at + 1, full.at) : end;
      parts.push({ quarters: [], rows: [{ since: at, until: from }] });
      yield* pause();
    }
  }
  return parts;
}

function planUsage(query: UsageQuery, sealed: readonly Sealed[]): ReportPlan {
  const { since, until = Number.MAX_SAFE_INTEGER, by, zone = new TimeZone('UTC') } = query;
  if (by.some((each) => each.startsWith('tag:'))) return { sealed: [], quarters: [], rows: [{ since, until }] };
  return planReport({ since, until }, sealed, periodsOf(query, zone));
}

/** The shortest periods of the report. They have no gaps. */
function periodsOf({ by, step }: UsageQuery, zone: TimeZone): PeriodAt | undefined {
  const names = PERIODS.filter((each) => by.includes(each) || each === step);
  if (step === 'quarter') return (at) => ({ since: bucketOf(at), until: bucketOf(at) + BUCKET_MS });
  const found = names.map((name) => calendarOf(zone, name));
  if (found.length === 0) return undefined;
  // A week may end within a month.
  return (at) => {
    const periods = found.map((find) => find(at));
    return {
      since: Math.max(...periods.map(({ start }) => start)),
      until: Math.min(...periods.map(({ end }) => end)),
    };
  };
}

/** Returns the period that contains a time. Asks the calendar once for each period, because that is slow. */
function calendarOf(zone: TimeZone, name: Period): (at: number) => CalendarPeriod {
  const byDay = new Map<number, CalendarPeriod[]>();
  return (at) => {
    const day = Math.floor(at / DAY_MS);
    const known = byDay.get(day) ?? [];
    const found = known.find(({ start, end }) => at >= start && at < end);
    if (found !== undefined) return found;
    const period = zone.periodAt(name, at);
    byDay.set(day, [...known, period]);
    return period;
  };
}

function sealedQuery(query: UsageQuery): SealedQuery {
  const { by, key, user, organization, model, provider } = query;
  return {
    fields: FIELDS.filter((each) => by.includes(each)),
    filters: defined({ key, user, organization, model, provider }),
    columns: SUM_COLUMNS,
  };
}

/** Makes a report of the rows that the statement of `usageSql` returns, and of the sealed sums. */
class UsageSum {
  readonly #query: UsageQuery;
  readonly #label: ReturnType<typeof labeler>;
  readonly #cells = new Map<string, Summed>();
  /** The numbers of estimated attempts by reason. */
  readonly #reasons = new Map<Sums, Map<string, number>>();

  constructor(query: UsageQuery) {
    this.#query = query;
    this.#label = labeler(query, query.zone ?? new TimeZone('UTC'));
  }

  add(rows: Rows): void {
    for (const row of rows) {
      const sums = row.sums instanceof Float64Array ? row.sums : SUM_NAMES.map((name) => Number(row[name] ?? 0));
      addSums(sumsOf(this.#cells, this.#label(row)), sums);
    }
  }

  /** Takes rows of `usageSql` with a reason. */
  addReasons(rows: Rows): void {
    for (const row of rows) {
      const sums = sumsOf(this.#cells, this.#label(row));
      const found = this.#reasons.get(sums) ?? new Map<string, number>();
      this.#reasons.set(sums, addTo(found, String(row.reason ?? 'unknown'), Number(row[ESTIMATED] ?? 0)));
      if (Number(row.unpriced) === 1) addTo(found, UNPRICED, Number(row.sum_0 ?? 0));
    }
  }

  #withReasons(sums: Sums, reasons = this.#reasons.get(sums)) {
    if (this.#query.reasons !== true) return {};
    const counted = [...(reasons ?? [])]
      .filter(([reason, count]) => count > 0 && reason !== UNPRICED)
      .sort(([, a], [, b]) => b - a);
    const estimate_reasons = counted.map(([reason, count]) => `${reason} ${count}`).join(', ') || null;
    return { estimate_reasons, unpriced_requests: reasons?.get(UNPRICED) ?? 0 };
  }

  #total(sums: Sums): UsageSums {
    const all = new Map<string, number>();
    for (const counts of this.#reasons.values()) for (const [reason, count] of counts) addTo(all, reason, count);
    return { ...describeSums(sums), ...this.#withReasons(sums, all) };
  }

  end(): UsageReport {
    const { by, step, top } = this.#query;
    const cells = [...this.#cells.values()];
    const total: Sums = new Float64Array(SUM_COLUMNS.length);
    for (const { sums } of cells) addSums(total, sums);
    if (step === undefined) {
      const sorted = cells.sort(isChronological(by) ? byLabels : byCost);
      const rows = sorted.map((each) => ({ ...describeGroup(by, each), ...this.#withReasons(each.sums) }));
      return { rows, total: this.#total(total) };
    }
    const [steps, groups] = [new Map<string, Summed>(), new Map<string, Summed>()];
    for (const { labels, sums } of cells) {
      addSums(sumsOf(steps, labels.slice(0, 1)), sums);
      addSums(sumsOf(groups, labels.slice(1)), sums);
    }
    const largest = [...groups.values()].sort(byCost);
    const shown = new Set(largest.slice(0, top).map(({ labels }) => labels.join('\0')));
    const rows = cells.filter(({ labels }) => shown.has(labels.slice(1).join('\0'))).sort(byLabels);
    return {
      rows: rows.map((each) => describeGroup(['start', ...by], each)),
      total: this.#total(total),
      series: {
        steps: [...steps.values()].sort(byLabels).map((each) => describeGroup(['start'], each)),
        groups: largest.map((each) => describeGroup(by, each)),
      },
    };
  }
}

function addTo(counts: Map<string, number>, name: string, count: number): Map<string, number> {
  return counts.set(name, (counts.get(name) ?? 0) + count);
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
  const found = groups.get(id);
  if (found !== undefined) return found.sums;
  const sums = new Float64Array(SUM_COLUMNS.length);
  groups.set(id, { labels, sums });
  return sums;
}

/** Calls a function once for each value. */
function remember<K, V>(compute: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = compute(key);
    known.set(key, value);
    return value;
  };
}

/** Returns the labels of a row. An empty name is null. */
function labeler({ by, step }: UsageQuery, zone: TimeZone) {
  const tags = by.filter((each) => each.startsWith('tag:'));
  const period = remember((name: Period) => {
    const find = calendarOf(zone, name);
    const write = remember((at: number) => zone.label(name, at));
    return (at: number) => write(find(at).start);
  });
  const find = step === undefined || step === 'quarter' ? undefined : calendarOf(zone, step);
  const write = remember((at: number) => new Date(at).toISOString());
  const start = (bucket: number) => write(find?.(bucket).start ?? bucket);
  return (row: Readonly<Record<string, unknown>>): (string | null)[] => [
    ...(step === undefined ? [] : [start(Number(row.bucket))]),
    ...by.map((name) => {
      const calendar = PERIODS.find((each) => each === name);
      if (calendar !== undefined) return period(calendar)(Number(row.bucket));
      const value = row[name.startsWith('tag:') ? `tag_${tags.indexOf(name)}` : name];
      return value === null || value === undefined || value === '' ? null : String(value);
    }),
  ];
}

function isChronological(by: readonly Group[]): boolean {
  return PERIODS.some((each) => each === by[0]);
}

type Summed = { readonly labels: readonly (string | null)[]; readonly sums: Sums };
const COST = SUM_COLUMNS.findIndex(({ of }) => of === 'cost_nano');
/** Counted beside the reasons of estimates. */
const UNPRICED = 'unpriced';
const ESTIMATED = SUM_NAMES[SUM_COLUMNS.findIndex(({ of }) => of === 'estimated')] ?? '';
const LATENCY = SUM_COLUMNS.length - LATENCY_COLUMNS.length;

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
  const [cost = 0, byok = 0, estimated = 0, failures = 0, refused = 0, gone = 0, outputMs = 0] = sums.slice(COST);
  const latency = sums.slice(LATENCY);
  return {
    requests,
    failures,
    refused,
    client_gone: gone,
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

function firstByte(latency: Float64Array, share: number): number | null {
  const ms = percentile(latency, share);
  return ms === undefined ? null : Math.round(ms * 10) / 10;
}
