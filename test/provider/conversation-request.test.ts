import assert from 'node:assert/strict';
import type { Endpoint, Model } from '../../src/catalog/model.ts';
import { conversationRequest } from '../../src/provider/request/conversation-request.ts';
import { upstreamHeaders } from '../../src/provider/request/headers.ts';
import { joinURL, upstreamURL } from '../../src/provider/request/url.ts';
import type { Conversation } from '../../src/wire/conversation.ts';
import { msg, SvcError } from '../../src/wire/errors/svc-error.ts';
import { ask, credential, modelAt } from './test-model.ts';

const endpoint = (over: Partial<Endpoint>): Endpoint => modelAt('https://x.test/v1', over).endpoint;

describe('the key of a prompt cache', () => {
  const keyOf = (options: Record<string, unknown>, over: Partial<Conversation> = {}) => {
    const model = modelAt('https://x.test/v1', { kind: 'openai', options });
    return conversationRequest(model, ask('Hi', over), { session: 'conversation-1' }).body.prompt_cache_key;
  };

  it('is the id of the conversation if the provider has `setCacheKey`, unless a client names one', () => {
    assert.equal(keyOf({ setCacheKey: true }), 'conversation-1');
    assert.equal(keyOf({ setCacheKey: true }, { promptCacheKey: 'own' }), 'own');
    assert.equal(keyOf({}), undefined);
    assert.equal(keyOf({ setCacheKey: false }), undefined);
  });
});

describe('URL of a request', () => {
  const joins: readonly (readonly [string, string, string])[] = [
    ['https://x.test/v1', '/chat/completions', 'https://x.test/v1/chat/completions'],
    ['https://x.test/v1/', '/chat/completions', 'https://x.test/v1/chat/completions'],
    ['https://x.test', '/models', 'https://x.test/models'],
    ['https://x.test/v1', '/v1/models', 'https://x.test/v1/models'],
    ['https://x.test/v1/chat/completions', '/chat/completions', 'https://x.test/v1/chat/completions'],
    ['https://x.test/openai?api-version=1', '/models', 'https://x.test/openai/models?api-version=1'],
  ];
  for (const [base, path, expected] of joins) {
    it(`request URL: ${base} and ${path}`, () => assert.equal(joinURL(base, path), expected));
  }

  const kinds: readonly (readonly [Partial<Endpoint>, string])[] = [
    [{ kind: 'openai-compatible', baseURL: 'http://127.0.0.1:1' }, 'http://127.0.0.1:1/p'],
    [{ kind: 'openai', baseURL: 'https://api.openai.com' }, 'https://api.openai.com/v1/p'],
    [{ kind: 'anthropic', baseURL: 'https://api.anthropic.com' }, 'https://api.anthropic.com/v1/p'],
    [{ kind: 'anthropic', baseURL: 'https://api.anthropic.com/v1' }, 'https://api.anthropic.com/v1/p'],
    [{ kind: 'anthropic', baseURL: 'https://x.test/anthropic' }, 'https://x.test/anthropic/v1/p'],
    [{ kind: 'ollama', baseURL: 'http://127.0.0.1:11434' }, 'http://127.0.0.1:11434/v1/p'],
    [{ kind: 'azure', baseURL: 'https://n.openai.azure.com' }, 'https://n.openai.azure.com/openai/v1/p'],
    [{ kind: 'azure', baseURL: 'https://n.openai.azure.com/openai' }, 'https://n.openai.azure.com/openai/v1/p'],
    [
      {
        kind: 'azure',
        baseURL: 'https://n.openai.azure.com/openai/v1',
        options: { apiVersion: 'preview', resourceName: 'other' },
      },
      'https://n.openai.azure.com/openai/v1/p?api-version=preview',
    ],
  ];
  for (const [over, expected] of kinds) {
    it(`request URL: ${over.kind} at ${over.baseURL}`, () => assert.equal(upstreamURL(endpoint(over), '/p'), expected));
  }

  it('request URL: Azure uses the name of the resource', () => {
    const { baseURL: _, ...rest } = endpoint({ kind: 'azure', options: { resourceName: 'res' } });
    assert.equal(upstreamURL(rest, '/p'), 'https://res.openai.azure.com/openai/v1/p');
  });

  it('request URL: none if the address is missing, invalid or withheld', () => {
    const { baseURL: _, ...without } = endpoint({});
    for (const bad of [without, endpoint({ baseURL: 'file:///etc' }), endpoint({ problem: msg('No.') })]) {
      assert.throws(
        () => upstreamURL(bad, '/p'),
        (error) => error instanceof SvcError && error.errorType === 'configuration_error',
      );
    }
  });
});

