import { findHunks, type Hunk } from '../../../base/hunks.ts';
import { minimalChange } from '../../../base/text-change.ts';
import type { HistoryEdit } from '../edit-history.ts';
import { splitLine } from '../line-tokens.ts';

/** A search in a longer text can take quadratic time. What a user deletes by hand is shorter. */
const MAX_SEARCHED = 20_000;

/** True if nothing but white space changes. */
export function isWhiteSpaceOnly({ before, after }: Hunk): boolean {
  return before.join('').replace(/\s/g, '') === after.join('').replace(/\s/g, '');
}

/** An edit of the user, and its first line as the document is now. */
export type PlacedEdit = HistoryEdit & { readonly line: number };

/** True if the hunk deletes text that the user just typed, or restores text that the user just deleted. */
export function isReversal(hunk: Hunk, edits: readonly PlacedEdit[]): boolean {
  const mine = core(hunk.before, hunk.after);
  return edits.some((edit) => {
    const near = hunk.from <= edit.line + edit.after.length && hunk.from + hunk.before.length >= edit.line;
    if (!near) return false;
    const own = core(edit.before, edit.after);
    const restores = mine.inserted === '' || contains(own.removed, mine.inserted);
    const deletes = mine.removed === '' || contains(own.inserted, mine.removed);
    return restores && deletes;
  });
}

/** Whether an edit removed a text. White space at its ends does not count. */
export function removes({ before, after }: HistoryEdit, text: string): boolean {
  // Long lines would be compared at each key.
  const length = before.reduce((sum, line) => sum + line.length, 0);
  return length <= MAX_SEARCHED && contains(core(before, after).removed, text.trim());
}

function contains(text: string, part: string): boolean {
  return text.length <= MAX_SEARCHED && text.includes(part);
}

/** The removed and inserted text, without the text that stays at both ends. */
function core(old: readonly string[], text: readonly string[]) {
  const change = minimalChange(old.join('\n'), text.join('\n'));
  return { removed: change.removed.trim(), inserted: change.text.trim() };
}

const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

/** What the user has been working on. */
export interface RecentWork {
  /** In all documents. */
  readonly edits: readonly Pick<HistoryEdit, 'before' | 'after'>[];
  /** Problems, copied text and the output of a failed command. */
  readonly notes: readonly string[];
}

/**
 * Finds hunks that do nothing but replace names without a reason. A reason is that the user replaced the old name by the
 * new one, introduced the new name, or deleted the old one, or that a problem or copied text has one of them.
 *
 * @param seen the other text that the model has seen: a name that occurs nowhere is wrong.
 */
export function baselessCheck(
  document: readonly string[],
  seen: readonly string[],
  work: RecentWork,
): (hunk: Hunk) => boolean {
  let isReason: ((was: string, name: string) => boolean) | undefined;
  return ({ before, after }) => {
    const [old, text] = [before.join('\n'), after.join('\n')];
    // Anything but names stays.
    if (old.replace(NAME, '_') !== text.replace(NAME, '_')) return false;
    isReason ??= findReasons(document, seen, work);
    const replaced = namesIn(old);
    for (const [index, name] of namesIn(text).entries()) {
      const was = replaced[index] ?? '';
      if (name !== was && !isReason(was, name)) return true;
    }
    return false;
  };
}

/** Whether there is a reason to replace a name by another one. */
function findReasons(document: readonly string[], seen: readonly string[], { edits, notes }: RecentWork) {
  const here = countOf(namesIn(document.join('\n')));
  const noted = new Set(notes.flatMap(namesIn));
  const others = new Set(seen.flatMap(namesIn));
  const pairs = new Set<string>();
  const added: string[] = [];
  const removed: string[] = [];
  for (const { before, after } of edits) {
    for (const hunk of findHunks(namesIn(before.join('\n')), namesIn(after.join('\n'))) ?? []) {
      added.push(...hunk.after);
      removed.push(...hunk.before);
      if (hunk.before.length !== hunk.after.length) continue;
      for (const [index, name] of hunk.after.entries()) pairs.add(`${hunk.before[index]} ${name}`);
    }
  }
  const addedCount = countOf(added);
  const removedCount = countOf(removed);
  // At most one place, such as its declaration, is older.
  const isNew = (name: string) => (addedCount.get(name) ?? 0) > Math.max(0, (here.get(name) ?? 0) - 1);
  const isGone = (name: string) => removedCount.has(name) && !addedCount.has(name);
  return (was: string, name: string): boolean => {
    if (pairs.has(`${was} ${name}`)) return true;
    if (!here.has(name) && !others.has(name) && !addedCount.has(name) && !noted.has(name)) return false;
    return noted.has(name) || noted.has(was) || isNew(name) || isGone(was);
  };
}

function namesIn(text: string): string[] {
  return text.match(NAME) ?? [];
}

function countOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const PAIRS = ['()', '[]', '{}'] as const;
/** The brackets of a longer document are not counted. */
const MAX_COUNTED = 5_000;

/** Opened and not closed brackets of each kind. */
type Balance = readonly number[];

/**
 * Checks that edits do not open or close brackets unevenly.
 *
 * @returns whether a set of hunks leaves the brackets as they are, or closes more of those that are open.
 */
export function bracketCheck(
  lines: readonly string[],
  comment: string | undefined,
): (hunks: readonly Hunk[]) => boolean {
  let whole: Balance | undefined;
  return (hunks) => {
    const change = PAIRS.map((_, kind) =>
      hunks.reduce((sum, { before, after }) => sum + balance(after, comment, kind) - balance(before, comment, kind), 0),
    );
    if (change.every((each) => each === 0)) return true;
    if (lines.length > MAX_COUNTED) return false;
    whole ??= PAIRS.map((_, kind) => balance(lines, comment, kind));
    return whole.every((open, kind) => {
      const by = change[kind] ?? 0;
      return by === 0 || Math.abs(open + by) < Math.abs(open);
    });
  };
}

function balance(lines: readonly string[], comment: string | undefined, kind: number): number {
  const [open, close] = PAIRS[kind] ?? '()';
  let count = 0;
  for (const line of lines) {
    if (!line.includes(open ?? '') && !line.includes(close ?? '')) continue;
    for (const token of splitLine(line, comment)) {
      if (token.text === open) count++;
      else if (token.text === close) count--;
    }
  }
  return count;
}
