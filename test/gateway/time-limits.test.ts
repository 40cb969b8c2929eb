import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { converse } from '../../src/provider/converse.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import type { Transport } from '../../src/provider/transport/transport.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { MonotonicClock } from '../provider/monotonic-clock.ts';
import { ask, modelAt } from '../provider/test-model.ts';
import { streamFrames, wholeBody } from '../upstream/answers.ts';
import type { Responder } from '../upstream/upstream.ts';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

/** Milliseconds that an upstream may be silent. */
const CHUNK = 60_000;
/** Milliseconds between two events of a slow answer. The whole answer takes longer than one time limit. */
const STEP = 0.4 * CHUNK;
const STEPS = 8;
/** Above the range of a Node timer. */
const ENDLESS = 3_000_000_000;

/** The pieces of slow answers. The clock moves by a step before each. */
class Steps {
  #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Sends the pieces, one at each step, until the answers have ended. */
  async send(clock: MonotonicClock, answers: Promise<unknown>): Promise<void> {
    let over = false;
    const end = () => {
      over = true;
    };
    answers.then(end, end);
    while (!over) {
      await clock.pass(STEP);
      for (const send of this.#waiting.splice(0)) send();
    }
    await answers;
  }
}

const slowly =
  (steps: Steps): Responder =>
  async ({ wire }, response) => {
    await steps.next();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of streamFrames(wire, { text: Array.from({ length: STEPS }, (_, n) => ` ${n}`) })) {
      response.write(`${frame}\n\n`);
      await steps.next();
    }
    response.end();
  };
const SAID = ' 0 1 2 3 4 5 6 7';

describe('time limits', () => {
  let testGateway: TestGateway;
  const undici = undiciTransport();
  before(async () => {
    testGateway = await startTestGateway({
      config: (url) => {
        const at = (more: object) => ({ options: { baseURL: `${url}/v1`, apiKey: 'k', ...more }, models: { m: {} } });
        return {
          provider: {
            patient: at({ chunkTimeout: CHUNK, timeout: CHUNK }),
            endless: at({ chunkTimeout: ENDLESS, timeout: ENDLESS }),
            never: at({ timeout: false }),
            started: at({ timeout: CHUNK }),
          },
        };
      },
    });
  });
  after(async () => {
    await undici.close();
    await testGateway.close();
  });

  const body = (provider: string) =>
    JSON.stringify({ model: `${provider}/m`, stream: true, messages: [{ role: 'user', content: 'Hi' }] });

  it('time limits: apply between events and not to the whole answer, also beyond the range of a timer', async () => {
    using clock = new MonotonicClock();
    const steps = new Steps();
    testGateway.upstream.respond(slowly(steps));
    const earlier = testGateway.upstream.requests.length;
    const gateway = async (provider: string, path: string) => {
      const extra = path === '/messages' ? { max_tokens: 100 } : {};
      const answer = await testGateway.post(path, { ...JSON.parse(body(provider)), ...extra });
      const text = await answer.text();
      assert.match(text, /\[DONE\]|message_stop/, `${provider}${path}: ${text}`);
    };
    const engine = async (transport: Transport, limits: { timeout: number | false; chunkTimeout?: number }) => {
      const options = { transport, signal: new AbortController().signal, retry: { limit: 0 } };
      const events = [];
      for await (const event of converse(modelAt(`${testGateway.upstream.url}/v1`, limits), ask('Hi'), options)) {
        events.push(event);
      }
      const { parts, finish, error } = foldEvents(events);
      assert.deepEqual([parts, finish, error], [[{ type: 'text', text: SAID }], 'stop', undefined]);
    };
    const limits = [
      { timeout: CHUNK, chunkTimeout: CHUNK },
      { timeout: ENDLESS, chunkTimeout: ENDLESS },
      { timeout: false as const },
      { timeout: CHUNK },
    ];
    const answers = [
      ...['patient', 'endless', 'never', 'started'].flatMap((provider) =>
        ['/chat/completions', '/messages'].map((path) => gateway(provider, path)),
      ),
      ...[fetchTransport(fetch), undici].flatMap((transport) => limits.map((each) => engine(transport, each))),
    ];
    const all = Promise.all(answers);
    await Promise.race([all, testGateway.upstream.request(earlier + answers.length - 1)]);
    await steps.send(clock, all);
  });

  it('time limits: apply between the chunks of an answer that is not streamed', async () => {
    using clock = new MonotonicClock();
    const steps = new Steps();
    const earlier = testGateway.upstream.requests.length;
    testGateway.upstream.respond(async ({ wire }, response) => {
      const whole = JSON.stringify(wholeBody(wire, { text: ['It took its time.'] }));
      response.writeHead(200, { 'content-type': 'application/json' });
      for (let at = 0; at < STEPS; at += 1) {
        response.write(whole.slice((at * whole.length) / STEPS, ((at + 1) * whole.length) / STEPS));
        await steps.next();
      }
      response.end();
    });
    const asked = testGateway.post('/chat/completions', { ...JSON.parse(body('patient')), stream: false });
    const answered = asked.then(async (answer) => {
      assert.match(await answer.text(), /It took its time\./);
      assert.equal(answer.status, 200);
    });
    await testGateway.upstream.request(earlier);
    await steps.send(clock, answered);
  });

  it('time limits: a slow client does not count as silence of the upstream', async () => {
    using clock = new MonotonicClock();
    const pieces = 400;
    testGateway.upstream.respond(async ({ wire }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const frame of streamFrames(wire, { text: Array.from({ length: pieces }, () => 'x'.repeat(50_000)) })) {
        if (!response.write(`${frame}\n\n`)) await once(response, 'drain');
      }
      response.end();
    });
    const asked = httpRequest(`${testGateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
    });
    asked.end(body('patient'));
    const [answer]: IncomingMessage[] = await once(asked, 'response');
    assert.ok(answer);
    // Longer than the upstream may be silent, while it has to wait for the client.
    for (let step = 0; step < STEPS; step += 1) await clock.pass(STEP);
    let text = '';
    for await (const bytes of answer) text += bytes;
    assert.ok(text.endsWith('data: [DONE]\n\n'), text.slice(-300));
    assert.ok(text.length > pieces * 50_000);
  });
});
