import assert from 'node:assert/strict';
import { type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import { chatRequest } from './chat-request.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const TOKENS = [
  { token: 'Hel', logprob: -0.1, bytes: [72, 101, 108], top_logprobs: [{ token: 'Hel', logprob: -0.1, bytes: null }] },
  { token: 'lo', logprob: -0.2, bytes: [108, 111], top_logprobs: [] },
];
const SHARED = {
  user: 'u',
  safety_identifier: 's',
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  service_tier: 'flex',
};

/** Answers with log probabilities, one token in each chunk. */
function chatAnswer(stream: boolean): string {
  const head = { id: 'c', object: stream ? 'chat.completion.chunk' : 'chat.completion', model: 'up' };
  if (!stream) {
    const message = { role: 'assistant', content: 'Hello' };
    const choice = { index: 0, message, logprobs: { content: TOKENS, refusal: null }, finish_reason: 'stop' };
    return JSON.stringify({ ...head, choices: [choice] });
  }
  const chunks = TOKENS.map((token) => ({
    ...head,
    choices: [{ index: 0, delta: { content: token.token }, logprobs: { content: [token] }, finish_reason: null }],
  }));
  const end = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  return `${[...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

function responsesAnswer(stream: boolean): string {
  const content = [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: TOKENS }];
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content };
  const response = { id: 'resp_1', status: 'completed', output: [item] };
  if (!stream) return JSON.stringify(response);
  const at = { output_index: 0, content_index: 0 };
  const deltas = TOKENS.map((token) => ({
    type: 'response.output_text.delta',
    ...at,
    delta: token.token,
    logprobs: [token],
  }));
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    ...deltas,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function events(body: string): JsonObject[] {
  return [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => objectOrEmpty(JSON.parse(json)));
}

describe('fields that are carried between formats', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const { chat, ...others } = providers(url);
        return { provider: { ...others, chat, mistral: { ...objectOrEmpty(chat), npm: '@ai-sdk/mistral' } } };
      },
    });
  });
  after(() => gateway.close());
  beforeEach(() => {
    gateway.upstream.respond(undefined);
    gateway.upstream.forget();
  });

  const sent = async (path: string, request: JsonObject): Promise<JsonObject> => {
    assert.equal((await gateway.post(path, request)).status, 200);
    return (await gateway.upstream.request(0)).body;
  };
  const members = (body: JsonObject, names: readonly string[]) =>
    Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));

  it('carried fields: Chat Completions to Responses', async () => {
    const request = chatRequest('responses/m', { ...SHARED, verbosity: 'low', logprobs: true, top_logprobs: 2 });
    const body = await sent('/v1/chat/completions', request);
    assert.deepEqual(members(body, Object.keys(SHARED)), SHARED);
    assert.deepEqual(body.text, { verbosity: 'low' });
    assert.equal(body.top_logprobs, 2);
    assert.ok(Array.isArray(body.include) && body.include.includes('message.output_text.logprobs'));
  });

  it('carried fields: Responses to Chat Completions', async () => {
    const include = ['message.output_text.logprobs'];
    const request = { ...SHARED, input: 'q', include, top_logprobs: 2, text: { verbosity: 'low' }, store: false };
    const body = await sent('/v1/responses', { model: 'chat/m', ...request });
    assert.deepEqual(members(body, Object.keys(SHARED)), SHARED);
    assert.deepEqual([body.verbosity, body.logprobs, body.top_logprobs], ['low', true, 2]);
  });

  it('carried fields: a provider that refuses them does not receive them', async () => {
    const request = { ...SHARED, input: 'q', top_logprobs: 2, text: { verbosity: 'low' } };
    const body = await sent('/v1/responses', { model: 'mistral/m', ...request });
    const names = [...Object.keys(SHARED), 'verbosity', 'logprobs', 'top_logprobs'];
    assert.deepEqual(members(body, names), { prompt_cache_key: 'k' });
  });

  it('carried fields: the service tier of Messages', async () => {
    for (const [model, path] of [
      ['chat/m', '/v1/messages'],
      ['responses/m', '/v1/messages'],
    ] as const) {
      gateway.upstream.forget();
      const body = await sent(path, chatRequest(model, { service_tier: 'standard_only' }));
      assert.equal(body.service_tier, 'default');
    }
  });

  it('carried fields: metadata.user_id of Claude Code is short enough for OpenAI, and the same in each request', async () => {
    const user_id = `user_${'a'.repeat(64)}_account__session_${'b'.repeat(36)}`;
    const users = new Set<unknown>();
    for (const model of ['chat/m', 'responses/m', 'chat/m']) {
      gateway.upstream.forget();
      const { user } = await sent('/v1/messages', chatRequest(model, { metadata: { user_id } }));
      assert.match(String(user), /^[0-9a-f]{64}$/);
      users.add(user);
    }
    assert.equal(users.size, 1);
  });

  it('carried fields: a Responses answer repeats the request of the client', async () => {
    const request = { model: 'chat/m', input: 'q', user: 'u'.repeat(80), max_output_tokens: 5 };
    const answer = objectOrEmpty(await (await gateway.post('/v1/responses', request)).json());
    assert.equal(answer.user, request.user);
    assert.equal(answer.max_output_tokens, 5);
  });

  for (const stream of [false, true]) {
    const respond = (body: string) =>
      gateway.upstream.respond((_, response) => {
        response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' }).end(body);
      });

    it(`carried fields: log probabilities of Chat Completions reach a Responses client, stream ${stream}`, async () => {
      respond(chatAnswer(stream));
      const text = await (
        await gateway.post('/v1/responses', { model: 'chat/m', input: 'q', stream, top_logprobs: 1 })
      ).text();
      const all = stream ? events(text) : [];
      const response = objectOrEmpty(stream ? all.at(-1)?.response : JSON.parse(text));
      const [item] = Array.isArray(response.output) ? response.output : [];
      assert.deepEqual(item.content, [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: TOKENS }]);
      if (!stream) return;
      const deltas = all.filter(({ type }) => type === 'response.output_text.delta');
      assert.deepEqual(
        deltas.map(({ delta, logprobs }) => [delta, logprobs]),
        TOKENS.map((token) => [token.token, [token]]),
      );
      const done = all.find(({ type }) => type === 'response.output_text.done');
      assert.deepEqual(done?.logprobs, TOKENS);
      assert.deepEqual(
        all.map(({ sequence_number }) => sequence_number),
        all.map((_, index) => index),
      );
    });

    it(`carried fields: log probabilities of Responses reach a Chat Completions client, stream ${stream}`, async () => {
      respond(responsesAnswer(stream));
      const request = chatRequest('responses/m', { stream, logprobs: true });
      const text = await (await gateway.post('/v1/chat/completions', request)).text();
      const choices = (stream ? events(text) : [objectOrEmpty(JSON.parse(text))]).flatMap(({ choices: list }) =>
        Array.isArray(list) ? list.map(objectOrEmpty) : [],
      );
      const found = choices.flatMap(({ logprobs }) => objectOrEmpty(logprobs).content ?? []);
      assert.deepEqual(found, TOKENS);
      if (stream) assert.equal(choices.filter(({ logprobs }) => logprobs !== undefined).length, TOKENS.length);
    });
  }
});
