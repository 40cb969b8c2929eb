import type { DatabaseSync } from 'node:sqlite';
import type { LedgerRetention } from '../../config/settings/settings.ts';
import { findUnsealed, seal } from '../state/sealing.ts';
import { type Dialect, run, runSteps, SQLITE, type Steps } from '../state/steps.ts';
import { transaction } from '../state/transaction.ts';
import { BUCKET_MS, bucketOf } from '../state/usage-sums.ts';
import { MERGE_BUCKET } from '../state/usage-tables.ts';

/** Budgets by month are read from the sums. */
const LONGEST_WINDOW_MS = 32 * 86_400_000;

/** Rows that one transaction removes, so that it delays no stream, or no other transaction. */
const BATCH_ROWS = { blocking: 500, waiting: 2_000 } as const;

/** Removes a batch of old rows. @returns whether there may be more. */
export function* removeOld(dialect: Dialect, retention: LedgerRetention, now = Date.now()): Steps<boolean> {
  const { place, blocking, lockRows } = dialect;
  const { rowsBefore, sumsBefore } = oldBefore(retention, now);
  const most = blocking ? BATCH_ROWS.blocking : BATCH_ROWS.waiting;
  const old = `SELECT ${place} FROM usage WHERE at < ?1 ORDER BY at LIMIT ${most}`;
  const removed = yield* run(`DELETE FROM usage WHERE ${place} IN (${old}) RETURNING 1 AS row`, [rowsBefore]);
  const [sum] = yield* run('SELECT min(bucket) AS bucket FROM usage_rollup WHERE bucket > 0 AND bucket < ?1', [
    sumsBefore,
  ]);
  const bucket = sum?.bucket == null ? undefined : Number(sum.bucket);
  if (removed.length === 0 && bucket === undefined) return false;
  yield* run('UPDATE retained SET since = ?1 WHERE since < ?1', [rowsBefore]);
  if (bucket === undefined) return removed.length === most;
  if (lockRows !== undefined) yield* run(lockRows);
  for (const statement of MERGE_BUCKET) yield* run(statement, [bucket]);
  return true;
}

/** Rows and sums before these times are too old. */
function oldBefore({ usage, rollup }: LedgerRetention, now = Date.now()) {
  // Nothing is older than 0 if the age is infinite.
  return {
    rowsBefore: bucketOf(Math.max(0, now - usage)),
    sumsBefore: bucketOf(Math.max(0, now - Math.max(rollup, usage + BUCKET_MS, LONGEST_WINDOW_MS))),
  };
}

/** Milliseconds between two batches, and between two checks whether something is too old. */
const PAUSE_MS = 100;
const CHECK_MS = 3_600_000;

/** Removes old rows and seals hours and days that are over, now and every hour. @returns a function that stops it. */
export function keepRetention(
  database: DatabaseSync,
  retention: () => LedgerRetention,
  failed: (thrown: unknown) => void,
): () => void {
  const change = <T>(steps: Steps<T>) => transaction(database, () => runSteps(database, steps));
  const sealOldest = () => {
    // The search takes long in a large state, so it must not lock out other processes.
    const found = runSteps(database, findUnsealed(SQLITE));
    if (found !== undefined) change(seal(SQLITE, found));
    return found !== undefined;
  };
  return everyHour(async () => change(removeOld(SQLITE, retention())) || sealOldest(), failed);
}

/** Calls `remove` now and every hour, until there is no more. @returns a function that stops it. */
export function everyHour(remove: () => Promise<boolean>, failed: (thrown: unknown) => void): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const next = async () => {
    let more = false;
    try {
      more = await remove();
    } catch (thrown) {
      failed(thrown);
    }
    if (!stopped) timer = setTimeout(() => void next(), more ? PAUSE_MS : CHECK_MS).unref();
  };
  timer = setTimeout(() => void next(), PAUSE_MS).unref();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
