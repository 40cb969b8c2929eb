import assert from 'node:assert/strict';
import type { CompletionModel } from '../../src/completion/document/completion-settings.ts';
import { UsageBudget } from '../../src/completion/request/usage-budget.ts';
import { VirtualClock } from './virtual-clock.ts';

const HOUR_MS = 3_600_000;
/** One USD for a million tokens of either kind. */
const PRICED: CompletionModel = { ref: 'p/m', contextTokens: 0, cost: { input: 1, output: 1 } };
const UNPRICED: CompletionModel = { ref: 'p/n', contextTokens: 0 };
const usage = (input: number) => ({ input, output: 0 });

describe('UsageBudget', () => {
  it('UsageBudget: is normal below 70 %, slow above it, and stops at the limit', () => {
    const governor = new UsageBudget(new VirtualClock());
    const levels = [690_000, 10_000, 290_000, 10_000].map((tokens) => {
      governor.recordAnswer(PRICED, usage(tokens), 0, 0);
      return governor.level(1);
    });
    assert.deepEqual(levels, ['normal', 'slow', 'slow', 'stop']);
  });

  it('UsageBudget: a limit of 0 means no limit', () => {
    const governor = new UsageBudget(new VirtualClock());
    governor.recordAnswer(PRICED, usage(1e9), 0, 0);
    assert.equal(governor.level(0), 'normal');
  });

  it('UsageBudget: recovers when enough usage is older than an hour', async () => {
    const clock = new VirtualClock();
    const governor = new UsageBudget(clock);
    governor.recordAnswer(PRICED, usage(600_000), 0, 0);
    await clock.pass(1_000);
    governor.recordAnswer(PRICED, usage(600_000), 0, 0);
    assert.deepEqual([governor.level(1), governor.waitMs(1)], ['stop', HOUR_MS - 1_000]);
    await clock.pass(HOUR_MS - 999);
    assert.equal(governor.level(1), 'normal');
  });

  it('UsageBudget: estimates missing token counts with four characters per token', () => {
    const governor = new UsageBudget(new VirtualClock());
    governor.recordRequest();
    assert.equal(governor.recordAnswer(PRICED, undefined, 400, 10), 103 / 1_000_000);
    const { requests, inputTokens, outputTokens, estimated } = governor.counts();
    assert.deepEqual(
      { requests, inputTokens, outputTokens, estimated },
      {
        requests: 1,
        inputTokens: 100,
        outputTokens: 3,
        estimated: true,
      },
    );
  });

  it('UsageBudget: the cost is unknown after an answer of a model without a price', () => {
    const governor = new UsageBudget(new VirtualClock());
    governor.recordAnswer(PRICED, usage(1), 0, 0);
    assert.equal(governor.recordAnswer(UNPRICED, usage(1), 0, 0), undefined);
    assert.equal(governor.counts().cost, undefined);
  });

  it('UsageBudget: computes the cost per accepted character', () => {
    const governor = new UsageBudget(new VirtualClock());
    governor.recordAnswer(PRICED, usage(1_000_000), 0, 10);
    assert.equal(governor.counts().costPerAcceptedCharacter, undefined);
    governor.recordAccepted(4);
    assert.equal(governor.counts().costPerAcceptedCharacter, 0.25);
  });

  it('UsageBudget: computes the share of accepted answers, after at least three answers', () => {
    const governor = new UsageBudget(new VirtualClock());
    for (let answers = 0; answers < 2; answers++) {
      governor.recordAnswer(PRICED, usage(1), 0, 10);
      governor.recordAccepted(10);
    }
    assert.equal(governor.acceptance(), 0);
    governor.recordAnswer(PRICED, usage(1), 0, 20);
    assert.equal(governor.acceptance(), 0.5);
    for (let answers = 0; answers < 12; answers++) governor.recordAnswer(PRICED, usage(1), 0, 10);
    assert.equal(governor.acceptance(), 0);
  });
});
