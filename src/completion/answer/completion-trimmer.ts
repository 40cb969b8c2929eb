import { BracketScanner } from '../document/brackets.ts';
import type { Language } from '../document/languages.ts';
import {
  isDistinctive,
  loopsInside,
  reindent,
  repeatedLines,
  withoutDirectionOverrides,
  withoutHalfWord,
  withoutRepeatedHead,
  withoutRepeatedIndentation,
  withoutRepeatedTail,
} from './trim.ts';

/** The text around the caret at the time of the request. The answer must fit it. */
export interface InsertionContext {
  readonly language: Language;
  readonly head: string;
  readonly tail: string;
  /** The last line before the caret's line that is not blank. */
  readonly above: string | undefined;
  /** The next lines that are not blank, at most two. */
  readonly below: readonly string[];
  /** The end delimiter of the string or comment that the caret is in. */
  readonly inside: string | undefined;
  /** Number of brackets before the caret that are not closed after it. */
  readonly unclosed: number;
  readonly singleLine: boolean;
  readonly maxLines: number;
  readonly indentation: { readonly insertSpaces: boolean; readonly tabSize: number };
}

/** A longer line is data, which is of no use as a suggestion. */
const MAX_LINE_LENGTH = 500;

/**
 * Turns the stream of an answer into text that may be shown. `text` contains whole lines that passed
 * every check, and only grows. A line that may be part of a repetition waits until the following
 * lines show whether it is.
 */
export class CompletionTrimmer {
  readonly #context: InsertionContext;
  #raw = '';
  readonly #lines: string[] = [];
  readonly #scanner: BracketScanner;
  #released = 0;
  /** Index of the line where an echo of the lines below the caret begins. */
  #echoFrom: number | undefined;
  #loops = false;
  #finished = false;
  #text = '';

  constructor(context: InsertionContext) {
    this.#context = context;
    this.#scanner = new BracketScanner(context.language, context.inside);
  }

  get text(): string {
    return this.#text;
  }

  /** True if further input is ignored. */
  get enough(): boolean {
    return this.#finished;
  }

  /** Adds the next piece of the answer as received. */
  push(piece: string): void {
    if (this.#finished) return;
    // A CR at the end may be half of a CRLF: keep it until the next piece.
    this.#raw += piece;
    let text = this.#raw;
    const waits = text.endsWith('\r');
    if (waits) text = text.slice(0, -1);
    const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n');
    this.#raw = (lines.pop() ?? '') + (waits ? '\r' : '');
    for (const line of lines) this.#addLine(line);
    if (this.#raw.length > MAX_LINE_LENGTH) this.#finished = true;
  }

  /** The answer is complete. @param whole the last line is complete, that is, the answer was not cut off. */
  end(whole: boolean): void {
    const last = this.#raw.replace(/\r$/, '');
    this.#raw = '';
    if (!this.#finished && last !== '') {
      if (whole) this.#addLine(last);
      else if (this.#lines.length === 0) this.#addLine(withoutHalfWord(last).trimEnd());
    }
    this.#finished = true;
    // A single repetition is not a loop: release the lines that were kept because of it.
    if (!this.#loops && this.#echoFrom === undefined && this.#canEndHere()) this.#release(this.#lines.length);
  }

  #addLine(raw: string): void {
    if (this.#finished) return;
    const line = this.#formatLine(raw);
    if (line === undefined || this.#isRejected(line)) {
      this.#finished = true;
      return;
    }
    this.#lines.push(line);
    this.#scanner.read(this.#lines.length > 1 ? `\n${line}` : line);
    this.#detectEcho(line);
    if (this.#finished) return;
    const repeated = line.trim() === '' ? 0 : repeatedLines(this.#lines);
    if (repeated >= 2) {
      this.#loops = true;
      this.#finished = true;
      return;
    }
    if (repeated === 0 && this.#echoFrom === undefined && this.#canEndHere()) this.#release(this.#lines.length);
    if (this.#context.singleLine || this.#lines.length >= this.#context.maxLines) this.#finished = true;
  }

  /** The line as it would be inserted, or `undefined` if the answer ends before it. */
  #formatLine(raw: string): string | undefined {
    const { head, tail, above, indentation } = this.#context;
    const clean = withoutDirectionOverrides(raw);
    if (clean !== raw && clean.trim() === '') return undefined;
    if (this.#lines.length > 0) return reindent(clean, indentation).trimEnd();
    let line = head.trim() === '' ? reindent(clean, indentation) : clean;
    line = withoutRepeatedIndentation(line, head, above);
    line = withoutRepeatedHead(line, head);
    return withoutRepeatedTail(tail.trim() === '' ? line.trimEnd() : line, tail);
  }

  #isRejected(line: string): boolean {
    const first = this.#lines.every((one) => one.trim() === '');
    const { head, above, tail } = this.#context;
    if (line.length > MAX_LINE_LENGTH || loopsInside(line)) return true;
    if (line.trim() === '') return this.#lines.length >= 2 && this.#lines.slice(-2).every((one) => one.trim() === '');
    if (first) {
      const whole = this.#lines.length === 0 ? `${head}${line}` : line;
      const over = this.#lines.length === 0 || head.trim() === '' ? above : head;
      if (over !== undefined && isDistinctive(whole) && whole.trim() === over.trim() && tail.trim() === '') return true;
    }
    const next = this.#scanner.copy().read(`\n${line}`);
    // The answer may repeat closers directly after the caret: they are overwritten (fit-answer.ts).
    return next.unmatched.length > this.#context.unclosed + leadingClosers(tail);
  }

  /** Detects that the answer repeats the lines below the caret. */
  #detectEcho(line: string): void {
    const { below, tail } = this.#context;
    const [first, second] = below;
    if (first === undefined || tail.trim() !== '' || line.trim() === '') return;
    const index = this.#lines.length - 1;
    if (this.#echoFrom !== undefined) {
      if (second === undefined || line.trim() === second.trim()) this.#finished = true;
      else this.#echoFrom = undefined;
      if (this.#finished) return;
    }
    if (index === 0 || line.trim() !== first.trim()) return;
    if (isDistinctive(line) && line.trim().length >= 20) {
      this.#echoFrom = index;
      this.#finished = true;
    } else if (isDistinctive(line)) this.#echoFrom = index;
  }

  /** True if the suggestion could end here: not inside brackets or a string. */
  #canEndHere(): boolean {
    if (this.#scanner.inShortString) return this.#context.tail.startsWith(this.#scanner.inside ?? ' ');
    return this.#scanner.isAtLineEnd();
  }

  #release(count: number): void {
    let end = count;
    while (end > 0 && this.#lines[end - 1]?.trim() === '') end--;
    if (end <= this.#released) return;
    this.#released = end;
    this.#text = this.#lines.slice(0, end).join('\n');
  }
}

function leadingClosers(tail: string): number {
  return /^[)\]}]*/.exec(tail)?.[0].length ?? 0;
}
