import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import type { Endpoint, Model } from '../../src/catalog/model.ts';
import { PROFILES } from '../../src/provider/profile/profiles.ts';
import { conversationBody } from '../../src/provider/request/conversation-request.ts';
import type { Conversation, Turn } from '../../src/wire/conversation.ts';
import { cleanSchema, isPortable, PLAIN_SCHEMA } from '../../src/wire/tools/clean-schema.ts';
import { ask, modelAt } from './test-model.ts';
import { vendorTables } from './vendor-tables.ts';

type Identity = Partial<Omit<Model, 'endpoint'>> & { readonly endpoint?: Partial<Endpoint> };

const OPENAI: Identity = { endpoint: { kind: 'openai', format: 'responses' }, provider: 'openai', id: 'gpt-5' };
const AZURE: Identity = { endpoint: { kind: 'azure' }, provider: 'azure', id: 'gpt-4.1' };
const CLAUDE: Identity = {
  endpoint: { kind: 'anthropic', format: 'messages' },
  provider: 'anthropic',
  id: 'claude-opus-4-8',
};
const MISTRAL: Identity = { endpoint: { kind: 'mistral' }, provider: 'mistral' };
const DEEPSEEK: Identity = { endpoint: { kind: 'deepseek' }, provider: 'deepseek', id: 'deepseek-v4-pro' };
const KIMI: Identity = { endpoint: { baseURL: 'https://api.moonshot.ai/v1' }, provider: 'moonshotai', id: 'kimi-k3' };
const GEMINI: Identity = {
  endpoint: { baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai' },
  provider: 'google',
  id: 'gemini-2.5-pro',
};
const GROQ: Identity = {
  endpoint: { baseURL: 'https://api.groq.com/openai/v1' },
  provider: 'groq',
  id: 'openai/gpt-oss-120b',
};
const ZAI: Identity = { endpoint: { baseURL: 'https://api.z.ai/api/paas/v4' }, provider: 'zai', id: 'glm-5' };
const XAI: Identity = { endpoint: { baseURL: 'https://api.x.ai/v1' }, provider: 'xai', id: 'grok-4.6' };
const ANY: Identity = {};
const LLAMACPP: Identity = { endpoint: { kind: 'llamacpp' }, provider: 'llamacpp' };

function bodyFor({ endpoint = {}, ...model }: Identity, conversation: Partial<Conversation> = {}): JsonObject {
  const { baseURL = 'https://up.test/v1', ...others } = endpoint;
  const { body } = conversationBody(modelAt(baseURL, others, model), ask('hi', conversation));
  return objectOrEmpty(JSON.parse(JSON.stringify(body)));
}

const user = (text: string): Turn => ({ role: 'user', parts: [{ type: 'text', text }] });
const said = (text: string): Turn => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const called = (text: string): Turn[] => [
  user('q'),
  { role: 'assistant', parts: [{ type: 'tool-call', id: 'callabc01', name: 'f', arguments: text }] },
  { role: 'user', parts: [{ type: 'tool-result', id: 'callabc01', content: [{ type: 'text', text: 'r' }] }] },
];

/** What the vendor receives of a field, by path. */
function at(body: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    return Array.isArray(value) ? value.at(Number(key)) : objectOrEmpty(value)[key];
  }, body);
}

type Case = readonly [what: string, model: Identity, conversation: Partial<Conversation>, path: string, sent: unknown];

const small = { limit: { context: 0, output: 8192 } };
const known = (levels: readonly string[], budget?: number) => ({
  effort: budget === undefined ? { levels } : { levels, budget },
});
const effort = (value: string): Partial<Conversation> => ({ reasoning: { effort: value, mode: 'adaptive' } });
const GPT5 = known(['minimal', 'low', 'medium', 'high']);
const plain = { reasoning: false, ...known([]) };
const seven = { name: 'f', parameters: { type: 'object', properties: {} } };

