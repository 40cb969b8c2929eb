import type { SealedPart, SealedTimes } from '../reports/report-plan.ts';
import { LENGTHS, openSealed, type SealedSize, type SealedSums, sealSums, unitSums } from '../state/sealed-sums.ts';
import { DAY_MS } from '../state/usage-sums.ts';
import { toPostgres } from './postgres-admin.ts';
import type { PostgresConnection, Sql } from './postgres-connection.ts';
import { LOCKS, lock } from './postgres-tables.ts';

const DEADLINE_MS = 10_000;
/** Hours or days that one transaction seals. Rows of requests wait for it. */
const BATCH = 4;

/**
 * Seals hours and days that are over, unless another replica does, or one of an older release is there: it would not
 * remove what a late row makes wrong. @returns whether there may be more.
 */
export function sealNextInPostgres(connection: PostgresConnection, now = Date.now()): Promise<boolean> {
  return connection.transaction(DEADLINE_MS, async (sql) => {
    const [locked] = await sql(`SELECT pg_try_advisory_xact_lock(${LOCKS.retention}) AS own,
      EXISTS (SELECT 1 FROM replicas WHERE facts IS NULL AND released_at IS NULL
        AND seen_at > now() - interval '10 minutes') AS older`);
    if (locked?.own !== true || locked.older === true) return false;
    for (const size of ['hour', 'day'] as const) {
      const starts = await unsealed(sql, size, now);
      if (starts.length === 0) continue;
      // No row is written meanwhile.
      await lock(sql, 'money');
      for (const start of starts) await seal(sql, size, start);
      return true;
    }
    return false;
  });
}

async function unsealed(sql: Sql, size: SealedSize, now: number): Promise<number[]> {
  const { length } = LENGTHS[size];
  const rows = await sql(
    `SELECT start FROM (
        SELECT DISTINCT bucket - bucket % ${length} AS start FROM usage_rollup WHERE bucket >= ${DAY_MS} AND bucket < $1
      ) AS times
      WHERE NOT EXISTS (SELECT 1 FROM usage_sealed s WHERE s.length = ${length} AND s.start = times.start)
      ORDER BY start LIMIT ${BATCH}`,
    [now - (now % length)],
  );
  return rows.map(({ start }) => Number(start));
}

async function seal(sql: Sql, size: SealedSize, start: number): Promise<void> {
  const { length } = LENGTHS[size];
  const rows = await sql(toPostgres(unitSums(size)), [start, start + length]);
  await sql(
    'INSERT INTO usage_sealed VALUES ($1, $2, $3) ON CONFLICT (length, start) DO UPDATE SET sums = excluded.sums',
    [...[length, start, sealSums(size, start, rows)]],
  );
}

/** Removes the sealed hour and day of a bucket. */
export async function unseal(sql: Sql, bucket: number): Promise<void> {
  for (const { length } of Object.values(LENGTHS)) {
    await sql('DELETE FROM usage_sealed WHERE length = $1 AND start = $2', [length, bucket - (bucket % length)]);
  }
}

/** What is sealed from `since`, before `until`. The version is the number of the transaction that sealed it. */
export async function sealedTimes(sql: Sql, since: number, until: number): Promise<SealedTimes> {
  const rows = await sql(
    'SELECT length, start, xmin::text AS version FROM usage_sealed WHERE start >= $1 AND start < $2 ORDER BY start',
    [since, until],
  );
  const of = (size: SealedSize) =>
    rows
      .filter(({ length }) => Number(length) === LENGTHS[size].length)
      .map(({ start, version }) => ({ start: Number(start), version: String(version) }));
  return { day: of('day'), hour: of('hour') };
}

/** Sealed hours and days, one after another, so that requests are answered in between. */
export async function* readSealedParts(
  sql: Sql,
  sealed: readonly SealedPart[],
): AsyncGenerator<{ readonly part: SealedPart; readonly sums: SealedSums }> {
  for (let first = 0; first < sealed.length; first += PARTS) {
    const parts = sealed.slice(first, first + PARTS);
    const rows = await sql(
      // The driver decodes the text of bytes in hexadecimal, which is longer.
      `SELECT length, start, encode(sums, 'base64') AS sums FROM usage_sealed
        WHERE (length, start) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))`,
      [parts.map(({ size }) => LENGTHS[size].length), parts.map(({ start }) => start)],
    );
    const found = new Map(rows.map(({ length, start, sums }) => [`${length} ${start}`, sums]));
    for (const part of parts) {
      const sums = found.get(`${LENGTHS[part.size].length} ${part.start}`);
      if (typeof sums !== 'string') throw new TypeError(`The ${part.size} from ${part.start} is not sealed.`);
      yield { part, sums: openSealed(Buffer.from(sums, 'base64')) };
    }
  }
}

/** Sealed hours and days of one statement. */
const PARTS = 4;
