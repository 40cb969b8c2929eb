import assert from 'node:assert/strict';
import { mock } from 'node:test';
import * as fc from 'fast-check';
import { textChange } from '../../src/chat/tools/file-change.ts';
import { applyHunks, lineDiff } from '../../src/chat/tools/line-diff.ts';

describe('lineDiff', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '', 'd'), { maxLength: 12 }).map((lines) => lines.join('\n'));
  const all = (hunks: readonly unknown[]) => new Set(hunks.keys());

  it('lineDiff: applying all changes gives the new text, applying none the old one', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const hunks = lineDiff(before, after);
        assert.equal(applyHunks(before, hunks, all(hunks)), after);
        assert.equal(applyHunks(before, hunks, new Set()), before);
      }),
    );
  });

  it('lineDiff: changes as few lines as possible', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const changed = lineDiff(before, after).reduce((sum, hunk) => sum + hunk.before.length + hunk.after.length, 0);
        const [a, b] = [before.split('\n'), after.split('\n')];
        assert.equal(changed, a.length + b.length - 2 * common(a, b));
      }),
    );
  });

  it('lineDiff and file changes: are the same on a machine that is so busy that seconds pass meanwhile', () => {
    const before = Array.from({ length: 50 }, (_, line) => `line ${line}`).join('\n');
    const after = before.replaceAll('7', 'seven');
    const both = () => [lineDiff(before, after), textChange('a.txt', before, after)];
    const usual = both();
    let now = Date.now();
    const clock = mock.method(Date, 'now', () => (now += 1_000));
    try {
      assert.deepEqual(both(), usual);
    } finally {
      clock.mock.restore();
    }
  });

  it('lineDiff: each change can be applied alone', () => {
    const before = 'one\ntwo\nthree\nfour\nfive';
    const hunks = lineDiff(before, 'one\nTWO\nthree\nfour\nfour and a half\nfive');
    assert.deepEqual(hunks, [
      { from: 1, before: ['two'], after: ['TWO'] },
      { from: 4, before: [], after: ['four and a half'] },
    ]);
    assert.equal(applyHunks(before, hunks, new Set([1])), 'one\ntwo\nthree\nfour\nfour and a half\nfive');
  });

  it('lineDiff: finds small changes that are far apart in a large file', () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
    const after = lines.with(10, 'first').with(19_990, 'last');
    assert.deepEqual(
      lineDiff(lines.join('\n'), after.join('\n')).map(({ from }) => from),
      [10, 19_990],
    );
  });

  it('lineDiff: texts without a common line are one change', () => {
    const before = Array.from({ length: 5000 }, (_, index) => `old ${index}`).join('\n');
    const after = Array.from({ length: 5000 }, (_, index) => `new ${index}`).join('\n');
    const hunks = lineDiff(before, after);
    assert.equal(hunks.length, 1);
    assert.equal(applyHunks(before, hunks, all(hunks)), after);
  });
});

/** Lines of the longest common subsequence. */
function common(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0);
  for (const line of a) {
    const next = [0];
    for (const [at, other] of b.entries())
      next.push(line === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}