const LIMITS: readonly Case[] = [
  ...[ANY, OPENAI, CLAUDE].map((model): Case => {
    const path = model === OPENAI ? 'max_output_tokens' : 'max_tokens';
    return [`a limit above the model’s: ${model.provider}`, { ...model, ...small }, { maxTokens: 32_000 }, path, 8192];
  }),
  ['a limit below the model’s', { ...ANY, ...small }, { maxTokens: 5 }, 'max_tokens', 5],
  [
    'a limit of a model with an unknown one',
    { ...ANY, limit: { context: 0, output: 0 } },
    { maxTokens: 90_000 },
    'max_tokens',
    90_000,
  ],
  [
    'a thinking budget above the model’s limit',
    { ...CLAUDE, ...small, ...known([]), id: 'claude-haiku-4-5' },
    { maxTokens: 32_000, reasoning: { mode: 'enabled', budgetTokens: 31_999 } },
    'thinking.budget_tokens',
    7782,
  ],
  [
    'a thinking budget above the catalog’s',
    { ...CLAUDE, ...known([], 32_000), id: 'claude-haiku-4-5', limit: { context: 0, output: 64_000 } },
    { maxTokens: 60_000, reasoning: { mode: 'enabled', budgetTokens: 50_000 } },
    'thinking.budget_tokens',
    32_000,
  ],
  [
    'a budget as an effort, compared with the client’s limit',
    { ...ANY, ...small },
    { maxTokens: 32_000, reasoning: { mode: 'enabled', budgetTokens: 4000 } },
    'reasoning_effort',
    'low',
  ],
  ['max for gpt-5', { ...OPENAI, ...GPT5 }, effort('max'), 'reasoning.effort', 'high'],
  ['none for gpt-5', { ...OPENAI, ...GPT5 }, { reasoning: { effort: 'none' } }, 'reasoning.effort', 'minimal'],
  ['disabled for gpt-5', { ...OPENAI, ...GPT5 }, { reasoning: { mode: 'disabled' } }, 'reasoning.effort', 'minimal'],
  [
    'minimal for gpt-5.4: the lowest effort is not none',
    { ...OPENAI, ...known(['none', 'low', 'medium', 'high', 'xhigh']) },
    effort('minimal'),
    'reasoning.effort',
    'low',
  ],
  ['max for a model with max', { ...OPENAI, ...known(['high', 'max']) }, effort('max'), 'reasoning.effort', 'max'],
  [
    'medium between two levels',
    { ...ANY, ...known(['low', 'high', 'max']) },
    effort('medium'),
    'reasoning_effort',
    'low',
  ],
  [
    'xhigh for Claude',
    { ...CLAUDE, ...known(['low', 'medium', 'high', 'max']) },
    effort('xhigh'),
    'output_config.effort',
    'high',
  ],
  ['max for Gemini with a budget', { ...GEMINI, ...known([], 32_768) }, effort('max'), 'reasoning_effort', 'high'],
  ['xhigh for gpt-oss, whoever serves it', { ...ANY, id: 'gpt-oss-20b' }, effort('xhigh'), 'reasoning_effort', 'high'],
  ['an effort of a model without efforts', { ...KIMI, ...known([]) }, effort('high'), 'reasoning_effort', undefined],
  ['an effort of an unknown model', ANY, effort('max'), 'reasoning_effort', 'max'],
  ['an effort for Mistral', MISTRAL, effort('high'), 'reasoning_effort', undefined],
  ...[ANY, OPENAI, CLAUDE].flatMap((model): Case[] =>
    ['reasoning', 'reasoning_effort', 'thinking', 'output_config', 'include'].map((path) => [
      `nothing about reasoning for a model without it: ${model.provider} ${path}`,
      { ...model, ...plain },
      { reasoning: { effort: 'high', mode: 'adaptive', summary: 'auto' } },
      path,
      undefined,
    ]),
  ),
  [
    'temperature of a reasoning model',
    { ...OPENAI, ...GPT5, id: 'gpt-5.4' },
    { ...effort('high'), sampling: { temperature: 1 } },
    'temperature',
    undefined,
  ],
  ['temperature without reasoning', { ...OPENAI, id: 'gpt-5.4' }, { sampling: { temperature: 1 } }, 'temperature', 1],
  [
    'top_p of a model without temperature',
    { ...OPENAI, temperature: false },
    { sampling: { topP: 0.9 } },
    'top_p',
    undefined,
  ],
  ['stop of a reasoning model on Azure', { ...AZURE, id: 'o3' }, { sampling: { stop: ['x'] } }, 'stop', undefined],
  ['six stop sequences for Azure', AZURE, { sampling: { stop: [...'abcdef'] } }, 'stop', [...'abcd']],
  ['stop for xAI', XAI, { sampling: { stop: ['x'] } }, 'stop', undefined],
  ['two stop sequences for Z.ai', ZAI, { sampling: { stop: ['x', 'y'] } }, 'stop', ['x']],
];

