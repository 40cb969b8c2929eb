import type { DocumentText, Position } from '../document/document-text.ts';
import type { DocumentChange } from '../document/suggestion.ts';

/** A change with the text that it removed. Line breaks are LF. */
export interface TrackedChange {
  readonly start: Position;
  readonly end: Position;
  readonly removed: string;
  readonly text: string;
  /** The changed lines, complete, before and after. The first one is `start.line` in both. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/**
 * A copy of the lines of a document. The editor reports a change without the text that it removed; the copy has it.
 * The strings are the editor's own, so that a copy costs one pointer a line.
 */
export class TrackedDocument {
  readonly lines: string[];
  #document: DocumentText;

  constructor(document: DocumentText) {
    this.#document = document;
    this.lines = Array.from({ length: document.lineCount }, (_, line) => document.lineAt(line));
  }

  /** As the editor reported it last. Its text may be newer than `lines`. */
  get document(): DocumentText {
    return this.#document;
  }

  /**
   * Applies the changes of one event, the last one of the document first, and calls `applied` after each.
   *
   * @returns false if they do not lead to the document's text: an earlier change was missed. The lines are read again.
   */
  apply({ changes }: DocumentChange, document: DocumentText, applied: (change: TrackedChange) => void): boolean {
    this.#document = document;
    const tracked: TrackedChange[] = [];
    for (const change of [...changes].sort((a, b) => comparePositions(b.start, a.start))) {
      const one = this.#applyOne(change);
      if (one === undefined) return this.#readAgain();
      tracked.push(one);
      applied(one);
    }
    return (this.lines.length === document.lineCount && this.#agrees(tracked)) || this.#readAgain();
  }

  #applyOne({ start, end, text }: DocumentChange['changes'][number]): TrackedChange | undefined {
    if (end.line >= this.lines.length) return undefined;
    const before = this.lines.slice(start.line, end.line + 1);
    const plain = text.replaceAll('\r\n', '\n');
    const after = plain.split('\n');
    const removed = textBetween(before, start.character, end.character);
    const last = after.length - 1;
    const tail = (before.at(-1) ?? '').slice(end.character);
    after[0] = (before[0] ?? '').slice(0, start.character) + (after[0] ?? '');
    after[last] = (after[last] ?? '') + tail;
    if (before.length === 1 && after.length === 1) this.lines[start.line] = after[0];
    else replaceLines(this.lines, start.line, before.length, after);
    return { start, end, removed, text: plain, before, after };
  }

  /** Compares the first and last line of each change with the document, in its order: the lines of each one move those below. */
  #agrees(tracked: readonly TrackedChange[]): boolean {
    let delta = 0;
    for (const { start, before, after } of [...tracked].reverse()) {
      const first = start.line + delta;
      delta += after.length - before.length;
      for (const line of [first, first + after.length - 1])
        if (this.lines[line] !== this.#document.lineAt(line)) return false;
    }
    return true;
  }

  #readAgain(): false {
    const { lineCount } = this.#document;
    this.lines.length = 0;
    for (let line = 0; line < lineCount; line++) this.lines.push(this.#document.lineAt(line));
    return false;
  }
}

export function comparePositions(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

/** The text of some lines between a column of the first one and a column of the last one. */
export function textBetween(lines: readonly string[], from: number, to: number): string {
  const [first = ''] = lines;
  if (lines.length <= 1) return first.slice(from, to);
  return [first.slice(from), ...lines.slice(1, -1), (lines.at(-1) ?? '').slice(0, to)].join('\n');
}

/** The end of a text that begins at `start`. */
export function endOfText(start: Position, text: string): Position {
  const lastBreak = text.lastIndexOf('\n');
  if (lastBreak < 0) return { line: start.line, character: start.character + text.length };
  let breaks = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) breaks++;
  return { line: start.line + breaks, character: text.length - lastBreak - 1 };
}

/** `splice` with any number of lines: a spread of more than about 100,000 arguments throws. */
function replaceLines(lines: string[], at: number, count: number, replacement: readonly string[]): void {
  if (replacement.length < 10_000) {
    lines.splice(at, count, ...replacement);
    return;
  }
  const rest = lines.splice(at);
  for (const line of replacement) lines.push(line);
  for (let index = count; index < rest.length; index++) lines.push(rest[index] ?? '');
}

/** The number of a line after a change. A line of the change itself keeps its number, as far as it is still there. */
export function movedLine(line: number, { start, end, before, after }: TrackedChange): number {
  if (line > end.line) return line + after.length - before.length;
  return Math.min(line, start.line + after.length - 1);
}
