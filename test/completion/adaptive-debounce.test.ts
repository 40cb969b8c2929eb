import assert from 'node:assert/strict';
import { AdaptiveDebounce } from '../../src/completion/request/adaptive-debounce.ts';
import { VirtualClock } from './virtual-clock.ts';

/** A debounce after some keystrokes, `gap` milliseconds apart. */
async function typed(gap: number, keys = 10): Promise<AdaptiveDebounce> {
  const clock = new VirtualClock();
  const pace = new AdaptiveDebounce(clock);
  for (let key = 0; key < keys; key++) {
    pace.edited();
    await clock.pass(gap);
  }
  return pace;
}

describe('the debounce of completions', () => {
  it('does not wait for the first key after a pause', async () => {
    assert.equal((await typed(100, 1)).wait(0, false), 0);
  });

  it('waits a fifth of the usual gap between keys while answers are of use', async () => {
    assert.equal((await typed(100)).wait(0, false), 20);
    assert.equal((await typed(200)).wait(0, false), 40);
  });

  it('waits longer than a gap when answers are not used, up to a limit', async () => {
    const pace = await typed(200);
    for (let answers = 0; answers < 10; answers++) pace.judged(false);
    assert.equal(pace.wait(0, false), 300);
    const slow = await typed(500);
    for (let answers = 0; answers < 10; answers++) slow.judged(false);
    assert.equal(slow.wait(0, false), 400);
  });

  it('waits three times as long near the budget, after a pause too', async () => {
    assert.ok(Math.abs((await typed(100)).wait(0, true) - 60) < 1e-9);
    assert.ok((await typed(100, 1)).wait(0, true) > 0);
  });

  it('never waits less than the floor of the settings', async () => {
    assert.equal((await typed(100)).wait(250, false), 250);
  });

  it('does not count a pause as a gap', async () => {
    const clock = new VirtualClock();
    const pace = new AdaptiveDebounce(clock);
    for (const gap of [100, 100, 100, 5_000, 100, 100]) {
      pace.edited();
      await clock.pass(gap);
    }
    pace.edited();
    assert.equal(pace.wait(0, false), 20);
  });

  it('takes the connection for closed before the first request and after 30 seconds without one', async () => {
    const clock = new VirtualClock();
    const pace = new AdaptiveDebounce(clock);
    assert.equal(pace.cold, true);
    pace.sent();
    await clock.pass(30_000);
    assert.equal(pace.cold, false);
    await clock.pass(1);
    assert.equal(pace.cold, true);
  });

  it('gives up on an answer after four times the median latency, and not before 1.5 seconds', async () => {
    const pace = new AdaptiveDebounce(new VirtualClock());
    assert.equal(pace.overdueAfter, 1_600);
    for (const latency of [900, 1_000, 5_000]) pace.answered(latency);
    assert.deepEqual([pace.measuredLatency, pace.overdueAfter], [1_000, 4_000]);
    for (let answers = 0; answers < 10; answers++) pace.answered(50);
    assert.equal(pace.overdueAfter, 1_500);
  });
});