const HISTORY: readonly Case[] = [
  ...['{"path":"a.html","text":"<!DOCTYPE ht', '', '  ', 'null', '"text"', "{'a': 1}", '[1]'].flatMap((text): Case[] =>
    [ANY, LLAMACPP, MISTRAL, CLAUDE].map((model): Case => {
      const messages = model === CLAUDE;
      const value =
        text.trim() === ''
          ? {}
          : { arguments: text === 'null' ? null : text.startsWith('{') ? text : JSON.parse(text) };
      const path = messages ? 'messages.1.content.0.input' : 'messages.1.tool_calls.0.function.arguments';
      return [
        `arguments ${text}: ${model.provider}`,
        model,
        { turns: called(text) },
        path,
        messages ? value : JSON.stringify(value),
      ];
    }),
  ),
  [
    'arguments that are no JSON, for OpenAI',
    AZURE,
    { turns: called('{"a') },
    'messages.1.tool_calls.0.function.arguments',
    '{"a',
  ],
  [
    'a long number in the arguments',
    ANY,
    { turns: called('{"a":12345678901234567890}') },
    'messages.1.tool_calls.0.function.arguments',
    '{"a":12345678901234567890}',
  ],
  ['a demanded reasoning_content', DEEPSEEK, { turns: called('{}') }, 'messages.1.reasoning_content', ''],
  ['a demanded reasoning_content', KIMI, { turns: called('{}') }, 'messages.1.reasoning_content', ''],
  [
    'reasoning_content of a model that does not reason',
    { ...DEEPSEEK, ...plain },
    { turns: called('{}') },
    'messages.1.reasoning_content',
    undefined,
  ],
  [
    'a conversation that ends with the assistant',
    CLAUDE,
    { turns: [user('q'), said('a')] },
    'messages.-1',
    { role: 'user', content: 'Continue.' },
  ],
  [
    'a prefill of older models',
    { ...CLAUDE, id: 'claude-opus-4-5' },
    { turns: [user('q'), said('a')] },
    'messages.-1',
    { role: 'assistant', content: 'a' },
  ],
  [
    'a conversation that begins with the assistant',
    CLAUDE,
    { turns: [said('a'), user('q')] },
    'messages.0.role',
    'user',
  ],
  ...[CLAUDE, MISTRAL, KIMI, GEMINI].flatMap((model): Case[] => [
    [
      `a blank answer: ${model.provider}`,
      model,
      { turns: [user('q'), said(' \n'), user('p')] },
      'messages.1.role',
      model === CLAUDE ? undefined : undefined,
    ],
    [`only blank text: ${model.provider}`, model, { turns: [user('\n')] }, 'messages.0.content', 'Continue.'],
    [
      `a blank system text: ${model.provider}`,
      model,
      { system: [{ type: 'text', text: ' ' }] },
      'messages.0.role',
      'user',
    ],
  ]),
  [
    'two user messages in a row',
    ANY,
    { turns: [user('a'), user('b')] },
    'messages.0.content',
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  ],
  [
    'two answers in a row',
    ANY,
    { turns: [user('q'), said('a'), said('b'), user('p')] },
    'messages.1.content',
    'a\n\nb',
  ],
  ['two user messages in a row, for OpenAI', AZURE, { turns: [user('a'), user('b')] }, 'messages.1.content', 'b'],
];

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const image = (mediaType: string, base64 = PNG): Partial<Conversation> => ({
  turns: [{ role: 'user', parts: [{ type: 'image', media: { kind: 'data', mediaType, base64 } }] }],
});

