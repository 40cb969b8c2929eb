import assert from 'node:assert/strict';
import { lineSearch } from '../../src/chat/tools/search/search-lines.ts';
import { searchReport } from '../../src/chat/tools/search/search-report.ts';

describe('searchLines', () => {
  const LINES = ['const a = 1;', 'Const (b) = 2;', '', 'let c = a + b;'];

  it('searchLines: finds a literal text and ignores case', () => {
    assert.deepEqual(lineSearch('const', false)(LINES), [
      { line: 0, at: 0 },
      { line: 1, at: 0 },
    ]);
    assert.deepEqual(lineSearch('(b)', false)(LINES), [{ line: 1, at: 6 }]);
    assert.deepEqual(lineSearch('.*', false)(LINES), []);
  });

  it('searchLines: finds the matches of a pattern in several files', () => {
    const search = lineSearch('^(let|const)\\b.*;$', true);
    assert.deepEqual(
      search(LINES).map(({ line }) => line),
      [0, 1, 3],
    );
    assert.deepEqual(search(['nothing', 'let x;']), [{ line: 1, at: 0 }]);
    assert.throws(() => lineSearch('(', true), /Invalid regular expression/);
  });

  it('searchLines: stops a pattern with catastrophic backtracking', () => {
    assert.throws(() => lineSearch('(a+)+$', true)([`${'a'.repeat(60)}b`]), /takes too long/);
  });

  it('searchReport: a long line is cut around its match', () => {
    const report = (text: string, at?: number) =>
      searchReport({
        files: [{ path: 'a', lines: [{ number: 1, text, matches: true, ...(at === undefined ? {} : { at }) }] }],
        ...{ matches: 1, fileCount: 1, incomplete: false },
      }).split('a:1: ')[1] ?? '';
    const long = `${'x'.repeat(5000)}needle${'y'.repeat(5000)}`;
    assert.equal(report(long, 5000), `…${'x'.repeat(100)}needle${'y'.repeat(194)}…`);
    assert.equal(report(`needle${long}`, 0), `needle${'x'.repeat(294)}…`);
    assert.equal(report(`${'x'.repeat(5000)}needle`, 5000), `…${'x'.repeat(294)}needle`);
    assert.equal(report(long), `${'x'.repeat(300)}…`);
    assert.ok(report('😀'.repeat(2000), 2001).isWellFormed());
  });
});
