import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { announce } from './postgres-admin.ts';
import type { PostgresConnection, Row, Sql } from './postgres-connection.ts';
import { lock } from './postgres-tables.ts';

interface Table {
  readonly name: string;
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  /** Columns by which rows are read, so that their order stays. */
  readonly order: Readonly<Record<'sqlite' | 'postgres', string>>;
}

const byColumns = (order: string) => ({ sqlite: order, postgres: order });
const TOKENS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'reasoning', 'cost_nano'];

/** The tables of both states; their columns have the same names. Tables come after those that they refer to. */
const TABLES: readonly Table[] = [
  {
    name: 'keys',
    texts: ['name', 'organization', '"user"'],
    numbers: ['created_at', 'expires_at', 'revoked_at', 'cut'],
    order: { sqlite: 'created_at, rowid', postgres: 'created_at, number' },
  },
  {
    name: 'key_hashes',
    texts: ['hash', 'name'],
    numbers: ['created_at', 'valid_until'],
    order: { sqlite: 'created_at, rowid', postgres: 'created_at, number' },
  },
  {
    name: 'budgets',
    texts: ['key', 'model', 'period', 'zone', 'mode'],
    numbers: ['nano'],
    order: byColumns('key, model, period, zone, mode'),
  },
  {
    name: 'rates',
    texts: ['key', 'model'],
    numbers: ['requests', 'tokens', 'parallel'],
    order: byColumns('key, model'),
  },
  {
    name: 'usage',
    texts: ['request_id', 'key', 'organization', '"user"', 'tags', 'endpoint', 'model', 'provider', 'outcome'],
    numbers: ['attempt', 'at', 'byok', ...TOKENS, 'estimated', 'wait_ms', 'first_byte_ms', 'duration_ms'],
    order: byColumns('seq'),
  },
  {
    name: 'usage_rollup',
    texts: ['key', 'organization', '"user"', 'model', 'provider', 'outcome'],
    numbers: ['bucket', 'byok', 'requests', 'estimated', ...TOKENS],
    order: byColumns('bucket, key, organization, "user", model, provider, byok, outcome'),
  },
  {
    name: 'spent',
    texts: ['key', 'organization', '"user"', 'model'],
    numbers: ['nano'],
    order: byColumns('key, organization, "user", model'),
  },
  {
    name: 'alerts',
    texts: ['budget'],
    numbers: ['window_start', 'percent', 'at'],
    order: byColumns('budget, window_start, percent'),
  },
];

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
      for (const table of TABLES) {
        for (const rows of batches(source.prepare(select(table, 'sqlite')).iterate())) await insert(sql, table, rows);
      }
      await sql('UPDATE retained SET since = $1', [source.prepare('SELECT since FROM retained').get()?.since]);
    } finally {
      source.exec('COMMIT');
    }
    await announce(sql, 'copy', '');
  });
}

/** As `copyToPostgres`, back. @throws SvcError invalid_request also if gateways are running on the source. */
export function copyToSqlite(source: PostgresConnection, target: DatabaseSync): Promise<void> {
  return source.transaction(COPY_MS, async (sql) => {
    await sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    const running = await sql(
      "SELECT name FROM replicas WHERE released_at IS NULL AND seen_at > now() - interval '10 seconds'",
    );
    if (running.length > 0)
      throw refused(`Gateways are running on the database: ${names(running)}.`, 'Stop them first.');
    requireEmpty([target.prepare(COUNT).get() ?? {}]);
    target.exec('BEGIN IMMEDIATE');
    try {
      for (const table of TABLES) await fetchTable(sql, target, table);
      const [retained] = await sql('SELECT since FROM retained');
      target.prepare('UPDATE retained SET since = ?').run(Number(retained?.since));
      target.exec('UPDATE key_changes SET number = number + 1');
      target.exec('COMMIT');
    } catch (thrown) {
      target.exec('ROLLBACK');
      throw thrown;
    }
  });
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

function columns({ texts, numbers }: Table): readonly string[] {
  return [...texts, ...numbers];
}

function select(table: Table, engine: 'sqlite' | 'postgres'): string {
  return `SELECT ${columns(table).join(', ')} FROM ${table.name} ORDER BY ${table.order[engine]}`;
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
  const types = [...table.texts.map((name) => `${name} TEXT`), ...table.numbers.map((name) => `${name} BIGINT`)];
  const list = columns(table).join(', ');
  // Postgres stores no U+0000.
  const json = JSON.stringify(rows).replaceAll('\\u0000', '');
  await sql(
    `INSERT INTO ${table.name} (${list}) SELECT ${list} FROM json_to_recordset($1::json) AS r (${types.join(', ')})`,
    [json],
  );
}

async function fetchTable(sql: Sql, target: DatabaseSync, table: Table): Promise<void> {
  const marks = columns(table).map(() => '?');
  const statement = target.prepare(
    `INSERT INTO ${table.name} (${columns(table).join(', ')}) VALUES (${marks.join(', ')})`,
  );
  const texts = table.texts.map((name) => name.replaceAll('"', ''));
  await sql(`DECLARE rows CURSOR FOR ${select(table, 'postgres')}`);
  for (;;) {
    const rows = await sql(`FETCH ${BATCH_ROWS} FROM rows`);
    for (const row of rows) {
      const values: SQLInputValue[] = [
        ...texts.map((name) => (row[name] === null ? null : String(row[name]))),
        ...table.numbers.map((name) => (row[name] === null ? null : Number(row[name]))),
      ];
      statement.run(...values);
    }
    if (rows.length < BATCH_ROWS) break;
  }
  await sql('CLOSE rows');
}
