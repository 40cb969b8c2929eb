import assert from 'node:assert/strict';
import { toNano } from '../../../src/base/money.ts';
import { Budget } from '../../../src/gateway/limits/budget.ts';
import { Rate, takeRequest } from '../../../src/gateway/limits/rate.ts';
import { ShareKeeper } from '../../../src/gateway/workers/share-keeper.ts';
import { WorkerShares } from '../../../src/gateway/workers/worker-shares.ts';

const CENT = 10_000_000;
const WORKERS = [1, 2, 3];

/** The primary and three workers in this process. */
class TestWorkers {
  /** The budget in the state. */
  readonly stored = new Budget({
    scope: { key: 'k' },
    model: '*',
    period: 'total',
    timeZone: 'UTC',
    nano: toNano(1),
    hard: true,
  });
  readonly keeper: ShareKeeper;
  readonly workers = new Map<number, TestWorker>();

  constructor(requests = 600) {
    this.keeper = new ShareKeeper(WORKERS.length, { follow: () => undefined, find: () => this.stored }, (id, wanted) =>
      this.workers.get(id)?.shares.wanted(wanted),
    );
    for (const id of WORKERS) {
      this.keeper.join(id);
      this.workers.set(id, new TestWorker(this, id, requests));
    }
  }

  of(id: number): TestWorker {
    const found = this.workers.get(id);
    assert.ok(found);
    return found;
  }

  async ask(): Promise<void> {
    for (const { shares } of this.workers.values()) await shares.ready();
  }

  /** Sends as many requests as are allowed. @returns how many. */
  async saturate(of: (round: number) => readonly number[], send: (worker: TestWorker) => boolean): Promise<number> {
    let sent = 0;
    for (let round = 0, idle = 0; idle < 8; round += 1) {
      const before = sent;
      for (const id of of(round)) while (send(this.of(id))) sent += 1;
      await this.ask();
      idle = sent === before ? idle + 1 : 0;
    }
    return sent;
  }

  async dispose(): Promise<void> {
    for (const { shares } of this.workers.values()) await shares.dispose();
  }
}

class TestWorker {
  readonly shares: WorkerShares;
  readonly rate: Rate;
  readonly budget: Budget;
  /** Spent, but not in the state yet. */
  unwritten = 0;

  readonly #all: TestWorkers;

  constructor(all: TestWorkers, id: number, requests: number) {
    this.#all = all;
    this.shares = new WorkerShares(async (questions) => all.keeper.ask(id, questions));
    this.rate = new Rate({ scope: {}, model: '*', requests }, this.shares.rates.shares('r'));
    const { rule } = all.stored;
    this.budget = new Budget(rule, undefined, this.shares.budgets.share('b'));
    this.shares.attach(() => new Map([['r', this.rate]]));
    this.shares.attachBudgets({
      budgets: () => new Map([['b', this.budget]]),
      spent: () => undefined,
      unwritten: () => this.unwritten,
    });
  }

  take(): boolean {
    return takeRequest([this.rate]) === undefined;
  }

  spend(): boolean {
    if (!this.budget.allows(CENT)) {
      this.budget.share?.need(CENT);
      return false;
    }
    this.budget.add({ at: Date.now(), nano: CENT });
    this.unwritten += CENT;
    return true;
  }

  /** What the ledger does a quarter of a second later. */
  write(): void {
    this.#all.stored.add({ at: Date.now(), nano: this.unwritten });
    this.unwritten = 0;
  }
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
      const sent = await workers.saturate(of, (worker) => worker.take());
      assert.ok(sent <= 600 && sent >= 570, `${sent}`);
    });

    it(`a hard budget: workers together spend at least 97 % and never more than it; load ${name}`, async () => {
      workers = new TestWorkers();
      await workers.ask();
      let round = 0;
      const sent = await workers.saturate(of, (worker) => {
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
    for (let sent = 0; sent < 50; sent += 1) assert.ok(workers.of(3).take());
    assert.ok(workers.of(3).spend());
    workers.of(3).write();
    workers.keeper.leave(3);
    await workers.of(3).shares.dispose();
    workers.workers.delete(3);
    const of = () => [1, 2];
    const sent = await workers.saturate(of, (worker) => worker.take());
    assert.ok(sent + 50 <= 600, `${sent}`);
    const spent = await workers.saturate(of, (worker) => worker.spend());
    assert.ok(spent <= 99 && spent >= 96, `${spent}`);
  });
});

describe('primary of workers', () => {
  it('the first worker knows how many there will be, and takes only its part of a new limit', () => {
    const keeper = new ShareKeeper(3, { follow: () => undefined, find: () => undefined }, () => undefined);
    keeper.join(1);
    assert.equal(keeper.ask(1, { rates: [], budgets: [] }).workers, 3);
  });
});
