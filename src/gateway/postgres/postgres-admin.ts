import type { Steps } from '../state/steps.ts';
import type { AdminDatabase } from '../state-admin.ts';
import { type PostgresConnection, runIn, SCHEMA, type Sql } from './postgres-connection.ts';
import { lock, POSTGRES } from './postgres-tables.ts';

/** Milliseconds of a change, and of a report about a large ledger. */
const CHANGE_MS = 5_000;
const REPORT_MS = 60_000;

/** The state in Postgres for operators. A change of a key is announced to all replicas. */
export class PostgresState implements AdminDatabase {
  readonly dialect = POSTGRES;
  readonly #connection: PostgresConnection;
  #id: string | undefined;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  /** By the objects of the server, because replicas may name its address in different ways. */
  async id(): Promise<string> {
    if (this.#id !== undefined) return this.#id;
    const sql = `SELECT d.oid AS database, n.oid AS schema FROM pg_database d, pg_namespace n
      WHERE d.datname = current_database() AND n.nspname = '${SCHEMA}'`;
    const [row] = await this.#connection.transaction(CHANGE_MS, (ask) => ask(sql));
    this.#id = `${row?.database}_${row?.schema}`;
    return this.#id;
  }

  run<T>(steps: Steps<T>): Promise<T> {
    return this.#connection.run(CHANGE_MS, steps);
  }

  /**
   * The lock makes the numbers of changes follow the order of commits: a replica that asks for newer numbers would
   * otherwise miss one that was committed late.
   */
  changeKey<T>(name: string, steps: Steps<T>): Promise<T> {
    return this.#connection.transaction(CHANGE_MS, async (sql) => {
      await lock(sql, 'changes');
      const result = await runIn(sql, steps);
      await announceChange(sql, 'key', name);
      return result;
    });
  }

  report<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
    return this.#connection.run(REPORT_MS, steps, { snapshot: true, signal });
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}

/** Tells all replicas about a change. The transaction must have the lock of changes. */
export async function announceChange(sql: Sql, kind: string, id: string): Promise<void> {
  await sql('INSERT INTO changes (kind, id) VALUES ($1, $2)', [kind, id]);
  await sql(`NOTIFY ${SCHEMA}`);
}
