import { LEDGER_DDL } from '../state/ledger-columns.ts';
import { unreadable } from '../state/migrations.ts';
import type { Dialect } from '../state/steps.ts';
import { SUMS } from '../state/usage-sums.ts';
import { type PostgresConnection, SCHEMA, type Sql } from './postgres-connection.ts';

/** The version of the state that this release writes. */
const VERSION = 3;

interface Migration {
  readonly version: number;
  /** The oldest version whose code can still use the state after this migration. */
  readonly minReader: number;
  readonly sql: string;
}

/** The tables have the names, columns and values of the state in SQLite (`state/migrations.ts`). */
const TABLES = `
CREATE TABLE keys (
  number BIGINT GENERATED ALWAYS AS IDENTITY, name TEXT PRIMARY KEY, organization TEXT, "user" TEXT, admin TEXT,
  created_at BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT, cut INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE key_hashes (
  number BIGINT GENERATED ALWAYS AS IDENTITY, hash TEXT PRIMARY KEY, name TEXT NOT NULL REFERENCES keys (name),
  created_at BIGINT NOT NULL, valid_until BIGINT
);
CREATE INDEX ON key_hashes (name);
CREATE TABLE budgets (
  key TEXT NOT NULL REFERENCES keys (name), model TEXT NOT NULL, period TEXT NOT NULL, zone TEXT NOT NULL,
  mode TEXT NOT NULL, nano BIGINT NOT NULL,
  PRIMARY KEY (key, model, period, zone, mode)
);
CREATE TABLE rates (
  key TEXT NOT NULL REFERENCES keys (name), model TEXT NOT NULL,
  requests BIGINT, tokens BIGINT, parallel BIGINT,
  PRIMARY KEY (key, model)
);
CREATE TABLE admin_sessions (hash TEXT PRIMARY KEY, key_hash TEXT NOT NULL, expires_at BIGINT NOT NULL);
CREATE TABLE admin_links (hash TEXT PRIMARY KEY, expires_at BIGINT NOT NULL);
CREATE TABLE audit (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at BIGINT NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL,
  target TEXT NOT NULL, source TEXT NOT NULL, details TEXT NOT NULL
);
CREATE TABLE changes (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE TABLE usage (
  seq BIGINT GENERATED ALWAYS AS IDENTITY, ${LEDGER_DDL.postgres},
  PRIMARY KEY (at, request_id, attempt)
);
CREATE INDEX ON usage (request_id);
CREATE INDEX ON usage (key, at);
CREATE INDEX ON usage (at) WHERE outcome IN ('failed', 'refused');
CREATE TABLE usage_rollup (
  bucket BIGINT NOT NULL, key TEXT NOT NULL, organization TEXT NOT NULL, "user" TEXT NOT NULL, model TEXT NOT NULL,
  provider TEXT NOT NULL, byok INTEGER NOT NULL, outcome TEXT NOT NULL,
  ${SUMS.map((name) => `${name} BIGINT NOT NULL`).join(', ')},
  PRIMARY KEY (bucket, key, organization, "user", model, provider, byok, outcome)
);
CREATE TABLE spent (
  key TEXT NOT NULL, organization TEXT NOT NULL, "user" TEXT NOT NULL, model TEXT NOT NULL, nano BIGINT NOT NULL,
  PRIMARY KEY (key, organization, "user", model)
);
CREATE TABLE alerts (
  budget TEXT NOT NULL, window_start BIGINT NOT NULL, percent INTEGER NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (budget, window_start, percent)
);
CREATE TABLE retained (since BIGINT NOT NULL);
INSERT INTO retained VALUES (0);
CREATE TABLE replicas (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, seen_at TIMESTAMPTZ NOT NULL, released_at TIMESTAMPTZ
);
CREATE TABLE budget_windows (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, budget TEXT NOT NULL, start_at BIGINT NOT NULL, end_at BIGINT,
  key TEXT NOT NULL, "user" TEXT NOT NULL, organization TEXT NOT NULL, model TEXT NOT NULL,
  spent_nano BIGINT NOT NULL, wanted_at TIMESTAMPTZ,
  UNIQUE (budget, start_at)
);
CREATE INDEX ON budget_windows (key, "user", organization);
CREATE INDEX ON budget_windows (wanted_at) WHERE wanted_at IS NOT NULL;
CREATE TABLE leases (
  budget_window BIGINT NOT NULL REFERENCES budget_windows (id) ON DELETE CASCADE, replica TEXT NOT NULL,
  granted_nano BIGINT NOT NULL, settled_nano BIGINT NOT NULL,
  PRIMARY KEY (budget_window, replica)
);
CREATE TABLE rate_use (rate TEXT NOT NULL, slot BIGINT NOT NULL, amount BIGINT NOT NULL, PRIMARY KEY (rate, slot));
CREATE TABLE rate_leases (
  rate TEXT NOT NULL, replica TEXT NOT NULL, held BIGINT NOT NULL, wanted_at TIMESTAMPTZ,
  PRIMARY KEY (rate, replica)
);
CREATE INDEX ON rate_leases (wanted_at) WHERE wanted_at IS NOT NULL;
`;

