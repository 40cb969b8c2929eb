import { changeLines, lastFirst, type Position, type TextChange } from '../../base/text-change.ts';
import { plainLineEnds } from '../tools/file-change.ts';
import { lineDiff } from '../tools/line-diff.ts';

/** Changed lines that the user has neither accepted nor rejected. Lines are counted from 0. */
export interface PendingHunk {
  /** First line in the current text. For removed lines alone: the line after them. */
  readonly start: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** First line in the accepted text. */
  readonly from: number;
}

/**
 * The text that the user has accepted so far. The differences between it and the current text are pending. Edits of the
 * user next to pending changes are accepted at once, so that only the changes of the model are pending.
 */
export class PendingText {
  #accepted: readonly string[];
  #hunks: readonly PendingHunk[] = [];

  /** @param before the text before the model changed it. @param current the text now. */
  constructor(before: string, current: string) {
    this.#accepted = splitLines(before);
    this.update(current);
  }

  get hunks(): readonly PendingHunk[] {
    return this.#hunks;
  }

  get accepted(): string {
    return this.#accepted.join('\n');
  }

  /** Call after each change of the text. */
  update(current: string): void {
    let shift = 0;
    this.#hunks = lineDiff(this.accepted, plainLineEnds(current)).map(({ from, before, after }) => {
      const start = from + shift;
      shift += after.length - before.length;
      return { start, added: after, removed: before, from };
    });
  }

  /** Call with the edits of the user, in the text before them, that lead to the next `update`. Edits inside of a hunk become a part of it. */
  follow(edits: readonly TextChange[]): void {
    const accepted = [...this.#accepted];
    for (const edit of lastFirst(edits)) {
      if (this.#hunks.some((hunk) => touches(hunk, edit))) continue;
      const shift = this.#shiftBefore(edit.start.line);
      const moved = ({ line, character }: Position) => ({ line: line + shift, character });
      const change = { start: moved(edit.start), end: moved(edit.end), text: plainLineEnds(edit.text) };
      const known = [change.start, change.end].every(({ line }) => accepted[line] !== undefined);
      if (known) changeLines(accepted, change);
    }
    this.#accepted = accepted;
  }

  accept(hunk: PendingHunk): void {
    const accepted = [...this.#accepted];
    accepted.splice(hunk.from, hunk.removed.length, ...hunk.added);
    this.#accepted = accepted;
    const shift = hunk.added.length - hunk.removed.length;
    this.#hunks = this.#hunks
      .filter((each) => each !== hunk)
      .map((each) => (each.from > hunk.from ? { ...each, from: each.from + shift } : each));
  }

  /** The current text without these hunks. */
  withoutHunks(current: string, hunks: readonly PendingHunk[]): string {
    const lines = [...splitLines(current)];
    for (const { start, added, removed } of hunks.toReversed()) lines.splice(start, added.length, ...removed);
    return lines.join('\n');
  }

  /** Number to add to a line of the current text that is in no hunk, for its line in the accepted text. */
  #shiftBefore(line: number): number {
    return this.#hunks
      .filter(({ start, added }) => start + added.length <= line)
      .reduce((sum, { added, removed }) => sum + removed.length - added.length, 0);
  }
}

/** Whether an edit changes a line of a hunk, or puts lines where lines were removed: for example Undo. */
function touches({ start: line, added }: PendingHunk, { start, end, text }: TextChange): boolean {
  if (added.length > 0) return start.line < line + added.length && end.line >= line;
  if (start.line < line && end.line >= line) return true;
  const inserts = start.line === end.line && start.character === end.character && /[\r\n]/.test(text);
  const behind = start.line === line - 1 && /^\r?\n/.test(text);
  return inserts && ((start.line === line && start.character === 0) || behind);
}

/** The next or previous hunk from a line, or undefined at the end. */
export function hunkAfter(hunks: readonly PendingHunk[], line: number): PendingHunk | undefined {
  return hunks.find(({ start }) => start > line);
}

export function hunkBefore(hunks: readonly PendingHunk[], line: number): PendingHunk | undefined {
  return hunks.findLast(({ start, added }) => start + Math.max(1, added.length) <= line);
}

/** The hunk at a line, also if the line is the one next to removed lines. */
export function hunkAt(hunks: readonly PendingHunk[], line: number): PendingHunk | undefined {
  return hunks.find(({ start, added }) => line >= start && line < start + Math.max(1, added.length));
}

function splitLines(text: string): readonly string[] {
  return plainLineEnds(text).split('\n');
}
