import assert from 'node:assert/strict';
import { lineSearch } from '../../src/chat/tools/search-lines.ts';

describe('the search of the tools', () => {
  const LINES = ['const a = 1;', 'Const (b) = 2;', '', 'let c = a + b;'];

  it('finds a text as it stands, whatever its case', () => {
    assert.deepEqual(lineSearch('const', false)(LINES), [0, 1]);
    assert.deepEqual(lineSearch('(b)', false)(LINES), [1]);
    assert.deepEqual(lineSearch('.*', false)(LINES), []);
  });

  it('finds what a pattern describes, in one file after another', () => {
    const search = lineSearch('^(let|const)\\b.*;$', true);
    assert.deepEqual(search(LINES), [0, 1, 3]);
    assert.deepEqual(search(['nothing', 'let x;']), [1]);
    assert.throws(() => lineSearch('(', true), /Invalid regular expression/);
  });

  it('ends a pattern that backtracks for ever', () => {
    assert.throws(() => lineSearch('(a+)+$', true)([`${'a'.repeat(60)}b`]), /takes too long/);
  });
});
