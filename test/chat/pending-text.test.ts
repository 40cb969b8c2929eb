import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { hunkAfter, hunkAt, hunkBefore, type PendingHunk, PendingText } from '../../src/chat/review/pending-text.ts';

const BEFORE = 'one\ntwo\nthree\nfour\nfive\nsix\n';
const AFTER = 'one\nTWO\nthree\nfour\nfive\nfive and a half\nsix\n';

describe('PendingText', () => {
  const first = (pending: PendingText): PendingHunk => {
    const [hunk] = pending.hunks;
    assert.ok(hunk);
    return hunk;
  };

  it('pending changes: each hunk can be accepted or rejected alone', () => {
    const pending = new PendingText(BEFORE, AFTER);
    assert.deepEqual(
      pending.hunks.map(({ start, added, removed }) => ({ start, added, removed })),
      [
        { start: 1, added: ['TWO'], removed: ['two'] },
        { start: 5, added: ['five and a half'], removed: [] },
      ],
    );
    pending.accept(first(pending));
    assert.equal(pending.accepted, BEFORE.replace('two', 'TWO'));
    const rest = pending.withoutHunks(AFTER, [first(pending)]);
    pending.update(rest);
    assert.deepEqual(pending.hunks, []);
    assert.equal(rest, BEFORE.replace('two', 'TWO'));
  });

  it('pending changes: accepting all gives the new text, rejecting all the old one', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 14 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const accepted = new PendingText(before, after);
        while (accepted.hunks.length > 0) accepted.accept(first(accepted));
        assert.equal(accepted.accepted, after);
        const rejected = new PendingText(before, after);
        assert.equal(rejected.withoutHunks(after, rejected.hunks), before);
        let now = after;
        while (rejected.hunks.length > 0) {
          now = rejected.withoutHunks(now, [first(rejected)]);
          rejected.update(now);
        }
        assert.equal(now, before);
      }),
    );
  });

  it('pending changes: line ends do not matter', () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n');
    assert.deepEqual(new PendingText(crlf(BEFORE), AFTER).hunks, new PendingText(BEFORE, crlf(AFTER)).hunks);
  });

  const at = (line: number, character: number) => ({ line, character });
  const edits: readonly [
    name: string,
    start: [number, number],
    end: [number, number],
    text: string,
    pending: number,
  ][] = [
    ['above the changes', [0, 0], [0, 3], 'ONE', 2],
    ['new lines above the changes', [0, 3], [0, 3], '\nnew\nlines', 2],
    ['between the changes', [3, 0], [3, 4], 'FOUR', 2],
    ['a removed line between the changes', [3, 0], [4, 0], '', 2],
    ['below the changes', [6, 3], [6, 3], '!', 2],
    ['inside of a change', [1, 0], [1, 3], 'Two', 2],
    ['a line of a change back to its old text', [1, 0], [1, 3], 'two', 1],
  ];
  for (const [name, from, to, text, hunks] of edits) {
    it(`pending changes: an edit by the user is not pending itself: ${name}`, () => {
      const pending = new PendingText(BEFORE, AFTER);
      pending.follow([{ start: at(...from), end: at(...to), text }]);
      const lines = AFTER.split('\n');
      const joined = lines[from[0]]?.slice(0, from[1]) + text + lines[to[0]]?.slice(to[1]);
      lines.splice(from[0], to[0] - from[0] + 1, ...joined.split('\n'));
      pending.update(lines.join('\n'));
      assert.equal(pending.hunks.length, hunks);
      const changed = pending.hunks.flatMap(({ added }) => added);
      assert.ok(
        changed.every((line) => ['TWO', 'Two', 'five and a half'].includes(line)),
        changed.join(),
      );
    });
  }

  it('pending changes: Undo of a removal ends it', () => {
    const pending = new PendingText('one\ntwo\nthree\n', 'one\nthree\n');
    pending.follow([{ start: at(1, 0), end: at(1, 0), text: 'two\n' }]);
    pending.update('one\ntwo\nthree\n');
    assert.deepEqual(pending.hunks, []);
  });

  it('pending changes: are found by line, forwards and backwards', () => {
    const { hunks } = new PendingText(BEFORE, AFTER);
    assert.equal(hunkAt(hunks, 1), hunks[0]);
    assert.equal(hunkAt(hunks, 2), undefined);
    assert.equal(hunkAfter(hunks, 1), hunks[1]);
    assert.equal(hunkAfter(hunks, 5), undefined);
    assert.equal(hunkBefore(hunks, 5), hunks[0]);
    assert.equal(hunkBefore(hunks, 1), undefined);
  });
});
