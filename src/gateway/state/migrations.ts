import type { DatabaseSync } from 'node:sqlite';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { LATENCY_COLUMNS } from './latency.ts';
import { LEDGER_DDL } from './ledger-columns.ts';
import { transaction } from './transaction.ts';
import { ROW_SUMS } from './usage-sums.ts';

/** The version of the state that this release writes. */
const VERSION = 5;

interface Migration {
  readonly version: number;
  /** The oldest version whose code can still use the state after this migration. */
  readonly minReader: number;
  readonly sql: string;
}

/** The tables of release 0.1.0. Its states have no table with their version. */
const FIRST_TABLES = `
CREATE TABLE IF NOT EXISTS keys (
  name TEXT PRIMARY KEY, organization TEXT, budget REAL, rpm INTEGER,
  created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER,
  spent REAL NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS key_hashes (
  hash TEXT PRIMARY KEY, name TEXT NOT NULL REFERENCES keys (name),
  created_at INTEGER NOT NULL, valid_until INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS usage (
  id INTEGER PRIMARY KEY, at INTEGER NOT NULL, request_id TEXT NOT NULL, key TEXT NOT NULL, organization TEXT,
  endpoint TEXT NOT NULL, model TEXT NOT NULL, byok INTEGER NOT NULL, outcome TEXT NOT NULL,
  input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, reasoning INTEGER,
  cost REAL, estimated INTEGER NOT NULL, duration_ms INTEGER NOT NULL, first_byte_ms INTEGER NOT NULL
) STRICT;
`;

/**
 * Money as integers, a row for each attempt, sums of 15 minutes, budgets and rates in tables of their own. The text of
 * a name is empty if there is none. A difference between the sum of a key and its rows becomes a row, so that the sum of
 * the rows is the spending. Differences below a millionth of a USD are rounding errors of the old sums.
 */
const LEDGER_TABLES = `
ALTER TABLE usage RENAME TO usage_1;
CREATE TABLE usage (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, ${LEDGER_DDL.sqlite.created},
  UNIQUE (at, request_id, attempt)
) STRICT;
INSERT INTO usage SELECT id, request_id, row_number() OVER (PARTITION BY request_id ORDER BY id), at,
  key, coalesce(organization, ''), '', '',
  endpoint, model, substr(model, 1, max(instr(model, '/') - 1, 0)), byok, outcome,
  input, output, cache_read, cache_write, cache_write_1h, reasoning,
  CAST(round(cost * 1e9) AS INTEGER), estimated, 0, first_byte_ms, duration_ms
  FROM usage_1;
DROP TABLE usage_1;
INSERT INTO usage (request_id, attempt, at, key, organization, user, tags, endpoint, model, provider, byok, outcome,
    cost_nano, estimated, wait_ms, first_byte_ms, duration_ms)
  SELECT 'opening-' || name, 1, created_at, name, coalesce(organization, ''), '', '', '', '', '', 0, 'opening',
    nano, 1, 0, 0, 0
  FROM (SELECT *, CAST(round(spent * 1e9) AS INTEGER) -
    (SELECT coalesce(sum(cost_nano), 0) FROM usage WHERE key = name AND byok = 0) AS nano FROM keys)
  WHERE nano > 1000;

CREATE TABLE usage_rollup (
  bucket INTEGER NOT NULL, key TEXT NOT NULL, organization TEXT NOT NULL, user TEXT NOT NULL, model TEXT NOT NULL,
  provider TEXT NOT NULL, byok INTEGER NOT NULL, outcome TEXT NOT NULL,
  requests INTEGER NOT NULL, estimated INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cache_write_1h INTEGER NOT NULL,
  reasoning INTEGER NOT NULL, cost_nano INTEGER NOT NULL,
  PRIMARY KEY (bucket, key, organization, user, model, provider, byok, outcome)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_rollup SELECT at - at % 900000, key, organization, user, model, provider, byok, outcome,
  count(*), sum(estimated), coalesce(sum(input), 0), coalesce(sum(output), 0),
  coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0), coalesce(sum(cache_write_1h), 0),
  coalesce(sum(reasoning), 0), coalesce(sum(cost_nano), 0)
  FROM usage GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;

CREATE TABLE spent (
  key TEXT NOT NULL, organization TEXT NOT NULL, user TEXT NOT NULL, model TEXT NOT NULL, nano INTEGER NOT NULL,
  PRIMARY KEY (key, organization, user, model)
) STRICT, WITHOUT ROWID;
INSERT INTO spent SELECT key, organization, user, model, sum(cost_nano) FROM usage_rollup
  WHERE byok = 0 AND cost_nano <> 0 GROUP BY 1, 2, 3, 4;

CREATE TABLE budgets (
  key TEXT NOT NULL REFERENCES keys (name), model TEXT NOT NULL, period TEXT NOT NULL, zone TEXT NOT NULL,
  mode TEXT NOT NULL, nano INTEGER NOT NULL,
  PRIMARY KEY (key, model, period, zone, mode)
) STRICT, WITHOUT ROWID;
INSERT INTO budgets SELECT name, '*', 'total', 'UTC', 'soft', CAST(round(budget * 1e9) AS INTEGER)
  FROM keys WHERE budget IS NOT NULL;
CREATE TABLE rates (
  key TEXT NOT NULL REFERENCES keys (name), model TEXT NOT NULL,
  requests INTEGER, tokens INTEGER, parallel INTEGER,
  PRIMARY KEY (key, model)
) STRICT, WITHOUT ROWID;
INSERT INTO rates SELECT name, '*', rpm, NULL, NULL FROM keys WHERE rpm IS NOT NULL;
CREATE TABLE alerts (
  budget TEXT NOT NULL, window_start INTEGER NOT NULL, percent INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (budget, window_start, percent)
) STRICT, WITHOUT ROWID;
CREATE TABLE key_changes (number INTEGER NOT NULL) STRICT;
INSERT INTO key_changes VALUES (0);
CREATE TABLE retained (since INTEGER NOT NULL) STRICT;
INSERT INTO retained VALUES (0);
ALTER TABLE keys DROP COLUMN budget;
ALTER TABLE keys DROP COLUMN rpm;
ALTER TABLE keys DROP COLUMN spent;
ALTER TABLE keys ADD COLUMN user TEXT;
ALTER TABLE keys ADD COLUMN cut INTEGER NOT NULL DEFAULT 0;
`;

