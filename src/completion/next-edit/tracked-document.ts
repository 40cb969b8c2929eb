import { type ChangedLines, changeLines, lastFirst, type TextChange, textBetween } from '../../base/text-change.ts';
import { type DocumentText, readLines } from '../document/document-text.ts';
import type { DocumentChange } from '../document/suggestion.ts';

/** A change with the text that it removed. */
export interface TrackedChange extends TextChange, ChangedLines {
  readonly removed: string;
}

/**
 * A copy of the lines of a document. The editor reports a change without the text that it removed; the copy has it.
 * The strings are the editor's own, so that a copy costs one pointer a line.
 */
export class TrackedDocument {
  lines: string[];
  #document: DocumentText;

  constructor(document: DocumentText) {
    this.#document = document;
    this.lines = readLines(document);
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
    for (const change of lastFirst(changes)) {
      const one = this.#applyOne(change);
      if (one === undefined) return this.#readAgain();
      tracked.push(one);
      applied(one);
    }
    return (this.lines.length === document.lineCount && this.#agrees(tracked)) || this.#readAgain();
  }

  #applyOne({ start, end, text }: TextChange): TrackedChange | undefined {
    if (end.line >= this.lines.length) return undefined;
    const change = { start, end, text: text.replaceAll('\r\n', '\n') };
    const removed = textBetween((line) => this.lines[line] ?? '', change);
    return { ...change, removed, ...changeLines(this.lines, change) };
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
    this.lines = readLines(this.#document);
    return false;
  }
}