const FIELDS: readonly Case[] = [
  [
    'a PNG that is declared as JPEG',
    CLAUDE,
    image('image/jpeg'),
    'messages.0.content.0.source.media_type',
    'image/png',
  ],
  [
    'a PNG that is declared as JPEG',
    ANY,
    image('image/jpeg'),
    'messages.0.content.0.image_url.url',
    `data:image/png;base64,${PNG}`,
  ],
  [
    'a PNG that is declared as JPEG',
    OPENAI,
    image('image/jpeg'),
    'input.0.content.0.image_url',
    `data:image/png;base64,${PNG}`,
  ],
  [
    'an image of unknown bytes',
    CLAUDE,
    image('image/jpg', 'AAAA'),
    'messages.0.content.0.source.media_type',
    'image/jpeg',
  ],
  ['metadata without store', AZURE, { metadata: { a: 'b' } }, 'metadata', undefined],
  ['metadata for Responses', OPENAI, { metadata: { a: 'b' } }, 'metadata', { a: 'b' }],
  ...[GEMINI, GROQ, XAI, ZAI, MISTRAL].flatMap((model): Case[] => [
    [`service_tier: ${model.provider}`, model, { serviceTier: 'flex' }, 'service_tier', undefined],
    [`verbosity: ${model.provider}`, model, { verbosity: 'low' }, 'verbosity', undefined],
    [`safety_identifier: ${model.provider}`, model, { safetyIdentifier: 's' }, 'safety_identifier', undefined],
  ]),
  ...[GEMINI, MISTRAL, ZAI].map((model): Case => [`user: ${model.provider}`, model, { user: 'u' }, 'user', undefined]),
  ['prompt_cache_key for Gemini', GEMINI, { promptCacheKey: 'k' }, 'prompt_cache_key', undefined],
  ['prompt_cache_key for Mistral', MISTRAL, { promptCacheKey: 'k' }, 'prompt_cache_key', 'k'],
  ['a seed for Mistral', MISTRAL, { sampling: { seed: 7 } }, 'random_seed', 7],
  [
    'a demanded call for Z.ai',
    ZAI,
    { tools: [seven, { ...seven, name: 'g' }], toolChoice: { type: 'tool', name: 'g' } },
    'tool_choice',
    'auto',
  ],
  [
    'a demanded tool for Z.ai',
    ZAI,
    { tools: [seven, { ...seven, name: 'g' }], toolChoice: { type: 'tool', name: 'g' } },
    'tools.0.function.name',
    'g',
  ],
  [
    'a demanded call while Kimi reasons',
    KIMI,
    { tools: [seven], toolChoice: { type: 'required' } },
    'tool_choice',
    'auto',
  ],
  [
    'a demanded call for Kimi without reasoning',
    { ...KIMI, ...plain },
    { tools: [seven], toolChoice: { type: 'required' } },
    'tool_choice',
    'required',
  ],
  ['a demanded call for Mistral', MISTRAL, { tools: [seven], toolChoice: { type: 'required' } }, 'tool_choice', 'any'],
  [
    'a tool without properties',
    ANY,
    { tools: [{ name: 'f', parameters: { type: 'object' } }] },
    'tools.0.function.parameters',
    { type: 'object', properties: {} },
  ],
];

describe('profiles of vendors', () => {
  it('profiles: docs/formats.md has a table for each, made from the profiles', () => {
    const page = readFileSync(new URL('../../docs/formats.md', import.meta.url), 'utf8');
    assert.ok(page.includes(vendorTables()), 'docs/formats.md is stale: paste vendorTables()');
  });

  it('profiles: each row has a text and a source', () => {
    for (const { name, rows } of PROFILES) {
      assert.ok(rows.length > 0, name);
      for (const row of rows)
        assert.ok(row.says !== '' && row.source !== '' && row.rule in row.value, `${name} ${row.rule}`);
    }
  });

  for (const [group, cases] of Object.entries({ LIMITS, HISTORY, FIELDS })) {
    for (const [what, model, conversation, path, sent] of cases) {
      it(`profiles: ${group.toLowerCase()}: ${what} (${model.provider ?? 'any'}, ${path})`, () => {
        assert.deepEqual(at(bodyFor(model, conversation), path), sent);
      });
    }
  }

  it('profiles: an image of a type that the vendor does not read is refused with its type', () => {
    assert.throws(() => bodyFor(CLAUDE, image('image/bmp', 'AAAA')), /images of type image\/bmp/);
    assert.equal(arrayOrEmpty(bodyFor(ANY, image('image/bmp', 'AAAA')).messages).length, 1);
  });
});

type SchemaCase = readonly [what: string, model: Identity, given: JsonObject, sent: JsonObject];

