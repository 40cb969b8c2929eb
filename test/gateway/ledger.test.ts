import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ledgerRow, limited } from './ledger-row.ts';
import { StateUnderTest } from './state-under-test.ts';
import { until } from './until.ts';

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
  let state: StateUnderTest;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-ledger-'));
    file = path.join(folder, 'gateway.db');
    state = await StateUnderTest.open(file);
  });
  afterEach(() => {
    state.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('ledger: reads a state of version 0.1.0', async () => {
    const old = path.join(folder, 'old.db');
    const before = new DatabaseSync(old);
    before.exec(STATE_OF_0_1_0);
    before.close();
    const state = await StateUnderTest.open(old);
    try {
      const [team, gone] = state.keys();
      assert.deepEqual(
        [team?.name, team?.organization, team?.spent, team?.limits, gone?.revokedAt],
        ['team', 'acme', 1.5e9, limited({ nano: 20e9, rpm: 60 }), 1_700_000_100_000],
      );
      assert.equal(state.heldKeys().size, 1);
      const ledger = state.process();
      const usage = { input: 10, output: 5, cacheWrite: 4, cacheWrite1h: 3 };
      ledger.record(ledgerRow({ key: 'team', cost: 250_000_000, usage }));
      ledger.flush();
      const { total } = state.report({ since: 0, by: [] });
      assert.deepEqual([total.cost, total.requests, total.cache_write_1h_tokens], [1.75, 2, 3]);
      assert.deepEqual(ledger.failures, []);
    } finally {
      state.close();
    }
  });

  it('ledger: writes a batch completely or not at all, and continues after a failed one', () => {
    const ledger = state.process();
    for (let n = 0; n < 3; n += 1) ledger.record(ledgerRow());
    // What was spent is written after the rows.
    const repair = state.withoutTable('spent');
    assert.equal(ledger.flush(), false);
    assert.deepEqual([ledger.failures.length, ledger.waiting, state.rowCount], [1, 3, 0]);
    repair();
    assert.equal(ledger.flush(), true);
    assert.deepEqual([ledger.waiting, state.rowCount, ledger.spent()], [0, 3, 1.5e9]);
  });

  it('ledger: writes a row without its tokens if they cannot be written, reports it and counts its cost', () => {
    const ledger = state.process();
    ledger.record(ledgerRow());
    ledger.record(ledgerRow({ requestId: 'req_odd', usage: { input: 1.5, output: 1 } }));
    ledger.record(ledgerRow());
    assert.equal(ledger.flush(), true);
    assert.deepEqual([ledger.waiting, ledger.broken, state.rowCount, ledger.spent()], [0, false, 3, 1.5e9]);
    assert.equal(ledger.failures.length, 1);
    assert.match(ledger.failures.join(), /req_odd/);
  });

  it('ledger: waits for another writing process', async () => {
    const other = await StateUnderTest.open(file);
    state.waitAtMost(1);
    const ledger = state.process();
    ledger.record(ledgerRow());
    const release = other.lock();
    assert.equal(ledger.flush(), false);
    assert.match(ledger.failures.join(), /locked/);
    release();
    other.close();
    assert.equal(ledger.flush(), true);
    assert.equal(state.rowCount, 1);
  });

  it('ledger: retries a failed batch automatically', async () => {
    const ledger = state.process(undefined, undefined, { batchMs: 1, retryMs: 1 });
    const repair = state.withoutTable('usage');
    ledger.record(ledgerRow());
    await until('two failed writes', () => ledger.failures.length >= 2);
    repair();
    await until('the row is written', () => ledger.waiting === 0);
    assert.equal(state.rowCount, 1);
  });

  it("ledger: counts only the cost of the gateway's own account, in memory and in the state", () => {
    state.createKey({ name: 'k' });
    const ledger = state.process();
    ledger.record(ledgerRow());
    ledger.record(ledgerRow({ byok: true, cost: 7e9 }));
    ledger.record(ledgerRow({ cost: undefined }));
    assert.equal(ledger.spent(), 0.5e9);
    // Rows of this process are not counted again when rows of other processes are read.
    ledger.follow();
    ledger.flush();
    ledger.follow();
    assert.equal(ledger.spent(), 0.5e9);
    assert.equal(state.key('k')?.spent, 0.5e9);
    assert.equal(state.process().spent(), 0.5e9, 'after a restart');
  });

  it('ledger: other users of the machine cannot read its files', () => {
    state.write(ledgerRow());
    const files = readdirSync(folder);
    assert.ok(files.includes('gateway.db-wal'));
    for (const name of files) assert.equal(statSync(path.join(folder, name)).mode & 0o077, 0, name);
  });

  it('ledger: access of others is removed from existing files, and missing folders are created', async () => {
    const open = path.join(folder, 'open.db');
    writeFileSync(open, '', { mode: 0o644 });
    const inside = path.join(folder, 'data', 'svc', 'gateway.db');
    for (const place of [open, inside]) {
      (await StateUnderTest.open(place)).close();
      assert.equal(statSync(place).mode & 0o077, 0, place);
    }
    assert.equal(statSync(path.dirname(inside)).mode & 0o077, 0);
  });
});
