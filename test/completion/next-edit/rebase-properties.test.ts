import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EditHistory } from '../../../src/completion/next-edit/edit-history.ts';
import type { Replacement } from '../../../src/completion/next-edit/next-edit.ts';
import { type Rebased, rebaseReplacement } from '../../../src/completion/next-edit/rebase.ts';
import { TrackedDocument } from '../../../src/completion/next-edit/tracked-document.ts';
import { positionAt, TestDocument } from './next-edit-harness.ts';

const URI = 'file:///work/a.ts';

/** Shares of a text, so that they fit any length. */
const share = fc.integer({ min: 0, max: 1_000 }).map((part) => part / 1_000);
/** Mostly short. */
const length = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 40 }));
const lines = (words: readonly string[]) =>
  fc.array(fc.constantFrom(...words, '\n', ' '), { minLength: 1, maxLength: 30 }).map((parts) => parts.join(''));

/** A step of the user. `along`: types the next characters of the edit, or deletes some of the old text. */
type Step =
  | { readonly do: 'above' | 'below'; readonly from: number; readonly length: number; readonly text: string }
  | { readonly do: 'type' | 'delete'; readonly count: number }
  | { readonly do: 'disturb'; readonly at: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('above' as const, 'below' as const),
      from: share,
      length,
      text: fc.oneof(fc.constant(''), lines(['one', 'two', '\r\n'])),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('type' as const, 'delete' as const),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disturb' as const), at: share }) },
);

/** The document as text and offsets, in which the edit is computed afresh after each step. */
class Truth {
  readonly head: string;
  readonly tail: string;
  /** What the user has typed of the new text, and what is left of the old one. */
  typed = '';
  left: string;
  readonly text: string;

  constructor(head: string, left: string, tail: string, text: string) {
    this.head = head;
    this.left = left;
    this.tail = tail;
    this.text = text;
  }

  with(changes: Partial<Pick<Truth, 'head' | 'tail' | 'typed' | 'left'>>): Truth {
    const { head, left, tail, typed } = {
      head: this.head,
      left: this.left,
      tail: this.tail,
      typed: this.typed,
      ...changes,
    };
    const next = new Truth(head, left, tail, this.text);
    next.typed = typed;
    return next;
  }

  get document(): string {
    return this.head + this.typed + this.left + this.tail;
  }

  get edit(): Replacement {
    const expected = this.typed + this.left;
    const start = this.head.length;
    return {
      start: positionAt(this.document, start),
      end: positionAt(this.document, start + expected.length),
      expected,
      text: this.text,
    };
  }
}

interface Taken {
  readonly truth: Truth;
  readonly from: number;
  readonly removed: number;
  readonly text: string;
}

function take(truth: Truth, each: Step): Taken | undefined {
  const { head, tail, typed, left, text } = truth;
  switch (each.do) {
    case 'above':
    case 'below': {
      const side = each.do === 'above' ? head : tail;
      // One character between the change and the edit stays: what touches the edit is not elsewhere.
      const room = side.length - 1;
      if (room < 0) return undefined;
      const skip = each.do === 'above' ? 0 : 1;
      const a = Math.floor(each.from * room) + skip;
      const b = Math.min(a + each.length, room + skip);
      const plain = each.text.replaceAll('\r\n', '\n');
      const changed = side.slice(0, a) + plain + side.slice(b);
      const from = each.do === 'above' ? a : head.length + typed.length + left.length + a;
      const next = each.do === 'above' ? truth.with({ head: changed }) : truth.with({ tail: changed });
      return { truth: next, from, removed: b - a, text: each.text };
    }
    case 'type': {
      const piece = text.slice(typed.length, typed.length + each.count);
      if (piece === '') return undefined;
      return { truth: truth.with({ typed: typed + piece }), from: head.length + typed.length, removed: 0, text: piece };
    }
    case 'delete': {
      const count = Math.min(each.count, left.length);
      if (count === 0) return undefined;
      return {
        truth: truth.with({ left: left.slice(count) }),
        from: head.length + typed.length,
        removed: count,
        text: '',
      };
    }
    default: {
      if (typed === '' && left === '') return undefined;
      const from = head.length + 1 + Math.floor(each.at * (typed.length + left.length - 1));
      return { truth, from, removed: 0, text: '#' };
    }
  }
}

