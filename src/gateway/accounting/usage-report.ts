import type { DatabaseSync } from 'node:sqlite';

export interface UsageQuery {
  /** Unix milliseconds. */
  readonly since: number;
  readonly key?: string | undefined;
  readonly by: 'model' | 'key' | 'organization' | 'day';
}

/** Sums of the ledger. Costs are in USD; answers of models without a price count as 0. */
export interface UsageSums {
  readonly [label: string]: string | number | null;
  readonly requests: number;
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
}

export interface UsageReport {
  readonly rows: readonly UsageSums[];
  readonly total: UsageSums;
}

const SUMS = `count(*) AS requests, total(input) AS input_tokens, total(output) AS output_tokens,
  total(cache_read) AS cache_read_tokens, total(cache_write) AS cache_write_tokens,
  total(cache_write_1h) AS cache_write_1h_tokens, total(reasoning) AS reasoning_tokens, total(cost) AS cost, total(cost * byok) AS byok_cost,
  total(estimated) AS estimated_requests`;

const LABELS = { model: 'model', key: 'key', organization: 'organization', day: "date(at / 1000, 'unixepoch')" };

/** Sums the ledger. The rows with the highest cost come first. */
export function readUsageReport(database: DatabaseSync, { since, key, by }: UsageQuery): UsageReport {
  const where = 'WHERE at >= ?1 AND (?2 IS NULL OR key = ?2)';
  const label = LABELS[by];
  const order = by === 'day' ? '1' : 'cost DESC, requests DESC, 1';
  const rows = database
    .prepare(`SELECT ${label} AS label, ${SUMS} FROM usage ${where} GROUP BY 1 ORDER BY ${order}`)
    .all(since, key ?? null);
  const total = database.prepare(`SELECT ${SUMS} FROM usage ${where}`).get(since, key ?? null) ?? {};
  return {
    rows: rows.map((row) => ({ [by]: row.label === null ? null : String(row.label), ...readSums(row) })),
    total: readSums(total),
  };
}

function readSums(row: Readonly<Record<string, unknown>>): UsageSums {
  const number = (name: string) => Number(row[name] ?? 0);
  return {
    requests: number('requests'),
    input_tokens: number('input_tokens'),
    output_tokens: number('output_tokens'),
    cache_read_tokens: number('cache_read_tokens'),
    cache_write_tokens: number('cache_write_tokens'),
    cache_write_1h_tokens: number('cache_write_1h_tokens'),
    reasoning_tokens: number('reasoning_tokens'),
    cost: number('cost'),
    byok_cost: number('byok_cost'),
    estimated_requests: number('estimated_requests'),
  };
}
