import assert from 'node:assert/strict';
import type { Endpoint, Model } from '../../src/catalog/model.ts';
import { converse } from '../../src/provider/converse.ts';
import type { Retry } from '../../src/provider/send-and-stream.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import type { Transport } from '../../src/provider/transport/transport.ts';
import { type UndiciTransport, undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import type { Event } from '../../src/wire/event.ts';
import { type FoldedAnswer, foldEvents } from '../../src/wire/fold.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { until } from '../gateway/until.ts';
import { streamFrames } from '../upstream/answers.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { MonotonicClock } from './monotonic-clock.ts';
import { ask, credential, modelAt } from './test-model.ts';

const FORMATS: readonly FormatName[] = ['chat-completions', 'responses', 'messages'];
const SAID = 'Hello, wörld 👋.';
/** Milliseconds of a time limit: an answer comes earlier, however busy the machine is. */
const LIMIT = 60_000;

interface Outcome extends FoldedAnswer {
  readonly text: string;
  readonly retries: readonly Retry[];
  readonly events: readonly Event[];
}

describe('converse', () => {
  let upstream: Upstream;
  let undici: UndiciTransport;
  let transports: readonly (readonly [string, Transport])[];
  before(() => {
    undici = undiciTransport();
  });
  beforeEach(async () => {
    upstream = await startUpstream();
    transports = [
      ['fetch', fetchTransport(fetch)],
      ['undici', undici],
    ];
  });
  afterEach(() => upstream.close());
  after(() => undici.close());

  const model = (format: FormatName, endpoint: Partial<Endpoint> = {}, over: Partial<Model> = {}): Model =>
    modelAt(
      `${upstream.url}/v1`,
      { format, kind: format === 'messages' ? 'anthropic' : 'openai-compatible', ...endpoint },
      over,
    );

  async function run(
    target: Model,
    scenario: string,
    transport: Transport,
    stream = true,
    onRetry: () => void = () => undefined,
  ): Promise<Outcome> {
    const retries: Retry[] = [];
    const events: Event[] = [];
    const retry = { baseMs: 1, limit: 3 };
    const options = {
      transport,
      signal: new AbortController().signal,
      retry,
      onRetry: (made: Retry) => {
        retries.push(made);
        onRetry();
      },
    };
    for await (const event of converse(target, ask(`[[scenario:${scenario}]]`, { stream }), options))
      events.push(event);
    const answer = foldEvents(events);
    const text = answer.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const ends = events.filter((event) => event.type === 'finish' || event.type === 'error');
    assert.equal(ends.length, 1, 'exactly one end');
    assert.equal(events.at(-1), ends[0]);
    return { ...answer, text, retries, events };
  }

  /** Each format over each transport. */
  function everyWay(name: string, test: (format: FormatName, transport: Transport) => Promise<void>): void {
    for (const format of FORMATS) {
      for (const index of [0, 1]) {
        const way = index === 0 ? 'fetch' : 'undici';
        it(`converse: ${name} (${format}, ${way})`, () => test(format, transports[index]?.[1] ?? undici));
      }
    }
  }

  /** A run whose first request stalls. Time passes from its arrival until it is given up. */
  async function runStalled(...[target, scenario, transport, stream]: Parameters<typeof run>): Promise<Outcome> {
    using clock = new MonotonicClock();
    let over = false;
    const end = () => {
      over = true;
    };
    const stalled = upstream.request(0).then(() => clock.passUntil(2 * LIMIT, () => over));
    try {
      return await run(target, scenario, transport, stream, end);
    } finally {
      end();
      await stalled;
    }
  }

  const unharmed = [
    'text',
    'split-bytes',
    'crlf',
    'cr',
    'bom',
    'comments',
    'no-content-type',
    'gzip',
    'no-last-blank-line',
  ];
  for (const scenario of unharmed) {
    everyWay(`reads the whole answer: ${scenario}`, async (format, transport) => {
      const seen = await run(model(format), scenario, transport);
      assert.equal(seen.text, SAID);
      assert.equal(seen.finish, 'stop');
      assert.deepEqual([seen.usage?.input, seen.usage?.output], [11, 7]);
    });
  }

  everyWay('an answer that is not streamed gives the same events', async (format, transport) => {
    const whole = await run(model(format), 'text-and-tools', transport, false);
    const streamed = await run(model(format), 'text-and-tools', transport);
    assert.equal(whole.finish, 'tool_calls');
    assert.deepEqual(whole.parts, streamed.parts);
  });

  everyWay('usage may be missing', async (format, transport) => {
    const seen = await run(model(format), 'no-usage', transport);
    assert.equal(seen.text, SAID);
    assert.equal(seen.error, undefined);
  });

  for (const scenario of [
    'reset-before-headers',
    'reset-after-headers',
    'empty',
    'status-503',
    'status-529',
    'status-429',
    'status-408',
  ]) {
    everyWay(`retries if nothing was shown: ${scenario}`, async (format, transport) => {
      const seen = await run(model(format), `${scenario}-2-times`, transport);
      assert.equal(seen.text, SAID);
      assert.equal(seen.retries.length, 2);
      assert.equal(upstream.requests.length, 3);
    });
  }

  for (const scenario of ['stall-before-headers', 'stall-after-headers']) {
    everyWay(`cancels a stalled request and retries: ${scenario}`, async (format, transport) => {
      const seen = await runStalled(model(format, { timeout: LIMIT }), `${scenario}-1-times`, transport);
      assert.equal(seen.text, SAID);
      assert.deepEqual(
        seen.retries.map((retry) => retry.error.errorType),
        ['upstream_timeout'],
      );
      assert.equal(await upstream.requests[0]?.closed, true);
    });
  }

  everyWay('cancels an answer that is not streamed and stalls, and retries', async (format, transport) => {
    const target = model(format, { timeout: LIMIT });
    const seen = await runStalled(target, 'stall-mid-body-1-times', transport, false);
    assert.equal(seen.text, SAID);
    assert.deepEqual(
      seen.retries.map((retry) => retry.error.errorType),
      ['upstream_timeout'],
    );
    assert.equal(await upstream.requests[0]?.closed, true);
  });

  everyWay('chunkTimeout cancels a stall after comments', async (format, transport) => {
    const target = model(format, { timeout: false, chunkTimeout: LIMIT });
    const seen = await runStalled(target, 'stall-after-comments-1-times', transport);
    assert.equal(seen.text, SAID);
    assert.equal(seen.retries.length, 1);
  });

  for (const scenario of ['stall-mid-stream', 'stall-mid-stream-with-pings']) {
    everyWay(`keeps the text of a ${scenario} and does not retry`, async (format, transport) => {
      const seen = await runStalled(model(format, { timeout: false, chunkTimeout: LIMIT }), scenario, transport);
      assert.equal(seen.text, 'Hello, wörld ');
      assert.equal(seen.error?.errorType, 'upstream_timeout');
      assert.equal(seen.retries.length, 0);
      assert.equal(await upstream.requests[0]?.closed, true);
    });
  }

  for (const [scenario, text] of [
    ['reset-mid-stream', 'Hello, wörld '],
    ['reset-mid-frame', 'Hello'],
    ['reset-mid-character', 'Hello, wörld '],
  ] as const) {
    everyWay(`keeps the text of a ${scenario} and reports the interruption`, async (format, transport) => {
      const seen = await run(model(format), scenario, transport);
      assert.equal(seen.text, text);
      assert.equal(seen.error?.errorType, 'upstream_disconnect');
      assert.equal(upstream.requests.length, 1);
    });
  }

  everyWay('reads a stream without a content type, also after blank lines', async (format, transport) => {
    upstream.respond(async (request, response) => {
      response.writeHead(200).write('\n\n');
      await new Promise(setImmediate);
      const frames = streamFrames(request.wire, { text: ['Hello'] });
      response.end(frames.map((frame) => `${frame}\n\n`).join(''));
    });
    const seen = await run(model(format), 'text', transport);
    assert.deepEqual([seen.text, seen.finish], ['Hello', 'stop']);
  });

  everyWay('the finish is "closed" if a stream ends without a reason', async (format, transport) => {
    upstream.respond((request, response) => {
      const all = streamFrames(request.wire, { text: ['Hello', ', wörld '] });
      const cut = all.slice(0, all.findIndex((frame) => frame.includes('wörld')) + 1);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(cut.map((frame) => `${frame}\n\n`).join(''));
    });
    const seen = await run(model(format), 'text', transport);
    assert.equal(seen.text, 'Hello, wörld ');
    assert.equal(seen.finish, 'closed');
  });

  it('converse: an answer is complete if its connection hangs after the finish', async () => {
    const target = model('chat-completions', { timeout: false, chunkTimeout: LIMIT });
    const seen = await runStalled(target, 'stall-after-finish', undici);
    assert.equal(seen.finish, 'stop');
    assert.equal(seen.text, SAID);
  });

  everyWay('keeps the text before an invalid frame and reports it', async (format, transport) => {
    const seen = await run(model(format), 'invalid-json', transport);
    assert.equal(seen.error?.errorType, 'upstream_invalid_response');
    assert.equal(seen.retries.length, 0);
  });

  everyWay('reports a web page as an error', async (format, transport) => {
    const seen = await run(model(format), 'html', transport);
    assert.equal(seen.error?.errorType, 'upstream_invalid_response');
    assert.match(seen.error?.message ?? '', /web page/);
  });

  const statuses: readonly (readonly [number, string, number])[] = [
    [400, 'invalid_request', 400],
    [401, 'authentication_required', 401],
    [402, 'insufficient_credits', 402],
    [403, 'model_not_allowed', 403],
    [404, 'model_not_found', 400],
    [413, 'request_too_large', 413],
    [422, 'invalid_request', 400],
  ];
  for (const [status, errorType, answered] of statuses) {
    everyWay(`does not retry after ${status}`, async (format, transport) => {
      const seen = await run(model(format), `status-${status}`, transport);
      assert.deepEqual([seen.error?.errorType, seen.error?.status, seen.error?.provider], [errorType, answered, 'up']);
      assert.equal(upstream.requests.length, 1);
    });
  }

  it('converse: waits for Retry-After, and returns the error if that is too long', async () => {
    const seen = await run(model('chat-completions'), 'status-429-retry-after-0-1-times', undici);
    assert.deepEqual(
      seen.retries.map((retry) => retry.delayMs),
      [0],
    );
    const named = await run(model('chat-completions'), 'named-wait-7ms-1-times', undici);
    assert.deepEqual(
      named.retries.map((retry) => retry.delayMs),
      [7],
    );
    const long = await run(model('chat-completions'), 'status-429-retry-after-86400', undici);
    assert.equal(long.retries.length, 0);
    assert.deepEqual([long.error?.errorType, long.error?.retryAfterMs], ['rate_limit_exceeded', 86_400_000]);
  });

  it('converse: retries up to the limit', async () => {
    const seen = await run(model('chat-completions'), 'status-500', undici);
    assert.equal(seen.retries.length, 3);
    assert.equal(seen.error?.errorType, 'upstream_error');
  });

  it('converse: the error names an address that refuses connections', async () => {
    const { url } = upstream;
    await upstream.close();
    for (const [, transport] of transports) {
      const seen = await run(modelAt(url), 'text', transport);
      assert.equal(seen.error?.errorType, 'network_error');
      assert.match(seen.error?.message ?? '', /refused/);
    }
    upstream = await startUpstream();
  });

  it('converse: the error names a host without TLS, and there is no retry', async () => {
    for (const [, transport] of transports) {
      const seen = await run(modelAt(upstream.url.replace('http:', 'https:')), 'text', transport);
      assert.equal(seen.error?.errorType, 'network_error');
      assert.match(seen.error?.message ?? '', /TLS/);
      assert.equal(seen.retries.length, 0);
    }
  });

  everyWay('closes the socket immediately when the signal fires', async (format, transport) => {
    const controller = new AbortController();
    const events: Event[] = [];
    const options = { transport, signal: controller.signal };
    for await (const event of converse(model(format), ask('[[scenario:stall-mid-stream]]'), options)) {
      events.push(event);
      if (event.type === 'text' && event.text.includes('wörld')) controller.abort();
    }
    const last = events.at(-1);
    assert.equal(last?.type === 'error' && last.error.errorType, 'client_disconnect');
    assert.equal(await upstream.requests[0]?.closed, true);
  });

  everyWay('closes the socket when the reader stops', async (format, transport) => {
    const options = { transport, signal: new AbortController().signal };
    for await (const event of converse(model(format), ask('[[scenario:stall-mid-stream]]'), options)) {
      if (event.type === 'text') break;
    }
    assert.equal(await upstream.requests[0]?.closed, true);
  });

  it('converse: no listener remains on the signal of the caller', async () => {
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const consume = async (scenario: string) => {
      const target = model('chat-completions', { timeout: LIMIT });
      const options = { transport: undici, signal, retry: { limit: 1, baseMs: 1 } };
      for await (const _ of converse(target, ask(`[[scenario:${scenario}]]`), options));
    };
    for (const scenario of ['text', 'status-500', 'reset-mid-stream', 'html']) await consume(scenario);
    {
      using clock = new MonotonicClock();
      let over = false;
      const stalled = consume('stall-before-headers').finally(() => {
        over = true;
      });
      await clock.passUntil(2 * LIMIT, () => over);
      await stalled;
    }
    // The connection of a complete answer is drained after its last event.
    await until('no listener or no open connection', async () => listeners === 0 || (await upstream.sockets()) === 0);
    assert.equal(listeners, 0);
  });

  it('converse: uses a connection again', async () => {
    const ports = new Set<unknown>();
    const own = undiciTransport();
    upstream.respond((_, response) => {
      ports.add(response.socket?.remotePort);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    });
    for (let n = 0; n < 5; n++) {
      await run(model('chat-completions'), 'text', own);
      await new Promise(setImmediate);
    }
    await own.close();
    assert.ok(ports.size < 5, `${ports.size} connections for 5 requests`);
  });

  describe('redirects', () => {
    everyWay('a redirect is followed within the origin', async (format, transport) => {
      const seen = await run(model(format), 'redirect-same', transport);
      assert.equal(seen.text, SAID);
      assert.equal(upstream.requests.length, 2);
      assert.deepEqual(upstream.requests[1]?.body, upstream.requests[0]?.body);
    });

    everyWay('a redirect never sends the key or the prompt to another origin', async (format, transport) => {
      const other = await startUpstream();
      try {
        const location = `${other.url}/v1/chat/completions`;
        upstream.respond((_, response) => void response.writeHead(307, { location }).end());
        const seen = await run(model(format), 'text', transport);
        assert.equal(seen.error?.errorType, 'upstream_invalid_response');
        assert.equal(other.requests.length, 0);
        assert.doesNotMatch(JSON.stringify(seen.error) + seen.error?.message, /sk-test/);
      } finally {
        await other.close();
      }
    });
  });

  it('converse: yields an error instead of throwing if the request is invalid', async () => {
    const seen = await run(
      model('chat-completions', { headers: new Map([['x-a', credential('line\nbreak')]]) }),
      'text',
      undici,
    );
    assert.equal(seen.error?.errorType, 'configuration_error');
    assert.doesNotMatch(seen.error?.message ?? '', /break/);
    assert.equal(upstream.requests.length, 0);
  });
});
