import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { latencySlot } from './latency.ts';
import { LEDGER_COLUMNS, rowValues, type UsageRow } from './ledger-columns.ts';
import { unseal } from './sealed-sums.ts';
import { ALL_AT_ONCE, bucketOf, DIMENSIONS, SUMS } from './usage-sums.ts';

const INSERT = `INSERT INTO usage (${LEDGER_COLUMNS.map(({ name }) => name).join(', ')})
  VALUES (${LEDGER_COLUMNS.map(() => '?').join(', ')}) ON CONFLICT (at, request_id, attempt) DO NOTHING`;

const COST = SUMS.indexOf('cost_nano');
const FIRST_LATENCY = SUMS.indexOf('latency_0');
/** The end of a statement that inserts into `usage_rollup AS r`, for SQLite and Postgres. */
export const ADD_UP = `ON CONFLICT (${DIMENSIONS}) DO UPDATE SET
  ${SUMS.map((name) => `${name} = r.${name} + excluded.${name}`).join(', ')}`;
const ROLL_UP = `INSERT INTO usage_rollup AS r (${DIMENSIONS}, ${SUMS.join(', ')})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${SUMS.map(() => '?').join(', ')}) ${ADD_UP}`;
/** Without users: clients may name very many, and totals are kept for ever. Reports by user read the rollup. */
const SPEND = `INSERT INTO spent (key, organization, user, model, nano) VALUES (?, ?, '', ?, ?)
  ON CONFLICT (key, organization, user, model) DO UPDATE SET nano = nano + excluded.nano`;

/** The user of a key stays; one that a client named does not, because the first bucket is kept for ever. */
const KEPT_USER = `CASE WHEN "user" = (SELECT k."user" FROM keys k WHERE k.name = usage_rollup.key) THEN "user" ELSE '' END`;

/** Statements for SQLite and Postgres that make the bucket `?1` a part of the first one, which has no time of its own. */
export const MERGE_BUCKET = [
  unseal('SELECT bucket AS at FROM usage_rollup WHERE bucket = ?1'),
  `INSERT INTO usage_rollup AS r (${DIMENSIONS}, ${SUMS.join(', ')})
    SELECT 0, key, organization, kept, model, provider, byok, outcome, ${SUMS.map((name) => `sum(${name})`).join(', ')}
    FROM (SELECT usage_rollup.*, ${KEPT_USER} AS kept FROM usage_rollup WHERE bucket = ?1) AS merged
    GROUP BY key, organization, kept, model, provider, byok, outcome
    ${ADD_UP}`,
  'DELETE FROM usage_rollup WHERE bucket = ?1',
] as const;

interface Sum {
  readonly row: UsageRow;
  readonly values: number[];
}

/** Writes rows, the sums of their quarters of an hour and the spending. Each row counts once, by its id. */
export class UsageTables {
  readonly #insert: StatementSync;
  readonly #rollUp: StatementSync;
  readonly #spend: StatementSync;
  readonly #unseal: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(INSERT);
    this.#rollUp = database.prepare(ROLL_UP);
    this.#spend = database.prepare(SPEND);
    this.#unseal = database.prepare(unseal('SELECT ?1 AS at'));
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
    // An hour that gets a late row is sealed again.
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
      return this.#insert.run(...rowValues(row)).changes > 0 ? row : undefined;
    } catch (thrown) {
      if (row.usage === undefined || !isConstraint(thrown)) throw thrown;
      refused(new Error(`the tokens of ${row.requestId} can’t be written: ${thrown.message}`, { cause: thrown }));
      const rest = { ...row, usage: undefined };
      return this.#insert.run(...rowValues(rest)).changes > 0 ? rest : undefined;
    }
  }
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

/** The time in which an answer was made, as SQL computes it for rows (usage-sums.ts). */
function outputMs(total: number, firstByte: number): number {
  return Math.max(0, ALL_AT_ONCE * (total - firstByte) < total ? total : total - firstByte);
}

const SQLITE_CONSTRAINT = 19;

function isConstraint(thrown: unknown): thrown is Error {
  // The last byte of an extended code is the primary code (sqlite.org/rescode.html).
  const code = thrown instanceof Error && 'errcode' in thrown ? Number(thrown.errcode) : 0;
  return (code & 0xff) === SQLITE_CONSTRAINT;
}
