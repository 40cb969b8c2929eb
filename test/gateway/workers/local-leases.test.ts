import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MonotonicClock } from '../../provider/monotonic-clock.ts';
import { CENT, TestWorkers } from '../shared-limits.ts';
import { until } from '../until.ts';

const WORKERS = TestWorkers.IDS;

/** Sends as many requests as are allowed. @returns how many. */
async function saturate(
  workers: TestWorkers,
  of: (round: number) => readonly number[],
  send: (worker: ReturnType<TestWorkers['of']>) => boolean,
): Promise<number> {
  let sent = 0;
  for (let round = 0, idle = 0; idle < 8; round += 1) {
    const before = sent;
    for (const id of of(round)) while (send(workers.of(id))) sent += 1;
    await workers.renew();
    idle = sent === before ? idle + 1 : 0;
  }
  return sent;
}

describe('leases of workers', () => {
  let folder: string;
  let workers: TestWorkers;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-leases-'));
    workers = await TestWorkers.start(folder);
    await workers.renew();
  });
  afterEach(() => {
    workers.dispose();
    assert.deepEqual(workers.lines, []);
    rmSync(folder, { recursive: true, force: true });
  });

  const loads: readonly (readonly [name: string, of: (round: number) => readonly number[]])[] = [
    ['spread evenly', () => WORKERS],
    ['all at one worker', () => [1]],
    ['alternating', (round) => [WORKERS[round % 3] ?? 1]],
  ];
  for (const [name, of] of loads) {
    it(`a rate: workers together allow at least 95 % and never more than the limit; load ${name}`, async () => {
      const sent = await saturate(workers, of, (worker) => worker.rate.take());
      assert.ok(sent <= 600 && sent >= 570, `${sent}`);
    });

    it(`a hard budget: workers together spend at least 97 % and never more than it; load ${name}`, async () => {
      let round = 0;
      const sent = await saturate(workers, of, (worker) => {
        round += 1;
        if (round % 7 === 0) worker.write();
        return worker.spend();
      });
      assert.ok(sent <= 100 && sent >= 97, `${sent}`);
      for (const id of WORKERS) workers.of(id).write();
      assert.equal(workers.stored, sent * CENT);
    });
  }

  it('a worker that ends: what it may have used of a rate counts, and its part of a budget is free', async () => {
    for (let sent = 0; sent < 50; sent += 1) assert.ok(workers.of(3).rate.take());
    // The first request of a budget requests a lease.
    assert.equal(workers.of(3).spend(), false);
    await workers.renew();
    assert.ok(workers.of(3).spend());
    workers.of(3).write();
    // Not reported yet.
    for (let sent = 0; sent < 20; sent += 1) assert.ok(workers.of(3).rate.take());
    workers.leave(3);
    const of = () => [1, 2];
    const sent = await saturate(workers, of, (worker) => worker.rate.take());
    assert.ok(sent + 70 <= 600, `${sent}`);
    const spent = await saturate(workers, of, (worker) => worker.spend());
    assert.ok(spent <= 99 && spent >= 96, `${spent}`);
  });

  it('a worker that was stopped for two minutes: what it held meanwhile went to its peers, and it has none of it', async () => {
    for (let sent = 0; sent < 50; sent += 1) assert.ok(workers.of(3).rate.take());
    assert.equal(workers.of(3).spend(), false);
    await workers.renew();
    assert.ok(workers.of(3).spend());
    workers.of(3).write();
    const peers = () => [1, 2];
    // Worker 3 keeps a cent.
    let spent = 1 + (await saturate(workers, peers, (worker) => worker.spend()));
    let sent = 50;
    await workers.whileStopped(3, async () => {
      spent += await saturate(workers, peers, (worker) => worker.spend());
      sent += await saturate(workers, peers, (worker) => worker.rate.take());
    });
    assert.equal(spent, 100);
    assert.ok(sent <= 600 && sent >= 570, `${sent}`);
    await workers.of(3).leases.renew();
    while (workers.of(3).rate.take()) sent += 1;
    assert.ok(sent <= 600, `${sent}`);
    assert.equal(workers.of(3).spend(), false);
  });

  it('a worker that goes on after it was stopped: uses nothing before it knows what it has', async () => {
    const { rate } = workers.of(3);
    assert.ok(rate.take());
    using clock = new MonotonicClock();
    let refused = false;
    await clock.passUntil(120_000, () => {
      refused ||= !rate.take();
      return refused;
    });
    await workers.renew();
    assert.ok(rate.take());
  });

  it('the first worker knows how many there will be, and takes only its part of a new limit', async () => {
    assert.equal(workers.of(1).rate.left, 200);
  });

  it('workers that are all started again: spending in the state is no more free, and leases of before are', async () => {
    assert.equal(workers.of(1).spend(), false);
    await workers.renew();
    for (let spent = 0; spent < 10; spent += 1) assert.ok(workers.of(1).spend());
    workers.of(1).write();
    workers.dispose();
    workers = await TestWorkers.start(folder);
    await workers.renew();
    const spent = await saturate(
      workers,
      () => WORKERS,
      (worker) => worker.spend(),
    );
    assert.ok(spent <= 90 && spent >= 87, `${spent}`);
  });

  const FILES = ['', '-wal', '-shm'].map((end) => `gateway-leases.db${end}`);

  it('files that are removed while workers run: all have new ones, and keep to the budget', async () => {
    assert.equal(workers.of(1).spend(), false);
    await workers.renew();
    let spent = 0;
    while (workers.of(1).spend()) spent += 1;
    assert.ok(spent > 0);
    for (const name of FILES) rmSync(path.join(folder, name));
    await workers.renew();
    assert.ok(FILES.every((name) => existsSync(path.join(folder, name))));
    spent += await saturate(
      workers,
      () => WORKERS,
      (worker) => worker.spend(),
    );
    assert.ok(spent <= 100 && spent >= 97, `${spent}`);
    const line = 'the file of the leases was replaced: leases are requested again';
    assert.deepEqual(workers.lines.splice(0), [line, line, line]);
  });

  const damages: readonly (readonly [name: string, damage: (content: Buffer) => Buffer])[] = [
    ['other content', () => Buffer.alloc(100_000, 'x')],
    ['random pages', (content) => Buffer.concat([content.subarray(0, 100), Buffer.alloc(content.length - 100, 7)])],
    ['only its start', (content) => content.subarray(0, 5_000)],
  ];
  for (const [name, damage] of damages) {
    it(`a damaged file, ${name}: workers start with another one`, async () => {
      workers.dispose();
      const file = path.join(folder, 'gateway-leases.db');
      writeFileSync(file, damage(readFileSync(file)));
      workers = await TestWorkers.start(folder);
      await workers.renew();
      assert.deepEqual(workers.lines.splice(0), ['the file of the leases is damaged, and is replaced']);
      assert.ok(workers.of(1).rate.take());
    });
  }

  it('the files of the leases do not grow, so that a full disk is no reason to refuse requests', async () => {
    const sizes = () => ['', '-wal'].map((end) => statSync(path.join(folder, `gateway-leases.db${end}`)).size);
    const before = sizes();
    for (let round = 0; round < 500; round += 1) {
      for (const id of WORKERS) workers.of(id).rate.take();
      await workers.renew();
    }
    assert.deepEqual(sizes(), before);
  });

  it('a file that can’t be written: each worker has an equal part of a rate, and the log has a line, and one when it can', async () => {
    for (let sent = 0; sent < 60; sent += 1) assert.ok(workers.of(1).rate.take());
    await workers.renew();
    const other = new DatabaseSync(path.join(folder, 'gateway-leases.db'));
    other.exec('BEGIN IMMEDIATE');
    await until('all workers know it', async () => {
      await workers.renew();
      return workers.lines.length === WORKERS.length;
    });
    let sent = 0;
    for (const id of WORKERS) while (workers.of(id).rate.take()) sent += 1;
    assert.ok(60 + sent <= 600 && sent >= 150, `${sent}`);
    other.close();
    await workers.renew();
    const [failed, ...more] = workers.lines.splice(0);
    assert.deepEqual(new Set([failed, ...more]), new Set([failed, 'leases of budgets and rates are renewed again']));
    assert.equal(more.length, 2 * WORKERS.length - 1);
    assert.equal(failed, 'leases of budgets and rates can’t be renewed');
  });

  it('rates that can’t be granted: budgets are', async () => {
    const other = new DatabaseSync(path.join(folder, 'gateway-leases.db'));
    other.exec("CREATE TRIGGER fails BEFORE INSERT ON rate_use BEGIN SELECT raise(ABORT, 'fails'); END");
    const worker = workers.of(1);
    assert.ok(worker.rate.take());
    assert.equal(worker.spend(), false);
    await worker.leases.renew();
    assert.ok(worker.spend());
    other.exec('DROP TRIGGER fails');
    other.close();
  });

  it('rows that are stored count once, also if their worker needs nothing more', async () => {
    const [one, three] = [workers.of(1), workers.of(3)];
    assert.equal(three.spend(), false);
    await three.leases.renew();
    for (let spent = 0; spent < 12; spent += 1) assert.ok(three.spend());
    workers.store(90);
    // Nothing is free.
    await three.leases.renew();
    three.write();
    await three.leases.renew();
    assert.equal(one.spend(), false);
    await one.leases.renew();
    assert.ok(one.heldByPeers !== undefined && one.heldByPeers < 5 * CENT, `${one.heldByPeers}`);
  });

  it('limits that a reload lowers: leases of before are not used', async () => {
    for (const id of WORKERS) assert.equal(workers.of(id).spend(), false);
    await workers.renew();
    for (const id of WORKERS) {
      assert.ok(workers.of(id).rate.take());
      assert.ok(workers.of(id).spend());
    }
    for (const id of WORKERS) workers.of(id).lower({ requests: 100, cents: 20 });
    await workers.renew();
    const sent = await saturate(
      workers,
      () => WORKERS,
      (worker) => worker.rate.take(),
    );
    assert.ok(3 + sent <= 100 && sent >= 92, `${sent}`);
    const spent = await saturate(
      workers,
      () => WORKERS,
      (worker) => worker.spend(),
    );
    assert.ok(3 + spent <= 20 && spent >= 14, `${spent}`);
  });

  it('rows of a process without leases, such as a single gateway: count for the budget', async () => {
    assert.equal(workers.of(1).spend(), false);
    await workers.renew();
    workers.store(40);
    const spent = await saturate(
      workers,
      () => WORKERS,
      (worker) => worker.spend(),
    );
    assert.ok(spent <= 60 && spent >= 57, `${spent}`);
  });
});
