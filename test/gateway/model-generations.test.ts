import assert from 'node:assert/strict';
import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import { CLIENTS } from './client-histories.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const USER = { role: 'user', content: 'q' };
const ADAPTIVE = { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } };
const LOOP = [
  USER,
  { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'r' }] },
];
const CLEAR = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };
const MODELS = [
  'claude-haiku-4-5-20251001',
  'claude-sonnet-4.5',
  'claude-opus-4-5',
  'claude-opus-4-6',
  'us.anthropic.claude-opus-4-8',
  'claude-opus-5',
  'claude-fable-5',
  'claude-fable-5-1',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'anthropic/claude-sonnet-4.5',
  'anthropic/claude-opus-5.5',
  'mistralai/devstral-2512',
  'glm-5',
  'gpt-5.4',
  'gpt-5.6-terra',
];

const TOOL = { name: 'f', input_schema: { type: 'object', properties: {} } };
const DISABLED = { thinking: { type: 'disabled' } };
const NOT_UP_FRONT = { thinking: { type: 'between_tools' } };
const config = (effort: string) => ({ output_config: { effort, task_budget: 1 } });
/** What is sent for thinking that is turned off, alone and with the effort `max`. */
const OFF: readonly (readonly [model: string, alone: JsonObject, withEffort: JsonObject])[] = [
  ['claude-haiku-4-5-20251001', DISABLED, { ...DISABLED, output_config: { task_budget: 1 } }],
  ['us.anthropic.claude-opus-4-8', DISABLED, { ...DISABLED, ...config('max') }],
  ['claude-opus-5', DISABLED, { ...DISABLED, ...config('high') }],
  ['claude-haiku-5-5', DISABLED, { ...DISABLED, ...config('high') }],
  ['claude-sonnet-5-5', NOT_UP_FRONT, { ...NOT_UP_FRONT, ...config('max') }],
  ['claude-fable-5', { output_config: { effort: 'low' } }, config('low')],
  ['claude-fable-5-1', { output_config: { effort: 'low' } }, config('low')],
  ['claude-opus-5-5', { output_config: { effort: 'low' } }, config('low')],
  ['glm-5', DISABLED, { ...DISABLED, ...config('max') }],
];