const property = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { a: schema } });
const named = (schema: JsonObject, rest: JsonObject): SchemaCase[3] => ({ ...property(schema), ...rest });

const SCHEMAS: readonly SchemaCase[] = [
  ...[ANY, OPENAI, CLAUDE, KIMI, GEMINI].flatMap((model): SchemaCase[] => [
    ['required: null', model, { ...property({ type: 'string' }), required: null }, property({ type: 'string' })],
    ['properties: null', model, { type: 'object', properties: null }, { type: 'object', properties: {} }],
    [
      'null inside',
      model,
      property({ type: 'object', required: null, properties: null }),
      property({ type: 'object' }),
    ],
    [
      'a property that is null',
      model,
      { type: 'object', properties: { a: { type: 'string' }, b: null } },
      property({ type: 'string' }),
    ],
    [
      'a tuple',
      model,
      property({ type: 'array', items: [{ type: 'string' }] }),
      property({ type: 'array', items: { type: 'string' } }),
    ],
    ['an array without items', model, property({ type: 'array' }), property({ type: 'array', items: {} })],
  ]),
  ...[ANY, OPENAI, CLAUDE].flatMap((model): SchemaCase[] => [
    [
      'an exclusive bound of draft 4',
      model,
      property({ type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false }),
      property({ type: 'number', exclusiveMinimum: 0, maximum: 9 }),
    ],
    ['required of a property', model, property({ type: 'string', required: true }), property({ type: 'string' })],
    [
      'a name that is required twice',
      model,
      { ...property({ type: 'string' }), required: ['a', 'a'] },
      named({ type: 'string' }, { required: ['a'] }),
    ],
    ['types in capitals', model, property({ type: 'STRING' }), property({ type: 'string' })],
    ['a type that JSON does not have', model, property({ type: 'any' }), property({})],
    ['a list of types', model, property({ type: ['STRING', 'null', 'any'] }), property({ type: ['string', 'null'] })],
    ['a description that is no text', model, property({ description: 5 }), property({ description: '5' })],
    ['an enum without values', model, property({ type: 'string', enum: [] }), property({ type: 'string' })],
  ]),
  [
    'schemas that are true or false, for Gemini',
    GEMINI,
    { type: 'object', properties: { a: true, b: { type: 'array', items: false } } },
    { type: 'object', properties: { a: {}, b: { type: 'array', items: {} } } },
  ],
  [
    'a reference in allOf, for Gemini',
    GEMINI,
    {
      ...property({ allOf: [{ $ref: '#/$defs/B' }, { nullable: true }], description: 'D' }),
      $defs: { B: { type: 'object', properties: { b: { type: 'string' }, c: {} }, required: ['b'] } },
    },
    property({
      type: 'object',
      properties: { b: { type: 'string' }, c: {} },
      required: ['b'],
      description: 'D',
      nullable: true,
    }),
  ],
  [
    'a name pattern with a Unicode property',
    OPENAI,
    { type: 'object', properties: {}, patternProperties: { '^\\p{L}$': {}, '^a$': {} } },
    {
      type: 'object',
      properties: {},
      patternProperties: { '^a$': {} },
      description: 'patternProperties: {"^\\\\p{L}$":{},"^a$":{}}.',
    },
  ],
  [
    'a pattern with a Unicode property',
    OPENAI,
    property({ type: 'string', pattern: '^\\p{Cc}$' }),
    property({ type: 'string', description: 'pattern: ^\\p{Cc}$.' }),
  ],
  [
    'a look-ahead',
    AZURE,
    property({ type: 'string', pattern: '^(?!a)b', description: 'B.' }),
    property({ type: 'string', description: 'B.\npattern: ^(?!a)b.' }),
  ],
  [
    'a plain pattern',
    OPENAI,
    property({ type: 'string', pattern: '^[a-z]{1,3}$' }),
    property({ type: 'string', pattern: '^[a-z]{1,3}$' }),
  ],
  [
    'a pattern with a Unicode property',
    CLAUDE,
    property({ type: 'string', pattern: '^\\p{Cc}$' }),
    property({ type: 'string', pattern: '^\\p{Cc}$' }),
  ],
  [
    'a pattern without anchors',
    LLAMACPP,
    property({ type: 'string', pattern: 'a+' }),
    property({ type: 'string', description: 'pattern: a+.' }),
  ],
  [
    'a pattern of a nested schema',
    OPENAI,
    property({ anyOf: [{ type: 'array', items: { type: 'string', pattern: '\\p{L}' } }] }),
    property({ anyOf: [{ type: 'array', items: { type: 'string', description: 'pattern: \\p{L}.' } }] }),
  ],
  [
    'a reference with siblings',
    KIMI,
    named(
      { $ref: '#/$defs/id', type: 'string', description: 'Mine.' },
      { $defs: { id: { type: 'string', minLength: 1 } } },
    ),
    named({ type: 'string', minLength: 1, description: 'Mine.' }, { $defs: { id: { type: 'string', minLength: 1 } } }),
  ],
  [
    'a type beside anyOf',
    KIMI,
    property({ type: 'string', anyOf: [{ minLength: 1 }, { type: 'null' }] }),
    property({ anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] }),
  ],
  [
    'keywords of Gemini',
    GEMINI,
    property({ type: ['string', 'null'], const: 'x', format: 'uuid', exclusiveMinimum: 0, $comment: 'c' }),
    property({ type: 'string', enum: ['x'], nullable: true, description: 'format: uuid; exclusiveMinimum: 0.' }),
  ],
  ['oneOf for Gemini', GEMINI, property({ oneOf: [{ type: 'string' }] }), property({ anyOf: [{ type: 'string' }] })],
  [
    'an enum of numbers for Gemini',
    GEMINI,
    property({ type: 'integer', enum: [1, 2] }),
    property({ type: 'integer', description: 'enum: [1,2].' }),
  ],
  [
    'a required name without a property for Gemini',
    GEMINI,
    { ...property({ type: 'string' }), required: ['a', 'b'] },
    { ...property({ type: 'string' }), required: ['a'] },
  ],
  [
    'a reference in a circle for Gemini',
    GEMINI,
    named(
      { $ref: '#/$defs/node' },
      { $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } },
    ),
    property({ type: 'object', properties: { next: {} } }),
  ],
];

