import assert from 'node:assert/strict';
import { lineSearch } from '../../src/chat/tools/search/search-lines.ts';

describe('searchLines', () => {
  const LINES = ['const a = 1;', 'Const (b) = 2;', '', 'let c = a + b;'];

  it('searchLines: finds a literal text and ignores case', () => {
    assert.deepEqual(lineSearch('const', false)(LINES), [0, 1]);
    assert.deepEqual(lineSearch('(b)', false)(LINES), [1]);
    assert.deepEqual(lineSearch('.*', false)(LINES), []);
  });

  it('searchLines: finds the matches of a pattern in several files', () => {
    const search = lineSearch('^(let|const)\\b.*;$', true);
    assert.deepEqual(search(LINES), [0, 1, 3]);
    assert.deepEqual(search(['nothing', 'let x;']), [1]);
    assert.throws(() => lineSearch('(', true), /Invalid regular expression/);
  });

  it('searchLines: stops a pattern with catastrophic backtracking', () => {
    assert.throws(() => lineSearch('(a+)+$', true)([`${'a'.repeat(60)}b`]), /takes too long/);
  });
});