describe('headers of a request', () => {
  it('request headers: contain the key in the form of the vendor', () => {
    assert.equal(upstreamHeaders(endpoint({}), 'chat-completions').authorization, 'Bearer sk-test');
    const anthropic = upstreamHeaders(endpoint({ kind: 'anthropic' }), 'messages');
    assert.deepEqual([anthropic['x-api-key'], anthropic.authorization], ['sk-test', undefined]);
    assert.equal(anthropic['anthropic-version'], '2023-06-01');
    const azure = upstreamHeaders(endpoint({ kind: 'azure' }), 'chat-completions');
    assert.deepEqual([azure['api-key'], azure.authorization], ['sk-test', undefined]);
  });

  it('request headers: configured headers replace them and ignore case', () => {
    const headers = new Map([
      ['Authorization', credential('Basic x')],
      ['X-Team', credential('a')],
    ]);
    const sent = upstreamHeaders(endpoint({ headers }), 'chat-completions');
    assert.deepEqual([sent.authorization, sent['x-team']], ['Basic x', 'a']);
  });

  it('request headers: without a key they contain none, or the one of the caller', () => {
    const { apiKey: _, ...without } = endpoint({});
    assert.equal(upstreamHeaders(without, 'chat-completions').authorization, undefined);
    assert.equal(upstreamHeaders(endpoint({}), 'chat-completions', 'byok').authorization, 'Bearer byok');
  });
});

