import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { KeyCache } from '../../src/gateway/access/key-cache.ts';
import { KeyStore } from '../../src/gateway/access/key-store.ts';
import { Ledger } from '../../src/gateway/accounting/ledger.ts';
import { openState } from '../../src/gateway/state/state-database.ts';
import { ledgerRow, limited, totalOf } from './ledger-row.ts';

const STATE_OF_0_1_0 = `
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
  INSERT INTO keys VALUES ('team', 'acme', 20, 60, 1700000000000, NULL, NULL, 1.5);
  INSERT INTO keys VALUES ('gone', NULL, NULL, NULL, 1700000000001, NULL, 1700000100000, 0);
  INSERT INTO key_hashes VALUES
    ('1c30cc8e2c02bf67282ae761878ddd7c3369300c57729050472b42c8191b7382', 'team', 1700000000000, NULL);
  INSERT INTO usage VALUES (1, 1700000000002, 'r0', 'team', 'acme', '/chat/completions', 'p/m', 0, 'complete',
    10, 5, 0, 0, 0, 1.5, 0, 120, 40);
`;

describe('Ledger', () => {
  let folder: string;
  let file: string;
  let database: DatabaseSync;
  let failures: string[];
  const failed = (thrown: unknown) => void failures.push(String(thrown));
  const stored = () => database.prepare('SELECT count(*) AS n FROM usage').get()?.n;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-ledger-'));
    file = path.join(folder, 'gateway.db');
    database = await openState(file);
    failures = [];
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('ledger: reads a state of version 0.1.0', async () => {
    const old = path.join(folder, 'old.db');
    const before = new DatabaseSync(old);
    before.exec(STATE_OF_0_1_0);
    before.close();
    const state = await openState(old);
    try {
      const [team, gone] = new KeyStore(state).list();
      assert.deepEqual(
        [team?.name, team?.organization, team?.spent, team?.limits, gone?.revokedAt],
        ['team', 'acme', 1.5e9, limited({ nano: 20e9, rpm: 60 }), 1_700_000_100_000],
      );
      assert.equal(new KeyCache(new KeyStore(state), []).size, 1);
      const ledger = new Ledger(state, failed);
      const usage = { input: 10, output: 5, cacheWrite: 4, cacheWrite1h: 3 };
      ledger.record(ledgerRow({ key: 'team', cost: 250_000_000, usage }));
      ledger.flush();
      assert.deepEqual(
        {
          ...state
            .prepare('SELECT sum(cost_nano) AS cost, count(*) AS n, sum(cache_write_1h) AS hour FROM usage')
            .get(),
        },
        { cost: 1.75e9, n: 2, hour: 3 },
      );
      assert.deepEqual(failures, []);
    } finally {
      state.close();
    }
  });

  it('ledger: writes a batch completely or not at all, and continues after a failed one', () => {
    const { book, spent } = totalOf(database);
    const ledger = new Ledger(database, failed, { book });
    for (let n = 0; n < 3; n += 1) ledger.record(ledgerRow());
    // What was spent is written after the rows.
    database.exec('ALTER TABLE spent RENAME TO away');
    assert.equal(ledger.flush(), false);
    assert.deepEqual([failures.length, ledger.waiting, stored()], [1, 3, 0]);
    database.exec('ALTER TABLE away RENAME TO spent');
    assert.equal(ledger.flush(), true);
    assert.deepEqual([ledger.waiting, stored(), spent()], [0, 3, 1.5e9]);
  });

  it('ledger: writes a row without its tokens if they cannot be written, reports it and counts its cost', () => {
    const { book, spent } = totalOf(database);
    const ledger = new Ledger(database, failed, { book });
    ledger.record(ledgerRow());
    ledger.record(ledgerRow({ requestId: 'req_odd', usage: { input: 1.5, output: 1 } }));
    ledger.record(ledgerRow());
    assert.equal(ledger.flush(), true);
    assert.deepEqual([ledger.waiting, ledger.broken, stored(), spent()], [0, false, 3, 1.5e9]);
    assert.equal(failures.length, 1);
    assert.match(failures.join(), /req_odd/);
  });

  it('ledger: waits for another writing process', () => {
    const other = new DatabaseSync(file);
    database.exec('PRAGMA busy_timeout = 1');
    const ledger = new Ledger(database, failed);
    ledger.record(ledgerRow());
    other.exec('BEGIN IMMEDIATE');
    assert.equal(ledger.flush(), false);
    assert.match(failures.join(), /locked/);
    other.exec('ROLLBACK');
    other.close();
    assert.equal(ledger.flush(), true);
    assert.equal(stored(), 1);
  });

  it('ledger: retries a failed batch automatically', async () => {
    const again = Promise.withResolvers<void>();
    let count = 0;
    const ledger = new Ledger(
      database,
      () => {
        count += 1;
        if (count === 2) again.resolve();
      },
      { batchMs: 1, retryMs: 1 },
    );
    database.exec('ALTER TABLE usage RENAME TO away');
    ledger.record(ledgerRow());
    await again.promise;
    database.exec('ALTER TABLE away RENAME TO usage');
    while (ledger.waiting > 0) await new Promise(setImmediate);
    assert.equal(stored(), 1);
  });

  it("ledger: counts only the cost of the gateway's own account, in memory and in the state", () => {
    const store = new KeyStore(database);
    store.create({ name: 'k' });
    const { book, spent } = totalOf(database);
    const ledger = new Ledger(database, failed, { book });
    ledger.record(ledgerRow());
    ledger.record(ledgerRow({ byok: true, cost: 7e9 }));
    ledger.record(ledgerRow({ cost: undefined }));
    assert.equal(spent(), 0.5e9);
    // Rows of this process are not counted again when rows of other processes are read.
    book.follow();
    ledger.flush();
    book.follow();
    assert.equal(spent(), 0.5e9);
    assert.equal(store.list()[0]?.spent, 0.5e9);
    assert.equal(totalOf(database).spent(), 0.5e9, 'after a restart');
  });

  it('ledger: other users of the machine cannot read its files', () => {
    const ledger = new Ledger(database, failed);
    ledger.record(ledgerRow());
    ledger.flush();
    const files = readdirSync(folder);
    assert.ok(files.includes('gateway.db-wal'));
    for (const name of files) assert.equal(statSync(path.join(folder, name)).mode & 0o077, 0, name);
  });

  it('ledger: access of others is removed from existing files, and missing folders are created', async () => {
    const open = path.join(folder, 'open.db');
    writeFileSync(open, '', { mode: 0o644 });
    const inside = path.join(folder, 'data', 'svc', 'gateway.db');
    for (const place of [open, inside]) {
      (await openState(place)).close();
      assert.equal(statSync(place).mode & 0o077, 0, place);
    }
    assert.equal(statSync(path.dirname(inside)).mode & 0o077, 0);
  });
});
