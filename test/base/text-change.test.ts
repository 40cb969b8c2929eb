import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  changeLines,
  comparePositions,
  endOfText,
  lastFirst,
  minimalChange,
  moveLine,
  movePosition,
  offsetIn,
  type Position,
  type TextChange,
  textBetween,
  touches,
} from '../../src/base/text-change.ts';

const START: Position = { line: 0, character: 0 };
const RUNS = { numRuns: 1_000, seed: 36 };

const text = fc
  .array(fc.constantFrom('a', 'bc', ' ', '\n', 'é', '日本', '😀', '😁', '{', '}'), { maxLength: 25 })
  .map((parts) => parts.join(''));
/** A part of a text, as shares of its length. */
const part = fc.record({ from: fc.nat(1_000), length: fc.nat(300), text });

interface Span {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function spanIn(whole: string, { from, length, text: inserted }: { from: number; length: number; text: string }): Span {
  const at = Math.floor((from / 1_000) * whole.length);
  return { from: at, to: Math.min(whole.length, at + Math.floor((length / 1_000) * whole.length)), text: inserted };
}

function changeOf(whole: string, { from, to, text: inserted }: Span): TextChange {
  return { start: endOfText(START, whole.slice(0, from)), end: endOfText(START, whole.slice(0, to)), text: inserted };
}

function apply(whole: string, { from, to, text: inserted }: Span): string {
  return whole.slice(0, from) + inserted + whole.slice(to);
}

/** The index of a mark after a change: the mark is a character of the text. */
function moved(at: number, { from, to, text: inserted }: Span, stays: boolean): number {
  if (at < from || (stays && at === from)) return at;
  return at < to ? from : at + inserted.length - (to - from);
}

describe('changes of text', () => {
  it('a position that follows random changes is where a mark in the text is', () => {
    fc.assert(
      fc.property(
        text,
        fc.nat(1_000),
        fc.boolean(),
        fc.array(part, { maxLength: 12 }),
        (first, share, stays, parts) => {
          let whole = first;
          let mark = Math.floor((share / 1_000) * whole.length);
          let position = endOfText(START, whole.slice(0, mark));
          for (const each of parts) {
            const span = spanIn(whole, each);
            position = movePosition(position, changeOf(whole, span), stays);
            mark = moved(mark, span, stays);
            whole = apply(whole, span);
            assert.deepEqual(position, endOfText(START, whole.slice(0, mark)));
            assert.equal(offsetIn(whole, START, position), mark);
          }
        },
      ),
      RUNS,
    );
  });

  it('lines that follow random changes are the lines of the text, and a line outside of a change keeps its text', () => {
    fc.assert(
      fc.property(text, fc.array(part, { maxLength: 12 }), (first, parts) => {
        let whole = first;
        const lines = whole.split('\n');
        for (const each of parts) {
          const span = spanIn(whole, each);
          const change = changeOf(whole, span);
          const old = [...lines];
          assert.equal(
            textBetween((line) => lines[line] ?? '', change),
            whole.slice(span.from, span.to),
          );
          const changed = changeLines(lines, change);
          whole = apply(whole, span);
          assert.deepEqual(lines, whole.split('\n'));
          assert.deepEqual(changed.before, old.slice(change.start.line, change.end.line + 1));
          assert.deepEqual(changed.after, lines.slice(change.start.line, change.start.line + changed.after.length));
          for (const [line, unchanged] of old.entries()) {
            const now = moveLine(line, changed);
            assert.ok(now >= 0 && now < lines.length);
            if (line < change.start.line || line > change.end.line) assert.equal(lines[now], unchanged);
          }
        }
      }),
      RUNS,
    );
  });

  it('the minimal change between two texts makes one to the other, splits no character, and has no equal end', () => {
    fc.assert(
      fc.property(text, text, fc.array(part, { maxLength: 2 }), (lead, before, parts) => {
        const after = parts.reduce((whole, each) => apply(whole, spanIn(whole, each)), before);
        const { isWellFormed } = String.prototype;
        fc.pre(isWellFormed.call(before) && isWellFormed.call(after));
        const start = endOfText(START, lead);
        const change = minimalChange(before, after, start);
        const from = offsetIn(before, start, change.start);
        const to = offsetIn(before, start, change.end);
        assert.ok(from !== undefined && to !== undefined);
        assert.equal(before.slice(from, to), change.removed);
        assert.equal(apply(before, { from, to, text: change.text }), after);
        assert.ok(change.removed.isWellFormed() && change.text.isWellFormed());
        const [removed, inserted] = [[...change.removed], [...change.text]];
        if (before === after) assert.deepEqual([removed, inserted], [[], []]);
        else if (removed.length > 0 && inserted.length > 0) {
          assert.notEqual(removed[0], inserted[0]);
          assert.notEqual(removed.at(-1), inserted.at(-1));
        }
      }),
      RUNS,
    );
  });

  it('several changes of one event, applied from the last to the first, lead to the text that has all of them', () => {
    fc.assert(
      fc.property(text, part, part, fc.boolean(), (whole, one, two, swapped) => {
        const [a, b] = [spanIn(whole, one), spanIn(whole, two)].sort((x, y) => x.from - y.from) as [Span, Span];
        fc.pre(a.to <= b.from && a.from < b.from);
        const changes = [changeOf(whole, a), changeOf(whole, b)];
        const lines = whole.split('\n');
        for (const each of lastFirst(swapped ? [...changes].reverse() : changes)) changeLines(lines, each);
        assert.equal(lines.join('\n'), apply(apply(whole, b), a));
      }),
      RUNS,
    );
  });

  it('touches: only what changes the inside of a range', () => {
    const whole = 'ab\ncd\nef';
    const at = (index: number) => endOfText(START, whole.slice(0, index));
    const range = { start: at(2), end: at(5) };
    const touching = [];
    for (let from = 0; from <= whole.length; from++)
      for (let to = from; to <= whole.length; to++)
        if (touches(range, { start: at(from), end: at(to) })) touching.push(`${from}-${to}`);
    const expected = [];
    for (let from = 0; from <= whole.length; from++)
      for (let to = from; to <= whole.length; to++) if (to > 2 && from < 5) expected.push(`${from}-${to}`);
    assert.deepEqual(touching, expected);
    assert.equal(comparePositions(range.start, range.end) < 0, true);
  });

  it('offsetIn: nothing for a position outside of the text', () => {
    const start = { line: 2, character: 3 };
    for (const [line, character, expected] of [
      [2, 3, 0],
      [2, 5, 2],
      [3, 1, 4],
      [1, 9, undefined],
      [2, 2, undefined],
      [2, 6, undefined],
      [3, 2, undefined],
      [4, 0, undefined],
    ] as const)
      assert.equal(offsetIn('ab\nc', start, { line, character }), expected);
  });

  it('changeLines: 200,000 inserted lines', () => {
    const lines = ['first', 'last'];
    changeLines(lines, {
      start: { line: 0, character: 5 },
      end: { line: 0, character: 5 },
      text: '\nx'.repeat(200_000),
    });
    assert.deepEqual([lines.length, lines[0], lines[200_000], lines[200_001]], [200_002, 'first', 'x', 'last']);
  });
});
