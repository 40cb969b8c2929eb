import { splitWords } from '../../base/split-words.ts';
import { LATENCY_COLUMNS, latencyCount } from './latency.ts';

/** Milliseconds of a bucket. Days of every time zone consist of whole buckets. */
export const BUCKET_MS = 15 * 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Columns of `usage_rollup` that identify a sum, and those that are added up. */
export const DIMENSIONS = 'bucket, key, organization, "user", model, provider, byok, outcome';
export const SUMS = [
  ...splitWords(`
    requests estimated input output cache_read cache_write cache_write_1h reasoning cost_nano failures output_ms
  `),
  ...LATENCY_COLUMNS,
];

/**
 * An answer whose bytes took less than a tenth of its time was sent all at once: its text was made before its first
 * byte, so its time begins with the request.
 */
const ALL_AT_ONCE = 10;

/** For each sum, the SQL expression for a row of `usage`. For SQLite and Postgres. */
export const ROW_SUMS: ReadonlyMap<string, string> = new Map([
  ...SUMS.map((name) => [name, `coalesce(${name}, 0)`] as const),
  ['requests', 'counted'],
  ['failures', "CASE WHEN counted = 1 AND outcome IN ('failed', 'refused') THEN 1 ELSE 0 END"],
  [
    'output_ms',
    `CASE WHEN counted = 1 AND output > 0 AND first_byte_ms > 0 AND duration_ms > wait_ms THEN
      CASE WHEN ${ALL_AT_ONCE} * (duration_ms - wait_ms - first_byte_ms) < duration_ms - wait_ms
        THEN duration_ms - wait_ms ELSE duration_ms - wait_ms - first_byte_ms END
      ELSE 0 END`,
  ],
  ...LATENCY_COLUMNS.map((name, slot) => [name, latencyCount('first_byte_ms', slot)] as const),
]);

export function bucketOf(at: number): number {
  return at - (at % BUCKET_MS);
}
