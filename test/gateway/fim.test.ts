import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { gatewayOfManyProviders } from './many-providers.ts';
import { until } from './until.ts';

const HOLE = { model: 'mistral/codestral-x', prompt: 'const a = ', suffix: ';', max_tokens: 100, stream: true };
const piece = (content: string) =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

describe('code completion through the gateway', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await gatewayOfManyProviders();
  });
  after(() => gateway.close());
  afterEach(() => {
    gateway.upstream.respond(undefined);
    assert.equal(gateway.active, 0);
  });

  async function open(): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${KEY}` };
    const client = httpRequest(`${gateway.url}/fim/completions`, { method: 'POST', headers });
    client.on('error', () => undefined);
    client.end(JSON.stringify(HOLE));
    const [response] = await once(client, 'response');
    response.on('error', () => undefined);
    return response;
  }

  it('code completion: a failure before the first text costs nothing, streamed or not', async () => {
    const answered = () => gateway.rows().filter(({ outcome }) => outcome !== 'failed').length;
    const rows = answered();
    for (const stream of [true, false]) {
      const answer = await gateway.post('/fim/completions', { ...HOLE, stream, prompt: '[[scenario:status-500]]' });
      assert.equal(answer.status, 503, await answer.text());
    }
    assert.equal(answered(), rows);
    assert.equal((await gateway.post('/fim/completions', { ...HOLE, stream: false })).status, 200);
    assert.equal(answered(), rows + 1);
  });

  it('code completion: waits for a slow client and ends when it disconnects', async () => {
    let written = 0;
    let gone = false;
    const text = 'x'.repeat(16_000);
    gateway.upstream.respond(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const closed = once(response, 'close').then(() => {
        gone = true;
      });
      while (!gone && written < 200_000_000) {
        written += text.length;
        if (!response.write(piece(text))) await Promise.race([once(response, 'drain'), closed]);
      }
      response.end();
    });
    const rows = gateway.rows().length;
    const response = await open();
    response.pause();
    // The upstream is paused if it has not written for many turns of the event loop.
    for (let before = -1, turns = 0; turns < 300 && written < 200_000_000; turns += 1) {
      if (written !== before) turns = 0;
      before = written;
      await new Promise(setImmediate);
    }
    assert.ok(written < 50_000_000, `${written} bytes were taken for a client that reads none`);
    assert.equal(gone, false);
    response.destroy();
    await until('the upstream request is closed and no request is active', () => gone && gateway.active === 0);
    const [row, ...more] = gateway.rows().slice(rows);
    assert.deepEqual([row?.outcome, row?.estimated, more], ['client-gone', 1, []]);
  });

  describe('code completion of further models', () => {
    let wider: TestGateway;
    before(async () => {
      wider = await startTestGateway({
        config: (url) => {
          const options = { baseURL: `${url}/v1`, apiKey: 'k' };
          const models = { 'Qwen3-Coder-30B': {}, m: {} };
          return {
            provider: {
              vllm: { fim: 'template-qwen', options, models },
              other: { options, models, npm: '@ai-sdk/openai-compatible' },
            },
            gateway: { fimModels: ['vllm/*Coder*'] },
          };
        },
      });
    });
    after(() => wider.close());

    const ask = (model: string, stream = false) =>
      wider.post('/fim/completions', { model, prompt: 'let a = ', suffix: ';', max_tokens: 50, stream });

    it('gateway.fimModels: a model that it names answers in its own format, streamed and whole', async () => {
      for (const stream of [true, false]) {
        const answer = await ask('vllm/Qwen3-Coder-30B', stream);
        assert.equal(answer.status, 200, await answer.text());
        const sent = wider.upstream.requests.at(-1);
        assert.equal(sent?.path, '/v1/completions');
        assert.equal(sent?.body.prompt, '<|fim_prefix|>let a = <|fim_suffix|>;<|fim_middle|>');
      }
    });

    for (const model of ['vllm/m', 'other/Qwen3-Coder-30B', 'nobody/Qwen3-Coder-30B']) {
      it(`gateway.fimModels: ${model} is refused`, async () => {
        const answer = await ask(model);
        const { error } = JSON.parse(await answer.text());
        assert.deepEqual([answer.status, error.error_type ?? error.code], [400, 'unsupported_fim_model']);
      });
    }
  });
});