/**
 * The report of each replica about itself, as JSON: older releases have none. The sums of hours and days that are over
 * (`state/sealing.ts`), which are not compressed, because they are read as a whole.
 */
const SEALED_TABLE = `
ALTER TABLE replicas ADD COLUMN facts TEXT;
CREATE TABLE usage_sealed (
  length BIGINT NOT NULL, start BIGINT NOT NULL, sums BYTEA NOT NULL, PRIMARY KEY (length, start)
);
ALTER TABLE usage_sealed ALTER COLUMN sums SET STORAGE EXTERNAL;
`;

/** As in SQLite (state/migrations.ts). */
const DETAILS_COLUMN = `ALTER TABLE usage ADD COLUMN ${LEDGER_DDL.details};`;

const MIGRATIONS: readonly Migration[] = [
  { version: 1, minReader: 1, sql: TABLES },
  { version: 2, minReader: 2, sql: SEALED_TABLE },
  { version: VERSION, minReader: 2, sql: DETAILS_COLUMN },
];

/** Numbers of the advisory locks: those of migrations, changes of keys, money, the removal of old rows, and rates. */
export const LOCKS = {
  migration: 7_263_401,
  changes: 7_263_402,
  money: 7_263_403,
  retention: 7_263_404,
  rates: 7_263_405,
} as const;

export const lockSql = (name: keyof typeof LOCKS) => `SELECT pg_advisory_xact_lock(${LOCKS[name]})`;

export const POSTGRES: Dialect = {
  added: 'number',
  place: 'ctid',
  sealed: {
    // The transaction that sealed it.
    version: 'xmin::text',
    // The driver decodes the text of bytes in hexadecimal, which is longer.
    sums: "encode(sums, 'base64')",
    insert: 'INSERT INTO usage_sealed (length, start, sums) VALUES (?1, ?2, ?3)',
  },
  lockRows: lockSql('money'),
  blocking: false,
  member: (column, name) => `${column}::json ->> '${name}'`,
};

/** Waits for the other transactions that take the same lock. Ends with the transaction. */
export async function lock(sql: Sql, name: keyof typeof LOCKS): Promise<void> {
  await sql(lockSql(name));
}

/** Milliseconds of a migration. Another process may be migrating a large state. */
const MIGRATION_MS = 600_000;

/**
 * Brings the state to the version of this release, in one transaction: after a failure it is unchanged.
 *
 * @param readMs deadline of the check whether that is necessary.
 * @throws SvcError configuration_error if a newer release wrote the state and this one can't read it.
 */
export async function migratePostgres(connection: PostgresConnection, readMs: number): Promise<void> {
  if ((await connection.call(readMs, readVersion)) >= VERSION) return;
  await connection.transaction(MIGRATION_MS, async (sql) => {
    await lock(sql, 'migration');
    // Another process may have migrated the state in the meantime.
    const from = await readVersion(sql);
    // The right to create a schema is not required if it exists.
    const [schema] = await sql(`SELECT 1 FROM pg_namespace WHERE nspname = '${SCHEMA}'`);
    if (schema === undefined) await sql(`CREATE SCHEMA ${SCHEMA}`);
    for (const { version, minReader, sql: text } of MIGRATIONS) {
      if (version <= from) continue;
      await sql(text);
      await sql('CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL, min_reader INTEGER NOT NULL)');
      await sql('DELETE FROM schema');
      await sql('INSERT INTO schema VALUES ($1, $2)', [version, minReader]);
    }
  });
}

/** 0 for a database without a state. @throws SvcError if this release can't read the state. */
async function readVersion(sql: Sql): Promise<number> {
  // `to_regclass` may still not find a table that another process has just created.
  const [known] = await sql(`SELECT 1 FROM pg_tables WHERE schemaname = '${SCHEMA}' AND tablename = 'schema'`);
  if (known === undefined) return 0;
  const [row] = await sql(`SELECT version, min_reader FROM ${SCHEMA}.schema`);
  const [version, minReader] = [Number(row?.version ?? 0), Number(row?.min_reader ?? 0)];
  if (minReader <= VERSION) return version;
  throw unreadable(version, VERSION);
}
