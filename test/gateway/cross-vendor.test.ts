import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, type ModelMessage } from 'ai';
import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import { wholeBody } from '../upstream/answers.ts';
import { CLIENTS, type Step } from './client-histories.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

/** Conversations that began with one vendor and continue with another. */
describe('conversations across vendors', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const all = providers(url);
        const { options } = objectOrEmpty(all.chat);
        const models = { m: { limit: { context: 128_000, output: 8192 } } };
        const plain = { options, models };
        const others = {
          mistral: { ...objectOrEmpty(all.chat), npm: '@ai-sdk/mistral' },
          anthropic: all.messages,
          plain,
          plainopenai: { ...plain, npm: '@ai-sdk/openai' },
        };
        return { provider: { ...all, ...others } };
      },
    });
  });
  after(() => gateway.close());
  beforeEach(() => {
    gateway.upstream.respond(undefined);
    gateway.upstream.forget();
  });

  const sent = async (client: keyof typeof CLIENTS, model: string, steps: readonly Step[], more: JsonObject = {}) => {
    const { path, request } = CLIENTS[client];
    const response = await gateway.post(path, { model, ...request(steps), ...more });
    assert.equal(response.status, 200, await response.text());
    return (await gateway.upstream.request(0)).body;
  };

  for (const client of Object.keys(CLIENTS) as (keyof typeof CLIENTS)[]) {
    it(`ids of calls: a server that counts calls in each answer, then Claude: ${client}`, async () => {
      const round: Step[] = [{ call: 'call_0' }, { result: 'call_0', text: 'r' }];
      const body = await sent(client, 'messages/m', [{ user: 'q' }, ...round, ...round, { call: 'call_1' }]);
      const ids = [...JSON.stringify(body.messages).matchAll(/"(?:id|tool_use_id)":"([^"]+)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, 3);
      for (const at of [0, 2, 4]) assert.equal(ids[at], ids[at + 1]);
    });
  }

  for (const client of ['messages', 'responses'] as const) {
    it(`ids of calls: an answer with an id of the history has another one for the client: ${client}`, async () => {
      const tools = ['call_0', 'call_1'].map((id) => ({ id, name: 'f', arguments: ['{}'] }));
      gateway.upstream.respond((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(wholeBody('chat', { tools })));
      });
      const { path, request } = CLIENTS[client];
      const history = request([{ user: 'q' }, { call: 'call_0' }, { result: 'call_0', text: 'r' }]);
      const answers = [];
      for (let n = 0; n < 2; n += 1) {
        const response = await gateway.post(path, { model: 'chat/m', ...history });
        const answer = objectOrEmpty(await response.json());
        const ids = [...JSON.stringify(answer).matchAll(/"(?:call_id|id)":"(call_[^"]+)"/g)].map(([, id]) => id);
        assert.equal(new Set(['call_0', ...ids]).size, 3);
        answers.push(ids);
      }
      assert.deepEqual(answers[0], answers[1]);
    });
  }

  const MARK = { cache_control: { type: 'ephemeral' } };
  const user = (content: unknown, more: JsonObject = {}) => ({ role: 'user', content, ...more });
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const calls = (more: JsonObject = {}, mark: JsonObject = {}) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ ...call, ...mark }],
    ...more,
  });
  const tool = (content: unknown, more: JsonObject = {}) => ({ role: 'tool', tool_call_id: 'c1', content, ...more });
  const text = (more: JsonObject = {}) => ({ type: 'text', text: 't', ...more });
  const marked = (block: JsonObject) => ({ ...block, ...MARK });
  const result = { type: 'tool_result', tool_use_id: 'c1', content: 't' };
  const use = { type: 'tool_use', id: 'c1', name: 'f', input: {} };

  /** Where Chat Completions clients put a mark, and the block of Messages that has it. */
  const MARKS: readonly (readonly [
    where: string,
    request: JsonObject,
    path: (body: JsonObject) => unknown,
    block: unknown,
  ])[] = [
    [
      'a system message',
      { messages: [{ role: 'system', content: 't', ...MARK }, user('q')] },
      ({ system }) => system,
      [marked(text())],
    ],
    ['a user message', { messages: [user('t', MARK)] }, firstContent, [marked(text())]],
    [
      'a user message beside its parts',
      { messages: [user([text(), text()], MARK)] },
      firstContent,
      [text(), marked(text())],
    ],
    ['a part', { messages: [user([marked(text()), text()])] }, firstContent, [marked(text()), text()]],
    [
      'an assistant message',
      { messages: [user('q'), { role: 'assistant', content: 't', ...MARK }, user('p')] },
      secondContent,
      [marked(text())],
    ],
    [
      'an assistant message with a call',
      { messages: [user('q'), calls(MARK), tool('t')] },
      secondContent,
      [marked(use)],
    ],
    ['a tool call', { messages: [user('q'), calls({}, MARK), tool('t')] }, secondContent, [marked(use)]],
    ['a tool message', { messages: [user('q'), calls(), tool('t', MARK)] }, thirdContent, [marked(result)]],
    [
      'a part of a tool message',
      { messages: [user('q'), calls(), tool([marked(text())])] },
      thirdContent,
      [marked(result)],
    ],
    [
      'a tool',
      {
        messages: [user('q')],
        tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } }, ...MARK }],
      },
      ({ tools }) => tools,
      [{ name: 'f', input_schema: { type: 'object', properties: {} }, ...MARK }],
    ],
    ['the request', { messages: [user('q')], ...MARK }, ({ cache_control }) => cache_control, MARK.cache_control],
  ];

  for (const [where, request, path, block] of MARKS) {
    it(`cache marks: one on ${where} reaches Claude, and no server that refuses it`, async () => {
      await gateway.post('/v1/chat/completions', { model: 'messages/m', max_tokens: 9, ...request });
      const { body } = await gateway.upstream.request(0);
      assert.deepEqual(path(body), block);
      assert.equal(JSON.stringify(body).split('cache_control').length, 2);
      for (const [client, model] of [
        ['chat', 'mistral/m'],
        ['messages', 'chat/m'],
        ['messages', 'responses/m'],
      ] as const) {
        gateway.upstream.forget();
        const own = client === 'chat' ? request : body;
        const response = await gateway.post(CLIENTS[client].path, { ...own, model, max_tokens: 9 });
        assert.equal(response.status, 200, await response.text());
        assert.ok(!JSON.stringify((await gateway.upstream.request(0)).body).includes('cache_control'), model);
      }
    });
  }

  it('cache marks: at most four blocks, three beside that of the request', async () => {
    const messages = [...'abcdef'].map((content) => user(content, MARK));
    for (const [request, count] of [
      [{}, 4],
      [MARK, 4],
    ] as const) {
      gateway.upstream.forget();
      await gateway.post('/v1/chat/completions', { model: 'messages/m', max_tokens: 9, messages, ...request });
      const { body } = await gateway.upstream.request(0);
      assert.equal(JSON.stringify(body).split('cache_control').length - 1, count);
    }
  });

  it('cache marks: at most four blocks also of a client that sends more of them to Claude', async () => {
    const messages = [...'abcdef'].map((word) => user([marked({ type: 'text', text: word })]));
    const system = [marked({ type: 'text', text: 's' })];
    for (const [request, count] of [
      [{}, 4],
      [{ system }, 4],
      [{ system, ...MARK }, 4],
    ] as const) {
      gateway.upstream.forget();
      await gateway.post('/v1/messages', { model: 'messages/m', max_tokens: 9, messages, ...request });
      const { body } = await gateway.upstream.request(0);
      assert.equal(JSON.stringify(body).split('cache_control').length - 1, count);
      assert.equal(JSON.stringify(arrayOrEmpty(body.messages).at(-1)).includes('cache_control'), true);
    }
  });

  it('cache marks: those of @ai-sdk/openai-compatible on messages, as opencode sends them', async () => {
    const provider = createOpenAICompatible({ name: 'svc', baseURL: `${gateway.url}/v1`, apiKey: KEY });
    const providerOptions = { openaiCompatible: MARK };
    const messages: ModelMessage[] = [
      { role: 'system', content: 'S', providerOptions },
      { role: 'user', content: [{ type: 'text', text: 'q', providerOptions }] },
    ];
    await generateText({ model: provider('messages/m'), messages, allowSystemInMessages: true, maxRetries: 0 });
    const { body } = await gateway.upstream.request(0);
    assert.deepEqual(
      [body.system, firstContent(body)],
      [[marked({ type: 'text', text: 'S' })], [marked({ type: 'text', text: 'q' })]],
    );
  });

  it('attribution of Claude Code: only Anthropic gets the line', async () => {
    const system = [{ type: 'text', text: 'x-anthropic-billing-header: cc_version=1; cch=00000;' }, text()];
    for (const [model, sent] of [
      ['chat/m', false],
      ['responses/m', false],
      ['messages/m', false],
      ['anthropic/m', true],
    ] as const) {
      gateway.upstream.forget();
      await gateway.post('/v1/messages', { model, max_tokens: 9, system, messages: [user('q')] });
      const found = JSON.stringify((await gateway.upstream.request(0)).body);
      assert.equal(found.includes('x-anthropic-billing-header'), sent, model);
    }
  });

  it('media: an image in a request of the same format is declared with the type of its bytes', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: PNG } };
    const content = [{ type: 'tool_result', tool_use_id: 'c1', content: [image] }, image];
    const messages = [user('q'), { role: 'assistant', content: [use] }, user(content)];
    await gateway.post('/v1/messages', { model: 'messages/m', max_tokens: 9, messages });
    const sent = JSON.stringify((await gateway.upstream.request(0)).body);
    assert.equal(sent.split('"image/png"').length, 3);
    assert.ok(!sent.includes('image/jpeg'));
  });

  describe('the first message of Claude Code', () => {
    for (const model of ['plain/m', 'plainopenai/m']) {
      it(`Claude Code: has no effort and a lower limit for a model that does not reason: ${model}`, async () => {
        const request = {
          model,
          max_tokens: 32_000,
          thinking: { type: 'adaptive' },
          output_config: { effort: 'high' },
          metadata: { user_id: 'u' },
          tools: [{ name: 'Artifact', input_schema: ARTIFACT }],
          messages: [user('q')],
        };
        const response = await gateway.post('/v1/messages', request);
        assert.equal(response.status, 200, await response.text());
        const { body } = await gateway.upstream.request(0);
        assert.equal(body.max_tokens ?? body.max_output_tokens, 8192);
        const sent = JSON.stringify(body);
        assert.ok(!/reasoning|effort|thinking|encrypted/.test(sent), sent);
        if (model === 'plainopenai/m') assert.ok(!sent.includes('"pattern"') && sent.includes('pattern: '), sent);
      });
    }
  });
});

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
/** A pattern as in the tool `Artifact` of Claude Code 2.1.265. */
const ARTIFACT = {
  type: 'object',
  properties: { title: { type: 'string', pattern: '^[^\\p{Cc}]+$' } },
  required: null,
};

function contentAt(body: JsonObject, index: number): unknown {
  return objectOrEmpty(arrayOrEmpty(body.messages)[index]).content;
}

function firstContent(body: JsonObject): unknown {
  return contentAt(body, 0);
}

function secondContent(body: JsonObject): unknown {
  return contentAt(body, 1);
}

function thirdContent(body: JsonObject): unknown {
  return contentAt(body, 2);
}