function follow(start: Truth, steps: readonly Step[]): void {
  const document = new TestDocument(URI, start.document);
  const tracked = new TrackedDocument(document.document);
  let truth = start;
  let replacement = start.edit;
  for (const each of steps) {
    const taken = take(truth, each);
    if (taken === undefined) continue;
    const end = positionAt(document.text, taken.from + taken.removed);
    const changes = [{ start: positionAt(document.text, taken.from), end, text: taken.text }];
    document.apply(changes.map((change) => ({ ...change, text: change.text.replaceAll('\r\n', '\n') })));
    let rebased: Rebased = { kind: 'kept', replacement };
    const known = tracked.apply({ uri: URI, changes }, document.document, (change) => {
      rebased = rebaseReplacement(replacement, change);
    });
    assert.ok(known);
    const result: Rebased = rebased;
    if (each.do === 'disturb') {
      assert.equal(result.kind, 'conflict');
      return;
    }
    truth = taken.truth;
    assert.equal(document.text, truth.document);
    const afresh = truth.edit;
    if (afresh.expected === afresh.text) {
      assert.equal(result.kind, 'done');
      return;
    }
    assert.deepEqual(result, { kind: 'kept', replacement: afresh });
    replacement = afresh;
  }
}

describe('edits that follow the typing', () => {
  it('a rebased edit equals the edit computed afresh, in 1,000 random edit scripts', () => {
    const code = lines(['const', 'value', '(', ')', '{}', '日本', '👍']);
    // No character is in both texts, so that there is one way to say what is typed and what is left.
    const old = fc
      .array(fc.constantFrom('a', 'b', '\n', '  '), { minLength: 0, maxLength: 8 })
      .map((all) => all.join(''));
    const text = fc.array(fc.constantFrom('x', 'yy', 'z('), { minLength: 1, maxLength: 8 }).map((all) => all.join(''));
    fc.assert(
      fc.property(code, old, code, text, fc.array(step, { maxLength: 25 }), (head, left, tail, target, steps) =>
        follow(new Truth(`${head}.`, left, `.${tail}`, target), steps),
      ),
      { numRuns: 1_000, seed: 19 },
    );
  });

  it('the history of 1,000 random edit scripts leads back to the first text', () => {
    const change = fc.record({
      from: share,
      length,
      text: fc.oneof(fc.constant(''), lines(['one', 'two', '}'])),
      ms: fc.integer({ min: 1, max: 4_000 }),
    });
    fc.assert(
      fc.property(lines(['const', 'value', '{', '}']), fc.array(change, { maxLength: 20 }), (text, changes) => {
        const document = new TestDocument(URI, text);
        const tracked = new TrackedDocument(document.document);
        const history = new EditHistory();
        let time = 0;
        for (const each of changes) {
          const from = Math.floor(each.from * document.text.length);
          const end = positionAt(document.text, Math.min(from + each.length, document.text.length));
          const one = { start: positionAt(document.text, from), end, text: each.text };
          document.apply([one]);
          time += each.ms;
          tracked.apply({ uri: URI, changes: [one] }, document.document, (applied) =>
            history.record(URI, applied, tracked.lines, { time, predicted: false }),
          );
        }
        for (const edits of [history.edits, history.recent(50)]) {
          let now = [...document.lines];
          for (const { at, before, after, above, below } of [...edits].reverse()) {
            assert.deepEqual(now.slice(at, at + after.length), after);
            assert.deepEqual(now.slice(at - above.length, at), above);
            assert.deepEqual(now.slice(at + after.length, at + after.length + below.length), below);
            now = [...now.slice(0, at), ...before, ...now.slice(at + after.length)];
          }
          assert.equal(now.join('\n'), text);
        }
      }),
      { numRuns: 1_000, seed: 19 },
    );
  });
});
