import { readRow, type UsageRow } from '../state/ledger-columns.ts';
import { run, type Steps } from '../state/steps.ts';

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

const FAILURES = "outcome IN ('failed', 'refused')";
/** The fields of `RequestFilter`. */
export const REQUEST_FILTERS = ['key', 'user', 'organization', 'model', 'provider', 'outcome'] as const;

/** A page of requests, the newest first. The rows are read by the index of their times. */
export function* readRequests(query: RequestHistoryQuery): Steps<RequestHistoryPage> {
  const { since, until, after, limit } = query;
  const values = [since, until, after?.at ?? Number.MAX_SAFE_INTEGER, after?.requestId ?? ''];
  // Conditions that an index answers are part of the inner query, which limits the rows that are read.
  const inner = ['at >= ?1', 'at < ?2', '(at, request_id) < (?3, ?4)'];
  if (query.key !== undefined) inner.push(`key = ?${values.push(query.key)}`);
  if (FAILED.has(query.outcome ?? '')) inner.push(FAILURES);
  const ordered = `FROM usage WHERE ${inner.join(' AND ')} ORDER BY at DESC, request_id DESC`;
  const ofInner = [...values];
  const outer = ['counted = 1'];
  for (const name of REQUEST_FILTERS) {
    const value = query[name];
    if (name === 'key' || value === undefined || value === 'failures') continue;
    outer.push(`"${name}" = ?${values.push(value)}`);
  }
  const tries = 'SELECT count(*) FROM usage AS t WHERE t.request_id = found.request_id AND t.attempt > 0';
  const rows = yield* run(
    `SELECT *, (${tries}) AS tries FROM (SELECT * ${ordered} LIMIT ${MAX_ROWS}) AS found
      WHERE ${outer.join(' AND ')} LIMIT ${limit + 1}`,
    values,
  );
  const requests = rows.slice(0, limit).map((row) => ({ row: readRow(row), attempts: Number(row.tries) }));
  if (rows.length > limit) return { requests, next: requests.at(-1)?.row };
  // The last row that the page may have read.
  const [last] = yield* run(`SELECT at, request_id ${ordered} LIMIT 1 OFFSET ${MAX_ROWS - 1}`, ofInner);
  return { requests, next: last && { at: Number(last.at), requestId: String(last.request_id) } };
}

/** Outcomes of the index of failures. */
const FAILED: ReadonlySet<string> = new Set(['failures', 'failed', 'refused']);

/** All rows of a request in the order of its attempts. */
export function* readRequest(id: string): Steps<readonly UsageRow[]> {
  return (yield* run('SELECT * FROM usage WHERE request_id = ?1 ORDER BY attempt', [id])).map(readRow);
}

/** Whether a request that has ended matches a filter, as the query does. */
export function matchesFilter(row: UsageRow, filter: RequestFilter): boolean {
  return REQUEST_FILTERS.every((name) => {
    const value = filter[name];
    if (value === undefined) return true;
    if (name === 'outcome' && value === 'failures') return row.outcome === 'failed' || row.outcome === 'refused';
    return row[name] === value;
  });
}
