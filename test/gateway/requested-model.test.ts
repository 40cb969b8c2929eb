import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { FORMATS } from './many-providers.ts';

const message = { role: 'user', content: 'Hi' };
/** Each route that accepts JSON, with a minimal body. */
const ROUTES = [
  ...FORMATS.map(({ path, own, body }) => ({ path, body: { model: `${own}/m`, ...body } })),
  { path: '/messages/count_tokens', body: { model: 'messages/m', messages: [message] } },
  { path: '/embeddings', body: { model: 'chat/m', input: 'Hi' } },
  { path: '/fim/completions', body: { model: 'mistral/codestral-x', prompt: 'a', max_tokens: 5 } },
  {
    path: '/audio/transcriptions',
    body: { model: 'chat/m', input_audio: { data: Buffer.from('sound').toString('base64'), format: 'wav' } },
  },
] as const;

/** Members that are added to a body, and the field that the error names. */
const CHOICES: readonly (readonly [members: string, param: string])[] = [
  ['"models":["dear/one"]', 'models'],
  ['"models":"dear/one"', 'models'],
  ['"mod\\u0065ls":["dear/one"]', 'models'],
  ['"Models":["dear/one"]', 'Models'],
  ['"Model":"dear/one"', 'Model'],
  ['"MODEL":"dear/one"', 'MODEL'],
  ['"model_":"dear/one"', 'model_'],
  ['"model[]":"dear/one"', 'model[]'],
  ['"model_id":"dear/one"', 'model_id'],
  ['"safety_model":"dear/one"', 'safety_model'],
  ['"route":"fallback"', 'route'],
  ['"preset":"dear"', 'preset'],
  ['"pre\u017fet":"dear"', 'pre\u017fet'],
  ['"plugins":[{"id":"auto-router","allowed_models":["dear/*"]}]', 'plugins'],
  ['"Fallbacks":[{"model":"dear/one"}]', 'Fallbacks'],
  ['"context_window_fallbacks":[{"m":["dear/one"]}]', 'context_window_fallbacks'],
  ['"providerOptions":{"gateway":{"models":["dear/one"]}}', 'providerOptions'],
  ['"provider_options":{"gateway":{"order":["dear"]}}', 'provider_options'],
  ['"provider":"dear"', 'provider'],
  ['"provider":{"model":"dear/one"}', 'provider.model'],
  ['"provider":{"order":["a"],"models":["dear/one"]}', 'provider.models'],
  ['"Provider":{"model":"dear/one"}', 'Provider.model'],
  ['"extra_body":{"model":"dear/one"}', 'extra_body'],
  ['"compound_custom":{"models":{"answering_model":"dear/one"}}', 'compound_custom'],
  ['"data_sources":[{"parameters":{"embedding":{"deployment_name":"dear"}}}]', 'data_sources.deployment_name'],
  ['"api_base":"https://elsewhere.example"', 'api_base'],
  ['"custom_llm_provider":"dear"', 'custom_llm_provider'],
  ['"tools":[{"type":"image_generation","model":"dear-image"}]', 'tools.0.model'],
  ['"tools":[{"type":"function","function":{"name":"f"}},{"type":"a","mod\\u0065l":"dear"}]', 'tools.1.model'],
  ['"tools":[{"type":"advisor_20260301","name":"advisor","model":"dear-one"}]', 'tools.0.model'],
  ['"tools":[{"type":"router:advisor","parameters":{"model":"dear/one"}}]', 'tools.0.parameters.model'],
  [
    '"tools":[{"type":"namespace","name":"n","tools":[{"type":"image_generation","model":"d"}]}]',
    'tools.0.tools.0.model',
  ],
  ['"tools":[{"name":"f","input_schema":{},"Model":"dear"}]', 'tools.0.Model'],
  ['"Tools":[{"type":"image_generation","model":"dear-image"}]', 'Tools.0.model'],
];

/** Permitted fields that choose no other model. */
const HARMLESS: readonly Record<string, unknown>[] = [
  { provider: { order: ['a'], sort: 'price', allow_fallbacks: false, data_collection: 'deny' } },
  { models: null, fallbacks: null },
  { metadata: { model: 'label', models: 'two' } },
  { chat_template_kwargs: { model_identity: 'You are a model.' } },
  { user: 'models', service_tier: 'auto' },
];

