import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../../src/base/json.ts';
import type { Conversation, Tool } from '../../src/wire/conversation.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { CustomToolInput } from '../../src/wire/tools/custom-tool-input.ts';
import { bridgeTools } from '../../src/wire/tools/tool-bridge.ts';
import { bridgeToolSchema } from '../../src/wire/tools/tool-schema.ts';
import { assertLinear } from '../linear-time.ts';
import { REQUEST, wholeEvents } from './format-pairs.ts';

const EMPTY = { type: 'object', properties: {} };
const VALID = /^[a-zA-Z0-9_-]{1,64}$/;

const withTools = (...tools: Partial<Tool>[]): Conversation => ({
  ...REQUEST,
  tools: tools.map((tool) => ({ name: 'f', parameters: EMPTY, ...tool })),
});

function read(pieces: readonly string[]): string {
  const input = new CustomToolInput();
  return pieces.map((piece) => input.push(piece)).join('') + input.end();
}

describe('names of bridged tools', () => {
  it('tool names: valid functions are the same object', () => {
    const conversation = withTools({ name: 'a' }, { name: 'mcp__b' });
    const bridge = bridgeTools(conversation, FORMATS.messages, false);
    assert.equal(bridge.conversation, conversation);
    assert.equal(bridge.format, FORMATS.messages);
  });

  it('tool names: names that the vendors refuse are shortened, differ, and come back', () => {
    const long = `mcp__${'server'.repeat(12)}__`;
    const names = [`${long}read`, `${long}write`, 'files.read', 'files_read', 'größe'];
    const conversation = withTools(...names.map((name) => ({ name })));
    for (const format of Object.values(FORMATS)) {
      const bridge = bridgeTools(conversation, format, false);
      const sent = bridge.conversation.tools.map(({ name }) => name);
      assert.equal(new Set(sent).size, names.length);
      for (const name of sent) assert.match(name, VALID);
      const tools = sent.map((name, index) => ({ id: `c${index}`, name, arguments: ['{}'] }));
      const events = wholeEvents(bridge.format, { tools });
      const called = foldEvents(events).parts.map((part) => (part.type === 'tool-call' ? part.name : part));
      assert.deepEqual(called, names);
      // The same names are sent with every request, so that prompts remain cacheable.
      const again = bridgeTools({ ...conversation, turns: [] }, format, false).conversation.tools;
      assert.deepEqual(
        again.map(({ name }) => name),
        sent,
      );
    }
  });

  it('tool names: tools of namespaces never get the name of a function', () => {
    const conversation = withTools(
      { name: 'b__c', namespace: { name: 'a' } },
      { name: 'c', namespace: { name: 'a__b' } },
      { name: 'a__b__c' },
    );
    const names = bridgeTools(conversation, FORMATS.messages, false).conversation.tools.map(({ name }) => name);
    assert.equal(new Set(names).size, 3);
    assert.equal(names[2], 'a__b__c');
  });
});

describe('time to bridge tools', () => {
  it('tool names: thousands of tools, calls and equal names take linear time', async () => {
    const make = (size: number): Conversation => {
      const at = Array.from({ length: size }, (_, index) => index);
      const tools = at.map((index) => ({
        name: `a${index % 10}.b`,
        namespace: { name: `n${index}` },
        parameters: EMPTY,
      }));
      const parts = at.map((index) => ({
        type: 'tool-call' as const,
        id: `c${index}`,
        name: `x${index}`,
        arguments: '',
      }));
      return { ...REQUEST, tools, turns: [{ role: 'assistant', parts }] };
    };
    await assertLinear(5000, make, (conversation) => bridgeTools(conversation, FORMATS.messages, false));
  });
});

describe('input of custom tools in the arguments of a function', () => {
  it('custom tool input: any text in any pieces is read as it arrives', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (text, size) => {
        const json = JSON.stringify({ input: text });
        const pieces = json.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
        assert.equal(read(pieces), text);
      }),
    );
  });

  it('custom tool input: a surrogate pair is never split', () => {
    for (const json of ['{"input":"a👋b"}', '{"input":"a\\ud83d\\udc4bb"}']) {
      const input = new CustomToolInput();
      const pieces = [...json.split('')].map((piece) => input.push(piece));
      assert.ok(pieces.every((piece) => piece.isWellFormed()));
      assert.equal(pieces.join(''), 'a👋b');
    }
  });

  const forms: readonly (readonly [what: string, json: string, text: string])[] = [
    ['line breaks that are not escaped', '{"input":"a\n\tb"}', 'a\n\tb'],
    ['white space', ' {\n "input" : "a" } ', 'a'],
    ['another name', '{"patch":"a"}', 'a'],
    ['a second member', '{"note":"n","input":"a"}', 'a'],
    ['a JSON text', '"a"', 'a'],
    ['no JSON', '*** Begin Patch', '*** Begin Patch'],
    ['several other members', '{"a":"1","b":"2"}', '{"a":"1","b":"2"}'],
    ['an invalid escape sequence', '{"input":"\\d"}', '\\d'],
    ['nothing', '', ''],
    ['no arguments', '{}', ''],
    ['a text that is cut off', '{"input":"abc', 'abc'],
  ];
  for (const [what, json, text] of forms) {
    it(`custom tool input: ${what}`, () => {
      assert.equal(read([json]), text);
      assert.equal(read(json.split('')), text);
    });
  }

  for (const [what, make] of [
    ['a text', (size: number) => `{"input":"${'\\n'.repeat(size)}"}`],
    ['no text', (size: number) => `{${' '.repeat(size)}`],
  ] as const) {
    it(`custom tool input: ${what} in single characters takes linear time`, async () => {
      await assertLinear(100_000, (size) => make(size).split(''), read);
    });
  }
});

