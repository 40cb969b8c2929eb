import type { DatabaseSync } from 'node:sqlite';
import type { LedgerRetention } from '../../config/settings/settings.ts';
import { sealNext } from '../state/sealing.ts';
import { transaction } from '../state/transaction.ts';
import { BUCKET_MS, bucketOf } from '../state/usage-sums.ts';
import { MERGE_BUCKET } from '../state/usage-tables.ts';

/** Budgets by month are read from the sums. */
const LONGEST_WINDOW_MS = 32 * 86_400_000;

/** Rows that one transaction removes, so that it delays no stream. */
const BATCH_ROWS = 500;

/** Removes a batch of what is too old. @returns whether there may be more. */
export function removeOld(database: DatabaseSync, { usage, rollup }: LedgerRetention, now = Date.now()): boolean {
  const { rowsBefore, sumsBefore } = oldBefore({ usage, rollup }, now);
  const row = database.prepare('SELECT 1 FROM usage WHERE at < ? LIMIT 1').get(rowsBefore);
  const sum = database
    .prepare('SELECT bucket FROM usage_rollup WHERE bucket > 0 AND bucket < ? ORDER BY bucket LIMIT 1')
    .get(sumsBefore);
  if (row === undefined && sum === undefined) return false;
  transaction(database, () => {
    database.prepare('UPDATE retained SET since = max(since, ?)').run(rowsBefore);
    const old = 'SELECT seq FROM usage WHERE at < ? ORDER BY at LIMIT ?';
    database.prepare(`DELETE FROM usage WHERE seq IN (${old})`).run(rowsBefore, BATCH_ROWS);
    for (const statement of sum === undefined ? [] : MERGE_BUCKET) database.prepare(statement).run(Number(sum?.bucket));
  });
  return true;
}

/** Rows and sums before these times are too old. */
export function oldBefore({ usage, rollup }: LedgerRetention, now = Date.now()) {
  // Nothing is older than 0 if the age is infinite.
  return {
    rowsBefore: bucketOf(Math.max(0, now - usage)),
    sumsBefore: bucketOf(Math.max(0, now - Math.max(rollup, usage + BUCKET_MS, LONGEST_WINDOW_MS))),
  };
}

/** Unix milliseconds: from then on, no row of the ledger was removed. */
export function retainedSince(database: DatabaseSync): number {
  return Number(database.prepare('SELECT since FROM retained').get()?.since ?? 0);
}

/** Milliseconds between two batches, and between two checks whether something is too old. */
const PAUSE_MS = 100;
const CHECK_MS = 3_600_000;

/** Removes what is too old and seals hours and days that are over, now and every hour. @returns a function that stops it. */
export function keepRetention(
  database: DatabaseSync,
  retention: () => LedgerRetention,
  failed: (thrown: unknown) => void,
): () => void {
  return everyHour(async () => removeOld(database, retention()) || sealNext(database), failed);
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
