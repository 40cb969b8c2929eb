import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Usage } from '../../wire/event.ts';
import type { EstimateReason } from './estimate-reason.ts';
import { LATENCY_COLUMNS, latencyCount, latencySlot } from './latency.ts';
import { writeDetails } from './row-details.ts';

/** Milliseconds of a bucket. Days of every time zone consist of whole buckets. */
export const BUCKET_MS = 15 * 60_000;

/** Who spends, and on which model. A name is empty if there is none. */
export interface Spender {
  readonly key: string;
  readonly organization: string;
  readonly user: string;
  readonly model: string;
}

/**
 * One attempt, or the end of a request that no attempt answered (attempt 0). Contains numbers and names, no content.
 */
export interface UsageRow extends Spender {
  readonly requestId: string;
  /** 1 for the first upstream request of a request; 0 for a request that failed or was refused. */
  readonly attempt: number;
  /** Unix milliseconds. */
  readonly at: number;
  /** Labels that the client sent. */
  readonly tags: Readonly<Record<string, string>> | undefined;
  readonly endpoint: string;
  readonly provider: string;
  /** The organization paid with its own credential. */
  readonly byok: boolean;
  readonly outcome: string;
  /** The row ends its request. One row of a request does, so these rows are the requests. */
  readonly counted: boolean;
  /** HTTP status that the client got, or that the upstream sent for an attempt that failed. */
  readonly status?: number | undefined;
  readonly errorType?: string | undefined;
  /** The prices that made the cost (price-text.ts). */
  readonly prices?: string | undefined;
  readonly usage: Usage | undefined;
  /** Nano-USD; undefined if the model's prices are not known. */
  readonly cost: number | undefined;
  /** The upstream did not report all of the usage, or more than the request can cause. */
  readonly estimated: boolean;
  /** Why the usage is estimated. Rows of older releases have none. */
  readonly estimateReason?: EstimateReason | undefined;
  /** Milliseconds from the request to the attempt, from the attempt to its first byte, from the request to its end. */
  readonly waitMs: number;
  readonly firstByteMs: number;
  readonly durationMs: number;
}

const INSERT = `INSERT INTO usage (request_id, attempt, at, key, organization, user, tags, endpoint, model, provider,
  byok, outcome, input, output, cache_read, cache_write, cache_write_1h, reasoning, cost_nano, estimated,
  wait_ms, first_byte_ms, duration_ms, counted, status, error_type, prices, details)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (at, request_id, attempt) DO NOTHING`;

