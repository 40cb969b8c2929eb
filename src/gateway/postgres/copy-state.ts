import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { Row } from '../state/steps.ts';
import { announceChange } from './postgres-admin.ts';
import { type PostgresConnection, SCHEMA, type Sql } from './postgres-connection.ts';
import { lock } from './postgres-tables.ts';

interface Column {
  readonly name: string;
  /** The type in Postgres. */
  readonly type: string;
}

/** A table of both states. Its columns have the same names there. */
interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns by which rows are read, so that their order stays. */
  readonly order: Readonly<Record<'sqlite' | 'postgres', string>>;
}

/** Tables that are no data: the version, own counters of a state, and tables that are copied otherwise. */
const OWN_TABLES = ['schema', 'key_changes', 'retained', 'usage_sealed'];

/** The tables that both states have. `keys` comes first, because others refer to it. */
async function commonTables(sql: Sql, database: DatabaseSync): Promise<readonly Table[]> {
  const rows = await sql(
    `SELECT table_name, column_name, data_type, is_identity FROM information_schema.columns
      WHERE table_schema = '${SCHEMA}' ORDER BY table_name <> 'keys', table_name, ordinal_position`,
  );
  const tables = Map.groupBy(rows, ({ table_name }) => String(table_name));
  return [...tables].flatMap(([name, described]) => {
    const found = database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(name);
    if (found === undefined || OWN_TABLES.includes(name)) return [];
    const known = new Set(
      database
        .prepare('SELECT name FROM pragma_table_info(?)')
        .all(name)
        .map((column) => String(column.name)),
    );
    const isNumber = ({ is_identity }: Row) => is_identity === 'YES';
    const columns = described
      .filter((row) => !isNumber(row) && known.has(String(row.column_name)))
      .map((row) => ({ name: String(row.column_name), type: String(row.data_type) }));
    const number = described.find(isNumber)?.column_name ?? columns[0]?.name;
    const order = { sqlite: /WITHOUT ROWID/i.test(String(found.sql)) ? '1' : 'rowid', postgres: `"${number}"` };
    return { name, columns, order };
  });
}

/** Rows that are in memory at a time. */
const BATCH_ROWS = 1_000;
const COPY_MS = 24 * 3_600_000;

/** Copies a state to an empty one, in one transaction. @throws SvcError invalid_request if the target has data. */
export function copyToPostgres(source: DatabaseSync, target: PostgresConnection): Promise<void> {
  return target.transaction(COPY_MS, async (sql) => {
    await lock(sql, 'changes');
    await lock(sql, 'money');
    requireEmpty(await sql(COUNT));
    source.exec('BEGIN');
    try {
      for (const table of await commonTables(sql, source)) {
        for (const rows of batches(source.prepare(select(table, 'sqlite')).iterate())) await insert(sql, table, rows);
      }
      await sql('UPDATE retained SET since = $1', [source.prepare('SELECT since FROM retained').get()?.since]);
    } finally {
      source.exec('COMMIT');
    }
    await announceChange(sql, 'copy', '');
  });
}

/** As `copyToPostgres`, back. @throws SvcError invalid_request also if gateways are running on the source. */
export function copyToSqlite(source: PostgresConnection, target: DatabaseSync): Promise<void> {
  const copy = async (sql: Sql) => {
    const running = await sql(
      "SELECT name FROM replicas WHERE released_at IS NULL AND seen_at > now() - interval '10 seconds'",
    );
    if (running.length > 0)
      throw refused(`Gateways are running on the database: ${names(running)}.`, 'Stop them first.');
    requireEmpty([target.prepare(COUNT).get() ?? {}]);
    target.exec('BEGIN IMMEDIATE');
    try {
      for (const table of await commonTables(sql, target)) await fetchTable(sql, target, table);
      const [retained] = await sql('SELECT since FROM retained');
      target.prepare('UPDATE retained SET since = ?').run(Number(retained?.since));
      target.exec('UPDATE key_changes SET number = number + 1');
      target.exec('COMMIT');
    } catch (thrown) {
      target.exec('ROLLBACK');
      throw thrown;
    }
  };
  return source.transaction(COPY_MS, copy, { snapshot: true });
}

const COUNT = 'SELECT (SELECT count(*) FROM keys) AS keys, (SELECT count(*) FROM usage_rollup) AS sums';

function requireEmpty([found]: readonly Row[]): void {
  if (Number(found?.keys) === 0 && Number(found?.sums) === 0) return;
  throw refused('The target has keys or usage already.', 'Copy to an empty state. Nothing was changed.');
}

function refused(message: string, action: string): SvcError {
  return new SvcError({ errorType: 'invalid_request', message, action });
}

function names(rows: readonly Row[]): string {
  return rows.map(({ name }) => String(name)).join(', ');
}

function list({ columns }: Table): string {
  return columns.map(({ name }) => `"${name}"`).join(', ');
}

function select(table: Table, engine: 'sqlite' | 'postgres'): string {
  return `SELECT ${list(table)} FROM ${table.name} ORDER BY ${table.order[engine]}`;
}

function* batches(rows: Iterable<Row>): Iterable<readonly Row[]> {
  let batch: Row[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function insert(sql: Sql, table: Table, rows: readonly Row[]): Promise<void> {
  const types = table.columns.map(({ name, type }) => `"${name}" ${type}`);
  // Postgres stores no U+0000.
  const json = JSON.stringify(rows).replaceAll('\\u0000', '');
  await sql(
    `INSERT INTO ${table.name} (${list(table)}) SELECT ${list(table)} FROM json_to_recordset($1::json) AS r (${types.join(', ')})`,
    [json],
  );
}

async function fetchTable(sql: Sql, target: DatabaseSync, table: Table): Promise<void> {
  const marks = table.columns.map(() => '?');
  const statement = target.prepare(`INSERT INTO ${table.name} (${list(table)}) VALUES (${marks.join(', ')})`);
  await sql(`DECLARE rows CURSOR FOR ${select(table, 'postgres')}`);
  for (;;) {
    const rows = await sql(`FETCH ${BATCH_ROWS} FROM rows`);
    for (const row of rows) statement.run(...table.columns.map((column) => readValue(row, column)));
    if (rows.length < BATCH_ROWS) break;
  }
  await sql('CLOSE rows');
}

function readValue(row: Row, { name, type }: Column): SQLInputValue {
  const value: unknown = row[name];
  if (value === null || value === undefined) return null;
  return type === 'text' ? String(value) : Number(value);
}
