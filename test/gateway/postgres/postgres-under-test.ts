/**
 * The state in Postgres and what belongs to it. It is the only file of these tests that knows its classes and tables;
 * what HTTP or a command can show is tested there.
 */
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { Ledger } from '../../../src/gateway/accounting/ledger.ts';
import { openPostgres } from '../../../src/gateway/postgres/open-postgres.ts';
import { Outbox } from '../../../src/gateway/postgres/outbox.ts';
import { PostgresConnection } from '../../../src/gateway/postgres/postgres-connection.ts';
import { removeOldRows, sealNextInPostgres } from '../../../src/gateway/postgres/postgres-retention.ts';
import { writeRows } from '../../../src/gateway/postgres/postgres-rows.ts';
import { LOCKS, migratePostgres } from '../../../src/gateway/postgres/postgres-tables.ts';
import { RowSender } from '../../../src/gateway/postgres/row-sender.ts';
import { ServerHealth } from '../../../src/gateway/servers/server-health.ts';
import { Unavailable } from '../../../src/gateway/servers/unavailable.ts';
import type { UsageRow } from '../../../src/gateway/state/ledger-columns.ts';
import { rowToJson } from '../../../src/gateway/state/ledger-columns.ts';
import { openState } from '../../../src/gateway/state/state-database.ts';
import { transaction } from '../../../src/gateway/state/transaction.ts';
import { UsageTables } from '../../../src/gateway/state/usage-tables.ts';
import { type StateAdmin, sqliteAdmin } from '../../../src/gateway/state-admin.ts';
import { query } from './postgres-server.ts';

/** Number of the advisory lock under which shares of budgets are granted. */
export const MONEY_LOCK = LOCKS.money;
/** For a machine that is busy. */
const DEADLINE_MS = 60_000;

export type { StateAdmin, UsageRow };
export { Ledger, Outbox, openPostgres };

async function connected<T>(url: string, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
  const connection = new PostgresConnection(url, { connectMs: DEADLINE_MS });
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}

/** Creates or upgrades the tables. */
export function migrate(url: string): Promise<void> {
  return connected(url, (connection) => migratePostgres(connection, DEADLINE_MS));
}

/** The server ends a connection between two statements of a transaction. @returns the message of the second one. */
export async function endBetweenStatements(url: string): Promise<string> {
  const work = connected(url, (connection) =>
    connection.transaction(DEADLINE_MS, async (sql) => {
      const [row] = await sql('SELECT pg_backend_pid() AS pid');
      await query(url, `SELECT pg_terminate_backend(${Number(row?.pid)}, ${DEADLINE_MS})`);
      // What has arrived is read before.
      await setImmediate();
      await sql('SELECT 1');
    }),
  );
  return await work.then(() => 'answered', String);
}

/** Stores rows of the ledger, as a gateway that sends them. Creates the tables if they are absent. */
export async function writePostgres(url: string, rows: readonly UsageRow[]): Promise<void> {
  await migrate(url);
  await connected(url, (connection) =>
    connection.transaction(DEADLINE_MS, (sql) => writeRows(sql, rows.map(rowToJson), 'one')),
  );
}

/** Seals all hours and days that are over. */
export function sealPostgres(url: string): Promise<void> {
  return connected(url, async (connection) => {
    while (await sealNextInPostgres(connection));
  });
}

/** Removes all rows and sums that are too old at a time. @param kept milliseconds. */
export function removeOldInPostgres(
  url: string,
  kept: { readonly usage: number; readonly rollup: number },
  now: number,
): Promise<void> {
  return connected(url, async (connection) => {
    while (await removeOldRows(connection, kept, now));
  });
}

/**
 * A call that opens a connection, which can be closed meanwhile.
 *
 * @param listening whether it gets notifications. @param full is called if the server has no free connection.
 */
export function openConnection(url: string, listening: boolean, full: () => void = () => undefined) {
  const connection = new PostgresConnection(url, { full, ...(listening ? { notified: () => undefined } : {}) });
  const call = connection
    .call(DEADLINE_MS, (sql) => sql('SELECT 1'))
    .then(
      () => 'answered' as const,
      (thrown: unknown) => {
        assert.ok(thrown instanceof Unavailable, String(thrown));
        return 'refused' as const;
      },
    );
  return { call, close: () => connection.close() };
}

/** A statement of an hour. @throws Unavailable after the deadline. */
export function sleepInPostgres(url: string, deadlineMs: number): Promise<unknown> {
  return connected(url, (connection) => connection.transaction(deadlineMs, (sql) => sql('SELECT pg_sleep(3600)')));
}

/** Sends all rows of an outbox to an empty database. @returns how many it has, and the lines of the log. */
export async function sendRows(
  url: string,
  outbox: Outbox,
): Promise<{ readonly stored: number; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const write = (fields: unknown, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: write, info: write, warn: write, error: write };
  await migrate(url);
  await connected(url, async (connection) => {
    const health = new ServerHealth(log, 'server', 'state-away');
    const failed = (thrown: unknown) => assert.fail(String(thrown));
    const input = { url: () => url, outbox, connection, health, log };
    await new RowSender({ ...input, failed, stored: () => undefined }).send();
  });
  const [row] = await query(url, 'SELECT count(*) AS n FROM svc.usage');
  return { stored: Number(row?.n), lines };
}

/** The state in SQLite, to compare it with that in Postgres. @param file absolute path; absent: in memory. */
export async function openSqlite(file = ':memory:') {
  const database = await openState(file);
  const admin: StateAdmin = sqliteAdmin(database, undefined, () => database.close());
  const write = (rows: readonly UsageRow[]) => {
    transaction(database, () => new UsageTables(database).write(rows, assert.fail));
  };
  return { admin, write };
}
