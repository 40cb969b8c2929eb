import assert from 'node:assert/strict';
import { TestWorkers, workersKnownToFirst } from '../shared-limits.ts';

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
    await workers.ask();
    idle = sent === before ? idle + 1 : 0;
  }
  return sent;
}

describe('shares of workers', () => {
  let workers: TestWorkers;

  afterEach(() => workers.dispose());

  const loads: readonly (readonly [name: string, of: (round: number) => readonly number[]])[] = [
    ['spread evenly', () => WORKERS],
    ['all at one worker', () => [1]],
    ['alternating', (round) => [WORKERS[round % 3] ?? 1]],
  ];
  for (const [name, of] of loads) {
    it(`a rate: workers together allow at least 95 % and never more than the limit; load ${name}`, async () => {
      workers = new TestWorkers();
      await workers.ask();
      const sent = await saturate(workers, of, (worker) => worker.rate.take());
      assert.ok(sent <= 600 && sent >= 570, `${sent}`);
    });

    it(`a hard budget: workers together spend at least 97 % and never more than it; load ${name}`, async () => {
      workers = new TestWorkers();
      await workers.ask();
      let round = 0;
      const sent = await saturate(workers, of, (worker) => {
        round += 1;
        if (round % 7 === 0) worker.write();
        return worker.spend();
      });
      assert.ok(sent <= 100 && sent >= 97, `${sent}`);
    });
  }

  it('a worker that ends: what it may have used of a rate counts, and its part of a budget is free', async () => {
    workers = new TestWorkers();
    await workers.ask();
    for (let sent = 0; sent < 50; sent += 1) assert.ok(workers.of(3).rate.take());
    // The first request of a budget asks for a share.
    assert.equal(workers.of(3).spend(), false);
    await workers.ask();
    assert.ok(workers.of(3).spend());
    workers.of(3).write();
    await workers.leave(3);
    const of = () => [1, 2];
    const sent = await saturate(workers, of, (worker) => worker.rate.take());
    assert.ok(sent + 50 <= 600, `${sent}`);
    const spent = await saturate(workers, of, (worker) => worker.spend());
    assert.ok(spent <= 99 && spent >= 96, `${spent}`);
  });
});

describe('primary of workers', () => {
  it('the first worker knows how many there will be, and takes only its part of a new limit', () => {
    assert.equal(workersKnownToFirst(3), 3);
  });
});
