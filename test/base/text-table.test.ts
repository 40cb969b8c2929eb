import assert from 'node:assert/strict';
import { textTable } from '../../src/base/text-table.ts';

describe('textTable', () => {
  it('textTable: texts begin below their title, numbers end below it', () => {
    const rows = [
      ['a', '7', 'first'],
      ['longer', '12345', 'x'],
    ];
    assert.equal(
      textTable(['NAME', 'SUM', 'NOTE'], rows, [1]),
      ['NAME      SUM  NOTE', 'a           7  first', 'longer  12345  x', ''].join('\n'),
    );
  });

  it('textTable: has no spaces at the ends of its lines, and only the head without rows', () => {
    assert.equal(textTable(['A', 'B'], [['long', '']]), 'A     B\nlong\n');
    assert.equal(textTable(['A', 'B'], [], [1]), 'A  B\n');
  });
});
