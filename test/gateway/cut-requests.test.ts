import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Responder } from '../upstream/upstream.ts';
import { chatRequest } from './chat-request.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

/** Longer than a connection takes that the upstream had closed before. */
const WHILE_MS = 2_500;

describe('requests to which the upstream ends the connection without an answer', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({ config: (url) => ({ provider: providers(url) }) });
  });
  after(() => gateway.close());
  afterEach(() => gateway.upstream.respond(undefined));

  const cut: Responder = (_request, response) => void response.destroy();

  /** The hits of the upstream, and the attempts in the ledger with their outcome and whether they cost something. */
  async function send(respond: Responder) {
    const [seq, before] = [Number(gateway.rows().at(-1)?.seq ?? 0), gateway.upstream.requests.length];
    gateway.upstream.respond(respond);
    const response = await gateway.post('/chat/completions', chatRequest('chat/m'));
    await response.text();
    const attempts = gateway.rows(seq).filter(({ attempt }) => Number(attempt) > 0);
    return {
      status: response.status,
      hits: gateway.upstream.requests.length - before,
      attempts: attempts.map(({ outcome, cost, estimated }) => [outcome, Number(cost) > 0, Number(estimated)]),
    };
  }

  it('each time: it is asked twice, and both are counted', async () => {
    assert.deepEqual(await send(cut), {
      status: 503,
      hits: 2,
      attempts: [
        ['failed', true, 1],
        ['failed', true, 1],
      ],
    });
  });

  it('after a while: it has read the request, so it is not asked again, and the request is counted', async () => {
    const late: Responder = async (_request, response) => {
      await sleep(WHILE_MS);
      response.destroy();
    };
    assert.deepEqual(await send(late), { status: 503, hits: 1, attempts: [['failed', true, 1]] });
  });

  it('once and at once: the connection was an old one, and only the answer is counted', async () => {
    let asked = 0;
    const once: Responder = (request, response) => {
      asked += 1;
      if (asked === 1) return cut(request, response);
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { role: 'assistant', content: 'x' };
      const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
    };
    assert.deepEqual(await send(once), { status: 200, hits: 2, attempts: [['complete', true, 0]] });
  });
});
