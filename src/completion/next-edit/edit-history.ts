import { moveLine } from '../../base/text-change.ts';
import type { TrackedChange } from './tracked-document.ts';

/** Changes of nearby lines within this time are one edit. */
const COALESCED_MS = 2_000;
const COALESCED_LINES = 2;
/** Changes of the same lines within this time are one finished edit, for sources of next edits. */
const FINISHED_MS = 30_000;
/** Number of edits that are kept, in all files. */
const KEPT = 24;
/** A change of more lines is no edit of the user's hands: a formatter, a checkout, a generated file. */
const MAX_LINES = 100;
/** Unchanged lines on each side of an edit. */
const CONTEXT_LINES = 3;

/** Changed lines of one document, before and after. */
export interface HistoryEdit {
  readonly uri: string;
  /** First line of the edit, in the document directly after it. */
  readonly at: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Unchanged lines on each side. */
  readonly above: readonly string[];
  readonly below: readonly string[];
  readonly time: number;
  /** The user accepted it from a next edit. */
  readonly predicted: boolean;
}

interface Entry {
  edit: HistoryEdit;
  /** First line in the document as it is now. */
  line: number;
  /** Number of the edit in its document. Edits with consecutive numbers follow each other without another change. */
  readonly number: number;
}

/** The recent edits in all files. Only in memory. */
export class EditHistory {
  #entries: Entry[] = [];
  readonly #numbers = new Map<string, number>();
  /** Lines of changes in documents of which the earlier text is not known, oldest first. */
  readonly #touched = new Map<string, { readonly line: number; readonly time: number }>();