/** A name of a client, a pool or a fallback leads to a model of another generation or family. */
describe('generations and families of models', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const all = providers(url);
        const limit = { context: 200_000, output: 64_000 };
        const models = Object.fromEntries(MODELS.map((id) => [id, { reasoning: true, limit }]));
        const provider = Object.entries(all).map(([id, value]) => [id, { ...objectOrEmpty(value), models }]);
        const messages = objectOrEmpty(all.messages);
        const options = { ...objectOrEmpty(messages.options), headers: { 'anthropic-beta': 'b-0' } };
        return { provider: { ...Object.fromEntries(provider), beta: { ...messages, options, models } } };
      },
    });
  });
  after(() => gateway.close());
  beforeEach(() => gateway.upstream.forget());

  const sent = async (path: string, body: JsonObject): Promise<JsonObject> => {
    const response = await gateway.post(path, { max_tokens: 20_000, messages: [USER], ...body });
    assert.equal(response.status, 200, await response.text());
    return (await gateway.upstream.request(0)).body;
  };

  const FORMS: readonly (readonly [what: string, model: string, request: JsonObject, sent: JsonObject])[] = [
    [
      'adaptive thinking for a model with budgets',
      'claude-haiku-4-5-20251001',
      ADAPTIVE,
      { thinking: { type: 'enabled', budget_tokens: 12_000 } },
    ],
    [
      'adaptive thinking without an effort',
      'claude-sonnet-4.5',
      { thinking: { type: 'adaptive', display: 'omitted' } },
      { thinking: { type: 'enabled', budget_tokens: 6_000 } },
    ],
    ['an effort alone', 'claude-opus-4-5', { output_config: { effort: 'high' } }, {}],
    [
      'other members beside the effort',
      'claude-haiku-4-5-20251001',
      { output_config: { effort: 'high', task_budget: 1 } },
      { output_config: { task_budget: 1 } },
    ],
    [
      'a limit that has no room for a budget',
      'claude-haiku-4-5-20251001',
      { ...ADAPTIVE, max_tokens: 500, context_management: CLEAR },
      { thinking: { type: 'disabled' } },
    ],
    [
      'a tool loop that has no thinking',
      'claude-haiku-4-5-20251001',
      { ...ADAPTIVE, messages: LOOP },
      { thinking: { type: 'disabled' } },
    ],
    [
      'a budget for a model that is adaptive',
      'us.anthropic.claude-opus-4-8',
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    ],
    [
      'a budget beside an effort',
      'claude-fable-5-1',
      { thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' }, output_config: { effort: 'max' } },
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'max' } },
    ],
    ...OFF.flatMap(([model, ...sent]): (typeof FORMS)[number][] =>
      ['disabled', 'between_tools'].flatMap((type): (typeof FORMS)[number][] => [
        [`turned off by ${type}`, model, { thinking: { type } }, sent[0]],
        [
          `turned off by ${type}, with an effort`,
          model,
          { thinking: { type }, output_config: { effort: 'max', task_budget: 1 } },
          sent[1],
        ],
      ]),
    ),
    ...['claude-fable-5-1', 'claude-opus-5-5', 'claude-sonnet-5-5'].flatMap((model): (typeof FORMS)[number][] => [
      [
        'a named tool',
        model,
        { tools: [TOOL], tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true } },
        { tools: [TOOL], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      ],
      [
        'any tool',
        model,
        { tools: [TOOL], tool_choice: { type: 'any' } },
        { tools: [TOOL], tool_choice: { type: 'auto' } },
      ],
      [
        'no tool',
        model,
        { tools: [TOOL], tool_choice: { type: 'none' } },
        { tools: [TOOL], tool_choice: { type: 'none' } },
      ],
    ]),
    ...['claude-fable-5', 'claude-opus-5', 'claude-haiku-5-5', 'glm-5'].map((model): (typeof FORMS)[number] => [
      'a named tool as it is',
      model,
      { tools: [TOOL], tool_choice: { type: 'tool', name: 'f' } },
      { tools: [TOOL], tool_choice: { type: 'tool', name: 'f' } },
    ]),
    ['sampling for a model without it', 'claude-fable-5-1', { temperature: 0.5, top_p: 0.9, top_k: 3 }, {}],
    ...(['claude-opus-4-6', 'glm-5'] as const).flatMap((model): (typeof FORMS)[number][] => [
      ['adaptive thinking as it is', model, ADAPTIVE, ADAPTIVE],
      [
        'a budget as it is',
        model,
        { thinking: { type: 'enabled', budget_tokens: 2_000 }, top_k: 3 },
        { thinking: { type: 'enabled', budget_tokens: 2_000 }, top_k: 3 },
      ],
    ]),
  ];
  for (const [what, model, request, expected] of FORMS) {
    it(`thinking: ${what}: ${model}`, async () => {
      const body = await sent('/v1/messages', { model: `messages/${model}`, ...request });
      const { model: _, max_tokens: __, messages: ___, ...rest } = body;
      assert.deepEqual(rest, expected);
    });
  }

  it('thinking: a budget of a Chat Completions client is an effort of a model that is adaptive', async () => {
    const body = await sent('/v1/chat/completions', {
      model: 'messages/claude-fable-5-1',
      reasoning: { max_tokens: 8_000 },
      top_p: 0.9,
    });
    assert.deepEqual(
      [body.thinking, body.output_config, body.top_p],
      [{ type: 'adaptive', display: 'summarized' }, { effort: 'medium' }, undefined],
    );
  });

  const CHAT_TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
  for (const [model, fields, expected] of [
    ['messages/claude-opus-5', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    ['messages/claude-sonnet-5-5', { reasoning_effort: 'none' }, NOT_UP_FRONT],
    [
      'messages/claude-opus-5-5',
      { reasoning_effort: 'none' },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    ],
    ['messages/claude-opus-5', {}, {}],
    ['messages/claude-opus-5-5', {}, { thinking: { type: 'adaptive', display: 'summarized' } }],
    [
      'messages/claude-opus-5-5',
      { reasoning_effort: 'high' },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    ],
    ['chat/anthropic/claude-opus-5.5', { reasoning_effort: 'none' }, { reasoning_effort: 'low' }],
    ['messages/claude-opus-5', { tool_choice: 'required' }, { tool_choice: { type: 'any' } }],
    [
      'messages/claude-opus-5-5',
      { tool_choice: 'required' },
      { thinking: { type: 'adaptive', display: 'summarized' }, tool_choice: { type: 'auto' } },
    ],
  ] as const) {
    it(`thinking: ${JSON.stringify(fields)} of a Chat Completions client, as ${model} reads it`, async () => {
      const body = await sent('/v1/chat/completions', { model, tools: [CHAT_TOOL], ...fields });
      const names = [
        'thinking',
        'output_config',
        'reasoning_effort',
        ...('tool_choice' in fields ? ['tool_choice'] : []),
      ];
      const found = names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]));
      assert.deepEqual(Object.fromEntries(found), expected);
    });
  }

  it('thinking: a demand for a tool of a Messages client is left to Claude behind Chat Completions', async () => {
    const request = { tools: [TOOL], tool_choice: { type: 'tool', name: 'f' } };
    const body = await sent('/v1/messages', { model: 'chat/anthropic/claude-opus-5.5', ...request });
    assert.equal(body.tool_choice, 'auto');
  });

  const THOUGHT = {
    role: 'assistant',
    content: 'a',
    reasoning_details: [{ type: 'reasoning.text', text: 't', signature: 'c2lnbmVk', format: 'anthropic-claude-v1' }],
  };
  const ADAPTIVE_BOUND = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };
  const CONTROLS = 'thinking-binding-controls-2026-08-01';
  for (const [model, fields, thinking, beta, blocks] of [
    ['messages/claude-opus-5', {}, undefined, undefined, 1],
    ['messages/claude-opus-5-5', {}, ADAPTIVE_BOUND, CONTROLS, 1],
    ['messages/claude-haiku-5-5', { reasoning_effort: 'high' }, ADAPTIVE_BOUND, CONTROLS, 1],
    ['beta/claude-opus-5-5', {}, ADAPTIVE_BOUND, `b-0,${CONTROLS}`, 1],
    ['beta/claude-opus-5', {}, undefined, 'b-0', 1],
    ['messages/claude-sonnet-5-5', { reasoning_effort: 'none' }, NOT_UP_FRONT.thinking, undefined, 0],
    ['messages/claude-haiku-5-5', { reasoning_effort: 'none' }, DISABLED.thinking, undefined, 0],
  ] as const) {
    it(`thinking: that of the history of a translated request is left out if it is not valid any more: ${model}, ${JSON.stringify(fields)}`, async () => {
      const messages = [USER, THOUGHT, USER];
      const response = await gateway.post('/v1/chat/completions', { model, messages, ...fields });
      assert.equal(response.status, 200, await response.text());
      const { body, headers } = await gateway.upstream.request(0);
      assert.deepEqual([body.thinking, headers['anthropic-beta']], [thinking, beta]);
      assert.equal(JSON.stringify(body.messages).split('"type":"thinking"').length - 1, blocks);
    });
  }

  it('thinking: that of a conversation that Codex compacts has the control too', async () => {
    gateway.upstream.respond((_request, response) => {
      const content = [
        { type: 'thinking', thinking: 't', signature: 'c2lnbmVk' },
        { type: 'text', text: 'a' },
      ];
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'end_turn' }));
    });
    try {
      const request = { model: 'messages/claude-opus-5-5', input: [USER], include: ['reasoning.encrypted_content'] };
      const first = await gateway.post('/v1/responses', request);
      const output = arrayOrEmpty(objectOrEmpty(await first.json()).output);
      const compacted = await gateway.post('/v1/responses/compact', { ...request, input: [USER, ...output] });
      assert.equal(compacted.status, 200, await compacted.text());
      const { body, headers } = await gateway.upstream.request(1);
      assert.deepEqual([body.thinking, headers['anthropic-beta']], [ADAPTIVE_BOUND, CONTROLS]);
    } finally {
      gateway.upstream.respond(undefined);
    }
  });

  it('thinking: a request without thinking in its history has no such control', async () => {
    const body = await sent('/v1/chat/completions', { model: 'messages/claude-opus-5-5', reasoning_effort: 'high' });
    assert.deepEqual(body.thinking, { type: 'adaptive' });
  });

  const LONG = { type: 'ephemeral', ttl: '1h' };
  const MARKED = {
    system: [{ type: 'text', text: 's', cache_control: LONG }],
    tools: [{ name: 'f', input_schema: { type: 'object', properties: {} }, cache_control: LONG }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'q', cache_control: LONG }] }],
  };
  for (const [model, kept] of [
    ['messages/claude-opus-4-6', 3],
    ['messages/glm-5', 0],
  ] as const) {
    it(`cache marks: a lifetime for ${model}`, async () => {
      const body = await sent('/v1/messages', { model, ...MARKED });
      const text = JSON.stringify(body);
      assert.deepEqual([text.split('cache_control').length - 1, text.split('"1h"').length - 1], [3, kept]);
    });
  }

  it('cache marks: reach Claude behind Chat Completions, and no other model there', async () => {
    for (const [model, count] of [
      ['chat/anthropic/claude-sonnet-4.5', 3],
      ['chat/glm-5', 0],
    ] as const) {
      gateway.upstream.forget();
      const body = await sent('/v1/messages', { model, ...MARKED });
      assert.equal(JSON.stringify(body).split('cache_control').length - 1, count, model);
    }
  });

  for (const client of Object.keys(CLIENTS) as (keyof typeof CLIENTS)[]) {
    for (const [model, form] of [
      ['chat/anthropic/claude-sonnet-4.5', /^[\w-]{1,64}$/],
      ['chat/mistralai/devstral-2512', /^[a-zA-Z0-9]{9}$/],
    ] as const) {
      it(`ids of calls: behind Chat Completions they have the form of the model: ${client}, ${model}`, async () => {
        const { path, request } = CLIENTS[client];
        const history = request([
          { user: 'q' },
          { call: 'functions.f:0' },
          { result: 'functions.f:0', text: 'r' },
          { user: 'p' },
        ]);
        const body = await sent(path, { model, ...history });
        const messages = arrayOrEmpty(body.messages).map(objectOrEmpty);
        const { id } = objectOrEmpty(arrayOrEmpty(messages[1]?.tool_calls)[0]);
        assert.match(String(id), form);
        assert.equal(messages[2]?.tool_call_id, id);
        const roles = messages.map(({ role }) => role);
        assert.equal(roles.includes('assistant', 3), model.includes('devstral'), roles.join());
      });
    }
  }

  const system = { role: 'system', content: 'S' };
  const answer = { role: 'assistant', content: 'a' };
  const results = arrayOrEmpty(LOOP[2]?.content);
  const said = { type: 'text', text: 'S' };
  /** Claude Code sends system messages to each model (anthropics/claude-code#77698). */
  const SYSTEM: readonly (readonly [what: string, messages: readonly JsonObject[], sent: JsonObject])[] = [
    ['after a question', [USER, system], { system: 'P', messages: [{ role: 'user', content: 'q\n\nS' }] }],
    [
      'after an answer',
      [USER, answer, system],
      { system: 'P', messages: [USER, answer, { role: 'user', content: 'S' }] },
    ],
    [
      'after results',
      [...LOOP, { role: 'system', content: [said] }],
      { system: 'P', messages: [...LOOP.slice(0, 2), { role: 'user', content: [...results, said] }] },
    ],
    [
      'between a call and its result',
      [...LOOP.slice(0, 2), system, ...LOOP.slice(2)],
      { system: 'P', messages: [...LOOP.slice(0, 2), { role: 'user', content: [...results, said] }] },
    ],
    ['before everything', [system, USER], { system: 'P\n\nS', messages: [USER] }],
    ['without text', [USER, { role: 'system', content: [], output_config: {} }], { system: 'P', messages: [USER] }],
  ];
  for (const [where, messages, expected] of SYSTEM) {
    it(`system messages: one ${where} is sent as the model reads it`, async () => {
      for (const model of ['glm-5', 'claude-opus-4-6']) {
        gateway.upstream.forget();
        const body = await sent('/v1/messages', { model: `messages/${model}`, system: 'P', messages });
        assert.deepEqual([body.system, body.messages], [expected.system, expected.messages], model);
      }
      gateway.upstream.forget();
      const body = await sent('/v1/messages', {
        model: 'messages/us.anthropic.claude-opus-4-8',
        system: 'P',
        messages,
      });
      assert.deepEqual([body.system, body.messages], ['P', messages]);
    });
  }

  it('other models: those of Claude Code for answers that a model refuses are left out', async () => {
    const request = { max_tokens: 9, messages: [USER], fallbacks: [{ model: 'claude-opus-4-8' }] };
    for (const model of ['messages/glm-5', 'chat/glm-5']) {
      gateway.upstream.forget();
      const response = await gateway.post('/v1/messages', { model, ...request });
      assert.equal(response.status, 200, await response.text());
      assert.match(response.headers.get('warning') ?? '', /fallbacks/);
      assert.ok(!(await gateway.upstream.request(0)).bytes.includes('fallbacks'));
    }
    const refused = await gateway.post('/v1/chat/completions', { model: 'chat/glm-5', ...request });
    assert.equal(refused.status, 400);
  });

  const DOCUMENTS: readonly (readonly [what: string, source: JsonObject])[] = [
    ['data', { type: 'text', media_type: 'text/plain', data: 'DOC' }],
    ['content', { type: 'content', content: [{ type: 'text', text: 'DOC' }] }],
    ['plain content', { type: 'content', content: 'DOC' }],
  ];
  for (const [what, source] of DOCUMENTS) {
    it(`documents: a text is text for other vendors, also in a result: ${what}`, async () => {
      const document = { type: 'document', title: 'T', source };
      const result = { type: 'tool_result', tool_use_id: 'c1', content: [document] };
      const messages = [...LOOP.slice(0, 2), { role: 'user', content: [result, document] }];
      for (const model of ['chat/glm-5', 'responses/glm-5']) {
        gateway.upstream.forget();
        const text = JSON.stringify(await sent('/v1/messages', { model, messages }));
        assert.equal(text.split('T\\n\\nDOC').length - 1, 2, text);
        assert.ok(!/"(?:input_)?file"/.test(text), text);
      }
    });
  }

  it('documents: a text file of a Chat Completions client reaches a Messages model without files as text', async () => {
    const file = { type: 'file', file: { file_data: 'data:text/x-python;base64,RE9D', filename: 'a.py' } };
    const body = await sent('/v1/chat/completions', {
      model: 'messages/glm-5',
      messages: [{ role: 'user', content: [file] }],
    });
    assert.deepEqual(body.messages, [{ role: 'user', content: 'a.py\n\nDOC' }]);
  });

  it('cache key: the session of Claude Code is that of a model that needs one', async () => {
    const session = '0b1e8f6a-6f0e-4a3e-9d0a-1f2b3c4d5e6f';
    const metadata = { user_id: JSON.stringify({ device_id: 'd', session_id: session }) };
    for (const [model, key] of [
      ['gpt-5.6-terra', session],
      ['gpt-5.4', undefined],
    ] as const) {
      gateway.upstream.forget();
      const body = await sent('/v1/messages', { model: `responses/${model}`, metadata });
      assert.equal(body.prompt_cache_key, key, model);
    }
  });

  it('blank text: results and questions of a Messages client are sent without it', async () => {
    const blank = { type: 'text', text: ' ' };
    const word = { type: 'text', text: 'w' };
    const result = (content: unknown) => ({ type: 'tool_result', tool_use_id: 'c1', content });
    const messages = [...LOOP.slice(0, 2), { role: 'user', content: [result([blank, word]), blank, word] }];
    const body = await sent('/v1/messages', { model: 'messages/claude-opus-4-6', messages });
    assert.deepEqual(objectOrEmpty(arrayOrEmpty(body.messages)[2]).content, [result([word]), word]);
  });
});
