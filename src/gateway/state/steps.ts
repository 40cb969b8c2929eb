import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';

export type Row = Readonly<Record<string, unknown>>;
type SqlValue = string | number | null | Uint8Array;

/** For SQLite and Postgres, with parameters `?1`, `?2` and so on. */
interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * Work on a state. It yields statements and gets their rows, so that the same work runs at once in SQLite and waits for
 * each answer of Postgres. Undefined is a pause.
 */
export type Steps<T> = Generator<Statement | undefined, T, readonly Row[]>;

/** Runs a statement. */
export function* run(sql: string, values: readonly SqlValue[] = []): Steps<readonly Row[]> {
  return yield { sql, values };
}

/** Lets requests in, where the work allows it. */
export function* pause(): Steps<void> {
  yield undefined;
}

/** The differences between the databases. */
export interface Dialect {
  /** Columns that tell rows apart: by the order in which they were added to a table of keys, and by their place. */
  readonly added: 'rowid' | 'number';
  readonly place: 'rowid' | 'ctid';
  /** Of a row of `usage_sealed`: the columns that change when it is sealed again, its sums, and the statement that adds it. */
  readonly sealed: { readonly version: string; readonly sums: string; readonly insert: string };
  /** No row is written until the end of the transaction. Absent: always. */
  readonly lockRows?: string;
  /** The process does nothing else while a statement runs. */
  readonly blocking: boolean;
  /** The member of a column of JSON. The name has no quotation mark that is not doubled. */
  member(column: string, name: string): string;
}

export const SQLITE: Dialect = {
  added: 'rowid',
  place: 'rowid',
  sealed: {
    version: 'rowid',
    sums: 'sums',
    // Another process may have sealed it. SQLite would give a row the number of one that was removed.
    insert: 'INSERT OR REPLACE INTO usage_sealed (rowid, length, start, sums) VALUES (random() >> 11, ?1, ?2, ?3)',
  },
  blocking: true,
  member: (column, name) => `${column} ->> '$."${name}"'`,
};

/** Statements that are compiled once. */
export class PreparedStatements {
  readonly #database: DatabaseSync;
  readonly #byText = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  prepare(sql: string): StatementSync {
    const found = this.#byText.get(sql) ?? this.#database.prepare(sql);
    this.#byText.set(sql, found);
    return found;
  }
}

type Statements = Pick<DatabaseSync, 'prepare'>;

/** Runs work without its pauses. */
export function runSteps<T>(database: Statements, steps: Steps<T>): T {
  let step = steps.next([]);
  while (!step.done) step = steps.next(answer(database, step.value));
  return step.value;
}

/** The same with a pause. @throws the reason of the signal. */
export async function runSlowly<T>(database: Statements, steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  let step = steps.next([]);
  while (!step.done) {
    if (step.value === undefined) await setImmediate();
    signal?.throwIfAborted();
    step = steps.next(answer(database, step.value));
  }
  return step.value;
}

function answer(database: Statements, statement: Statement | undefined): readonly Row[] {
  return statement === undefined ? [] : database.prepare(statement.sql).all(...statement.values);
}