describe('requests that name another model', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  for (const { path, body } of ROUTES) {
    it(`other model: is rejected with the name of its field and not sent to the upstream: ${path}`, async () => {
      const sent = gateway.upstream.requests.length;
      for (const [members, param] of CHOICES) {
        for (const text of [
          `{${members},${JSON.stringify(body).slice(1)}`,
          `${JSON.stringify(body).slice(0, -1)},${members}}`,
        ]) {
          const response = await gateway.post(path, text);
          const answer = await response.text();
          assert.equal(response.status, 400, `${members}: ${answer}`);
          const found: unknown = JSON.parse(answer);
          assert.ok(JSON.stringify(found).includes(JSON.stringify(param).slice(1, -1)), `${members}: ${answer}`);
        }
      }
      assert.equal(gateway.upstream.requests.length, sent);
    });
  }

  it('other model: similar fields that choose no model are accepted', async () => {
    const schema = { type: 'object', properties: { model: { type: 'string' }, models: { type: 'array' } } };
    const own: Record<string, Record<string, unknown>> = {
      '/chat/completions': { tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] },
      '/responses': { tools: [{ type: 'function', name: 'f', parameters: schema, strict: false }] },
      '/messages': { tools: [{ name: 'f', input_schema: schema }] },
    };
    for (const { path, own: provider, body } of FORMATS) {
      for (const more of [...HARMLESS, own[path] ?? {}]) {
        const response = await gateway.post(path, { model: `${provider}/m`, ...body, ...more });
        assert.equal(response.status, 200, `${path} ${JSON.stringify(more)}: ${await response.text()}`);
      }
    }
  });

  it('other model: the upstream receives no duplicate member with another model', async () => {
    const doubled = [
      '"models":["dear/one"],"models":null',
      '"mod\\u0065ls":["dear/one"],"mod\\u0065ls":null',
      '"provider":{"model":"dear/one"},"provider":{"order":["a"]}',
      '"tools":[{"type":"image_generation","model":"dear/one"}],"tools":[{"type":"function","function":{"name":"f"}}]',
      '"to\\u006fls":[{"type":"image_generation","model":"dear/one"}],"tools":null',
      '"fallbacks":[{"model":"dear/one"}],"fallbacks":null',
      '"model":"dear/one"',
      '"mod\\u0065l":"dear/one"',
    ];
    for (const { path, body } of ROUTES.slice(0, 5)) {
      for (const members of doubled) {
        const at = gateway.upstream.requests.length;
        const response = await gateway.post(path, `{${members},${JSON.stringify(body).slice(1)}`);
        assert.equal(response.status, 200, `${path} ${members}: ${await response.text()}`);
        const { bytes } = await gateway.upstream.request(at);
        assert.ok(!bytes.includes('dear'), `${path} ${members}: ${bytes}`);
      }
    }
  });

  it('other model: the query is not sent to the upstream', async () => {
    for (const { path, body } of ROUTES) {
      const at = gateway.upstream.requests.length;
      await (await gateway.post(`${path}?model=dear/one&models=dear/one`, body)).arrayBuffer();
      for (const request of gateway.upstream.requests.slice(at)) assert.ok(!request.path.includes('?'), request.path);
    }
  });

  it('other model: a form is rejected, with the field before or after the model', async () => {
    const names = ['model', 'Model', 'models', 'models[]', 'model ', 'fallbacks', 'provider', 'providerOptions'];
    const answered = () => gateway.usage().total.requests - gateway.usage().total.failures;
    const before = answered();
    for (const name of names) {
      for (const as of ['field', 'file']) {
        for (const late of [true, false]) {
          if (!late && name === 'model' && as === 'field') continue;
          const form = new FormData();
          const add = () => form.append(name, as === 'field' ? 'dear/one' : new File(['dear/one'], 'model'));
          if (!late) add();
          form.append('model', 'chat/m');
          if (late) add();
          if (as === 'field') form.append('file', new File([Buffer.alloc(1_000)], 'talk.wav'));
          const headers = { authorization: `Bearer ${KEY}` };
          const answer = await fetch(`${gateway.url}/audio/transcriptions`, { method: 'POST', headers, body: form });
          assert.equal(answer.status, 400, `${name} as a ${as}, ${late ? 'late' : 'early'}: ${await answer.text()}`);
        }
      }
    }
    assert.equal(answered(), before, 'nothing was answered');
  });

  it('other model: requests of official clients are accepted', async () => {
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
    await openai.chat.completions.create({
      model: 'chat/m',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { model: {} } } } }],
      metadata: { model: 'a' },
      reasoning_effort: 'low',
    });
    await openai.responses.create({ model: 'responses/m', input: 'Hi', tools: [{ type: 'web_search' }] });
    await anthropic.messages.create({
      model: 'messages/m',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }],
    });
  });
});

describe('bodies that are not valid UTF-8', () => {
  it('invalid UTF-8: is rejected on each route', async () => {
    const gateway = await startTestGateway();
    try {
      const broken = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xae], [0xf5, 0x80, 0x80, 0x80]];
      for (const { path, body } of ROUTES) {
        for (const bytes of broken) {
          const text = Buffer.from(JSON.stringify({ ...body, user: '@' }));
          const at = text.indexOf('@');
          const sent = Buffer.concat([text.subarray(0, at), Buffer.from(bytes), text.subarray(at + 1)]);
          const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
          const response = await fetch(gateway.url + path, { method: 'POST', headers, body: sent });
          assert.equal(response.status, 400, `${path} ${bytes}`);
          assert.match(await response.text(), /UTF-8/);
        }
      }
      assert.equal(gateway.upstream.requests.length, 0);
    } finally {
      await gateway.close();
    }
  });
});
