/** Upper bound of the first slot, in milliseconds. */
const FIRST_MS = 5;
/** Each slot is wider than the one before by this factor, which bounds the error of percentiles. */
const FACTOR = 1.3;
/** The last slot has no upper bound; it begins at about two minutes. */
const SLOTS = 40;

/** Lower bounds of the slots. */
const BOUNDS: readonly number[] = Array.from({ length: SLOTS }, (_, slot) =>
  slot === 0 ? 0 : FIRST_MS * FACTOR ** (slot - 1),
);

/** Columns that count the answers by the time to their first byte. Counts of several rows add up to those of all. */
export const LATENCY_COLUMNS: readonly string[] = BOUNDS.map((_, slot) => `latency_${slot}`);

/** An expression of SQL that is 1 if a time is in a slot. An answer without a first byte has no slot. */
export function latencyCount(column: string, slot: number): string {
  const to = BOUNDS[slot + 1];
  const from = slot === 0 ? `${column} > 0` : `${column} >= ${BOUNDS[slot]}`;
  return `CASE WHEN ${from}${to === undefined ? '' : ` AND ${column} < ${to}`} THEN 1 ELSE 0 END`;
}

/**
 * The time below which a share of the answers has its first byte; undefined without answers. Within a slot, the answers
 * are taken as evenly spread.
 */
export function percentile(counts: Float64Array, share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let rest = share * total;
  for (const [slot, from] of BOUNDS.entries()) {
    const count = counts[slot] ?? 0;
    if (count > 0 && rest <= count) {
      const to = BOUNDS[slot + 1] ?? from * FACTOR;
      return from + (to - from) * (rest / count);
    }
    rest -= count;
  }
  return undefined;
}
