import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  type Body,
  changed,
  chat,
  chatTool,
  dropped,
  flatTool,
  messages,
  picture,
  plainRequest,
  refused,
  responses,
  type Shown,
  text,
  user,
} from './lossy-values.ts';

/** The system prompt, at its position in each format. */
function systemIs(words: string): NonNullable<Shown['becomes']> {
  return (written, to) => {
    const [first] = Array.isArray(written.messages) ? written.messages : [];
    const said = { 'chat-completions': first?.content, responses: written.instructions, messages: written.system }[to];
    assert.equal(said, words);
    if (to === 'chat-completions') assert.equal(first?.role, 'system');
  };
}

/** The system prompt and the only message, which is the user's, for Messages and Responses. */
function systemAndUser(system: string | undefined, user: string): NonNullable<Shown['becomes']> {
  return (written, to) => {
    assert.equal(to === 'messages' ? written.system : written.instructions, system);
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: user }] }];
    if (to === 'messages') assert.deepEqual(written.messages, [{ role: 'user', content: user }]);
    else assert.deepEqual(written.input, input);
  };
}

/** The name and the schema of the only tool that is sent. */
function onlyTool({ tools }: Body): { readonly name: string; readonly schema: unknown } {
  assert.ok(Array.isArray(tools) && tools.length === 1);
  const [{ function: inner, name, parameters, input_schema }] = tools;
  return { name: inner?.name ?? name, schema: inner?.parameters ?? parameters ?? input_schema };
}

function toolIs(name: string, schema: Body): NonNullable<Shown['becomes']> {
  return (written) => assert.deepEqual(onlyTool(written), { name, schema });
}

const textInput = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

/** A function in each format. */
function everyTool(name: string, schema: Body, check: (name: string, schema: unknown) => void): Shown[] {
  const becomes: NonNullable<Shown['becomes']> = (written) => {
    const tool = onlyTool(written);
    check(tool.name, tool.schema);
  };
  return [
    {
      from: 'chat-completions',
      said: chat({ tools: [{ type: 'function', function: { name, parameters: schema } }] }),
      becomes,
    },
    { from: 'responses', said: responses({ tools: [{ type: 'function', name, parameters: schema }] }), becomes },
    { from: 'messages', said: messages({ tools: [{ name, input_schema: schema }] }), becomes },
  ];
}

const LONG = 'u'.repeat(65);
const HASH = createHash('sha256').update(LONG).digest('hex');
const marked = (part: Body) => ({ ...part, cache_control: { type: 'ephemeral' } });

const jsonSchema = (more: Body) => ({ name: 'n', schema: { type: 'object', properties: {} }, ...more });
const chatSchema = (more: Body) => chat({ response_format: { type: 'json_schema', json_schema: jsonSchema(more) } });
const responsesSchema = (more: Body) => responses({ text: { format: { type: 'json_schema', ...jsonSchema(more) } } });
const bounded = { schema: { type: 'object', properties: { a: { oneOf: [{ type: 'integer', minimum: 1 }] } } } };
const fitted: NonNullable<Shown['becomes']> = (written) =>
  assert.deepEqual(written.output_config, {
    format: {
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: { a: { anyOf: [{ type: 'integer', description: 'minimum: 1.' }] } },
        additionalProperties: false,
      },
    },
  });

/** Rows about fields of a request, by the first column of the table. */
/** The written request contains the text, escaped as in JSON. */
const writes =
  (text: string): NonNullable<Shown['becomes']> =>
  (written) =>
    assert.ok(JSON.stringify(written).includes(text), JSON.stringify(written));

