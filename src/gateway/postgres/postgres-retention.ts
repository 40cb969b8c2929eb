import type { LedgerRetention } from '../../config/settings/settings.ts';
import { removeOld } from '../accounting/retention.ts';
import { sealNext } from '../state/sealing.ts';
import { type PostgresConnection, runIn, type Sql } from './postgres-connection.ts';
import { LOCKS, POSTGRES } from './postgres-tables.ts';

const DEADLINE_MS = 10_000;
/** Days for which windows of budgets are kept, for rows that arrive late. */
const WINDOW_DAYS = 40;

/** Removes a batch of old rows, unless another replica does. @returns whether there may be more. */
export function removeOldRows(
  connection: PostgresConnection,
  retention: LedgerRetention,
  now = Date.now(),
): Promise<boolean> {
  return connection.transaction(DEADLINE_MS, async (sql) => {
    if (!(await takeTurn(sql))) return false;
    await sql('DELETE FROM key_hashes WHERE valid_until <= $1', [now]);
    await sql('DELETE FROM budget_windows WHERE end_at < $1', [now - WINDOW_DAYS * 86_400_000]);
    return runIn(sql, removeOld(POSTGRES, retention, now));
  });
}

/**
 * Seals hours and days that are over, unless another replica does, or one of an older release is there: it would not
 * remove sums that a late row makes wrong. @returns whether there may be more.
 */
export function sealNextInPostgres(connection: PostgresConnection, now = Date.now()): Promise<boolean> {
  return connection.transaction(DEADLINE_MS, async (sql) => {
    if (!(await takeTurn(sql))) return false;
    const [older] = await sql(`SELECT 1 FROM replicas WHERE facts IS NULL AND released_at IS NULL
      AND seen_at > now() - interval '10 minutes' LIMIT 1`);
    return older === undefined && (await runIn(sql, sealNext(POSTGRES, now)));
  });
}

/** Whether no other replica does it. */
async function takeTurn(sql: Sql): Promise<boolean> {
  const [locked] = await sql(`SELECT pg_try_advisory_xact_lock(${LOCKS.retention}) AS own`);
  return locked?.own === true;
}
