import assert from 'node:assert/strict';
import * as z from 'zod';
import { coerceArguments } from '../../src/chat/tools/coerce-arguments.ts';
import { defineReadingTool } from '../../src/chat/tools/define-tool.ts';
import { argumentsProblem, findTool, readArguments } from '../../src/chat/tools/tools.ts';
import { toolNamed } from './test-session.ts';

const object = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required });
const SCHEMA = {
  ...object(
    {
      path: { type: 'string' },
      from: { type: 'number' },
      count: { type: 'integer' },
      all: { type: 'boolean' },
      edits: { type: 'array', items: object({ old: { type: 'string' }, all: { type: 'boolean' } }) },
      options: object({ depth: { type: 'integer' } }),
      either: { type: ['string', 'null'] },
      mixed: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      maybe: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      kinds: {
        anyOf: [object({ kind: { const: 'a' }, value: { type: 'number' } }), object({ value: { type: 'string' } })],
      },
      tree: { $ref: '#/$defs/tree' },
      level: { enum: [1, 2] },
      any: {},
    },
    ['path'],
  ),
  $defs: { tree: object({ size: { type: 'number' }, child: { $ref: '#/$defs/tree' } }) },
};

const CASES: readonly [given: object, expected: object][] = [
  [
    { from: '3', count: ' 4 ', all: 'true' },
    { from: 3, count: 4, all: true },
  ],
  [
    { from: '-1.5', all: 'False' },
    { from: -1.5, all: false },
  ],
  [
    { from: '3px', count: '1.5', all: 'yes' },
    { from: '3px', count: '1.5', all: 'yes' },
  ],
  [
    { from: '99999999999999999999', count: '99999999999999999999' },
    { from: 1e20, count: '99999999999999999999' },
  ],
  [{ edits: '[{"old":1,"all":"true"}]' }, { edits: [{ old: '1', all: true }] }],
  [{ edits: { old: 'a' } }, { edits: [{ old: 'a' }] }],
  [{ edits: 'a, b' }, { edits: 'a, b' }],
  [{ options: '{"depth":"2"}' }, { options: { depth: 2 } }],
  [{ path: 5 }, { path: '5' }],
  [
    { path: '[1]', any: '3', mixed: '3', either: null },
    { path: '[1]', any: '3', mixed: '3', either: null },
  ],
  [{ path: null, from: null, all: '', edits: 'null', options: null }, { path: null }],
  [{ maybe: null }, { maybe: null }],
  [
    { maybe: '2', level: '2' },
    { maybe: 2, level: 2 },
  ],
  [{ kinds: { kind: 'b', value: '3' } }, { kinds: { kind: 'b', value: '3' } }],
  [{ tree: { child: { child: '{"size":"1"}' } } }, { tree: { child: { child: { size: 1 } } } }],
  [{ unknown: '3' }, { unknown: '3' }],
];

describe('arguments of tools', () => {
  for (const [given, expected] of CASES) {
    it(`arguments: ${JSON.stringify(given)} become ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(coerceArguments(SCHEMA, given as never), expected);
    });
  }

  it('arguments: a schema without types, with errors or without an end changes nothing', () => {
    const endless = object({ a: { $ref: '#/properties/a' }, b: { $ref: 'https://x' }, c: { $ref: '#/none' } });
    const input = JSON.parse('{"a":"1","b":"2","c":"3","__proto__":{"x":"1"}}');
    assert.deepEqual(coerceArguments(endless, input), input);
    assert.equal(JSON.stringify(coerceArguments(endless, input)), JSON.stringify(input));
    for (const schema of [{}, { properties: [] }, { type: 'object', properties: { a: 5 }, required: 'a' }])
      assert.deepEqual(coerceArguments(schema as never, { a: '1' }), { a: '1' });
  });

  const NAMES: readonly [written: string, name: string | undefined][] = [
    ['read_file', 'read_file'],
    ['functions.read_file', 'read_file'],
    ['functions.read_file:0', 'read_file'],
    ['read_file<|channel|>json', 'read_file'],
    ['default_api:Read_File', 'read_file'],
    ['readFile', 'read_file'],
    ['mcp_a_find', 'mcp_a_find'],
    ['MCP_A_FIND', undefined],
    ['read', undefined],
    ['', undefined],
  ];
  for (const [written, name] of NAMES) {
    it(`tool name: ${JSON.stringify(written)} is ${name ?? 'unknown'}`, () => {
      const tools = ['read_file', 'mcp_a_find', 'mcp_aFind'].map((each) => toolNamed(each));
      assert.equal(findTool(tools, written)?.name, name);
    });
  }

  const BROKEN: readonly [text: string, problem: RegExp][] = [
    ['{}{"path":"a"}', /more text after the object.*Received: \{\}\{"path":"a"\}$/],
    ['```json\n{}\n```', /in a code block/],
    ['[1]', /they are a list/],
    ['"x"', /they are a string/],
    ['{"a":"b', /end too early/],
    ["{'a':1}", /double quotes/],
    ['{"a":"b\nc"}', /line break or tab/],
    ['call it', /Unexpected token 'c'\. Send/],
  ];
  for (const [text, problem] of BROKEN) {
    it(`arguments: ${JSON.stringify(text)} are refused with what is wrong`, () => {
      assert.equal(readArguments(text), undefined);
      assert.match(argumentsProblem(text), problem);
    });
  }

  it('arguments: nothing and null are no arguments', () => {
    for (const text of ['', ' ', 'null']) assert.deepEqual(readArguments(text), {});
  });

  it('arguments: the message about wrong ones names the parameters and what came', async () => {
    const input = z.object({ path: z.string(), from: z.number().optional() });
    const tool = defineReadingTool({ name: 'read', description: '', input }, async () => ({ output: '' }));
    await assert.rejects(
      async () => tool.prepare({ file_path: 'a' }),
      (error: Error) => {
        assert.match(error.message, /^The arguments are not valid\. .*expected string, received undefined/);
        assert.match(
          error.message,
          /The parameters are: path \(string\), from \(number, optional\)\. Received: \{"file_path":"a"\}$/,
        );
        return true;
      },
    );
  });
});