describe('schemas of tools by vendor', () => {
  for (const [what, model, given, sent] of SCHEMAS) {
    it(`tool schema: ${what} (${model.provider ?? 'any'})`, () => {
      const body = bodyFor(model, { tools: [{ name: 'f', parameters: given }] });
      const [tool] = arrayOrEmpty(body.tools).map(objectOrEmpty);
      const { parameters } = objectOrEmpty(tool?.function ?? tool);
      assert.deepEqual(parameters ?? tool?.input_schema, sent);
    });
  }

  it('tool schema: a schema that the vendor reads is the same object', () => {
    const schema = { ...property({ type: 'string', pattern: '\\p{L}' }), required: ['a'], additionalProperties: false };
    assert.equal(cleanSchema(schema, PLAIN_SCHEMA), schema);
  });

  it('tool schema: a property that is `true` or `false` is an object with the same meaning, at any depth', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { a: true, b: { type: 'object', properties: { c: true, d: false } }, e: { items: true } },
    };
    assert.deepEqual(cleanSchema(schema, PLAIN_SCHEMA), {
      type: 'object',
      additionalProperties: false,
      properties: { a: {}, b: { type: 'object', properties: { c: {}, d: { not: {} } } }, e: { items: true } },
    });
  });

  it('tool schema: a schema of any depth is cleaned, deep ones accept any value', () => {
    let schema: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 5000; depth += 1) schema = { type: 'object', properties: { a: schema } };
    assert.ok(JSON.stringify(cleanSchema(schema, PLAIN_SCHEMA)).length < 10_000);
  });

  it('tool schema: a member named __proto__ stays a property', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string","required":null}}}');
    assert.equal(
      JSON.stringify(cleanSchema(schema, PLAIN_SCHEMA)),
      '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
    );
  });

  it('tool schema: portable patterns', () => {
    for (const pattern of ['^a$', '[\\w.-]+@\\d{2,}', '(?:a|b)', '\\u00e9', '\\/x', 'a\\\\p'])
      assert.ok(isPortable(pattern), pattern);
    for (const pattern of ['\\p{L}', '(?=a)', '(?<n>a)', '(?<!a)', '\\k<n>', '(a', '\\u{1F600}', '\\cA', '(a)\\1']) {
      assert.ok(!isPortable(pattern), pattern);
    }
  });
});
