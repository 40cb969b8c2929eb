import type { DatabaseSync } from 'node:sqlite';
import { BUCKET_MS } from '../state/usage-tables.ts';
import { retainedSince } from './retention.ts';

/** A sum that differs from its rows. Nano-USD. */
export interface Difference {
  readonly what: string;
  readonly stored: number;
  readonly rows: number;
}

export interface StateCheck {
  /** Rows of the ledger that were read. */
  readonly rows: number;
  /** Nano-USD of the gateway's own credentials. */
  readonly spent: number;
  readonly differences: readonly Difference[];
}

/**
 * Compares each sum with the rows that it was made from: the sums of each quarter of an hour with the rows of the
 * ledger that are still kept, and what each key, user and organization spent on each model with all those sums.
 */
export function checkState(database: DatabaseSync): StateCheck {
  const differences: Difference[] = [];
  const since = retainedSince(database);
  const compare = (sql: string, ...values: number[]) => {
    for (const row of database.prepare(sql).iterate(...values)) {
      const difference = { what: String(row.what), stored: Number(row.stored), rows: Number(row.counted) };
      if (differences.length < MAX_DIFFERENCES) differences.push(difference);
    }
  };
  compare(
    `SELECT 'quarter of an hour from ' || datetime(bucket / 1000, 'unixepoch') || ' UTC, key ' || key AS what,
      sum(stored) AS stored, sum(counted) AS counted FROM (
        SELECT bucket, key, cost_nano AS stored, 0 AS counted FROM usage_rollup WHERE bucket >= ?1
        UNION ALL SELECT at - at % ${BUCKET_MS}, key, 0, coalesce(cost_nano, 0) FROM usage WHERE at >= ?1)
      GROUP BY bucket, key HAVING sum(stored) <> sum(counted)`,
    since,
  );
  compare(
    `SELECT 'key ' || key || ', organization ' || organization || ', user ' || user || ', model ' || model AS what,
      sum(stored) AS stored, sum(counted) AS counted FROM (
        SELECT key, organization, user, model, nano AS stored, 0 AS counted FROM spent
        UNION ALL SELECT key, organization, user, model, 0, cost_nano FROM usage_rollup WHERE byok = 0)
      GROUP BY key, organization, user, model HAVING sum(stored) <> sum(counted)`,
  );
  const { rows } = database.prepare('SELECT count(*) AS rows FROM usage').get() ?? {};
  const { spent } = database.prepare('SELECT coalesce(sum(nano), 0) AS spent FROM spent').get() ?? {};
  return { rows: Number(rows), spent: Number(spent), differences };
}

const MAX_DIFFERENCES = 100;
