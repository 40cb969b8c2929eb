import { LENGTHS, openSealed, type SealedSize, type SealedSums, sealSums, unitSums } from './sealed-sums.ts';
import { type Dialect, type Row, run, type Steps } from './steps.ts';
import { DAY_MS } from './usage-sums.ts';

/** A sealed hour or day. */
export interface Sealed {
  readonly size: SealedSize;
  readonly start: number;
  /** Changes when it is sealed again. */
  readonly version: string;
}

/** Hours or days that one transaction seals. Requests, or rows of requests, wait for it. */
const BATCH = { blocking: 1, waiting: 4 } as const;

/** Hours or days that are over and have sums but are not sealed. */
interface Unsealed {
  readonly size: SealedSize;
  readonly starts: readonly number[];
}

/** Seals the oldest hours or days. Must run in a transaction. @returns whether there was one. */
export function* sealNext(dialect: Dialect, now = Date.now()): Steps<boolean> {
  const found = yield* findUnsealed(dialect, now);
  if (found !== undefined) yield* seal(dialect, found);
  return found !== undefined;
}

export function* findUnsealed({ blocking }: Dialect, now = Date.now()): Steps<Unsealed | undefined> {
  for (const size of ['hour', 'day'] as const) {
    const { length } = LENGTHS[size];
    const found = yield* run(unsealed(length, blocking ? BATCH.blocking : BATCH.waiting), [now - (now % length)]);
    if (found.length > 0) return { size, starts: found.map(({ start }) => Number(start)) };
  }
  return undefined;
}

/** Must run in a transaction. */
export function* seal({ sealed, lockRows }: Dialect, { size, starts }: Unsealed): Steps<void> {
  if (lockRows !== undefined) yield* run(lockRows);
  for (const start of starts) {
    const { length } = LENGTHS[size];
    const sums = yield* run(unitSums(size), [start, start + length]);
    yield* run(sealed.insert, [length, start, sealSums(size, start, sums)]);
  }
}

/** The oldest before `?1`. Jumps from one to the next by the primary key, so that it does not read all sums. */
function unsealed(length: number, most: number): string {
  const next = (from: string) =>
    `(SELECT min(bucket) - min(bucket) % ${length} FROM usage_rollup WHERE bucket >= ${from} AND bucket < ?1)`;
  // The sums of the first bucket have no time.
  return `WITH RECURSIVE times (start) AS (
      SELECT ${next(String(DAY_MS))} UNION ALL
      SELECT ${next(`times.start + ${length}`)} FROM times WHERE times.start IS NOT NULL)
    SELECT start FROM times WHERE start IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM usage_sealed s WHERE s.length = ${length} AND s.start = times.start)
    ORDER BY start LIMIT ${most}`;
}

/** The sealed sums from `since`, before `until`, in order. */
export function* sealedTimes({ sealed }: Dialect, since: number, until: number): Steps<readonly Sealed[]> {
  const lengths = Object.values(LENGTHS).map(({ length }) => length);
  const rows = yield* run(
    `SELECT length, start, ${sealed.version} AS version FROM usage_sealed
      WHERE length IN (${lengths.join(', ')}) AND start >= ?1 AND start < ?2 ORDER BY start`,
    [since, until],
  );
  return rows.map(({ length, start, version }) => {
    return { size: sizeOf(length), start: Number(start), version: String(version) };
  });
}

function sizeOf(length: unknown): SealedSize {
  return Number(length) === DAY_MS ? 'day' : 'hour';
}

/** The most hours and days that `readSealed` reads. */
export const SEALED_PARTS = 4;

/** @throws TypeError if one is not sealed. */
export function* readSealed<P extends Pick<Sealed, 'size' | 'start'>>(
  { sealed }: Dialect,
  parts: readonly P[],
): Steps<readonly { readonly part: P; readonly open: () => SealedSums }[]> {
  const which = parts.map(({ size, start }) => `length = ${LENGTHS[size].length} AND start = ${start}`);
  const rows = yield* run(`SELECT length, start, ${sealed.sums} AS sums FROM usage_sealed WHERE ${which.join(' OR ')}`);
  return parts.map((part) => {
    const found = rows.find(({ length, start }) => sizeOf(length) === part.size && Number(start) === part.start);
    return { part, open: () => openSealed(bytesOf(part, found)) };
  });
}

function bytesOf({ size, start }: Pick<Sealed, 'size' | 'start'>, row: Row | undefined): Uint8Array {
  const sums = row?.sums;
  if (typeof sums === 'string') return Buffer.from(sums, 'base64');
  if (sums instanceof Uint8Array) return sums;
  throw new TypeError(`The ${size} from ${start} is not sealed.`);
}
