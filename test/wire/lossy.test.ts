import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { lossTable } from './losses.ts';

describe('losses between formats', () => {
  it('losses: docs/formats.md matches the code', () => {
    const page = readFileSync(new URL('../../docs/formats.md', import.meta.url), 'utf8');
    assert.ok(
      page.includes(lossTable()),
      'docs/formats.md is stale: paste the output of lossTable() (test/wire/losses.ts)',
    );
  });

  it('messagesSchema: reduces a schema to the supported subset and does not change a supported one', () => {
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
  const tool = { type: 'function', function: { name: 'f' } };

  const carried: readonly (readonly [
    string,
    FormatName,
    Record<string, unknown>,
    FormatName,
    Record<string, unknown>,
  ])[] = [
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
  ];
  for (const [what, from, body, to, expected] of carried) {
    it(`losses: ${what} is kept from ${from} to ${to}`, () => {
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
    it(`invalid ${format} request: the error contains the field ${param}`, () => {
      assert.throws(
        () => FORMATS[format].readRequest({ model: 'm', ...body }),
        (error) => error instanceof SvcError && error.errorType === 'invalid_request' && error.param === param,
      );
    });
  }
});
