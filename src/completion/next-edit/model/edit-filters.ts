import type { Hunk } from '../../../base/hunks.ts';
import { minimalChange } from '../../../base/text-change.ts';
import type { HistoryEdit } from '../edit-history.ts';
import { splitLine } from '../line-tokens.ts';

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
    const restores = mine.inserted === '' || own.removed.includes(mine.inserted);
    const deletes = mine.removed === '' || own.inserted.includes(mine.removed);
    return restores && deletes;
  });
}

/** The removed and inserted text, without the text that stays at both ends. */
function core(old: readonly string[], text: readonly string[]) {
  const change = minimalChange(old.join('\n'), text.join('\n'));
  return { removed: change.removed.trim(), inserted: change.text.trim() };
}

const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

/**
 * Finds hunks that do nothing but replace names without a reason: by a name that occurs nowhere, or where neither the old
 * nor the new one has to do with the work of the user.
 *
 * @param known the document, and the other text that the model has seen.
 * @param work recent edits, and what else the user works on.
 */
export function baselessCheck(known: () => readonly string[], work: readonly string[]): (hunk: Hunk) => boolean {
  let names: { readonly known: ReadonlySet<string>; readonly touched: ReadonlySet<string> } | undefined;
  return ({ before, after }) => {
    const [old, text] = [before.join('\n'), after.join('\n')];
    // Anything but names stays.
    if (old.replace(NAME, '_') !== text.replace(NAME, '_')) return false;
    names ??= { known: namesOf([...known(), ...work]), touched: namesOf(work) };
    const { known: all, touched } = names;
    const replaced = old.match(NAME) ?? [];
    return (text.match(NAME) ?? []).some((name, index) => {
      const was = replaced[index] ?? '';
      return name !== was && !(all.has(name) && (touched.has(name) || touched.has(was)));
    });
  };
}

function namesOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => text.match(NAME) ?? []));
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
