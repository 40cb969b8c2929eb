import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { GatewayError } from '../../src/wire/errors.ts';
import type { FormatName } from '../../src/wire/format.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { lossTable } from '../../src/wire/lossy.ts';

describe('what formats can’t say to each other', () => {
  it('stands in docs/formats.md as the code has it', () => {
    const page = readFileSync(new URL('../../docs/formats.md', import.meta.url), 'utf8');
    assert.ok(
      page.includes(lossTable()),
      'docs/formats.md is stale: paste the output of lossTable() (src/wire/lossy.ts)',
    );
  });

  it('fits a response schema to what Messages takes, and leaves one that fits as it is', () => {
    const asked = {
      type: 'object',
      description: 'A person.',
      properties: {
        age: { type: 'integer', minimum: 0, maximum: 150 },
        mail: { type: 'string', format: 'email' },
        code: { type: 'string', format: 'iban', pattern: '^[A-Z]+$', maxLength: 9 },
        tags: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 3 },
        either: { oneOf: [{ type: 'string' }, { $ref: '#/$defs/inner' }] },
      },
      required: ['age'],
      additionalProperties: { type: 'string' },
      patternProperties: { '^x': {} },
      $defs: { inner: { type: 'object', properties: { a: { const: 1 } }, minProperties: 1 } },
    };
    const fitted = {
      type: 'object',
      description: 'A person.',
      properties: {
        age: { type: 'integer', description: 'minimum: 0; maximum: 150.' },
        mail: { type: 'string', format: 'email' },
        code: { type: 'string', description: 'maxLength: 9; pattern: ^[A-Z]+$; format: iban.' },
        tags: {
          type: 'array',
          items: { type: 'string', description: 'minLength: 1.' },
          minItems: 1,
          description: 'maxItems: 3.',
        },
        either: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/inner' }] },
      },
      required: ['age'],
      $defs: {
        inner: {
          type: 'object',
          properties: { a: { const: 1 } },
          additionalProperties: false,
          description: 'minProperties: 1.',
        },
      },
      additionalProperties: false,
    };
    const body = (schema: unknown) => ({
      model: 'm',
      messages: [{ role: 'user', content: 'q' }],
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    });
    const written = (schema: unknown) => {
      const output = FORMATS.messages.writeRequest(FORMATS['chat-completions'].readRequest(body(schema))).output_config;
      return JSON.parse(JSON.stringify(output)).format.schema;
    };
    assert.deepEqual(written(asked), fitted);
    assert.deepEqual(written(fitted), fitted);
  });

  const user = { role: 'user', content: 'q' };
  const audio = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };
  const fileByUrl = { type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } };
  const zip = { type: 'file', file: { file_data: 'data:application/zip;base64,AA==' } };
  const refused: readonly (readonly [string, FormatName, Record<string, unknown>, FormatName, string])[] = [
    ['n', 'chat-completions', { messages: [user], n: 2 }, 'messages', 'n'],
    ['functions', 'chat-completions', { messages: [user], functions: [] }, 'messages', 'functions'],
    ['audio output', 'chat-completions', { messages: [user], modalities: ['audio'] }, 'messages', 'modalities'],
    ['store', 'responses', { input: 'q', store: true }, 'messages', 'store'],
    [
      'previous_response_id',
      'responses',
      { input: 'q', previous_response_id: 'r' },
      'messages',
      'previous_response_id',
    ],
    ['conversation', 'responses', { input: 'q', conversation: 'c' }, 'messages', 'conversation'],
    ['web search', 'responses', { input: 'q', tools: [{ type: 'web_search' }] }, 'messages', 'tools.0.type'],
    ['item_reference', 'responses', { input: [{ type: 'item_reference', id: 'i' }] }, 'messages', 'input.0.type'],
    [
      'server tools',
      'messages',
      { messages: [user], tools: [{ type: 'bash_20250124', name: 'bash' }] },
      'responses',
      'tools.0.type',
    ],
    ['mcp_servers', 'messages', { messages: [user], mcp_servers: [{}] }, 'responses', 'mcp_servers'],
    ['recordings', 'chat-completions', { messages: [{ role: 'user', content: [audio] }] }, 'messages', 'messages'],
    [
      'a file by URL',
      'messages',
      { messages: [{ role: 'user', content: [fileByUrl] }] },
      'chat-completions',
      'messages',
    ],
    ['a zip', 'chat-completions', { messages: [{ role: 'user', content: [zip] }] }, 'messages', 'messages'],
  ];
  for (const [what, from, body, to, param] of refused) {
    it(`refuses ${what} from ${from} and names the field`, () => {
      assert.throws(
        () => FORMATS[to].writeRequest(FORMATS[from].readRequest({ model: 'm', ...body })),
        (error) =>
          error instanceof GatewayError &&
          error.errorType === 'unsupported_field' &&
          error.status === 400 &&
          error.param === param,
      );
    });
  }

  const system = { role: 'system', content: 's' };
  const tool = { type: 'function', function: { name: 'f' } };
  const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] };
  const image = { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } };
  const result = {
    type: 'tool_result',
    tool_use_id: 'c',
    is_error: true,
    content: [{ type: 'text', text: 'r' }, image],
  };
  const changed: readonly (readonly [
    string,
    FormatName,
    Record<string, unknown>,
    FormatName,
    Record<string, unknown>,
  ])[] = [
    [
      'a temperature above 1',
      'chat-completions',
      { messages: [user], temperature: 1.7 },
      'messages',
      { temperature: 1 },
    ],
    [
      'two ways of sampling',
      'chat-completions',
      { messages: [user], temperature: 0.5, top_p: 0.5 },
      'messages',
      { temperature: 0.5, top_p: undefined },
    ],
    [
      'blank stop sequences',
      'chat-completions',
      { messages: [user], stop: ['\n', 'END'] },
      'messages',
      { stop_sequences: ['END'] },
    ],
    ['stop sequences', 'chat-completions', { messages: [user], stop: 'END' }, 'responses', { stop: undefined }],
    [
      'a developer’s message',
      'chat-completions',
      { messages: [{ role: 'developer', content: 's' }, user] },
      'messages',
      { system: 's' },
    ],
    [
      'two system messages',
      'chat-completions',
      { messages: [system, system, user] },
      'responses',
      { instructions: 's\n\ns' },
    ],
    ['a system message in the middle', 'chat-completions', { messages: [user, system] }, 'messages', { system: 's' }],
    [
      'one call at a time',
      'chat-completions',
      { messages: [user], tools: [tool], parallel_tool_calls: false },
      'messages',
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    [
      'a forced call',
      'messages',
      { messages: [user], tools: [{ name: 'f' }], tool_choice: { type: 'any' } },
      'chat-completions',
      { tool_choice: 'required' },
    ],
    [
      'a tool without parameters',
      'chat-completions',
      { messages: [user], tools: [tool] },
      'messages',
      { tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }] },
    ],
    [
      'a thinking budget',
      'messages',
      { messages: [user], max_tokens: 10_000, thinking: { type: 'enabled', budget_tokens: 5000 } },
      'responses',
      { reasoning: { effort: 'high' } },
    ],
    [
      'an image in a tool result',
      'messages',
      { messages: [user, call, { role: 'user', content: [result] }] },
      'chat-completions',
      {
        messages: [
          user,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: 'r[image in the next message]' },
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] },
        ],
      },
    ],
  ];
  for (const [what, from, body, to, expected] of changed) {
    it(`carries ${what} from ${from} to ${to} as the table says`, () => {
      const written = FORMATS[to].writeRequest(FORMATS[from].readRequest({ model: 'm', ...body }));
      for (const [field, value] of Object.entries(expected)) assert.deepEqual(written[field], value);
    });
  }

  const invalid: readonly (readonly [FormatName, Record<string, unknown>, string])[] = [
    ['chat-completions', { messages: [user], model: '' }, 'model'],
    ['chat-completions', { messages: 'hi' }, 'messages'],
    ['chat-completions', { messages: [] }, 'messages'],
    ['chat-completions', { messages: [{ role: 'robot', content: 'x' }] }, 'messages.0.role'],
    ['chat-completions', { messages: [user], temperature: 2.5 }, 'temperature'],
    ['chat-completions', { messages: [user], top_p: -1 }, 'top_p'],
    ['chat-completions', { messages: [user], presence_penalty: 3 }, 'presence_penalty'],
    ['chat-completions', { messages: [user], max_tokens: 0 }, 'max_tokens'],
    ['chat-completions', { messages: [user], stream: 'yes' }, 'stream'],
    ['chat-completions', { messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.tool_call_id'],
    ['responses', { input: 5 }, 'input'],
    ['responses', { input: 'q', tool_choice: 'sometimes' }, 'tool_choice'],
    ['messages', { messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
    ['messages', { messages: [user], tool_choice: { type: 'tool' } }, 'tool_choice'],
  ];
  for (const [format, body, param] of invalid) {
    it(`says which field of a ${format} request is wrong: ${param}`, () => {
      assert.throws(
        () => FORMATS[format].readRequest({ model: 'm', ...body }),
        (error) => error instanceof GatewayError && error.errorType === 'invalid_request' && error.param === param,
      );
    });
  }
});
