import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { isObject } from '../../base/json.ts';
import type { Usage } from '../../wire/event.ts';
import type { UsageRow } from '../state/usage-tables.ts';

export interface RequestFilter {
  readonly key?: string | undefined;
  readonly user?: string | undefined;
  readonly organization?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** An outcome of the ledger; `failures`: failed and refused. */
  readonly outcome?: string | undefined;
}

export interface RequestHistoryQuery extends RequestFilter {
  /** Unix milliseconds. */
  readonly since: number;
  /** Unix milliseconds, not included. */
  readonly until: number;
  /** Only requests that are older than the one at this position. */
  readonly after?: RequestPosition | undefined;
  readonly limit: number;
}

/** The place of a request in the order of the history. */
export interface RequestPosition {
  readonly at: number;
  readonly requestId: string;
}

/** A row of the ledger that ended its request. */
export interface EndedRequest {
  readonly row: UsageRow;
  /** Requests to upstreams. */
  readonly attempts: number;
}

export interface RequestHistoryPage {
  readonly requests: readonly EndedRequest[];
  /** Where the next page starts; undefined at the end. */
  readonly next: RequestPosition | undefined;
}

/** Rows that one page may read. With a rare filter, a page may have fewer requests and the next one continues. */
const MAX_ROWS = 20_000;

const CONDITIONS: Readonly<Record<keyof RequestFilter, string>> = {
  key: 'key = ',
  user: 'user = ',
  organization: 'organization = ',
  model: 'model = ',
  provider: 'provider = ',
  outcome: 'outcome = ',
};
const FAILURES = "outcome IN ('failed', 'refused')";

/** A page of requests, the newest first. Reads them by the index of their times. */
export function readRequests(database: DatabaseSync, query: RequestHistoryQuery): RequestHistoryPage {
  const { since, until, after, limit } = query;
  const { outer, indexed, values } = conditions(query);
  const range = `at >= ?1 AND at < ?2 AND (at, request_id) < (?3, ?4) AND ${indexed.join(' AND ')}`;
  const ordered = `FROM usage WHERE ${range} ORDER BY at DESC, request_id DESC`;
  const position = [since, until, after?.at ?? Number.MAX_SAFE_INTEGER, after?.requestId ?? ''];
  const rows = database
    .prepare(
      `SELECT *, (SELECT count(*) FROM usage AS tries WHERE tries.request_id = found.request_id AND tries.attempt > 0) AS tries
        FROM (SELECT * ${ordered} LIMIT ${MAX_ROWS}) AS found WHERE ${outer.join(' AND ')} LIMIT ${limit + 1}`,
    )
    .all(...position, ...values);
  const requests = rows.slice(0, limit).map((row) => ({ row: readRow(row), attempts: Number(row.tries) }));
  const last = requests.at(-1)?.row;
  if (rows.length > limit) return { requests, next: last };
  const end = database
    .prepare(`SELECT at, request_id ${ordered} LIMIT 1 OFFSET ${MAX_ROWS - 1}`)
    .get(...position, ...values.slice(0, indexedValues(query)));
  return { requests, next: end && { at: Number(end.at), requestId: String(end.request_id) } };
}

/** Conditions that an index answers are part of the inner query, which limits the rows that are read. */
function conditions(query: RequestFilter) {
  const outer = ['counted = 1'];
  const indexed = ['TRUE'];
  const values: string[] = [];
  for (const name of FILTERS) {
    const value = query[name];
    if (value === undefined) continue;
    const failures = name === 'outcome' && (value === 'failures' || value === 'failed' || value === 'refused');
    if (failures) indexed.push(FAILURES);
    if (failures && value === 'failures') continue;
    (name === 'key' ? indexed : outer).push(`${CONDITIONS[name]}?${values.length + 5}`);
    values.push(value);
  }
  return { outer, indexed, values };
}

/** The key comes first: it is the only one with a value in the inner query. */
const FILTERS = ['key', 'user', 'organization', 'model', 'provider', 'outcome'] as const;

function indexedValues({ key }: RequestFilter): number {
  return key === undefined ? 0 : 1;
}

/** All rows of a request in the order of its attempts; empty if the ledger does not have it. */
export function readRequest(database: DatabaseSync, requestId: string): UsageRow[] {
  return database.prepare('SELECT * FROM usage WHERE request_id = ? ORDER BY attempt').all(requestId).map(readRow);
}

/** Whether a request that has ended matches a filter, as the query does. */
export function matchesFilter(row: UsageRow, filter: RequestFilter): boolean {
  return FILTERS.every((name) => {
    const value = filter[name];
    if (value === undefined) return true;
    if (name === 'outcome' && value === 'failures') return row.outcome === 'failed' || row.outcome === 'refused';
    return row[name] === value;
  });
}

type Row = Readonly<Record<string, SQLOutputValue>>;

function readRow(row: Row): UsageRow {
  const number = (name: string) => (typeof row[name] === 'number' ? row[name] : undefined);
  const text = (name: string) => (typeof row[name] === 'string' ? row[name] : '');
  return {
    requestId: text('request_id'),
    attempt: Number(row.attempt),
    at: Number(row.at),
    key: text('key'),
    organization: text('organization'),
    user: text('user'),
    tags: readTags(text('tags')),
    endpoint: text('endpoint'),
    model: text('model'),
    provider: text('provider'),
    byok: row.byok === 1,
    outcome: text('outcome'),
    counted: row.counted === 1,
    status: number('status'),
    errorType: text('error_type') || undefined,
    prices: text('prices') || undefined,
    usage: readUsage(row),
    cost: number('cost_nano'),
    estimated: row.estimated === 1,
    waitMs: Number(row.wait_ms),
    firstByteMs: Number(row.first_byte_ms),
    durationMs: Number(row.duration_ms),
  };
}

function readUsage(row: Row): Usage | undefined {
  const { input, output, cache_read, cache_write, cache_write_1h, reasoning } = row;
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return {
    ...{ input, output },
    ...(typeof cache_read === 'number' ? { cacheRead: cache_read } : {}),
    ...(typeof cache_write === 'number' ? { cacheWrite: cache_write } : {}),
    ...(typeof cache_write_1h === 'number' ? { cacheWrite1h: cache_write_1h } : {}),
    ...(typeof reasoning === 'number' ? { reasoning } : {}),
  };
}

function readTags(text: string): Record<string, string> | undefined {
  const tags: unknown = text === '' ? undefined : JSON.parse(text);
  if (!isObject(tags)) return undefined;
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, String(value)]));
}
