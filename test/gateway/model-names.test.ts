import assert from 'node:assert/strict';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const message = { role: 'user', content: 'Hi' };
/** Each inference route, with a body without its model. */
const ROUTES = [
  { path: '/chat/completions', body: { messages: [message] } },
  { path: '/messages', body: { max_tokens: 20, messages: [message] } },
  { path: '/messages/count_tokens', body: { messages: [message] } },
  { path: '/responses', body: { input: 'Hi' } },
  { path: '/responses/input_tokens', body: { input: 'Hi' } },
  { path: '/responses/compact', body: { input: 'Hi' } },
] as const;

describe('names of models that clients bring', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const { chat, messages, responses } = providers(url);
        const options = { baseURL: `${url}/v1`, apiKey: 'sk-house-canary' };
        const cost = { input: 3, output: 4 };
        const variants = { high: { reasoningEffort: 'high' } };
        return {
          provider: {
            chat,
            messages,
            responses,
            vendor: {
              npm: '@ai-sdk/anthropic',
              options,
              models: { 'claude-opus-4-8': { cost, variants }, 'claude-haiku-4-5-20251001': {}, shared: {}, b: {} },
            },
            other: { options, models: { shared: {}, a: { id: 'upstream-id' }, b: { id: 'a' } } },
            mistral: { options: { ...options, fimURL: `${url}/fim` }, models: { 'codestral-x': {} } },
          },
          gateway: {
            pools: { 'team/large': { models: ['chat/m', 'responses/m'] } },
            embeddingModels: { 'other/vectors': { dimensions: 3 } },
            transcriptionModels: { 'other/ears': {} },
            aliases: {
              fast: 'messages/m',
              'gpt-*': 'chat/m',
              'gpt-5*-mini': 'responses/m',
              pooled: 'team/large',
              careful: 'vendor/claude-opus-4-8:high',
              'vendor/b': 'chat/m',
              lost: 'nowhere/m',
              code: 'mistral/codestral-x',
              'text-embedding-3-small': 'other/vectors',
              'whisper-1': 'other/ears',
            },
            organizations: { small: { policy: { allow: ['messages/*'] } } },
          },
        };
      },
    });
  });
  after(() => gateway.close());

  async function ask(model: string, path = '/chat/completions', body: object = ROUTES[0].body, key?: string) {
    const before = gateway.upstream.requests.length;
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await gateway.post(path, { model, ...body }, headers);
    const text = await response.text();
    const sent = gateway.upstream.requests.slice(before).map((request) => request.body.model);
    return { status: response.status, text, sent };
  }

  /** The model that the upstream gets for each name. */
  const FOUND: readonly (readonly [name: string, upstream: string])[] = [
    ['claude-opus-4-8', 'claude-opus-4-8'],
    ['claude-haiku-4-5-20251001', 'claude-haiku-4-5-20251001'],
    ['claude-opus-4-8:high', 'claude-opus-4-8'],
    ['claude-opus-4-8[1m]', 'claude-opus-4-8'],
    ['fast[1M][1m]', 'up-m'],
    ['upstream-id', 'upstream-id'],
    // The key of a model comes before the upstream id of another one.
    ['a', 'upstream-id'],
    ['fast', 'up-m'],
    ['gpt-5.4', 'up-m'],
    ['gpt-5-mini', 'up-m'],
    ['pooled', 'up-m'],
    ['careful', 'claude-opus-4-8'],
    // An alias comes before a model of the same name.
    ['vendor/b', 'up-m'],
  ];
  for (const { path, body } of ROUTES) {
    it(`names: a name without a provider, an alias and a pattern are found: ${path}`, async () => {
      for (const [name, upstream] of FOUND) {
        const { status, text, sent } = await ask(name, path, body);
        assert.equal(status, 200, `${name}: ${text}`);
        // The gateway itself may count tokens.
        if (!path.includes('token')) assert.equal(sent.at(-1), upstream, name);
      }
    });
  }

  it('names: the most exact pattern wins', async () => {
    assert.match(gateway.upstream.requests.at(-1)?.path ?? '', /./);
    await ask('gpt-5-mini');
    assert.equal(gateway.upstream.requests.at(-1)?.path, '/v1/responses');
    await ask('gpt-5');
    assert.equal(gateway.upstream.requests.at(-1)?.path, '/v1/chat/completions');
  });

  it('names: other routes know aliases and names without a provider', async () => {
    for (const model of ['text-embedding-3-small', 'vectors']) {
      const { status, text, sent } = await ask(model, '/embeddings', { input: 'Hi' });
      assert.deepEqual([status, sent], [200, ['vectors']], text);
    }
    const input_audio = { data: Buffer.from('sound').toString('base64'), format: 'wav' };
    for (const model of ['whisper-1', 'ears']) {
      const { status, text } = await ask(model, '/audio/transcriptions', { input_audio });
      assert.equal(status, 200, text);
      assert.match(gateway.upstream.requests.at(-1)?.bytes.toString('latin1') ?? '', /name="model"\r\n\r\nears/);
    }
    for (const model of ['code', 'codestral-x']) {
      const { status, text, sent } = await ask(model, '/fim/completions', { prompt: 'a', max_tokens: 5 });
      assert.deepEqual([status, sent], [200, ['codestral-x']], text);
    }
  });

  it('names: policy, price and ledger are those of the target', async () => {
    await ask('careful');
    const row = gateway.rows().at(-1);
    assert.equal(row?.model, 'vendor/claude-opus-4-8');
    assert.ok(Number(row?.cost) > 0);
    const key = gateway.createKey({ name: 'small', organization: 'small' });
    assert.equal((await ask('fast', undefined, undefined, key)).status, 200);
    for (const name of ['gpt-5', 'claude-opus-4-8', 'careful', 'pooled']) {
      const refused = await ask(name, undefined, undefined, key);
      assert.equal(refused.status, 403, `${name}: ${refused.text}`);
      assert.match(refused.text, /model_not_allowed/);
    }
  });

  it('names: an unknown name lists similar ones that the caller may use', async () => {
    const key = gateway.createKey({ name: 'near', organization: 'small' });
    const cases: readonly (readonly [name: string, message: RegExp, key?: string])[] = [
      ['claude-opus-4-9', /Similar: vendor\/claude-opus-4-8/],
      ['vendor/claude-opus-4-9', /Similar: vendor\/claude-opus-4-8/],
      ['fasst', /Similar: fast/],
      ['claude-opus-4-9', /at this gateway\.(?! Similar)/, key],
      ['shared', /Several providers have a model “shared”: vendor\/shared, other\/shared/],
      ['lost', /“lost” is an alias of nowhere\/m/],
      ['nothing like it', /There is no model “nothing like it” at this gateway/],
      // The provider is configured, so the name is not another one's.
      ['vendor/upstream-id', /There is no model “vendor\/upstream-id”/],
      ['constructor', /There is no model/],
      ['__proto__', /There is no model/],
    ];
    for (const [name, expected, as] of cases) {
      for (const { path, body } of ROUTES) {
        const { status, text, sent } = await ask(name, path, body, as);
        assert.deepEqual([status, sent], [400, []], `${name}: ${text}`);
        assert.match(text, expected, name);
      }
    }
    const { text } = await ask('vectorz', '/embeddings', { input: 'Hi' });
    assert.match(text, /Similar: other\/vectors/);
  });

  it('names: catalogs list aliases with the data of their targets', async () => {
    const list = async (path: string, headers = {}) => {
      const answer: unknown = await (await gateway.get(path, headers)).json();
      return JSON.parse(JSON.stringify(answer)).data;
    };
    const models = await list('/models');
    const byId = new Map<string, Record<string, unknown>>(models.map((each: { id: string }) => [each.id, each]));
    assert.equal(models.length, byId.size, 'each name once');
    for (const name of ['fast', 'pooled', 'careful', 'vendor/b']) assert.ok(byId.has(name), name);
    for (const name of ['gpt-*', 'lost', 'whisper-1']) assert.ok(!byId.has(name), name);
    assert.deepEqual(byId.get('fast')?.pricing, byId.get('messages/m')?.pricing);
    const anthropic = await list('/models', { 'anthropic-version': '2023-06-01' });
    assert.ok(anthropic.some((each: { id: string }) => each.id === 'fast'));
    const allowed = await list('/models', { 'x-organization-id': 'small' });
    assert.deepEqual(
      allowed.map((each: { id: string }) => each.id).filter((id: string) => !id.startsWith('messages/')),
      ['fast'],
    );
    const ids = async (path: string) => (await list(path)).map((each: { id: string }) => each.id);
    assert.deepEqual(await ids('/embedding-models'), ['other/vectors', 'text-embedding-3-small']);
    assert.deepEqual(await ids('/transcription-models'), ['other/ears', 'whisper-1']);
    for (const name of ['fast', 'claude-opus-4-8', 'gpt-5']) {
      const found: unknown = await (await gateway.get(`/models/${name}`)).json();
      assert.equal(JSON.parse(JSON.stringify(found)).id, name);
    }
    assert.equal((await gateway.get('/models/lost')).status, 404);
  });
});
