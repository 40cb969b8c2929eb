import type { Position } from '../document/document-text.ts';
import type { Replacement } from './next-edit.ts';
import { comparePositions, endOfText, type TrackedChange } from './tracked-document.ts';

/** What became of a replacement when the user changed the document. `done`: the user made it. */
export type Rebased =
  | { readonly kind: 'kept'; readonly replacement: Replacement }
  | { readonly kind: 'done' }
  | { readonly kind: 'gone' };

const DONE: Rebased = { kind: 'done' };
const GONE: Rebased = { kind: 'gone' };
/** Closing characters that the editor inserts by itself, with the opening one. */
const CLOSERS = /^[)\]}>"'`]{1,4}$/;

/**
 * The replacement after a change of the document: moved by a change elsewhere, shortened if the change is a part of it,
 * or gone if the change touches it otherwise.
 */
export function rebaseReplacement(replacement: Replacement, change: TrackedChange): Rebased {
  const { start, end } = replacement;
  const core = trimChange(change);
  if (core.removed === '' && core.text === '') return { kind: 'kept', replacement };
  const coreEnd = endOfText(core.start, core.removed);
  if (comparePositions(core.start, end) > 0)
    return beginsInsertion(replacement, change) ? GONE : { kind: 'kept', replacement };
  if (comparePositions(coreEnd, start) < 0) {
    const moved = { start: movePosition(start, coreEnd, core), end: movePosition(end, coreEnd, core) };
    return { kind: 'kept', replacement: { ...replacement, ...moved } };
  }
  const shortened = shorten(replacement, core, coreEnd);
  // A new line after the text leaves it as it is.
  const below = core.removed === '' && core.text.startsWith('\n') && comparePositions(core.start, end) === 0;
  return shortened === GONE && below ? { kind: 'kept', replacement } : shortened;
}

/** True if the user types the first of the lines to be inserted into the line below the place of the insertion. */
function beginsInsertion({ start, expected, text }: Replacement, change: TrackedChange): boolean {
  if (expected !== '' || !text.startsWith('\n') || change.start.line !== start.line + 1) return false;
  const typed = change.after[0]?.trim() ?? '';
  return typed !== '' && text.trimStart().startsWith(typed);
}

interface CoreChange {
  readonly start: Position;
  readonly removed: string;
  readonly text: string;
}

/** Without the text at both ends that the change replaces with itself. */
function trimChange({ start, removed, text }: TrackedChange): CoreChange {
  const from = commonPrefix(removed, text);
  const to = commonSuffix(removed.slice(from), text.slice(from));
  return {
    start: endOfText(start, removed.slice(0, from)),
    removed: removed.slice(from, removed.length - to),
    text: text.slice(from, text.length - to),
  };
}

/** A position at or after the end of a change, after the change. */
function movePosition(position: Position, changeEnd: Position, { start, text }: CoreChange): Position {
  const newEnd = endOfText(start, text);
  const line = position.line + newEnd.line - changeEnd.line;
  if (position.line > changeEnd.line) return { line, character: position.character };
  return { line, character: newEnd.character + position.character - changeEnd.character };
}

function shorten(replacement: Replacement, change: CoreChange, changeEnd: Position): Rebased {
  const { start, end, expected, text } = replacement;
  if (comparePositions(change.start, start) < 0 || comparePositions(changeEnd, end) > 0) return GONE;
  const at = offsetOf(expected, start, change.start);
  const now = expected.slice(0, at) + change.text + expected.slice(at + change.removed.length);
  if (now === text) return DONE;
  const same = commonPrefix(expected, text);
  const sameEnd = commonSuffix(expected.slice(same), text.slice(same));
  if (at < same || at + change.removed.length > expected.length - sameEnd) return GONE;
  const target = text.slice(same, text.length - sameEnd);
  const typed = now.slice(same, now.length - sameEnd);
  const old = expected.slice(same, expected.length - sameEnd);
  if (!isPartOf(typed, target, old, change.text)) return GONE;
  return { kind: 'kept', replacement: { ...replacement, expected: now, end: endOfText(start, now) } };
}

/**
 * True if `now` is on the way from `old` to `target`: it begins with some of the target and ends with the rest of the
 * old text, and all that was inserted is in the beginning, or is a closer that the editor added.
 */
function isPartOf(now: string, target: string, old: string, inserted: string): boolean {
  const head = commonPrefix(now, target);
  const tail = commonSuffix(now.slice(head), target.slice(head));
  if (tail > 0 && inserted !== '' && !CLOSERS.test(now.slice(now.length - tail))) return false;
  const left = now.slice(head, now.length - tail);
  return left.length <= old.length && old.includes(left);
}

/** The index in a text that begins at `start`. */
function offsetOf(text: string, start: Position, position: Position): number {
  if (position.line === start.line) return position.character - start.character;
  let at = 0;
  for (let line = start.line; line < position.line; line++) at = text.indexOf('\n', at) + 1;
  return at + position.character;
}

export function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

export function commonSuffix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)) length++;
  return length;
}