describe('body of a request', () => {
  const body = (
    over: Partial<Endpoint>,
    model: Partial<Model> = {},
    asked: Partial<Conversation> = {},
    choices = {},
  ): Record<string, unknown> =>
    conversationRequest(modelAt('https://x.test/v1', over, model), ask('hi', asked), choices).body;

  it('request body: contains the model id of the provider, and at most the limit of the model and the cap', () => {
    assert.deepEqual([body({}).model, body({}).max_tokens], ['up-small', 4096]);
    assert.equal(body({}, { limit: { context: 0, output: 0 } }).max_tokens, 32_000);
    assert.equal(body({}, { limit: { context: 0, output: 64_000 } }).max_tokens, 32_000);
    assert.equal(body({}, { limit: { context: 0, output: 64_000 } }, {}, { outputCap: 50_000 }).max_tokens, 50_000);
    assert.equal(body({}, {}, { maxTokens: 5 }).max_tokens, 5);
    assert.equal(body({ format: 'responses' }).max_output_tokens, 4096);
    assert.equal(body({ format: 'messages', kind: 'anthropic' }).max_tokens, 4096);
  });

  it('request body: thinking of the history that is not valid any more is left out by Claude 5.1 and later', () => {
    const over: Partial<Endpoint> = { format: 'messages', kind: 'anthropic', headers: new Map() };
    const thought = { vendor: 'messages', signature: 'c2lnbmVk' } as const;
    const turns: Conversation['turns'] = [
      { role: 'user', parts: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 't', seals: [thought] },
          { type: 'text', text: 'a' },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'p' }] },
    ];
    const sent = (id: string) => {
      const { body, headers } = conversationRequest(modelAt('https://x.test/v1', over, { id }), ask('hi', { turns }));
      return [body.thinking, headers['anthropic-beta']];
    };
    assert.deepEqual(sent('claude-opus-5'), [undefined, undefined]);
    const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };
    assert.deepEqual(sent('claude-opus-5-5'), [thinking, 'thinking-binding-controls-2026-08-01']);
  });

  it('request body: max_completion_tokens for OpenAI and GPT-5 on Azure, max_tokens for generic providers', () => {
    for (const [kind, id, field] of [
      ['openai-compatible', 'gpt-5', 'max_tokens'],
      ['azure', 'gpt-5-prod', 'max_completion_tokens'],
      ['azure', 'my-deployment', 'max_completion_tokens'],
      ['azure', 'Mistral-Large', 'max_tokens'],
      ['openai', 'gpt-5', 'max_completion_tokens'],
    ] as const) {
      const sent = body({ kind }, { id });
      assert.equal(sent[field], 4096, `${kind} ${id}`);
      assert.equal(Object.keys(sent).filter((key) => key.startsWith('max_')).length, 1);
    }
  });

  it('request body: deeply merges the options of the model and the variant', () => {
    const options = { reasoning: { effort: 'low', exclude: true }, top_k: 5 };
    const variants = new Map([['high', { reasoning: { effort: 'high' }, reasoning_split: true }]]);
    assert.deepEqual(body({}, { options, variants }).reasoning, { effort: 'low', exclude: true });
    const chosen = body({}, { options, variants }, {}, { variant: 'high' });
    assert.deepEqual(
      [chosen.reasoning, chosen.reasoning_split, chosen.top_k],
      [{ effort: 'high', exclude: true }, true, 5],
    );
    assert.equal(body({}, { options, variants }).reasoning_split, undefined);
    assert.throws(() => body({}, { variants }, {}, { variant: 'lowest' }), /no variant "lowest" \(it has: high\)/);
  });

  it('request body: omits temperature for a model without it', () => {
    const asked = { sampling: { temperature: 0.5, topP: 0.9 } };
    assert.equal(body({}, {}, asked).temperature, 0.5);
    assert.equal(body({}, { temperature: false }, asked).temperature, undefined);
  });

  it('request body: rejects unsupported input and names the setting', () => {
    const tools = [{ name: 'f', parameters: {} }];
    assert.throws(() => body({}, { toolCall: false }, { tools }), /can't call tools.*tool_call/);
    const image = { type: 'image' as const, media: { kind: 'url' as const, url: 'https://x.test/a.png' } };
    const turns = [{ role: 'user' as const, parts: [image] }];
    const text = { modalities: { input: ['text' as const], output: ['text' as const] } };
    assert.throws(() => body({}, text, { turns }), /not configured to accept images.*modalities/);
  });

  it('request body: contains nothing that Mistral rejects', () => {
    const tools = [{ name: 'f', parameters: {}, strict: true }];
    const turns: Conversation['turns'] = [
      { role: 'user', parts: [{ type: 'text', text: 'q', cacheControl: { type: 'ephemeral' } }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm', seals: [] },
          { type: 'tool-call', id: 'call_1', name: 'f', arguments: '' },
        ],
      },
      { role: 'user', parts: [{ type: 'tool-result', id: 'call_1', content: [{ type: 'text', text: 'r' }] }] },
    ];
    const sent = body(
      { kind: 'mistral' },
      {},
      { tools, turns, toolChoice: { type: 'required' }, user: 'u', sampling: { seed: 7, topK: 3 } },
    );
    assert.deepEqual(
      [sent.random_seed, sent.tool_choice, sent.stream_options, sent.user, sent.top_k],
      [7, 'any', undefined, undefined, undefined],
    );
    const text = JSON.stringify(sent);
    assert.doesNotMatch(text, /cache_control|reasoning_content|"strict"/);
    const ids = [...text.matchAll(/"(?:id|tool_call_id)":"([^"]+)"/g)].map((match) => match[1] ?? '');
    assert.equal(new Set(ids).size, 1);
    assert.match(ids[0] ?? '', /^[a-zA-Z0-9]{9}$/);
  });

  it('request: OpenAI gets at most four stop sequences, others get all', () => {
    const stop = ['a', 'b', 'c', 'd', 'e'];
    assert.deepEqual(body({ kind: 'openai' }, {}, { sampling: { stop } }).stop, stop.slice(0, 4));
    assert.deepEqual(body({}, {}, { sampling: { stop } }).stop, stop);
  });

  it('request body: an unanswered call gets a placeholder result', () => {
    const turns: Conversation['turns'] = [
      { role: 'user', parts: [{ type: 'text', text: 'q' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'user', parts: [{ type: 'text', text: 'stop' }] },
    ];
    const roles = (body({}, {}, { turns }).messages as { role: string }[]).map((message) => message.role);
    assert.deepEqual(roles, ['user', 'assistant', 'tool', 'user']);
  });

  it('request body: uses effort or budget for thinking, depending on the Anthropic model', () => {
    const reasoning = { effort: 'medium' };
    const kind = { kind: 'anthropic' as const, format: 'messages' as const };
    const older = body(
      kind,
      { id: 'claude-sonnet-4-5', limit: { context: 0, output: 10_000 } },
      { reasoning, sampling: { temperature: 1 } },
    );
    assert.deepEqual(older.thinking, { type: 'enabled', budget_tokens: 3000 });
    assert.equal(older.temperature, undefined);
    const newer = body(kind, { id: 'claude-opus-4-6' }, { reasoning });
    assert.deepEqual([newer.thinking, newer.output_config], [{ type: 'adaptive' }, { effort: 'medium' }]);
    const tools = [{ name: 'f', parameters: {} }];
    assert.equal(
      body(kind, { id: 'claude-opus-4-6' }, { reasoning, tools, toolChoice: { type: 'required' } }).thinking,
      undefined,
    );
  });

  it('request body: reasoning models of Responses return encrypted reasoning, and nothing is stored', () => {
    const sent = body({ kind: 'openai', format: 'responses' });
    assert.deepEqual([sent.store, sent.include], [false, ['reasoning.encrypted_content']]);
    assert.equal(body({ kind: 'openai', format: 'responses' }, { reasoning: false }).include, undefined);
  });
});