  /** A line was changed, and its earlier text is not known. */
  touch(uri: string, line: number, time: number): void {
    this.#touched.delete(uri);
    this.#touched.set(uri, { line, time });
    const [oldest] = this.#touched.keys();
    if (this.#touched.size > KEPT && oldest !== undefined) this.#touched.delete(oldest);
  }

  /** `lines`: the document after the change. */
  record(
    uri: string,
    change: TrackedChange,
    lines: readonly string[],
    { time, predicted }: { readonly time: number; readonly predicted: boolean },
  ): void {
    const { start, before, after } = change;
    if (before.length > MAX_LINES || after.length > MAX_LINES) {
      this.#skip(uri, change);
      return;
    }
    const edit: HistoryEdit = { uri, at: start.line, before, after, above: [], below: [], time, predicted };
    const last = this.#last(uri);
    const recent = last !== undefined && time - last.edit.time < COALESCED_MS && last.edit.predicted === predicted;
    const delta = after.length - before.length;
    const gapLine = (line: number): string => lines[line < start.line ? line : line + delta] ?? '';
    const merged = recent ? mergeEdits(last.edit, edit, COALESCED_LINES, gapLine) : undefined;
    this.#move(uri, change);
    if (last !== undefined && merged !== undefined) {
      this.#entries = this.#entries.filter((entry) => entry !== last);
      if (sameLines(merged.before, merged.after)) this.#numbers.set(uri, last.number - 1);
      else this.#keep(merged, lines, last.number);
      return;
    }
    const number = (this.#numbers.get(uri) ?? 0) + 1;
    this.#numbers.set(uri, number);
    if (!sameLines(before, after)) this.#keep(edit, lines, number);
  }

  /** Forgets the edits of a document. */
  forget(uri: string): void {
    this.#entries = this.#entries.filter(({ edit }) => edit.uri !== uri);
    this.#numbers.delete(uri);
    this.#touched.delete(uri);
  }

  /** Oldest first. */
  get edits(): readonly HistoryEdit[] {
    return this.#entries.map(({ edit }) => edit);
  }

  /**
   * The finished edits in all files, oldest first: consecutive changes of the same lines are one edit. `line`: the first
   * line as the document is now.
   */
  recent(most: number): readonly (HistoryEdit & { readonly line: number })[] {
    const found: Entry[] = [];
    for (const entry of [...this.#entries].reverse()) {
      const next = found[0];
      const follows = next !== undefined && next.number === entry.number + 1 && isRecent(entry.edit, next.edit);
      const merged = follows && next.edit.uri === entry.edit.uri ? mergeEdits(entry.edit, next.edit, 0) : undefined;
      if (next !== undefined && merged !== undefined) {
        const line = next.line - (next.edit.at - merged.at);
        found[0] = { edit: merged, line, number: entry.number };
      } else if (found.length === most) break;
      else found.unshift(entry);
    }
    return found.map(({ edit, line }) => ({ ...edit, line }));
  }

  /** Where the recent edits are now, latest first. */
  places(): readonly { readonly uri: string; readonly line: number }[] {
    const touched = [...this.#touched].map(([uri, place]) => ({ uri, ...place }));
    const edited = this.#entries.map(({ edit: { uri, time }, line }) => ({ uri, line, time }));
    return [...touched, ...edited].reverse().sort((a, b) => b.time - a.time);
  }

  /** The last edit of a document as one change, together with the changes of the same lines directly before it. */
  finished(uri: string): HistoryEdit | undefined {
    return this.finishedEdits(uri)[0];
  }

  /** As `finished`, also of the edits before it. Latest first; only edits without another change in between. */
  finishedEdits(uri: string, most = 1): readonly HistoryEdit[] {
    const own = this.#entries.filter(({ edit }) => edit.uri === uri).reverse();
    const found: HistoryEdit[] = [];
    let current: HistoryEdit | undefined;
    let number = this.#numbers.get(uri);
    for (const entry of own) {
      if (entry.number !== number) break;
      number--;
      const recent = current !== undefined && isRecent(entry.edit, current);
      const merged = current !== undefined && recent ? mergeEdits(entry.edit, current, 0) : undefined;
      if (current !== undefined && merged === undefined) {
        found.push(current);
        if (found.length === most) return found;
      }
      current = merged ?? entry.edit;
    }
    return current === undefined ? found : [...found, current];
  }

  #last(uri: string): Entry | undefined {
    const last = this.#entries.findLast(({ edit }) => edit.uri === uri);
    return last?.number === this.#numbers.get(uri) ? last : undefined;
  }

  #keep(edit: HistoryEdit, lines: readonly string[], number: number): void {
    const end = edit.at + edit.after.length;
    const above = lines.slice(Math.max(0, edit.at - CONTEXT_LINES), edit.at);
    const below = lines.slice(end, end + CONTEXT_LINES);
    this.#entries.push({ edit: { ...edit, above, below }, line: edit.at, number });
    if (this.#entries.length > KEPT) this.#entries.shift();
  }

  /** A change that is not kept separates the edits before and after it. */
  #skip(uri: string, change: TrackedChange): void {
    this.#numbers.set(uri, (this.#numbers.get(uri) ?? 0) + 1);
    this.#move(uri, change);
  }

  #move(uri: string, change: TrackedChange): void {
    for (const entry of this.#entries) if (entry.edit.uri === uri) entry.line = moveLine(entry.line, change);
  }
}

/**
 * Two consecutive edits as one, if at most `reach` unchanged lines are between them. `gapLine`: such a line, by its
 * number between the two edits.
 */
function mergeEdits(
  first: HistoryEdit,
  second: HistoryEdit,
  reach: number,
  gapLine: (line: number) => string = () => '',
): HistoryEdit | undefined {
  const firstEnd = first.at + first.after.length;
  const secondEnd = second.at + second.before.length;
  const gap = Math.max(first.at, second.at) - Math.min(firstEnd, secondEnd);
  if (gap > reach || (gap === 0 && reach === 0 && !overlap(first, second))) return undefined;
  const start = Math.min(first.at, second.at);
  const end = Math.max(firstEnd, secondEnd);
  if (end - start > MAX_LINES) return undefined;
  const line = (number: number): string => {
    if (number >= first.at && number < firstEnd) return first.after[number - first.at] ?? '';
    if (number >= second.at && number < secondEnd) return second.before[number - second.at] ?? '';
    return gapLine(number);
  };
  const range = (from: number, to: number): string[] =>
    Array.from({ length: Math.max(0, to - from) }, (_, index) => line(from + index));
  const before = [...range(start, first.at), ...first.before, ...range(firstEnd, end)];
  const after = [...range(start, second.at), ...second.after, ...range(secondEnd, end)];
  const above = second.above.slice(0, Math.max(0, second.above.length - (second.at - start)));
  const below = second.below.slice(start + after.length - second.at - second.after.length);
  return { ...second, at: start, before, after, above, below };
}

function isRecent(first: HistoryEdit, second: HistoryEdit): boolean {
  return second.time - first.time < FINISHED_MS && first.predicted === second.predicted;
}

function overlap(first: HistoryEdit, second: HistoryEdit): boolean {
  return first.at < second.at + second.before.length && second.at < first.at + first.after.length;
}

function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}