export const FIELDS: Readonly<Record<string, readonly Shown[]>> = {
  '`stop`, `stop_sequences`': [
    ...dropped('chat-completions', { stop: 'END' }),
    ...dropped('messages', { stop_sequences: ['END'] }),
  ],
  'stop sequences of only white space': dropped('chat-completions', { stop: ['\n'] }),
  '`frequency_penalty`, `presence_penalty`, `seed`': dropped(
    'chat-completions',
    { frequency_penalty: 1 },
    { presence_penalty: 1 },
    { seed: 1 },
  ),
  '`top_k`': [...dropped('chat-completions', { top_k: 5 }), ...dropped('messages', { top_k: 5 })],
  '`temperature` above 1': [
    changed('chat-completions', { temperature: 1.7 }, { temperature: 1 }),
    changed('responses', { temperature: 1.7 }, { temperature: 1 }),
  ],
  '`temperature` with `top_p`': [
    changed('chat-completions', { temperature: 0.5, top_p: 0.5 }, { temperature: 0.5, top_p: undefined }),
    changed('responses', { temperature: 0.5, top_p: 0.5 }, { temperature: 0.5, top_p: undefined }),
  ],
  '`temperature`, `top_p`, `top_k` with reasoning': [{ temperature: 0.5 }, { top_p: 0.5 }, { top_k: 5 }].flatMap(
    (sampling): Shown[] => {
      const thinking = { thinking: { type: 'enabled', budget_tokens: 1024 } };
      const limited = { max_completion_tokens: 4096, reasoning_effort: 'high' };
      const effort = { max_output_tokens: 4096, reasoning: { effort: 'high' } };
      const all: Shown[] = [
        { from: 'chat-completions', said: chat({ ...limited, ...sampling }), unsaid: chat(limited) },
        { from: 'messages', said: messages({ ...thinking, ...sampling }), unsaid: messages(thinking) },
      ];
      // Responses has no top_k.
      if ('top_k' in sampling) return all;
      return [...all, { from: 'responses', said: responses({ ...effort, ...sampling }), unsaid: responses(effort) }];
    },
  ),
  '`n` above 1': refused('chat-completions', { n: 2 }),
  '`functions`, `function_call`': refused('chat-completions', { functions: [] }, { function_call: 'auto' }),
  'audio output (`modalities`)': refused('chat-completions', { modalities: ['audio'] }),
  '`verbosity`, `logprobs`, `prompt_cache_key`, `prompt_cache_retention`': [
    ...dropped('chat-completions', { verbosity: 'low' }, { logprobs: true }, { logprobs: true, top_logprobs: 2 }),
    ...dropped('responses', { text: { verbosity: 'low' } }, { top_logprobs: 2 }),
    ...(['chat-completions', 'responses'] as const).flatMap((from) =>
      dropped(from, { prompt_cache_key: 'k' }, { prompt_cache_retention: '24h' }),
    ),
  ],
  '`service_tier`': (['chat-completions', 'responses'] as const).flatMap((from) => [
    changed(from, { service_tier: 'default' }, { service_tier: 'standard_only' }),
    changed(from, { service_tier: 'priority' }, { service_tier: 'auto' }),
    changed(from, { service_tier: 'flex' }, { service_tier: undefined }),
  ]),
  '`safety_identifier`': (['chat-completions', 'responses'] as const).flatMap((from) => [
    changed(from, { safety_identifier: 's' }, { metadata: { user_id: 's' } }),
    changed(from, { safety_identifier: 's', user: 'u' }, { metadata: { user_id: 'u' } }),
  ]),
  '`user`, `user_id`, `safety_identifier` and `prompt_cache_key` of more than 64 characters': [
    ...(['chat-completions', 'responses'] as const).flatMap((from) => [
      ...['user', 'safety_identifier', 'prompt_cache_key'].map((field) =>
        changed(from, { [field]: LONG }, { [field]: HASH }),
      ),
      changed(from, { user: LONG.slice(1) }, { user: LONG.slice(1) }),
    ]),
    changed('messages', { metadata: { user_id: LONG } }, { user: HASH }),
  ],
  'a limit of less than 16 tokens': [
    changed('chat-completions', { max_tokens: 5 }, { max_output_tokens: 16 }),
    changed('messages', { max_tokens: 5 }, { max_output_tokens: 16 }),
  ],
  'more than four `cache_control`': [
    {
      from: 'chat-completions',
      said: chat({
        tools: ['f', 'g'].map((name) => marked({ ...chatTool, function: { name } })),
        messages: [
          { role: 'system', content: [marked(text('s'))] },
          { role: 'user', content: ['a', 'b', 'c', 'd'].map((word) => marked(text(word))) },
        ],
      }),
      becomes: (written) => {
        const kept = JSON.stringify(written).match(/"(?:text|name)":"."(?=[^{}]*("cache_control"))/g);
        assert.equal(JSON.stringify(written).split('"cache_control"').length, 5);
        assert.deepEqual(
          kept,
          ['s', 'b', 'c', 'd'].map((word) => `"text":"${word}"`),
        );
      },
    },
  ],
  '`store: true`': refused('chat-completions', { store: true }),
  '`logit_bias`, `prediction` and other fields of one format': [
    ...dropped('chat-completions', { logit_bias: { 1: 1 } }, { prediction: {} }),
    ...dropped('responses', { truncation: 'auto' }),
    ...dropped('messages', { inference_geo: 'eu' }),
  ].map((shown) => ({ ...shown, own: true })),
  '`store`, `previous_response_id`, `conversation`, `background`, `prompt`': refused(
    'responses',
    { store: true },
    { previous_response_id: 'r' },
    { conversation: 'c' },
    { background: true },
    { prompt: { id: 'p' } },
  ),
  'tools that the vendor runs (web search, MCP, …)': [
    ...dropped('chat-completions', { tools: [{ type: 'web_search' }] }),
    ...dropped('responses', { tools: [{ type: 'web_search' }] }, { tools: [{ type: 'mcp' }] }),
    ...dropped('messages', { tools: [{ type: 'bash_20250124', name: 'b' }] }),
  ],
  '`tool_choice` that demands a tool of the vendor': [
    {
      from: 'chat-completions',
      said: chat({ tools: [{ type: 'web_search' }], tool_choice: 'required' }),
      param: 'tools.0.type',
    },
    {
      from: 'responses',
      said: responses({ tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }),
      param: 'tool_choice',
    },
    {
      from: 'messages',
      said: messages({ tools: [{ type: 'bash_20250124', name: 'b' }], tool_choice: { type: 'tool', name: 'b' } }),
      param: 'tools.0.type',
    },
  ],
  'results of tools that ran at Anthropic (`web_search_tool_result`, MCP, code execution, …)': [
    {
      from: 'messages',
      said: messages({
        messages: [
          user,
          {
            role: 'assistant',
            content: [
              { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
              {
                type: 'web_search_tool_result',
                tool_use_id: 's',
                content: [{ type: 'web_search_result', title: 'T', url: 'U' }],
              },
            ],
          },
          user,
        ],
      }),
      becomes: writes('[web search]\\nT\\nU'),
    },
  ],
  'a compaction of Messages': [
    {
      from: 'messages',
      said: messages({
        messages: [
          { role: 'user', content: 'OLD' },
          {
            role: 'assistant',
            content: [
              { type: 'compaction', content: 'S' },
              { type: 'text', text: 'NEW' },
            ],
          },
          user,
        ],
      }),
      becomes: (written) => {
        writes('Summary of the conversation so far:\\n\\nS')(written, 'responses');
        assert.ok(JSON.stringify(written).includes('NEW') && !JSON.stringify(written).includes('OLD'));
      },
    },
  ],
  '`search_result`': [
    {
      from: 'messages',
      said: messages({
        messages: [
          {
            role: 'user',
            content: [{ type: 'search_result', source: 'U', title: 'T', content: [{ type: 'text', text: 'c' }] }],
          },
        ],
      }),
      becomes: writes('T – U\\nc'),
    },
  ],
  'a compaction of OpenAI': [
    {
      from: 'responses',
      said: responses({ input: [{ type: 'compaction', id: 'i', encrypted_content: 'x' }, user] }),
      becomes: writes('compacted by another provider'),
    },
  ],
  'commands, patches and screens that the client ran for OpenAI (`local_shell_call`, `shell_call`, `apply_patch_call`, `computer_call`)':
    [
      {
        from: 'responses',
        said: responses({
          input: [
            user,
            { type: 'local_shell_call', id: 'l', call_id: 'c', action: { type: 'exec', command: ['ls'] } },
            { type: 'local_shell_call_output', id: 'c', output: 'OUT' },
          ],
        }),
        becomes: (written) => {
          writes('[Ran the command: ')(written, 'responses');
          writes('[Output]\\nOUT')(written, 'responses');
        },
      },
    ],
  'calls of the vendor’s own tools in the history (`web_search_call`, MCP, …)': [
    {
      from: 'responses',
      said: responses({ input: [user, { type: 'web_search_call', id: 'i' }] }),
      unsaid: responses({}),
    },
  ],
  'tools in a namespace': [
    {
      from: 'responses',
      said: responses({ tools: [{ type: 'namespace', name: 'n', tools: [flatTool] }] }),
      becomes: toolIs('n__f', { type: 'object', properties: {} }),
    },
  ],
  'custom tools': [
    {
      from: 'chat-completions',
      said: chat({ tools: [{ type: 'custom', custom: { name: 'f' } }] }),
      becomes: toolIs('f', textInput),
    },
    { from: 'responses', said: responses({ tools: [{ type: 'custom', name: 'f' }] }), becomes: toolIs('f', textInput) },
  ],
  '`tool_choice` of some of the tools (`allowed_tools`)': [
    {
      from: 'chat-completions',
      said: chat({
        tools: [{ ...chatTool, function: { name: 'g' } }, chatTool],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [chatTool] } },
      }),
      becomes: toolIs('f', { type: 'object', properties: {} }),
    },
    {
      from: 'responses',
      said: responses({
        tools: [{ ...flatTool, name: 'g' }, flatTool],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
      }),
      becomes: toolIs('f', { type: 'object', properties: {} }),
    },
  ],
  'names of tools that are longer than 64 characters or contain other characters than letters, digits, `_` and `-`':
    everyTool('f'.repeat(65), {}, (name) => assert.match(name, /^f{55}_[0-9a-f]{8}$/)),
  'a tool’s schema with alternatives (`anyOf`, `oneOf`, `allOf`, `$ref`) at its top': everyTool(
    'f',
    { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
    (_, schema) => assert.deepEqual(schema, { type: 'object', properties: { a: {}, b: {} } }),
  ),
  '`item_reference` of an item that the gateway does not have, and other items': [
    { from: 'responses', said: responses({ input: [{ type: 'item_reference', id: 'i' }] }), param: 'input.0.id' },
    { from: 'responses', said: responses({ input: [{ type: 'hologram', id: 'i' }] }), param: 'input.0.type' },
  ],
  '`thread`': refused('messages', { thread: { type: 'create' } }),
  '`container`, `mcp_servers`': refused('messages', { container: 'c' }, { mcp_servers: [{}] }),
  'role `developer`': [
    {
      from: 'chat-completions',
      said: chat({ messages: [{ role: 'developer', content: 's' }, user] }),
      becomes: systemIs('s'),
    },
    {
      from: 'responses',
      said: responses({ input: [{ role: 'developer', content: 's' }, user] }),
      becomes: systemIs('s'),
    },
  ],
  'several system messages at the start': [
    {
      from: 'chat-completions',
      said: chat({ messages: [{ role: 'system', content: 's' }, { role: 'system', content: 't' }, user] }),
      becomes: systemIs('s\n\nt'),
    },
    {
      from: 'responses',
      said: responses({ instructions: 's', input: [{ role: 'system', content: 't' }, user] }),
      becomes: systemIs('s\n\nt'),
    },
    { from: 'messages', said: messages({ system: [text('s'), text('t')] }), becomes: systemIs('s\n\nt') },
  ],
  'a system message in the middle': [
    {
      from: 'chat-completions',
      said: chat({ messages: [user, { role: 'system', content: 's' }] }),
      becomes: systemIs('s'),
    },
    { from: 'responses', said: responses({ input: [user, { role: 'system', content: 's' }] }), becomes: systemIs('s') },
  ],
  'only system messages': [
    {
      from: 'chat-completions',
      said: chat({
        messages: [
          { role: 'system', content: 's' },
          { role: 'system', content: 't' },
        ],
      }),
      becomes: systemAndUser('s', 't'),
    },
    {
      from: 'chat-completions',
      said: chat({ messages: [{ role: 'system', content: 't' }] }),
      becomes: systemAndUser(undefined, 't'),
    },
    {
      from: 'responses',
      said: responses({ instructions: 's', input: [{ role: 'developer', content: 't' }] }),
      becomes: systemAndUser('s', 't'),
    },
    {
      from: 'responses',
      said: responses({ instructions: 't', input: [] }),
      becomes: systemAndUser(undefined, 't'),
    },
  ],
  '`name` of a message': [
    { from: 'chat-completions', said: chat({ messages: [{ ...user, name: 'n' }] }), unsaid: chat({}) },
  ],
  '`cache_control`': [
    {
      from: 'chat-completions',
      said: plainRequest['chat-completions']({ ...text('q'), cache_control: { type: 'ephemeral' } }),
      unsaid: plainRequest['chat-completions'](text('q')),
    },
    {
      from: 'messages',
      said: plainRequest.messages({ ...text('q'), cache_control: { type: 'ephemeral' } }),
      unsaid: plainRequest.messages(text('q')),
    },
  ],
  '`detail` of an image': [
    {
      from: 'chat-completions',
      said: plainRequest['chat-completions']({
        type: 'image_url',
        image_url: { url: 'https://x.test/a.png', detail: 'low' },
      }),
      unsaid: plainRequest['chat-completions']({ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }),
    },
    {
      from: 'responses',
      said: plainRequest.responses(picture({ detail: 'low' })),
      unsaid: plainRequest.responses(picture({})),
    },
  ],
  'JSON mode without a schema': [
    ...dropped('chat-completions', { response_format: { type: 'json_object' } }),
    ...dropped('responses', { text: { format: { type: 'json_object' } } }),
  ],
  'name, description and `strict` of a response schema': [
    { name: 'other' },
    { description: 'd' },
    { strict: true },
  ].flatMap((more): Shown[] => [
    { from: 'chat-completions', said: chatSchema(more), unsaid: chatSchema({}) },
    { from: 'responses', said: responsesSchema(more), unsaid: responsesSchema({}) },
  ]),
  'parts of a response schema that Messages does not support (limits such as `minimum` and `pattern`, `oneOf`, open objects)':
    [
      { from: 'chat-completions', said: chatSchema(bounded), becomes: fitted },
      { from: 'responses', said: responsesSchema(bounded), becomes: fitted },
    ],
  '`metadata`': [
    ...dropped('chat-completions', { metadata: { a: 'b' } }),
    ...dropped('responses', { metadata: { a: 'b' } }),
  ],
};
