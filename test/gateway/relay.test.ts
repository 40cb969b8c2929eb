import assert from 'node:assert/strict';
import { PLACEHOLDER_RESULT } from '../../src/wire/tools/tool-call-repair.ts';
import { KEY, type TestGateway } from './gateway-under-test.ts';
import { FORMATS, gatewayOfManyProviders, UPSTREAMS } from './many-providers.ts';

describe('relay', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await gatewayOfManyProviders();
  });
  after(() => gateway.close());

  /** Sends a request and returns the one that the upstream received. */
  async function forwarded(path: string, body: unknown, headers: Record<string, string> = {}) {
    const at = gateway.upstream.requests.length;
    const response = await gateway.post(path, body, headers);
    await response.text();
    assert.equal(response.status, 200);
    return gateway.upstream.request(at);
  }

  describe('same format in and out', () => {
    it('relay: the body is unchanged except for the model name, including unknown fields and order', async () => {
      const history = [
        '{"role":"user","content":"Hi é \\u00e9 \\"model\\":\\"x\\""}',
        '{"content":null,"role":"assistant","tool_calls":[{"id":"call.1","type":"function","function":{"name":"f","arguments":"{}"}}]}',
        '{"role":"tool","tool_call_id":"call.1","content":"ok"}',
      ].join(' , ');
      const body = (model: string) =>
        `{ "x_unknown": 1.0, "messages" : [ ${history} ],\n "model":"${model}" , "seed":7 }`;
      assert.equal((await forwarded('/chat/completions', body('chat/m'))).bytes.toString(), body('up-m'));
    });

    it('relay: a model name at another position, twice or escaped is not changed by mistake', async () => {
      const messages = [{ role: 'user', content: 'x', model: 'inner' }];
      const text = JSON.stringify({ metadata: { model: 'deep' }, messages, model: 'chat/m' });
      const nested = await forwarded('/chat/completions', text);
      assert.deepEqual(nested.body, { metadata: { model: 'deep' }, messages, model: 'up-m' });
      const twice = await forwarded(
        '/chat/completions',
        `{"model":"a/b",${JSON.stringify({ messages }).slice(1, -1)},"model":"chat/m"}`,
      );
      assert.equal(twice.bytes.toString().split('"model":"up-m"').length, 2);
      assert.ok(!twice.bytes.includes('a/b'));
      const escaped = await forwarded(
        '/chat/completions',
        `{"mod\\u0065l":"chat/m",${JSON.stringify({ messages }).slice(1, -1)}}`,
      );
      assert.equal(escaped.body.model, 'up-m');
    });

    it('relay: an own __proto__ remains a plain member', async () => {
      const sent = await forwarded(
        '/chat/completions',
        '{"model":"chat/m","stream":true,"stream_options":{},"messages":[{"role":"user","content":"x"}],"__proto__":{"polluted":1}}',
      );
      assert.ok(sent.bytes.includes('"__proto__":{"polluted":1}'));
      assert.equal(Object.getOwnPropertyNames(Object.prototype).includes('polluted'), false);
    });

    it('relay: merges the options of the model and the requested variant', async () => {
      const messages = [{ role: 'user', content: 'x' }];
      const sent = await forwarded('/chat/completions', { model: 'tuned/m:high', messages, temperature: 1, y: 2 });
      assert.deepEqual(sent.body, { model: 'm', messages, y: 2, top_k: 5, reasoning_effort: 'high' });
      const other = await forwarded('/messages', { model: 'tuned/m:high', messages, max_tokens: 9 });
      assert.deepEqual([other.body.top_k, other.body.reasoning_effort], [5, 'high']);
    });

    for (const path of ['/messages', '/messages/count_tokens'])
      it(`relay: forwards beta headers of Messages clients and no gateway key: ${path}`, async () => {
        const beta = { 'anthropic-beta': 'b-1' };
        const sent = await forwarded(path, { model: 'messages/m', ...FORMATS[2].body }, beta);
        assert.ok(sent.path.endsWith(path));
        assert.equal(sent.headers['anthropic-beta'], 'b-1');
        assert.equal(sent.headers['x-api-key'], 'sk-house-canary');
        assert.ok(!JSON.stringify(sent.headers).includes(KEY));
      });

    for (const path of ['/responses', '/responses/input_tokens', '/responses/compact'])
      it(`relay: forwards beta headers of Responses clients: ${path}`, async () => {
        const sent = await forwarded(path, { model: 'responses/m', input: 'x' }, { 'openai-beta': 'b-1' });
        assert.ok(sent.path.endsWith(path));
        assert.equal(sent.headers['openai-beta'], 'b-1');
      });
  });

  describe('tool-call repair', () => {
    const placeholder = (text: string) => text.split(PLACEHOLDER_RESULT).length - 1;
    const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
    for (const up of UPSTREAMS) {
      it(`tool-call repair: a Chat history for a ${up} upstream`, async () => {
        const messages = [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: null, tool_calls: [call('a.1'), call('a.1'), call('b.2')] },
          { role: 'tool', tool_call_id: 'a.1', content: 'one' },
          { role: 'tool', tool_call_id: 'orphan', content: 'lost' },
          { role: 'user', content: 'go on' },
        ];
        const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
        const sent = (await forwarded('/chat/completions', { model: `${up}/m`, messages, tools })).bytes.toString();
        assert.equal(placeholder(sent), 1);
        assert.ok(!sent.includes('lost') && !sent.includes('orphan'));
        assert.equal(sent.includes('a.1'), up !== 'messages', 'ids as the upstream wants them');
      });

      it(`tool-call repair: a Messages and a Responses history for a ${up} upstream`, async () => {
        const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
        const messages = [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [use('a'), use('b')] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'b', content: 'two' }] },
        ];
        const tools = [{ name: 'f', input_schema: { type: 'object' } }];
        const first = await forwarded('/messages', { model: `${up}/m`, max_tokens: 9, messages, tools });
        assert.equal(placeholder(first.bytes.toString()), 1);
        const input = [
          { role: 'user', content: 'x' },
          { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'none', output: 'lost' },
        ];
        const second = await forwarded('/responses', {
          model: `${up}/m`,
          input,
          tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false }],
        });
        assert.equal(placeholder(second.bytes.toString()), 1);
        assert.ok(!second.bytes.includes('lost'));
      });
    }

    for (const up of UPSTREAMS) {
      it(`tool-call repair: is counted once for a ${up} upstream`, async () => {
        const before = await gateway.repairs();
        const messages = [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: null, tool_calls: [call('a'), call('a'), call('b')] },
          { role: 'tool', tool_call_id: 'a', content: 'one' },
          { role: 'tool', tool_call_id: 'orphan', content: 'lost' },
        ];
        await forwarded('/chat/completions', { model: `${up}/m`, messages });
        const counted = [...(await gateway.repairs())].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)]);
        assert.deepEqual(Object.fromEntries(counted.filter(([, count]) => count !== 0)), {
          'duplicate-call': 1,
          'orphan-result': 1,
          'placeholder-result': 1,
        });
      });
    }

    it('tool-call repair: creates ids that Mistral accepts, the same in each request', async () => {
      const messages = [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, tool_calls: [call('call_abcdefghijkl')] },
        { role: 'tool', tool_call_id: 'call_abcdefghijkl', content: 'one' },
      ];
      const send = async () =>
        (await forwarded('/chat/completions', { model: 'mistral/m', messages, seed: 1, user: 'u' })).body;
      const [first, second] = [await send(), await send()];
      assert.deepEqual(first, second);
      assert.match(JSON.stringify(first.messages), /"tool_call_id":"[a-zA-Z0-9]{9}"/);
      assert.deepEqual([first.random_seed, first.user], [1, undefined]);
    });

    it('request: Mistral gets its own name of the limit, and no field that it refuses', async () => {
      const more = { max_completion_tokens: 50, store: false, logit_bias: null, metadata: null };
      const messages = [{ role: 'user', content: 'x' }];
      const { body } = await forwarded('/chat/completions', { model: 'mistral/m', messages, ...more });
      assert.deepEqual(body, { model: 'm', messages, max_tokens: 50 });
    });
  });

  it('relay: code completions have one format, streamed or not, and stop when the client disconnects', async () => {
    const fimRequest = { model: 'mistral/codestral-x', prompt: 'a', suffix: 'b', max_tokens: 10 };
    const whole = JSON.parse(await (await gateway.post('/v1/fim/completions', fimRequest)).text());
    assert.equal(whole.object, 'fim.completion');
    assert.equal(whole.choices[0].text, whole.choices[0].message.content);
    const text = await (await gateway.post('/fim/completions', { ...fimRequest, stream: true })).text();
    const frames = [...text.matchAll(/^data: (.*)$/gm)].map((match) => match[1] ?? '');
    assert.equal(frames.at(-1), '[DONE]');
    const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame));
    assert.ok(chunks.every((chunk) => chunk.object === 'fim.completion.chunk'));
    assert.equal(chunks.map((chunk) => chunk.choices[0].delta.content).join(''), whole.choices[0].text);
    assert.deepEqual(chunks.map((chunk) => chunk.usage !== undefined).lastIndexOf(true), chunks.length - 1);
    assert.equal(chunks.filter((chunk) => chunk.usage !== undefined).length, 1);
  });

  it('relay: cached tokens have their own price', async () => {
    const messages = [{ role: 'user', content: '[[scenario:cached]]' }];
    for (const [path, up] of [
      ['/chat/completions', 'chat'],
      ['/messages', 'messages'],
      ['/chat/completions', 'responses'],
    ] as const) {
      await (await gateway.post(path, { model: `${up}/m`, max_tokens: 9, messages })).text();
      const row = gateway.rows().at(-1);
      assert.deepEqual([row?.input, row?.output, row?.cache_read], [1000, 5, 900], up);
      assert.ok(Math.abs(Number(row?.cost) - (100 * 1 + 900 * 0.1 + 5 * 2) / 1e6) < 1e-12);
    }
  });

  it('relay: no connection remains open', async () => {
    await gateway.get('/healthz');
    assert.equal(gateway.active, 0);
  });
});