describe('schemas of tools with alternatives at the top', () => {
  const text = { type: 'string' };
  const cases: readonly (readonly [what: string, schema: JsonObject, bridged: JsonObject])[] = [
    [
      'anyOf: all properties, required in each',
      {
        description: 'd',
        anyOf: [
          { properties: { a: text, b: text }, required: ['a', 'b'] },
          { properties: { a: text, c: text }, required: ['a', 'c'] },
        ],
      },
      { description: 'd', type: 'object', properties: { a: text, b: text, c: text }, required: ['a'] },
    ],
    [
      'oneOf with a constant for each',
      { oneOf: [{ properties: { kind: { const: 'x' } } }, { properties: { kind: { const: 'y' } } }] },
      { type: 'object', properties: { kind: { type: 'string', enum: ['x', 'y'] } } },
    ],
    [
      'a property with different schemas',
      { oneOf: [{ properties: { a: text } }, { properties: { a: { type: 'number' } } }] },
      { type: 'object', properties: { a: { anyOf: [text, { type: 'number' }] } } },
    ],
    [
      'allOf: all properties and all required',
      { type: 'object', properties: { a: text }, allOf: [{ properties: { b: text }, required: ['b'] }] },
      { type: 'object', properties: { a: text, b: text }, required: ['b'] },
    ],
    [
      'references to definitions',
      { $ref: '#/$defs/A', $defs: { A: { properties: { a: text }, required: ['a'] } } },
      {
        type: 'object',
        $defs: { A: { properties: { a: text }, required: ['a'] } },
        properties: { a: text },
        required: ['a'],
      },
    ],
    ['no type', { properties: { a: text } }, { type: 'object', properties: { a: text } }],
  ];
  for (const [what, schema, bridged] of cases) {
    it(`tool schema: ${what}`, () => assert.deepEqual(bridgeToolSchema(schema), bridged));
  }

  it('tool schema: an object without alternatives is the same object', () => {
    const schema = { type: 'object', properties: { a: { anyOf: [text] } }, additionalProperties: false };
    assert.equal(bridgeToolSchema(schema), schema);
  });

  it('tool schema: a strict tool with alternatives is sent without strict', () => {
    const [tool] = bridgeTools(withTools({ strict: true, parameters: { anyOf: [] } }), FORMATS.responses, true)
      .conversation.tools;
    assert.deepEqual(tool, { name: 'f', parameters: { type: 'object', properties: {} } });
  });

  it('tool schema: references in a circle end', () => {
    const again = { anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/A' }], properties: { a: text } };
    const bridged = bridgeToolSchema({ $ref: '#/$defs/A', $defs: { A: again } });
    assert.deepEqual(bridged.properties, { a: text });
  });

  it('tool schema: definitions that refer to each other in a circle give the properties of all', () => {
    const definitions = {
      A: { $ref: '#/$defs/B', allOf: [{ properties: { a: text }, required: ['a'] }] },
      B: { $ref: '#/$defs/A', allOf: [{ properties: { b: text } }] },
    };
    const bridged = bridgeToolSchema({ $ref: '#/$defs/A', $defs: definitions });
    assert.deepEqual(bridged.properties, { b: text, a: text });
    assert.deepEqual(bridged.required, ['a']);
  });

  it('tool schema: a definition with many references gives the result of one reference', () => {
    const definitions = { A: { properties: { a: text, b: { const: 1 } }, required: ['a'] } };
    const merged = (size: number) =>
      bridgeToolSchema({ anyOf: Array(size).fill({ $ref: '#/$defs/A' }), $defs: definitions });
    assert.deepEqual(merged(5000), merged(1));
  });

  it('tool schema: the tools after one with too many alternatives keep their own properties', () => {
    const names = Array.from({ length: 1000 }, (_, at) => `p${at}`);
    const alternative = { allOf: [{ $ref: '#/$defs/A' }] };
    const excessive = {
      properties: { a: text },
      anyOf: Array.from({ length: 1000 }, () => ({ ...alternative })),
      $defs: { A: { properties: Object.fromEntries(names.map((name) => [name, text])) } },
    };
    const ordinary = { properties: { a: text }, required: ['a'], anyOf: [{ properties: { b: text } }] };
    const conversation = withTools({ parameters: excessive }, { name: 'g', parameters: ordinary });
    const [first, second] = bridgeTools(conversation, FORMATS.messages, false).conversation.tools;
    assert.deepEqual(Object.keys(first?.parameters.properties ?? {}), ['a', ...names]);
    assert.deepEqual(second?.parameters, { type: 'object', properties: { a: text }, required: ['a'] });
  });

  it('tool schema: thousands of alternatives take linear time', async () => {
    const alternative = (at: number) => ({ properties: { kind: { const: at }, [`p${at}`]: text }, required: ['kind'] });
    await assertLinear(
      2000,
      (size) => ({ oneOf: Array.from({ length: size }, (_, at) => alternative(at)) }),
      bridgeToolSchema,
    );
  });
});
