import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { limited } from './ledger-row.ts';
import { StateUnderTest } from './state-under-test.ts';

/** The tables as release 0.1.0 created them. */
const TABLES_OF_0_1_0 = `
  CREATE TABLE keys (
    name TEXT PRIMARY KEY, organization TEXT, budget REAL, rpm INTEGER,
    created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER,
    spent REAL NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE key_hashes (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL REFERENCES keys (name),
    created_at INTEGER NOT NULL, valid_until INTEGER
  ) STRICT;
  CREATE TABLE usage (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, request_id TEXT NOT NULL, key TEXT NOT NULL, organization TEXT,
    endpoint TEXT NOT NULL, model TEXT NOT NULL, byok INTEGER NOT NULL, outcome TEXT NOT NULL,
    input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, reasoning INTEGER,
    cost REAL, estimated INTEGER NOT NULL, duration_ms INTEGER NOT NULL, first_byte_ms INTEGER NOT NULL
  ) STRICT;
`;
const HOUR_COLUMN = 'ALTER TABLE usage ADD COLUMN cache_write_1h INTEGER;';

describe('migrations of the state', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-migrations-'));
    file = path.join(folder, 'gateway.db');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (sql: string) => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  const opened = async <T>(use: (state: StateUnderTest) => T): Promise<T> => {
    const state = await StateUnderTest.open(file);
    try {
      return use(state);
    } finally {
      state.close();
    }
  };

  for (const [what, more] of [
    ['with the column of the hour cache', HOUR_COLUMN],
    ['without it', ''],
  ] as const) {
    it(`migrations: a state of 0.1.0 ${what} keeps keys, budgets, rates, rows and what was spent`, async () => {
      const rows = Array.from({ length: 1_000 }, (_, n) => {
        const fields = [n + 1, 1_700_000_000_000 + n * 60_000, `'r${n >> 1}'`, n % 2 ? "'ann'" : "'bob'"];
        const cost = n % 10 === 0 ? 'NULL' : '0.1';
        return `(${[...fields, n % 2 ? "'acme'" : 'NULL', "'/messages'", "'up/org/m'", 0, "'complete'", 1, 2, 3, 4, 5, cost, 0, 9, 8].join(', ')})`;
      });
      write(`${TABLES_OF_0_1_0}
        INSERT INTO keys VALUES ('ann', 'acme', 20.5, 60, 1, NULL, NULL, 49.999999999999);
        INSERT INTO keys VALUES ('bob', NULL, NULL, NULL, 2, 3, 4, 41.5);
        INSERT INTO key_hashes VALUES ('abc', 'ann', 1, NULL);
        INSERT INTO usage VALUES ${rows.join(', ')};
        ${more}`);
      await opened((state) => {
        const [ann, bob] = state.keys();
        assert.deepEqual(
          [ann?.organization, ann?.limits, ann?.spent, ann?.hashes.length],
          ['acme', limited({ nano: 20.5e9, rpm: 60 }), 50e9, 1],
        );
        // 1.5 USD were spent without a row: the state was partly deleted, or rows could not be written.
        assert.deepEqual([bob?.limits, bob?.spent, bob?.expiresAt, bob?.revokedAt], [limited({}), 41.5e9, 3, 4]);
        assert.deepEqual(state.check(), { rows: 1_001, spent: 91.5e9, differences: [] });
        const report = state.report({ since: 0, by: ['key', 'provider'] });
        assert.deepEqual(
          report.rows.map(({ key, provider, requests, input_tokens, cost }) => [
            key,
            provider,
            requests,
            input_tokens,
            cost,
          ]),
          [
            ['ann', 'up', 500, 500, 50],
            ['bob', 'up', 500, 500, 40],
            ['bob', null, 1, 0, 1.5],
          ],
        );
      });
      await opened((state) => assert.equal(state.check().rows, 1_001, 'a second start changes nothing'));
    });
  }

  it('migrations: a new state has the tables of the releases before, byte for byte', async () => {
    await opened(() => undefined);
    const database = new DatabaseSync(file);
    const tables = database.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid').all();
    database.close();
    const expected = readFileSync(new URL('state-schema.sql', import.meta.url), 'utf8');
    assert.equal(tables.map(({ sql }) => `${sql};\n`).join(''), expected);
  });

  it('migrations: a state of a newer release is refused and not changed', async () => {
    await opened((state) => state.setVersion(9, 9));
    await assert.rejects(StateUnderTest.open(file), {
      errorType: 'configuration_error',
      message: /newer release of Svc wrote the gateway’s state \(version 9\)/,
    });
    const database = new DatabaseSync(file);
    assert.deepEqual({ ...database.prepare('SELECT * FROM schema').get() }, { version: 9, min_reader: 9 });
    database.close();
  });

  it('migrations: a newer state that this release can still read is used', async () => {
    await opened((state) => state.setVersion(9, 2));
    await opened((state) => assert.equal(state.check().rows, 0));
  });

  it('migrations: a failed migration leaves the old state as it was', async () => {
    write(`${TABLES_OF_0_1_0}
      INSERT INTO keys VALUES ('ann', NULL, 1, NULL, 1, NULL, NULL, 0.5);
      CREATE TABLE spent (mine INTEGER);`);
    await assert.rejects(StateUnderTest.open(file), { errorType: 'configuration_error', message: /can’t be opened/ });
    const database = new DatabaseSync(file);
    assert.equal(database.prepare('SELECT spent FROM keys').get()?.spent, 0.5);
    assert.equal(database.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'usage_rollup'").get()?.n, 0);
    database.close();
  });
});
