import assert from 'node:assert/strict';
import { cappedCost, cappedUsage } from '../../src/gateway/accounting/usage-cap.ts';
import type { Wire } from '../upstream/answers.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { limited } from './ledger-row.ts';
import { FORMATS, UPSTREAMS } from './many-providers.ts';

/** The only row of the ledger that `work` adds. */
async function rowOf(gateway: TestGateway, work: () => Promise<Response>): Promise<Readonly<Record<string, unknown>>> {
  const before = gateway.rows().length;
  const response = await work();
  assert.equal(response.status, 200, await response.text());
  const row = gateway.rows()[before];
  assert.ok(row);
  return row;
}

/** An answer with this usage by this model, in the requested format. */
function answer(wire: Wire, stream: boolean, usage: Record<string, unknown>, model = 'up-m'): string {
  const sse = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
  if (wire === 'messages') {
    const content = [{ type: 'text', text: 'Hi' }];
    const whole = { type: 'message', role: 'assistant', model, content, stop_reason: 'end_turn', usage };
    if (!stream) return JSON.stringify(whole);
    const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage };
    return (
      sse({ type: 'message_start', message: { ...whole, content: [] } }) + sse(delta) + sse({ type: 'message_stop' })
    );
  }
  if (wire === 'responses') {
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }];
    const whole = { object: 'response', status: 'completed', model, output, usage };
    const created = {
      type: 'response.created',
      response: { ...whole, status: 'in_progress', output: [], usage: null },
    };
    return stream ? sse(created) + sse({ type: 'response.completed', response: whole }) : JSON.stringify(whole);
  }
  const own = { content: 'Hi' };
  if (!stream) return JSON.stringify({ model, choices: [{ index: 0, message: own, finish_reason: 'stop' }], usage });
  const chunk = { model, choices: [{ index: 0, delta: own, finish_reason: 'stop' }] };
  return `${sse(chunk)}${sse({ model, choices: [], usage })}data: [DONE]\n\n`;
}

const tokens = (input: number, output: number, more: Record<string, unknown> = {}) => ({
  ...{ prompt_tokens: input, completion_tokens: output, input_tokens: input, output_tokens: output },
  ...more,
});

describe('usage beyond the possible maximum', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const options = { baseURL: `${url}/v1`, apiKey: 'k' };
        const models = { m: { cost: { input: 1, output: 2 } }, 'codestral-x': { cost: { input: 1, output: 2 } } };
        return {
          provider: { ...providers(url), mistral: { npm: '@ai-sdk/mistral', options, models } },
          gateway: { transcriptionModels: { 'chat/m': {} } },
        };
      },
    });
  });
  after(() => gateway.close());

  const respond = (usage: Record<string, unknown>) =>
    gateway.upstream.respond(({ wire, body }, response) => {
      const stream = body.stream === true;
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
      response.end(answer(wire, stream, usage));
    });

  const ABSURD = {
    'a trillion tokens': tokens(1e12, 1e12),
    'a billion of output': tokens(10, 1e9),
    'a billion of input': tokens(1e9, 10),
    'more from the cache than came in': tokens(10, 10, {
      prompt_tokens_details: { cached_tokens: 1e12, cache_write_tokens: 1e12 },
      input_tokens_details: { cached_tokens: 1e12 },
      cache_read_input_tokens: 1e12,
      cache_creation_input_tokens: 1e12,
    }),
  };
  for (const [what, usage] of Object.entries(ABSURD)) {
    it(`usage cap: usage is capped and marked, and the budget of the key remains: ${what}`, async () => {
      respond(usage);
      for (const { path, body } of FORMATS) {
        for (const up of UPSTREAMS) {
          for (const stream of [true, false]) {
            const lines = gateway.lines.length;
            const row = await rowOf(gateway, () => gateway.post(path, { model: `${up}/m`, ...body, stream }));
            // 128,000 tokens of context and 4,096 of output, at 1.25 and 2 USD a million, with the bytes.
            assert.ok(Number(row.cost) < 0.18, `${path} over ${up}, stream ${stream}: ${JSON.stringify(row)}`);
            assert.equal(row.estimated, 1);
            assert.ok(
              gateway.lines.slice(lines).some((line) => line.includes('usage capped')),
              `${path} over ${up}`,
            );
          }
        }
      }
      const embedded = await rowOf(gateway, () => gateway.post('/embeddings', { model: 'chat/m', input: 'Hi' }));
      assert.ok(Number(embedded.cost) < 0.18, JSON.stringify(embedded));
      const filled = { model: 'mistral/codestral-x', prompt: 'a', max_tokens: 5 };
      const fim = await rowOf(gateway, () => gateway.post('/fim/completions', filled));
      assert.ok(Number(fim.cost) < 0.5, JSON.stringify(fim));
      const input_audio = { data: Buffer.alloc(100).toString('base64'), format: 'wav' };
      const heard = await rowOf(gateway, () => gateway.post('/audio/transcriptions', { model: 'chat/m', input_audio }));
      assert.ok(Number(heard.cost) < 0.18, JSON.stringify(heard));
    });
  }

  it('usage cap: usage within the limits of the model is unchanged', async () => {
    respond(tokens(120_000, 4_000));
    for (const { path, own, body } of FORMATS) {
      const lines = gateway.lines.length;
      const row = await rowOf(gateway, () => gateway.post(path, { model: `${own}/m`, ...body }));
      assert.deepEqual([row.input, row.output, row.estimated], [120_000, 4_000, 0]);
      assert.ok(!gateway.lines.slice(lines).some((line) => line.includes('usage capped')));
    }
  });

  it('usage cap: a count that is no token number counts as missing', async () => {
    for (const count of [-5, 1.5, '12', null, true, {}, []]) {
      respond({
        ...tokens(0, 0),
        prompt_tokens: count,
        completion_tokens: count,
        input_tokens: count,
        output_tokens: count,
      });
      for (const { path, own, body } of FORMATS) {
        for (const stream of [true, false]) {
          const row = await rowOf(gateway, () => gateway.post(path, { model: `${own}/m`, ...body, stream }));
          assert.ok(
            Number(row.input) > 5 && Number(row.output) >= 1,
            `${JSON.stringify(count)} ${JSON.stringify(row)}`,
          );
          assert.equal(row.estimated, 1);
        }
      }
    }
  });

  it('usage cap: without known limits, the bytes are the limit', () => {
    const usage = { input: 1e12, output: 1e12, reasoning: 1e12 };
    const capped = cappedUsage(usage, { sent: 1_000, received: 500, model: {} });
    assert.deepEqual(capped, { input: 201_000, output: 100_500, reasoning: 100_500 });
    assert.ok(cappedCost(1e12, { input: 100, output: 100 }) < 2);
    assert.equal(cappedCost(0.25, { input: 100, output: 100 }), 0.25);
  });
});

