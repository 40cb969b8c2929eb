import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { aborted, CoalescedRun, EarliestTimer, onAbort, SerialQueue } from '../../src/base/concurrency.ts';

/** Work that ends when the test says so. */
class Steps {
  readonly begun: number[] = [];
  readonly #open = new Map<number, PromiseWithResolvers<number>>();

  run = (step = this.begun.length + 1): Promise<number> => {
    this.begun.push(step);
    const ending = Promise.withResolvers<number>();
    this.#open.set(step, ending);
    return ending.promise;
  };

  /** Ends a step, when it has begun. */
  async end(step: number): Promise<void> {
    while (!this.begun.includes(step)) await Promise.resolve();
    this.#open.get(step)?.resolve(step);
  }

  fail(step: number): void {
    this.#open.get(step)?.reject(new Error(`step ${step}`));
  }
}

describe('SerialQueue', () => {
  it('SerialQueue: work begins when the work before it has ended, also if that failed', async () => {
    const steps = new Steps();
    const queue = new SerialQueue();
    const first = queue.run(() => steps.run(1));
    const second = queue.run(() => steps.run(2));
    const third = queue.run(() => 'at once');
    await Promise.resolve();
    assert.deepEqual(steps.begun, [1]);
    steps.fail(1);
    await assert.rejects(first, /step 1/);
    await steps.end(2);
    assert.equal(await second, 2);
    assert.equal(await third, 'at once');
    assert.deepEqual(steps.begun, [1, 2]);
  });

  it('SerialQueue: an error that is thrown before the first promise rejects the call only', async () => {
    const queue = new SerialQueue();
    const failed = queue.run(() => {
      throw new Error('at once');
    });
    await assert.rejects(failed, /at once/);
    assert.equal(await queue.run(() => 1), 1);
  });
});

describe('CoalescedRun', () => {
  it('CoalescedRun: calls while it runs share one further run', async () => {
    const steps = new Steps();
    const coalesced = new CoalescedRun(() => steps.run());
    const first = coalesced.run();
    const second = coalesced.run();
    assert.equal(coalesced.run(), second);
    assert.deepEqual(steps.begun, [1]);
    await steps.end(1);
    assert.equal(await first, 1);
    // Also a call in the moment between the two.
    const third = coalesced.run();
    await steps.end(2);
    assert.equal(await second, 2);
    assert.equal(await third, 2);
    assert.deepEqual(steps.begun, [1, 2]);
  });

  it('CoalescedRun: the further run follows a failed one, and later calls run again', async () => {
    const steps = new Steps();
    const coalesced = new CoalescedRun(() => steps.run());
    const first = coalesced.run();
    const second = coalesced.run();
    steps.fail(1);
    await assert.rejects(first, /step 1/);
    await steps.end(2);
    assert.equal(await second, 2);
    const third = coalesced.run();
    await steps.end(3);
    assert.equal(await third, 3);
  });

  it('CoalescedRun: with several runs at a time, the further run begins when the first of them ends', async () => {
    const steps = new Steps();
    const coalesced = new CoalescedRun(() => steps.run(), 2);
    void coalesced.run();
    void coalesced.run();
    const third = coalesced.run();
    assert.deepEqual(steps.begun, [1, 2]);
    await steps.end(2);
    await steps.end(3);
    assert.equal(await third, 3);
    await steps.end(1);
    assert.deepEqual(steps.begun, [1, 2, 3]);
  });
});

describe('EarliestTimer', () => {
  it('EarliestTimer: fires once at the earliest of its times, and again after it was started again', async () => {
    let fired = 0;
    let heard = Promise.withResolvers<void>();
    const timer = new EarliestTimer(() => {
      fired += 1;
      heard.resolve();
    });
    timer.start(1_000_000);
    timer.start(1);
    timer.start(2_000_000);
    // The timer does not keep the process alive.
    const alive = setInterval(() => undefined, 1_000);
    await heard.promise;
    assert.equal(fired, 1);
    heard = Promise.withResolvers();
    timer.start(1);
    await heard.promise;
    assert.equal(fired, 2);
    timer.start(1);
    timer.stop();
    heard = Promise.withResolvers();
    timer.start(2);
    await heard.promise;
    clearInterval(alive);
    assert.equal(fired, 3);
  });
});

describe('abort helpers', () => {
  it('onAbort: calls the listener once when the signal fires, at once if it has fired, and not after its removal', () => {
    const calls: string[] = [];
    const controller = new AbortController();
    onAbort(controller.signal, () => calls.push('kept'));
    onAbort(controller.signal, () => calls.push('removed'))();
    assert.equal(getEventListeners(controller.signal, 'abort').length, 1);
    controller.abort();
    controller.abort();
    onAbort(controller.signal, () => calls.push('late'));
    assert.deepEqual(calls, ['kept', 'late']);
  });

  it('aborted: resolves when the signal fires, and at once if it has fired', async () => {
    const controller = new AbortController();
    const waiting = aborted(controller.signal);
    assert.equal(await Promise.race([waiting.then(() => 'fired'), Promise.resolve('waits')]), 'waits');
    controller.abort();
    await waiting;
    await aborted(controller.signal);
  });
});
