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

describe('AdaptiveDebounce', () => {
  it('AdaptiveDebounce: does not delay the first key after a pause', async () => {
    assert.equal((await typed(100, 1)).wait(0, false), 0);
  });

  it('AdaptiveDebounce: waits a fifth of the usual key interval while answers are used', async () => {
    assert.equal((await typed(100)).wait(0, false), 20);
    assert.equal((await typed(200)).wait(0, false), 40);
  });

  it('AdaptiveDebounce: waits longer than a key interval while answers are not used, up to a limit', async () => {
    const pace = await typed(200);
    for (let answers = 0; answers < 10; answers++) pace.judged(false);
    assert.equal(pace.wait(0, false), 300);
    const slow = await typed(500);
    for (let answers = 0; answers < 10; answers++) slow.judged(false);
    assert.equal(slow.wait(0, false), 400);
  });

  it('AdaptiveDebounce: triples the delay near the budget, also after a pause', async () => {
    assert.ok(Math.abs((await typed(100)).wait(0, true) - 60) < 1e-9);
    assert.ok((await typed(100, 1)).wait(0, true) > 0);
  });

  it('AdaptiveDebounce: never waits less than the configured minimum', async () => {
    assert.equal((await typed(100)).wait(250, false), 250);
  });

  it('AdaptiveDebounce: ignores pauses as key intervals', async () => {
    const clock = new VirtualClock();
    const pace = new AdaptiveDebounce(clock);
    for (const gap of [100, 100, 100, 5_000, 100, 100]) {
      pace.edited();
      await clock.pass(gap);
    }
    pace.edited();
    assert.equal(pace.wait(0, false), 20);
  });

  it('AdaptiveDebounce: the connection counts as closed before the first request and after 30 seconds', async () => {
    const clock = new VirtualClock();
    const pace = new AdaptiveDebounce(clock);
    assert.equal(pace.cold, true);
    pace.sent();
    await clock.pass(30_000);
    assert.equal(pace.cold, false);
    await clock.pass(1);
    assert.equal(pace.cold, true);
  });

  it('AdaptiveDebounce: the answer times out after four times the median latency, at least 1.5 seconds', async () => {
    const pace = new AdaptiveDebounce(new VirtualClock());
    assert.equal(pace.overdueAfter, 1_600);
    for (const latency of [900, 1_000, 5_000]) pace.answered(latency);
    assert.deepEqual([pace.measuredLatency, pace.overdueAfter], [1_000, 4_000]);
    for (let answers = 0; answers < 10; answers++) pace.answered(50);
    assert.equal(pace.overdueAfter, 1_500);
  });
});
