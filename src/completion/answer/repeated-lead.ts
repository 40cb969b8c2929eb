import { isCommentLeader, isDistinctive, withoutHead } from './trim.ts';

/**
 * Removes lines with which an answer repeats the lines before the caret. The lines wait as long as they agree with a
 * run of lines that leads to the caret.
 */
export class RepeatedLead {
  /** The trimmed lines before the caret that are not blank. */
  readonly #above: readonly string[];
  /** The last of them, with its indentation. */
  readonly #previous: string | undefined;
  readonly #head: string;
  /** Indexes in `#above` with which the last line agrees; undefined when it is decided. */
  #candidates: readonly number[] | undefined;
  #waiting: string[] = [];
  #decided = false;

  constructor(above: readonly string[], head: string) {
    this.#previous = above.findLast((line) => line.trim() !== '')?.trimEnd();
    this.#above = above.map((line) => line.trim()).filter((line) => line !== '');
    this.#head = head;
  }

  /** Takes the next line. Returns the lines that are not a repetition; the first one belongs to the caret's line. */
  push(line: string): readonly string[] {
    if (this.#decided) return [line];
    const text = line.trim();
    if (text === '') return this.#waiting.length === 0 ? [line] : this.#wait(line);
    if (this.#candidates === undefined) return this.#first(line, text);
    const next = this.#candidates.map((index) => index + 1);
    if (next.includes(this.#above.length) && this.#continuesHead(text)) return this.#reached(line, text);
    this.#candidates = next.filter((index) => this.#above[index] === text);
    return this.#candidates.length > 0 ? this.#wait(line) : this.#release(line);
  }

  /** The answer is complete. Returns the lines that waited, unless they repeat everything up to the caret. */
  end(): readonly string[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#decided = true;
    return this.#candidates?.includes(this.#above.length - 1) ? [] : waiting;
  }

  #first(line: string, text: string): readonly string[] {
    if (this.#repeatsPrevious(line)) return [];
    const found = isDistinctive(text) ? [...this.#above.keys()].filter((index) => this.#above[index] === text) : [];
    if (found.length === 0 || (this.#head.trim() !== '' && text.startsWith(this.#head.trim()))) {
      this.#decided = true;
      return [line];
    }
    this.#candidates = found;
    return this.#wait(line);
  }

  /** Whether the first line is the line before the caret's: an empty line of a comment, or indented as that line. */
  #repeatsPrevious(line: string): boolean {
    const text = line.trim();
    if (this.#head.trim() !== '' || isDistinctive(text)) return false;
    if (isCommentLeader(text)) return text === this.#previous?.trim();
    return line.trimEnd() === this.#previous && line.slice(0, line.indexOf(text)) !== this.#head;
  }

  /** Whether a line can be the caret's line. */
  #continuesHead(text: string): boolean {
    const head = this.#head.trim();
    if (head !== '') return text.startsWith(head);
    // Of several runs, the longest decides: another line may still agree.
    return !this.#candidates?.some((index) => this.#above[index + 1] === text);
  }

  #reached(line: string, text: string): readonly string[] {
    this.#decided = true;
    this.#waiting = [];
    const head = this.#head.trim();
    return [head === '' ? line : withoutHead(text, this.#head)];
  }

  #wait(line: string): readonly string[] {
    this.#waiting.push(line);
    return [];
  }

  #release(line: string): readonly string[] {
    const lines = [...this.#waiting, line];
    this.#waiting = [];
    this.#decided = true;
    return lines;
  }
}