const MEASURED = ['output_ms', ...LATENCY_COLUMNS];

/**
 * The admin API: keys with a scope, sessions of browsers, changes, requests that failed or were refused, counts of
 * times to the first byte, and the sums of days that are over (sealing.ts).
 */
const ADMIN_TABLES = `
ALTER TABLE keys ADD COLUMN admin TEXT;
CREATE TABLE admin_sessions (
  hash TEXT PRIMARY KEY, key_hash TEXT NOT NULL, expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE admin_links (hash TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX key_hashes_name ON key_hashes (name);
CREATE TABLE usage_days (day INTEGER PRIMARY KEY, sums BLOB NOT NULL) STRICT;
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL,
  target TEXT NOT NULL, source TEXT NOT NULL, details TEXT NOT NULL
) STRICT;

${LEDGER_DDL.sqlite.end.map((column) => `ALTER TABLE usage ADD COLUMN ${column};`).join('\n')}
CREATE INDEX usage_request ON usage (request_id);
CREATE INDEX usage_key ON usage (key, at);
CREATE INDEX usage_failures ON usage (at) WHERE outcome IN ('failed', 'refused');

ALTER TABLE usage_rollup ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_rollup ADD COLUMN output_ms INTEGER NOT NULL DEFAULT 0;
${LATENCY_COLUMNS.map((name) => `ALTER TABLE usage_rollup ADD COLUMN ${name} INTEGER NOT NULL DEFAULT 0;`).join('\n')}
UPDATE usage_rollup SET failures = requests WHERE outcome = 'failed';
UPDATE usage_rollup AS sums SET (${MEASURED.join(', ')}) = (
  SELECT ${MEASURED.map((name) => `coalesce(sum(${ROW_SUMS.get(name)}), 0)`).join(', ')}
  FROM usage WHERE at >= bucket AND at < bucket + 900000 AND usage.key = sums.key
    AND usage.organization = sums.organization AND usage.user = sums.user AND usage.model = sums.model
    AND usage.provider = sums.provider AND usage.byok = sums.byok AND usage.outcome = sums.outcome
) WHERE bucket > 0;
`;

/** The sums of hours and days that are over (sealing.ts). They are made again from the sums of quarters of an hour. */
const SEALED_TABLE = `
DROP TABLE usage_days;
CREATE TABLE usage_sealed (
  length INTEGER NOT NULL, start INTEGER NOT NULL, sums BLOB NOT NULL, PRIMARY KEY (length, start)
) STRICT;
`;

/** Why usage is estimated, and the kinds of tokens and calls that few requests have (row-details.ts). */
const DETAILS_COLUMN = `ALTER TABLE usage ADD COLUMN ${LEDGER_DDL.details};`;

const MIGRATIONS: readonly Migration[] = [
  { version: 1, minReader: 1, sql: FIRST_TABLES },
  { version: 2, minReader: 2, sql: LEDGER_TABLES },
  { version: 3, minReader: 3, sql: ADMIN_TABLES },
  { version: 4, minReader: 4, sql: SEALED_TABLE },
  { version: VERSION, minReader: 4, sql: DETAILS_COLUMN },
];

/**
 * Brings the state to the version of this release, in one transaction: after a failure it is unchanged.
 *
 * @throws SvcError configuration_error if a newer release wrote the state and this one can't read it.
 */
export function migrate(database: DatabaseSync): void {
  if (readVersion(database) >= VERSION) return;
  transaction(database, () => {
    // Another process may have migrated the state in the meantime.
    const from = readVersion(database);
    for (const { version, minReader, sql } of MIGRATIONS) {
      if (version <= from) continue;
      database.exec(sql);
      if (version === 1) addHourColumn(database);
      database.exec('CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL, min_reader INTEGER NOT NULL) STRICT');
      database.exec('DELETE FROM schema');
      database.prepare('INSERT INTO schema VALUES (?, ?)').run(version, minReader);
    }
  });
}

/** 0 for a new state and for one of release 0.1.0. @throws SvcError if this release can't read the state. */
function readVersion(database: DatabaseSync): number {
  const known = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema'").get();
  if (known === undefined) return 0;
  const row = database.prepare('SELECT version, min_reader FROM schema').get();
  const [version, minReader] = [Number(row?.version ?? 0), Number(row?.min_reader ?? 0)];
  if (minReader <= VERSION) return version;
  throw unreadable(version, VERSION);
}

/** The error about a state that only newer releases can read. */
export function unreadable(version: number, known: number): SvcError {
  return new SvcError({
    errorType: 'configuration_error',
    message: `A newer release of Svc wrote the gateway’s state (version ${version}); this one reads up to ${known}.`,
    action: 'Update Svc. The state was not changed.',
  });
}

/** Some states of release 0.1.0 lack this column. */
function addHourColumn(database: DatabaseSync): void {
  const found = database.prepare("SELECT 1 FROM pragma_table_info('usage') WHERE name = 'cache_write_1h'").get();
  if (found === undefined) database.exec('ALTER TABLE usage ADD COLUMN cache_write_1h INTEGER');
}
