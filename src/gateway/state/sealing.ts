import type { DatabaseSync } from 'node:sqlite';
import { LENGTHS, openSealed, type SealedSize, type SealedSums, sealSums, unitSums } from './sealed-sums.ts';
import { DAY_MS } from './usage-sums.ts';

/** Seals the oldest hour or day that is over and has sums but is not sealed. @returns whether there was one. */
export function sealNext(database: DatabaseSync, now = Date.now()): boolean {
  return seal(database, 'hour', now) || seal(database, 'day', now);
}

function seal(database: DatabaseSync, size: SealedSize, now: number): boolean {
  const { length } = LENGTHS[size];
  const end = now - (now % length);
  const start = firstUnsealed(database, size, end);
  if (start === undefined) return false;
  const rows = database.prepare(unitSums(size)).all(start, start + length);
  // SQLite would give a row the number of one that was removed. Reports know by the number that it is another one.
  database
    .prepare('INSERT OR REPLACE INTO usage_sealed (rowid, length, start, sums) VALUES (random() >> 11, ?, ?, ?)')
    .run(length, start, sealSums(size, start, rows));
  return true;
}

function firstUnsealed(database: DatabaseSync, size: SealedSize, end: number): number | undefined {
  const { length } = LENGTHS[size];
  // Skips times without sums by the primary key, so that it does not read all sums.
  const next = database.prepare('SELECT min(bucket) AS bucket FROM usage_rollup WHERE bucket >= ? AND bucket < ?');
  const sealed = new Set(sealedTimes(database, size, 0, end).map(({ start }) => start));
  // The sums of the first bucket have no time.
  for (let at = DAY_MS; at < end; at += length) {
    if (sealed.has(at)) continue;
    const found = next.get(at, end)?.bucket;
    if (typeof found !== 'number') return undefined;
    at = found - (found % length);
    if (!sealed.has(at)) return at;
  }
  return undefined;
}

/** What is sealed from `from`, before `to`, in order. */
export function sealedTimes(
  database: DatabaseSync,
  size: SealedSize,
  from: number,
  to: number,
): { readonly start: number; readonly version: string }[] {
  const rows = database
    .prepare(
      'SELECT start, rowid AS version FROM usage_sealed WHERE length = ? AND start >= ? AND start < ? ORDER BY start',
    )
    .all(LENGTHS[size].length, from, to);
  return rows.map(({ start, version }) => ({ start: Number(start), version: String(version) }));
}

/** @throws TypeError if it is not sealed. */
export function readSealed(database: DatabaseSync, size: SealedSize, start: number): SealedSums {
  const found = database
    .prepare('SELECT sums FROM usage_sealed WHERE length = ? AND start = ?')
    .get(LENGTHS[size].length, start)?.sums;
  if (!(found instanceof Uint8Array)) throw new TypeError(`The ${size} from ${start} is not sealed.`);
  return openSealed(found);
}
