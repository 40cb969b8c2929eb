import {
  comparePositions,
  endOfText,
  equalEnds,
  minimalChange,
  movePosition,
  offsetIn,
  type TextChange,
} from '../../base/text-change.ts';
import type { Replacement } from './next-edit.ts';
import type { TrackedChange } from './tracked-document.ts';

/** A replacement after a change of the document. `done`: the user made it. `conflict`: the change contradicts it. */
export type Rebased =
  | { readonly kind: 'kept'; readonly replacement: Replacement }
  | { readonly kind: 'done' }
  | { readonly kind: 'conflict' };

const DONE: Rebased = { kind: 'done' };
const CONFLICT: Rebased = { kind: 'conflict' };
/** Closing characters that the editor inserts by itself, with the opening one. */
const CLOSERS = /^[)\]}>"'`]{1,4}$/;

/**
 * The replacement after a change of the document: moved by a change elsewhere, shortened if the change is a part of it,
 * or `conflict` if the change touches it otherwise.
 */
export function rebaseReplacement(replacement: Replacement, change: TrackedChange): Rebased {
  const { start, end } = replacement;
  const core = minimalChange(change.removed, change.text, change.start);
  if (core.removed === '' && core.text === '') return { kind: 'kept', replacement };
  if (comparePositions(core.start, end) > 0)
    return beginsInsertion(replacement, change) ? CONFLICT : { kind: 'kept', replacement };
  if (comparePositions(core.end, start) < 0) {
    const moved = { start: movePosition(start, core), end: movePosition(end, core) };
    return { kind: 'kept', replacement: { ...replacement, ...moved } };
  }
  const shortened = shorten(replacement, core);
  // A new line after the text leaves it as it is.
  const below = core.removed === '' && core.text.startsWith('\n') && comparePositions(core.start, end) === 0;
  return shortened === CONFLICT && below ? { kind: 'kept', replacement } : shortened;
}

/** True if the user types the first of the lines to be inserted into the line below the place of the insertion. */
function beginsInsertion({ start, expected, text }: Replacement, change: TrackedChange): boolean {
  if (expected !== '' || !text.startsWith('\n') || change.start.line !== start.line + 1) return false;
  const typed = change.after[0]?.trim() ?? '';
  return typed !== '' && text.trimStart().startsWith(typed);
}

function shorten(replacement: Replacement, change: TextChange): Rebased {
  const { start, expected, text } = replacement;
  const from = offsetIn(expected, start, change.start);
  const to = offsetIn(expected, start, change.end);
  if (from === undefined || to === undefined) return CONFLICT;
  const now = expected.slice(0, from) + change.text + expected.slice(to);
  if (now === text) return DONE;
  const { head: same, tail: sameEnd } = equalEnds(expected, text);
  if (from < same || to > expected.length - sameEnd) return CONFLICT;
  const target = text.slice(same, text.length - sameEnd);
  const typed = now.slice(same, now.length - sameEnd);
  const old = expected.slice(same, expected.length - sameEnd);
  if (!isPartOf(typed, target, old, change.text)) return CONFLICT;
  return { kind: 'kept', replacement: { ...replacement, expected: now, end: endOfText(start, now) } };
}

/**
 * True if `now` is on the way from `old` to `target`: it begins with some of the target and ends with the rest of the
 * old text, and all that was inserted is in the beginning, or is a closer that the editor added.
 */
function isPartOf(now: string, target: string, old: string, inserted: string): boolean {
  const { head, tail } = equalEnds(now, target);
  if (tail > 0 && inserted !== '' && !CLOSERS.test(now.slice(now.length - tail))) return false;
  const left = now.slice(head, now.length - tail);
  return left.length <= old.length && old.includes(left);
}