/** Columns of `usage_rollup` that identify a sum, and those that are added up. */
const DIMENSIONS = 'bucket, key, organization, "user", model, provider, byok, outcome';
export const SUMS = [
  ...['requests', 'estimated', 'input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'reasoning'],
  ...['cost_nano', 'failures', 'output_ms'],
  ...LATENCY_COLUMNS,
];
const COST = SUMS.indexOf('cost_nano');
const FIRST_LATENCY = SUMS.indexOf('latency_0');

/**
 * An answer whose bytes took less than a tenth of its time was sent all at once: its text was made before its first
 * byte, so its time begins with the request.
 */
const ALL_AT_ONCE = 10;

/** For each sum, the SQL expression for a row of `usage`, as `addTo` computes it. For SQLite and Postgres. */
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
const ADD = SUMS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');
const ROLL_UP = `INSERT INTO usage_rollup (${DIMENSIONS}, ${SUMS.join(', ')})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${SUMS.map(() => '?').join(', ')}) ON CONFLICT (${DIMENSIONS}) DO UPDATE SET ${ADD}`;
/** Without users: clients may name very many, and totals are kept for ever. Reports by user read the rollup. */
const SPEND = `INSERT INTO spent (key, organization, user, model, nano) VALUES (?, ?, '', ?, ?)
  ON CONFLICT (key, organization, user, model) DO UPDATE SET nano = nano + excluded.nano`;

/** Removes the sealed day and hour of a bucket (sealing.ts). */
const UNSEAL = `DELETE FROM usage_sealed
  WHERE length = 86400000 AND start = ?1 - ?1 % 86400000 OR length = 3600000 AND start = ?1 - ?1 % 3600000`;

/** The user of a key stays; one that a client named does not, because the first bucket is kept for ever. */
const KEPT_USER = `CASE WHEN "user" = (SELECT k."user" FROM keys k WHERE k.name = usage_rollup.key) THEN "user" ELSE '' END`;

/** Statements for SQLite and Postgres that make the bucket `?1` a part of the first one. */
export const MERGE_BUCKET = [
  `INSERT INTO usage_rollup AS r (${DIMENSIONS}, ${SUMS.join(', ')})
    SELECT 0, key, organization, kept, model, provider, byok, outcome, ${SUMS.map((name) => `sum(${name})`).join(', ')}
    FROM (SELECT usage_rollup.*, ${KEPT_USER} AS kept FROM usage_rollup WHERE bucket = ?1) AS merged
    GROUP BY key, organization, kept, model, provider, byok, outcome
    ON CONFLICT (${DIMENSIONS}) DO UPDATE SET ${SUMS.map((name) => `${name} = r.${name} + excluded.${name}`).join(', ')}`,
  'DELETE FROM usage_rollup WHERE bucket = ?1',
] as const;

interface Sum {
  readonly row: UsageRow;
  readonly values: number[];
}

/** Writes rows, the sums of their quarters of an hour and what was spent. Each row counts once, by its id. */
export class UsageTables {
  readonly #insert: StatementSync;
  readonly #rollUp: StatementSync;
  readonly #spend: StatementSync;
  readonly #unseal: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(INSERT);
    this.#rollUp = database.prepare(ROLL_UP);
    this.#spend = database.prepare(SPEND);
    this.#unseal = database.prepare(UNSEAL);
  }

  /**
   * Must run in a transaction. A row whose tokens can't be stored is written without them, because its cost counts.
   *
   * @param refused is called for such a row.
   */
  write(rows: readonly UsageRow[], refused: (error: Error) => void): void {
    const sums = new Map<string, Sum>();
    for (const row of rows) {
      const written = this.#insertRow(row, refused);
      if (written !== undefined) addTo(sums, written);
    }
    // What gets a late row is sealed again.
    for (const bucket of new Set([...sums.values()].map(({ row }) => bucketOf(row.at)))) this.#unseal.run(bucket);
    for (const { row, values } of sums.values()) {
      const { key, organization, user, model, provider, byok, outcome } = row;
      this.#rollUp.run(bucketOf(row.at), key, organization, user, model, provider, byok ? 1 : 0, outcome, ...values);
      const nano = values[COST] ?? 0;
      if (!byok && nano !== 0) this.#spend.run(key, organization, model, nano);
    }
  }

  /** @returns the row as it was written; undefined if it was there already. */
  #insertRow(row: UsageRow, refused: (error: Error) => void): UsageRow | undefined {
    try {
      return runInsert(this.#insert, row) ? row : undefined;
    } catch (thrown) {
      if (row.usage === undefined || !isConstraint(thrown)) throw thrown;
      refused(new Error(`the tokens of ${row.requestId} can’t be written: ${thrown.message}`, { cause: thrown }));
      const rest = { ...row, usage: undefined };
      return runInsert(this.#insert, rest) ? rest : undefined;
    }
  }
}

/** Makes a bucket a part of the first one, which has no time of its own. Must run in a transaction. */
export function mergeBucket(database: DatabaseSync, bucket: number): void {
  for (const statement of MERGE_BUCKET) database.prepare(statement).run(bucket);
  database.prepare(UNSEAL).run(bucket);
}

export function bucketOf(at: number): number {
  return at - (at % BUCKET_MS);
}

function addTo(sums: Map<string, Sum>, row: UsageRow): void {
  const { key, organization, user, model, provider, byok, outcome, usage } = row;
  // No name contains a line break.
  const group = `${bucketOf(row.at)}\n${key}\n${organization}\n${user}\n${model}\n${provider}\n${byok}\n${outcome}`;
  let sum = sums.get(group);
  if (sum === undefined) {
    sum = { row, values: SUMS.map(() => 0) };
    sums.set(group, sum);
  }
  const { values } = sum;
  const add = (index: number, value: number) => {
    values[index] = (values[index] ?? 0) + value;
  };
  add(0, row.counted ? 1 : 0);
  add(1, row.estimated ? 1 : 0);
  add(2, usage?.input ?? 0);
  add(3, usage?.output ?? 0);
  add(4, usage?.cacheRead ?? 0);
  add(5, usage?.cacheWrite ?? 0);
  add(6, usage?.cacheWrite1h ?? 0);
  add(7, usage?.reasoning ?? 0);
  add(COST, row.cost ?? 0);
  add(9, row.counted && (row.outcome === 'failed' || row.outcome === 'refused') ? 1 : 0);
  // As the row has them, so that sums and rows are equal.
  const firstByte = Math.round(row.firstByteMs);
  if (!firstByte) return;
  if (row.counted && usage?.output) add(10, outputMs(Math.round(row.durationMs) - Math.round(row.waitMs), firstByte));
  add(FIRST_LATENCY + latencySlot(firstByte), 1);
}

/** The time in which an answer was made, as SQL computes it above. */
function outputMs(total: number, firstByte: number): number {
  return Math.max(0, ALL_AT_ONCE * (total - firstByte) < total ? total : total - firstByte);
}

const SQLITE_CONSTRAINT = 19;

function isConstraint(thrown: unknown): thrown is Error {
  // The last byte of an extended code is the primary code (sqlite.org/rescode.html).
  const code = thrown instanceof Error && 'errcode' in thrown ? Number(thrown.errcode) : 0;
  return (code & 0xff) === SQLITE_CONSTRAINT;
}

/** @returns whether the row is new. */
function runInsert(insert: StatementSync, row: UsageRow): boolean {
  const { usage } = row;
  const { changes } = insert.run(
    row.requestId,
    row.attempt,
    row.at,
    row.key,
    row.organization,
    row.user,
    row.tags === undefined ? '' : JSON.stringify(row.tags),
    row.endpoint,
    row.model,
    row.provider,
    row.byok ? 1 : 0,
    row.outcome,
    usage?.input ?? null,
    usage?.output ?? null,
    usage?.cacheRead ?? null,
    usage?.cacheWrite ?? null,
    usage?.cacheWrite1h ?? null,
    usage?.reasoning ?? null,
    row.cost ?? null,
    row.estimated ? 1 : 0,
    Math.round(row.waitMs),
    Math.round(row.firstByteMs),
    Math.round(row.durationMs),
    row.counted ? 1 : 0,
    row.status ?? null,
    row.errorType ?? null,
    row.prices ?? null,
    writeDetails(row) ?? null,
  );
  return changes > 0;
}
