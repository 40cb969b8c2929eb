import assert from 'node:assert/strict';
import { parseDecimal } from '../../src/cli/input/option-values.ts';

describe('parseDecimal', () => {
  it('parseDecimal: accepts plain decimal numbers and nothing else', () => {
    const read = { '0': 0, '20': 20, '0.5': 0.5, '007': 7 };
    for (const [text, value] of Object.entries(read)) assert.equal(parseDecimal(text), value, text);
    const refused = ['', ' ', '0x10', '1e3', '-1', '+1', '.5', '5.', '1,5', 'NaN', 'Infinity', '1 2', '9'.repeat(400)];
    for (const text of refused) assert.equal(parseDecimal(text), undefined, text);
  });
});
