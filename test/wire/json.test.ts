import assert from 'node:assert/strict';
import fc from 'fast-check';
import { quoted } from '../../src/wire/json.ts';

describe('a text as JSON', () => {
  it('is what JSON.stringify makes of it', () => {
    const special = fc.constantFrom('"', '\\', '\u0000', '\u001f', '\u007f', '\u2028', '\ud800', '\udfff', '😀', 'a');
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(special).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => assert.equal(quoted(text), JSON.stringify(text))),
      { numRuns: 2_000 },
    );
  });
});
