import type { LedgerRetention } from '../../config/settings/settings.ts';
import { oldBefore } from '../accounting/retention.ts';
import { MERGE_BUCKET } from '../state/usage-tables.ts';
import { type PostgresConnection, toPostgres } from './postgres-connection.ts';
import { unseal } from './postgres-sealing.ts';
import { LOCKS, lock } from './postgres-tables.ts';

/** Rows that one transaction removes, so that it delays no other. */
const BATCH_ROWS = 2_000;
const DEADLINE_MS = 5_000;
/** Days for which windows of budgets are kept, for rows that arrive late. */
const WINDOW_DAYS = 40;

/** Removes a batch of what is too old, unless another replica does. @returns whether there may be more. */
export function removeOldRows(
  connection: PostgresConnection,
  retention: LedgerRetention,
  now = Date.now(),
): Promise<boolean> {
  const { rowsBefore, sumsBefore } = oldBefore(retention, now);
  return connection.transaction(DEADLINE_MS, async (sql) => {
    const [locked] = await sql(`SELECT pg_try_advisory_xact_lock(${LOCKS.retention}) AS own`);
    if (locked?.own !== true) return false;
    await sql('DELETE FROM key_hashes WHERE valid_until <= $1', [now]);
    await sql('DELETE FROM budget_windows WHERE end_at < $1', [now - WINDOW_DAYS * 86_400_000]);
    await sql('UPDATE retained SET since = greatest(since, $1)', [rowsBefore]);
    const removed = await sql(
      `DELETE FROM usage WHERE ctid IN (SELECT ctid FROM usage WHERE at < $1 ORDER BY at LIMIT $2) RETURNING 1 AS row`,
      [rowsBefore, BATCH_ROWS],
    );
    const [old] = await sql('SELECT min(bucket) AS bucket FROM usage_rollup WHERE bucket > 0 AND bucket < $1', [
      sumsBefore,
    ]);
    if (old?.bucket != null) {
      await lock(sql, 'money');
      for (const statement of MERGE_BUCKET) await sql(toPostgres(statement), [Number(old.bucket)]);
      await unseal(sql, Number(old.bucket));
    }
    return removed.length === BATCH_ROWS || old?.bucket != null;
  });
}
