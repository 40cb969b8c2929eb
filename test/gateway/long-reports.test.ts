import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ReportQueue } from '../../src/gateway/reports/report-queue.ts';
import { providers, startTestGateway } from './gateway-under-test.ts';
import { ledgerRow } from './ledger-row.ts';
import { StateUnderTest, type UsageQuery } from './state-under-test.ts';
import { until } from './until.ts';

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

  it('a report of many rows in one hour has pauses, and ends with its signal', async () => {
    state.write(
      ...Array.from({ length: 10_000 }, (_, row) => ledgerRow({ at: FROM + (row % 7), tags: { team: 'a' } })),
    );
    const query: UsageQuery = { since: FROM, until: FROM + 1_000, by: ['tag:team'] };
    let turns = 0;
    const count = async (report: Promise<unknown>) => {
      let running = true;
      const done = () => {
        running = false;
      };
      report.then(done, done);
      for (turns = 0; running; turns += 1) await setImmediate();
    };
    const whole = state.admin.usage(query);
    await count(whole);
    assert.equal((await whole).total.requests, 10_001);
    assert.ok(turns >= 3, `${turns} turns`);

    const left = new AbortController();
    const ended = state.admin.usage({ since: FROM, by: ['tag:team'] }, left.signal);
    await setImmediate();
    left.abort(new Error('left'));
    await count(ended);
    await assert.rejects(ended, /left/);
    assert.ok(turns < 5, `${turns} turns`);
  });
});

describe('the queue of reports', () => {
  const stay = new AbortController().signal;

  /** A report that ends when it is told. */
  function report() {
    const { promise, resolve } = Promise.withResolvers<string>();
    let started = false;
    const run = () => {
      started = true;
      return promise;
    };
    return { run, end: () => resolve('done'), isStarted: () => started };
  }

  it('report queue: makes one at a time, and keys take turns', async () => {
    const queue = new ReportQueue();
    const order: string[] = [];
    const names = ['a1', 'a2', 'a3', 'b1', 'c1'];
    const run = (name: string) =>
      queue.run(name.charAt(0), stay, async () => {
        order.push(`+${name}`);
        await setImmediate();
        order.push(`-${name}`);
      });
    await Promise.all(names.map(run));
    assert.deepEqual(
      order,
      ['a1', 'a2', 'b1', 'c1', 'a3'].flatMap((name) => [`+${name}`, `-${name}`]),
    );
  });

  it('report queue: more than 8 of a key are refused with 429, and more than 64 of all with 503', async () => {
    const queue = new ReportQueue();
    const first = report();
    const running = [queue.run('a', stay, first.run)];
    for (let each = 1; each < 8; each += 1) running.push(queue.run('a', stay, async () => 'done'));
    assert.throws(() => queue.run('a', stay, first.run), { status: 429 });
    for (const key of 'bcdefgh') {
      for (let each = 0; each < 8; each += 1) running.push(queue.run(key, stay, async () => 'done'));
    }
    assert.throws(() => queue.run('i', stay, first.run), { status: 503 });
    first.end();
    await Promise.all(running);
    assert.equal(await queue.run('a', stay, async () => 'again'), 'again');
  });

  it('report queue: a reader that leaves frees its places, and a failed report holds no other', async () => {
    const queue = new ReportQueue();
    const first = report();
    const running = queue.run('a', stay, first.run);
    const left = new AbortController();
    const never = report();
    const waiting = Array.from({ length: 7 }, () => queue.run('a', left.signal, never.run));
    left.abort(new Error('left'));
    for (const each of waiting) await assert.rejects(each, /left/);
    const failing = queue.run('a', stay, () => Promise.reject(new Error('no disk')));
    const last = queue.run('a', stay, async () => 'last');
    await assert.rejects(queue.run('a', left.signal, never.run), /left/, 'already gone');
    first.end();
    await assert.rejects(failing, /no disk/);
    assert.deepEqual([await running, await last, never.isStarted()], ['done', 'last', false]);
  });
});

describe('reports of the admin API', () => {
  it('reports: 30 at once of one key are limited, do not hold others, and end with their readers', async () => {
    const gateway = await startTestGateway({
      config: (url) => ({ provider: providers(url), gateway: { admin: true } }),
    });
    try {
      const key = gateway.createKey({ name: 'many' });
      const at = Date.now() - DAY;
      const rows = Array.from({ length: 20_000 }, (_, row) =>
        ledgerRow({ at: at + row, key: 'many', tags: { team: `t${row % 50}` } }),
      );
      gateway.state.write(...rows);
      const query = 'by=tag:team,hour&step=quarter&since=30d&compare=previous';
      const left = new AbortController();
      const ask = (signal: AbortSignal) =>
        fetch(`${gateway.url}/admin/v1/usage?${query}`, { headers: { authorization: `Bearer ${key}` }, signal });
      const answers = Array.from({ length: 30 }, () => ask(left.signal));
      const statuses = answers.map(async (each) => (await each).status);
      const refused = Promise.any(statuses.map(async (each) => assert.equal(await each, 429)));
      await refused;
      for (let each = 0; each < 3; each += 1) assert.equal((await gateway.get('/healthz')).status, 200);
      left.abort();
      for (const each of await Promise.allSettled(statuses)) {
        if (each.status === 'fulfilled') assert.ok([200, 429].includes(each.value), String(each.value));
      }
      await until('no request is active', () => gateway.active === 0);
      const again = await ask(new AbortController().signal);
      assert.equal(again.status, 200);
      const { total } = await again.json();
      assert.equal(total.requests, 20_000);
      assert.ok(!gateway.lines.some((line) => line.includes('internal error')));
    } finally {
      await gateway.close();
    }
  });
});
