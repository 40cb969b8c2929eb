import assert from 'node:assert/strict';
import fc from 'fast-check';
import { quoteJson, requestJson } from '../../src/base/json.ts';

describe('a text as JSON', () => {
  it('quoteJson: gives the result of JSON.stringify', () => {
    const special = fc.constantFrom('"', '\\', '\u0000', '\u001f', '\u007f', '\u2028', '\ud800', '\udfff', '😀', 'a');
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(special).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => assert.equal(quoteJson(text), JSON.stringify(text))),
      { numRuns: 2_000 },
    );
  });
});

describe('the JSON of a request', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '\\', 'u', 'd', 'ud83d', '\\ud83d', '\ud83d', '\udc4b', '👋', '"', '\n', 'é'),
    maxLength: 12,
  });

  it('requestJson: keeps every text except unpaired surrogates', () => {
    fc.assert(
      fc.property(text, text, (one, two) => {
        const json = requestJson({ one, list: [{ two }] });
        assert.deepEqual(JSON.parse(json), { one: one.toWellFormed(), list: [{ two: two.toWellFormed() }] });
      }),
    );
  });
});
