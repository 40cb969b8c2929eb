import assert from 'node:assert/strict';
import fc from 'fast-check';
import { converse } from '../../src/provider/converse.ts';
import { DEFAULT_RETRY, retryDelay } from '../../src/provider/retry.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { SvcError, type SvcErrorInit } from '../../src/wire/errors/svc-error.ts';
import type { Event } from '../../src/wire/event.ts';
import { streamFrames } from '../upstream/answers.ts';
import { play } from '../upstream/scenarios.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { ask, modelAt } from './test-model.ts';

const failure = (more: Partial<SvcErrorInit> = {}) =>
  new SvcError({ status: 503, errorType: 'upstream_error', message: 'x', retryable: true, ...more });

describe('retryDelay', () => {
  it('retryDelay: doubles up to its maximum, with random jitter of up to a half', () => {
    const waits = fc.record({
      attempt: fc.nat(30),
      baseMs: fc.integer({ min: 1, max: 1_000 }),
      maxMs: fc.integer({ min: 1, max: 10_000 }),
    });
    fc.assert(
      fc.property(waits, ({ attempt, baseMs, maxMs }) => {
        const full = Math.min(baseMs * 2 ** attempt, maxMs);
        const wait = retryDelay(failure(), attempt, { ...DEFAULT_RETRY, limit: 31, baseMs, maxMs }) ?? -1;
        assert.ok(wait >= full / 2 && wait <= full, `${wait} of ${full}`);
      }),
    );
    const drawn = Array.from({ length: 50 }, () => retryDelay(failure(), 3, DEFAULT_RETRY));
    assert.ok(new Set(drawn).size > 1);
  });

  it('retryDelay: is the time of Retry-After, unless that is too long', () => {
    const { maxRetryAfterMs } = DEFAULT_RETRY;
    assert.equal(retryDelay(failure({ retryAfterMs: 0 }), 0, DEFAULT_RETRY), 0);
    assert.equal(retryDelay(failure({ retryAfterMs: maxRetryAfterMs }), 4, DEFAULT_RETRY), maxRetryAfterMs);
    assert.equal(retryDelay(failure({ retryAfterMs: maxRetryAfterMs + 1 }), 0, DEFAULT_RETRY), undefined);
  });

  it('retryDelay: none if a retry cannot help or the limit is reached', () => {
    assert.equal(retryDelay(failure({ retryable: false }), 0, DEFAULT_RETRY), undefined);
    assert.equal(retryDelay(failure(), DEFAULT_RETRY.limit, DEFAULT_RETRY), undefined);
    const policy = { ...DEFAULT_RETRY, connectionOnly: true };
    assert.equal(retryDelay(failure(), 0, policy), undefined);
    for (const errorType of ['network_error', 'upstream_disconnect'] as const) {
      assert.ok(retryDelay(failure({ errorType }), 0, policy) !== undefined);
    }
  });
});

describe('retries', () => {
  let upstream: Upstream;
  const transport = undiciTransport();
  before(async () => {
    upstream = await startUpstream();
  });
  after(async () => {
    await transport.close();
    await upstream.close();
  });

  async function events(): Promise<Event[]> {
    const all: Event[] = [];
    const model = modelAt(`${upstream.url}/v1`, { format: 'messages', kind: 'anthropic' });
    const options = { transport, signal: new AbortController().signal, retry: { baseMs: 1, limit: 3 } };
    for await (const event of converse(model, ask('Hi'), options)) all.push(event);
    return all;
  }

  it('retry: happens after a start and usage without text, which are reported once', async () => {
    let asked = 0;
    upstream.respond((request, response) => {
      asked += 1;
      if (asked > 1) return play(request, response);
      const [start = ''] = streamFrames(request.wire, { text: ['Lost'] });
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`${start}\n\n`);
      response.socket?.destroySoon();
      return undefined;
    });
    const again = await events();
    assert.equal(asked, 2);
    assert.deepEqual(again, await events());
    assert.equal(again.at(-1)?.type, 'finish');
  });

  it('retry: uses the connection of the previous answer, even if that ends after its last event', async () => {
    const sockets = new Set<unknown>();
    let end = () => undefined as unknown;
    upstream.respond((request, response) => {
      sockets.add(response.socket);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${streamFrames(request.wire, { text: ['Hi'] }).join('\n\n')}\n\n`);
      end = () => response.end();
    });
    const asked = 8;
    for (let n = 0; n < asked; n += 1) {
      await events();
      const { length } = upstream.requests;
      end();
      assert.equal(await upstream.requests[length - 1]?.closed, false);
      // The rest must be read.
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    }
    // On a busy machine one of them may exceed the time limit.
    assert.ok(sockets.size < asked, `${sockets.size} connections for ${asked} answers`);
  });
});
