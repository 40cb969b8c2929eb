import assert from 'node:assert/strict';
import { longestPaths, pathsInText, readPathLink } from '../../src/chat/page/path-link.ts';

describe('paths in answers', () => {
  const NAMES = [
    'app/[id]/page.tsx',
    'app/(shop)/cart/page.tsx',
    '(shop)/page.tsx',
    '[id]/page.tsx',
    'a b/c d.ts',
    'c#/Program.cs',
    'R&D/plan.md',
    "it's/x.ts",
    '{a,b}/x.ts',
    '!top/x.ts',
    '100%/a.md',
    '$lib/k=v.ts',
    'src/app.ts',
  ];
  for (const path of NAMES) {
    it(`path link: ${path} is found in running text, in parentheses and at the end of a sentence`, () => {
      for (const [before, after] of [
        ['', ''],
        ['See ', ' there'],
        ['see it (', ')'],
        ['It is in ', ':2.'],
        ['“', '”'],
        ["'", "'"],
        ['a.ts, ', ', b.ts'],
      ]) {
        const found = pathsInText(`${before}${path}${after}`).map(({ text }) => text);
        const wanted = after === ':2.' ? `${path}:2` : path;
        assert.ok(found.includes(wanted), `${before}${path}${after}: ${found.join(' | ')}`);
      }
      assert.deepEqual(readPathLink(`${path}:2`), { path, line: 2 });
    });
  }

  it('path link: candidates are positions of the text, and the longest of those that exist is a link', () => {
    const text = 'Open my folder/a b.ts or R&D/plan.md, a.ts,b.ts.';
    const found = pathsInText(text);
    for (const { text: path, index } of found) assert.equal(text.slice(index, index + path.length), path);
    const exists = new Set(['my folder/a b.ts', 'b.ts', 'R&D/plan.md', 'D/plan.md', 'a.ts']);
    assert.deepEqual(
      longestPaths(found.filter((one) => exists.has(one.text))).map((one) => one.text),
      ['my folder/a b.ts', 'R&D/plan.md', 'a.ts', 'b.ts'],
    );
  });

  it('path link: sentences and code are no paths', () => {
    for (const text of ['and/or', 'Version 1.2', 'a = b, c', 'https://x', "it's", '100%', 'x => y'])
      assert.deepEqual(pathsInText(text), [], text);
  });
});
