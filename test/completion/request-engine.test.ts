import assert from 'node:assert/strict';
import { type ModelRequest, RequestEngine, type RequestOutcome } from '../../src/completion/request/request-engine.ts';
import type { SentRequest } from '../../src/completion/request/request-log.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import type { Event } from '../../src/wire/event.ts';
import { answerText } from '../../src/wire/fold.ts';
import { VirtualClock } from './virtual-clock.ts';

type Step = { readonly waitMs: number } | { readonly throws: Error } | Event;

const SENT: SentRequest = {
  kind: 'fim',
  model: 'a/b',
  languageId: 'typescript',
  masked: 0,
  context: [],
  fimRequest: { prefix: 'x'.repeat(30), suffix: 'x'.repeat(10), maxTokens: 10 },
  reason: 'typing',
};
const OVERLOADED = new SvcError({
  errorType: 'temporarily_unavailable',
  message: 'The server is overloaded.',
  retryable: true,
});

class Engine {
  readonly clock = new VirtualClock();
  readonly lines: string[] = [];
  readonly requests = new RequestEngine<ModelRequest>(this.clock, (line) => this.lines.push(line));

  /** @param most characters after which enough was received. */
  send(steps: readonly Step[], most = Number.POSITIVE_INFINITY): Promise<RequestOutcome> {
    const { clock } = this;
    const { promise, resolve } = Promise.withResolvers<RequestOutcome>();
    this.requests.send({
      uri: 'file:///a.ts',
      model: { ref: 'a/b', contextTokens: 1000, cost: { input: 1, output: 2 } },
      sent: SENT,
      characters: 40,
      received: (_, length) => length >= most,
      ended: resolve,
      async *send(signal) {
        for (const step of steps) {
          if ('waitMs' in step) await clock.sleep(step.waitMs);
          else if ('throws' in step) throw step.throws;
          else yield step;
          if (signal.aborted) throw new Error('aborted');
        }
      },
    });
    return promise;
  }

  async settle(): Promise<void> {
    await this.clock.pass(10_000);
  }
}

function text(value: string): Event {
  return { type: 'text', part: 0, text: value };
}

const FINISH: Event = { type: 'finish', reason: 'stop' };

describe('RequestEngine', () => {
  it('an answer is read to its end, priced, and logged', async () => {
    const engine = new Engine();
    const ending = engine.send([{ waitMs: 200 }, text('ab'), { waitMs: 100 }, text('cd'), FINISH]);
    assert.equal(engine.requests.running.size, 1);
    await engine.settle();
    const { answer, stopped, error, received, firstText, total } = await ending;
    assert.deepEqual([answerText(answer), answer.finish, stopped, error], ['abcd', 'stop', false, undefined]);
    assert.deepEqual([received, firstText, total], [4, 200, 300]);
    assert.equal(engine.requests.running.size, 0);
    // 10 tokens at 1 and 1 token at 2 USD a million.
    assert.equal(engine.requests.budget.counts().cost, 12 / 1e6);
    assert.match(
      engine.lines.join('\n'),
      /^fim a\/b typing, sent 30\+10 chars, .*answered 300 ms, got 4 chars, \$0\.0000/,
    );
    assert.equal(engine.requests.lastRequest?.outcome?.result, 'answered');
  });

  it('a request that is stopped is paid for and is no failure, also if its connection breaks then', async () => {
    const engine = new Engine();
    const ending = engine.send([text('ab'), { waitMs: 100 }, text('cd')]);
    await engine.clock.pass(50);
    engine.requests.stop('file:///b.ts');
    assert.equal(engine.requests.running.size, 1);
    engine.requests.stop('file:///a.ts');
    await engine.settle();
    const { answer, stopped, error } = await ending;
    assert.deepEqual([answerText(answer), stopped, error], ['ab', true, undefined]);
    const { failed, cost } = engine.requests.budget.counts();
    assert.deepEqual([failed, cost], [0, 12 / 1e6]);
    assert.match(engine.lines[0] ?? '', /stopped/);
    assert.equal(engine.requests.open, undefined);
  });

  it('the rest of an answer is not read when enough was received', async () => {
    const engine = new Engine();
    const ending = engine.send([text('ab'), text('cd'), text('ef'), FINISH], 4);
    await engine.settle();
    const { answer, stopped } = await ending;
    assert.deepEqual([answerText(answer), answer.finish, stopped], ['abcd', undefined, true]);
  });

  for (const [kind, failure] of [
    ['reported', { type: 'error', error: OVERLOADED }],
    ['thrown', { throws: OVERLOADED }],
  ] as const) {
    it(`an error that is ${kind} opens the circuit and costs nothing`, async () => {
      const engine = new Engine();
      const ending = engine.send([text('ab'), failure]);
      await engine.settle();
      const { answer, error } = await ending;
      assert.deepEqual([answerText(answer), error], ['ab', OVERLOADED]);
      assert.equal(engine.requests.open?.error, OVERLOADED);
      const { failed, cost } = engine.requests.budget.counts();
      assert.deepEqual([failed, cost], [1, 0]);
      assert.match(engine.lines[0] ?? '', /failed .*503 temporarily_unavailable$/);
    });
  }

  it('a failure of a request from before a reset does not open the circuit', async () => {
    const engine = new Engine();
    const ending = engine.send([{ waitMs: 100 }, { throws: OVERLOADED }]);
    engine.requests.reset();
    await engine.settle();
    assert.equal((await ending).outdated, true);
    assert.equal(engine.requests.open, undefined);
  });

  it('a probe that is stopped before its first text leaves the circuit open, and one with text closes it', async () => {
    const engine = new Engine();
    const circuit = engine.requests.circuitFor({ ref: 'a/b', contextTokens: 0 });
    circuit.failed(OVERLOADED);
    await engine.settle();
    for (const [steps, open] of [
      [[{ waitMs: 100 }, text('ab')], true],
      [[text('ab'), { waitMs: 100 }], false],
    ] as const) {
      assert.equal(circuit.admits(), true);
      const ending = engine.send(steps);
      await engine.clock.pass(50);
      engine.requests.stop();
      await engine.settle();
      await ending;
      assert.equal(circuit.open !== undefined, open);
    }
  });
});