describe('cost of an answer', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const options = { baseURL: `${url}/v1`, apiKey: 'k' };
        const models = {
          m: { id: 'up-m', cost: { input: 1, output: 2 } },
          dear: { id: 'up-dear', cost: { input: 100, output: 200 } },
          cheap: { id: 'up-cheap', cost: { input: 0.1, output: 0.2 } },
          dated: { id: 'up-m-2024-08-06', cost: { input: 100, output: 200 } },
          unpriced: {},
        };
        return {
          provider: {
            chat: { options, models },
            messages: { npm: '@ai-sdk/anthropic', options, models },
            responses: { npm: '@ai-sdk/openai', options, models },
            openrouter: { options, models },
          },
        };
      },
    });
  });
  after(() => gateway.close());

  const usage = tokens(1_000, 500);
  const respond = (model: string, more: Record<string, unknown> = {}) =>
    gateway.upstream.respond(({ wire, body }, response) => {
      const stream = body.stream === true;
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
      response.end(answer(wire, stream, { ...usage, ...more }, model));
    });
  const costs = async (model: string) => {
    const found = new Set<unknown>();
    for (const { path, body } of FORMATS) {
      for (const stream of [true, false]) {
        const row = await rowOf(gateway, () => gateway.post(path, { model, ...body, stream }));
        found.add(row.cost);
      }
    }
    return [...found];
  };

  for (const up of UPSTREAMS) {
    it(`cost: uses the price of the answering model if it is higher: ${up}`, async () => {
      respond('up-dear');
      assert.deepEqual(await costs(`${up}/m`), [0.2]);
      assert.deepEqual(await costs(`${up}/unpriced`), [0.2]);
    });

    it(`cost: uses the price of the requested model if it is higher, the same or the other is unknown: ${up}`, async () => {
      for (const model of ['up-m', 'up-cheap', 'nobody-knows', 'up-m-2024-08-06']) {
        respond(model);
        assert.deepEqual(await costs(`${up}/m`), [0.002], model);
      }
    });
  }

  it('cost: the cost that OpenRouter reports is used up to the possible maximum', async () => {
    respond('up-m', { cost: 0.75 });
    assert.deepEqual(await costs('openrouter/m'), [0.75]);
    assert.deepEqual(await costs('openrouter/unpriced'), [0.75]);
    assert.deepEqual(await costs('chat/m'), [0.002], 'another provider’s word for it');
    respond('up-m', { cost: 1e9 });
    const lines = gateway.lines.length;
    for (const cost of await costs('openrouter/m')) assert.equal(cost, 2.5);
    assert.ok(gateway.lines.slice(lines).some((line) => line.includes('usage capped')));
    for (const cost of [-1, '5', null, Number.NaN]) {
      respond('up-m', { cost });
      assert.deepEqual(await costs('openrouter/m'), [0.002], String(cost));
    }
  });

  it('cost: counts against the budget', async () => {
    const key = gateway.createKey({ name: 'small', limits: limited({ nano: 100_000_000 }) });
    respond('up-dear');
    const send = async () => {
      const answered = await gateway.post(
        '/chat/completions',
        { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] },
        { authorization: `Bearer ${key}` },
      );
      await answered.text();
      return answered.status;
    };
    assert.deepEqual([await send(), await send()], [200, 402]);
  });
});
