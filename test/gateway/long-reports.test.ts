import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ledgerRow } from './ledger-row.ts';
import { StateUnderTest, type UsageQuery } from './state-under-test.ts';

const DAY = 86_400_000;
const FROM = Date.parse('2026-10-01T00:00:00Z');
const DAYS = 20;

describe('long reports of a state in SQLite', () => {
  let folder: string;
  let state: StateUnderTest;
  const write = (at: number) => state.write(ledgerRow({ at, tags: { team: 'a' } }));

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'svc-reports-'));
    state = await StateUnderTest.open(path.join(folder, 'gateway.db'));
    for (let at = FROM; at < FROM + DAYS * DAY; at += DAY / 12) write(at);
    state.sealUntil(FROM + DAYS * DAY);
  });
  afterEach(async () => {
    state.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const { what, query, turns: least } of [
    { what: 'sealed days', query: { since: FROM, by: ['model'] }, turns: DAYS },
    { what: 'rows, for groups by tag', query: { since: FROM, by: ['tag:team'] }, turns: DAYS * 12 },
  ] satisfies { what: string; query: UsageQuery; turns: number }[]) {
    it(`a report of ${what} lets requests in, and shows one moment while rows are added`, async () => {
      const { admin } = state;
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
