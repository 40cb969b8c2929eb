import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseTree } from 'jsonc-parser';
import { spliceBody } from '../../src/gateway/http/json-splice.ts';
import { parseBody } from '../../src/gateway/http/request-body.ts';

const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const text = fc.string({
  unit: fc.constantFrom('a', '\\', '"', '{', '}', ':', ',', 'model', '"model":"x"', 'é', '👋', '\u0000', ' '),
  maxLength: 6,
});
/** A JSON string with some unnecessary escapes. */
const quoted = (value: string) =>
  fc
    .boolean()
    .map((escaped) => (escaped ? JSON.stringify(value).replaceAll(/[de]/g, escapeOf) : JSON.stringify(value)));
const escapeOf = (character: string) => `\\u00${character.charCodeAt(0).toString(16)}`;

/**
 * Without a backslash in the text: once Node 24 has parsed `{"":1,"\\":2}`, it takes the second key of `{"":1,"\n":2}` for a
 * backslash too.
 */
const key = fc
  .oneof(
    fc.constantFrom('model', 'Model', 'messages', 'stream', 'stream_options', '__proto__', 'constructor'),
    text.filter((name) => !name.includes('\\')),
  )
  .chain(quoted);
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('null', 'true', '-1.50e+3', '12345678901234567890', '[]', '{}'),
    text.chain(quoted),
    fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(key, tie('json')), { maxLength: 3 })
      .map((members) => `{${members.map((m) => m.join(':')).join(',')}}`),
  ),
}));
/** The text of an object with a model in it, maybe written twice or escaped, and anything else. */
const body = fc
  .tuple(fc.array(fc.tuple(key, json), { maxLength: 5 }), text.chain(quoted), quoted('model'), fc.nat(5), space)
  .map(([members, model, name, at, gap]) => {
    const all = members.map(([own, value]) => `${own}${gap}:${gap}${value}`);
    all.splice(Math.min(at, all.length), 0, `${name}${gap}:${gap}${model}`);
    return `${gap}{${gap}${all.join(`${gap},${gap}`)}${gap}}${gap}`;
  });

describe('spliceBody', () => {
  const own = (spliced: Buffer, name: string) =>
    parseTree(spliced.toString())?.children?.filter(({ children }) => children?.[0]?.value === name) ?? [];

  it('spliceBody: only the model name changes and occurs once, for any body', () => {
    fc.assert(
      fc.property(body, (written) => {
        const received = parseBody(Buffer.from(written));
        const spliced = spliceBody(received, 'vendor "m"');
        assert.deepEqual(JSON.parse(spliced.toString()), { ...received.value, model: 'vendor "m"' });
        assert.equal(own(spliced, 'model').length, 1, 'a parser that takes the first of two reads the same');
      }),
      { numRuns: 5_000 },
    );
  });

  it('spliceBody: adds fields, merged with existing ones', () => {
    const add = { stream_options: { include_usage: true } };
    fc.assert(
      fc.property(body, (written) => {
        const received = parseBody(Buffer.from(written));
        const spliced = spliceBody(received, 'm', add);
        const before = received.value.stream_options;
        const options = typeof before === 'object' && before !== null && !Array.isArray(before) ? before : {};
        const expected = { ...received.value, model: 'm', stream_options: { ...options, include_usage: true } };
        assert.deepEqual(JSON.parse(spliced.toString()), expected);
        assert.equal(own(spliced, 'stream_options').length, 1);
      }),
      { numRuns: 2_000 },
    );
  });
});
