import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LEDGER_COLUMNS, rowValues, type UsageRow } from './ledger-columns.ts';
import { unseal } from './sealed-sums.ts';
import { BUCKET_MS, DIMENSIONS, ROW_SUMS, SUMS } from './usage-sums.ts';

const INSERT = `INSERT INTO usage (${LEDGER_COLUMNS.map(({ name }) => name).join(', ')})
  VALUES (${LEDGER_COLUMNS.map(() => '?').join(', ')}) ON CONFLICT (at, request_id, attempt) DO NOTHING`;

/** The end of a statement that inserts into `usage_rollup AS r`, for SQLite and Postgres. */
const ADD_UP = `ON CONFLICT (${DIMENSIONS}) DO UPDATE SET
  ${SUMS.map((name) => `${name} = r.${name} + excluded.${name}`).join(', ')}`;

/**
 * A statement for SQLite and Postgres that adds rows to the sums of their quarters of an hour. The order is always the
 * same, so that two replicas can't lock sums in different orders.
 *
 * @param rows a table with the columns of `usage`.
 */
export function rollUp(rows: string): string {
  return `INSERT INTO usage_rollup AS r (${DIMENSIONS}, ${SUMS.join(', ')})
    SELECT at - at % ${BUCKET_MS} AS bucket, key, organization, "user", model, provider, byok, outcome,
      ${SUMS.map((name) => `coalesce(sum(${ROW_SUMS.get(name)}), 0)`).join(', ')}
    FROM ${rows} GROUP BY ${DIMENSIONS} ORDER BY ${DIMENSIONS} ${ADD_UP}`;
}

/**
 * The same for the spending. Without users: clients may name very many, and totals are kept for ever. Reports by user
 * read the rollup.
 */
export function addSpent(rows: string): string {
  return `INSERT INTO spent AS s (key, organization, "user", model, nano)
    SELECT key, organization, '', model, sum(cost_nano) FROM ${rows} WHERE byok = 0 AND cost_nano <> 0
    GROUP BY key, organization, model ORDER BY key, organization, model
    ON CONFLICT (key, organization, "user", model) DO UPDATE SET nano = s.nano + excluded.nano`;
}

/** Those that a transaction in SQLite has inserted. */
const NEW_ROWS = '(SELECT * FROM usage WHERE seq > ?1) AS added';

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

/** Writes rows, the sums of their quarters of an hour and the spending. Each row counts once, by its id. */
export class UsageTables {
  readonly #insert: StatementSync;
  readonly #last: StatementSync;
  /** For the rows after a number. An hour that gets a late row is sealed again. */
  readonly #add: readonly StatementSync[];

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(INSERT);
    this.#last = database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM usage');
    this.#add = [unseal(`SELECT at FROM ${NEW_ROWS}`), rollUp(NEW_ROWS), addSpent(NEW_ROWS)].map((sql) =>
      database.prepare(sql),
    );
  }

  /**
   * Must run in a transaction. A row whose tokens can't be stored is written without them, because its cost counts.
   *
   * @param refused is called for such a row.
   */
  write(rows: readonly UsageRow[], refused: (error: Error) => void): void {
    const last = Number(this.#last.get()?.seq);
    for (const row of rows) this.#insertRow(row, refused);
    for (const statement of this.#add) statement.run(last);
  }

  #insertRow(row: UsageRow, refused: (error: Error) => void): void {
    try {
      this.#insert.run(...rowValues(row));
    } catch (thrown) {
      if (row.usage === undefined || !isConstraint(thrown)) throw thrown;
      refused(new Error(`the tokens of ${row.requestId} can’t be written: ${thrown.message}`, { cause: thrown }));
      this.#insert.run(...rowValues({ ...row, usage: undefined }));
    }
  }
}

const SQLITE_CONSTRAINT = 19;

function isConstraint(thrown: unknown): thrown is Error {
  // The last byte of an extended code is the primary code (sqlite.org/rescode.html).
  const code = thrown instanceof Error && 'errcode' in thrown ? Number(thrown.errcode) : 0;
  return (code & 0xff) === SQLITE_CONSTRAINT;
}
