import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { UsageQuery } from '../../src/gateway/reports/usage-query.ts';
import { sealNext } from '../../src/gateway/state/sealing.ts';
import { openState } from '../../src/gateway/state/state-database.ts';
import { transaction } from '../../src/gateway/state/transaction.ts';
import { UsageTables } from '../../src/gateway/state/usage-tables.ts';
import { SqliteAdmin } from '../../src/gateway/state-admin.ts';
import { ledgerRow } from './ledger-row.ts';

const DAY = 86_400_000;
const FROM = Date.parse('2026-10-01T00:00:00Z');
const DAYS = 20;

describe('long reports of a state in SQLite', () => {
  let folder: string;
  let database: DatabaseSync;
  let tables: UsageTables;
  const write = (at: number) =>
    transaction(database, () => tables.write([ledgerRow({ at, tags: { team: 'a' } })], assert.fail));

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'svc-reports-'));
    database = await openState(path.join(folder, 'gateway.db'));
    tables = new UsageTables(database);
    for (let at = FROM; at < FROM + DAYS * DAY; at += DAY / 12) write(at);
    while (sealNext(database, FROM + DAYS * DAY));
  });
  afterEach(async () => {
    database.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const { what, query, turns: least } of [
    { what: 'sealed days', query: { since: FROM, by: ['model'] }, turns: DAYS },
    { what: 'rows, for groups by tag', query: { since: FROM, by: ['tag:team'] }, turns: DAYS * 12 },
  ] satisfies { what: string; query: UsageQuery; turns: number }[]) {
    it(`a report of ${what} lets requests in, and shows one moment while rows are added`, async () => {
      const admin = new SqliteAdmin(database);
      const before = await admin.usage(query);
      assert.equal(before.total.requests, DAYS * 12);
      let turns = 0;
      let running = true;
      const report = admin.usage(query).finally(() => {
        running = false;
      });
      while (running) {
        await setImmediate();
        // After its start: late rows of each day, and rows of a day that is not over.
        if (turns > 0) write(FROM + (turns % (DAYS + 1)) * DAY);
        turns += 1;
      }
      assert.deepEqual(await report, before);
      assert.ok(turns >= least, `${turns} turns of the event loop, at least ${least}`);
      const after = await admin.usage(query);
      assert.equal(after.total.requests, DAYS * 12 + turns - 1);
    });
  }
});
