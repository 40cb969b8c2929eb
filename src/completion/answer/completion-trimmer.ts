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

/** What an answer has to fit, as it was when it was asked for. */
export interface InsertionContext {
  readonly language: Language;
  readonly head: string;
  readonly tail: string;
  /** The last line with something on it before the caret's. */
  readonly above: string | undefined;
  /** The next lines with something on them, at most two. */
  readonly below: readonly string[];
  /** The end delimiter of the string or comment that the caret is in. */
  readonly inside: string | undefined;
  /** Brackets before the caret that nothing behind it closes. */
  readonly unclosed: number;
  readonly singleLine: boolean;
  readonly maxLines: number;
  readonly indentation: { readonly insertSpaces: boolean; readonly tabSize: number };
}

/** A line longer than this is data, not something to read in grey. */
const LONGEST_LINE = 500;

/**
 * Turns the stream of an answer into text that may be shown. `text` holds whole lines that have
 * passed every check and only ever grows; a line that what follows could turn into a repetition is
 * held back until that is known.
 */
export class CompletionTrimmer {
  readonly #site: InsertionContext;
  #raw = '';
  readonly #lines: string[] = [];
  readonly #scanner: BracketScanner;
  #settled = 0;
  /** The line before which an echo of what stands below has begun. */
  #echoFrom: number | undefined;
  #loops = false;
  #over = false;
  #text = '';

  constructor(site: InsertionContext) {
    this.#site = site;
    this.#scanner = new BracketScanner(site.language, site.inside);
  }

  get text(): string {
    return this.#text;
  }

  /** Whether whatever else comes would not be taken. */
  get enough(): boolean {
    return this.#over;
  }

  /** The next piece of the answer as it came. */
  push(piece: string): void {
    if (this.#over) return;
    // A CR at the end may be half of a CRLF: it waits for the next piece.
    this.#raw += piece;
    let text = this.#raw;
    const waits = text.endsWith('\r');
    if (waits) text = text.slice(0, -1);
    const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n');
    this.#raw = (lines.pop() ?? '') + (waits ? '\r' : '');
    for (const line of lines) this.#take(line);
    if (this.#raw.length > LONGEST_LINE) this.#over = true;
  }

  /** The answer is over. `whole`: its last line is as the model meant it, not cut off on the way. */
  end(whole: boolean): void {
    const last = this.#raw.replace(/\r$/, '');
    this.#raw = '';
    if (!this.#over && last !== '') {
      if (whole) this.#take(last);
      else if (this.#lines.length === 0) this.#take(withoutHalfWord(last).trimEnd());
    }
    this.#over = true;
    // Twice the same and no more is no loop: what was held back for that is let go.
    if (!this.#loops && this.#echoFrom === undefined && this.#stands()) this.#settle(this.#lines.length);
  }

  #take(raw: string): void {
    if (this.#over) return;
    const line = this.#shaped(raw);
    if (line === undefined || this.#refused(line)) {
      this.#over = true;
      return;
    }
    this.#lines.push(line);
    this.#scanner.read(this.#lines.length > 1 ? `\n${line}` : line);
    this.#followEcho(line);
    if (this.#over) return;
    const repeated = line.trim() === '' ? 0 : repeatedLines(this.#lines);
    if (repeated >= 2) {
      this.#loops = true;
      this.#over = true;
      return;
    }
    if (repeated === 0 && this.#echoFrom === undefined && this.#stands()) this.#settle(this.#lines.length);
    if (this.#site.singleLine || this.#lines.length >= this.#site.maxLines) this.#over = true;
  }

  /** The line as it would be written, or `undefined` if the answer ends before it. */
  #shaped(raw: string): string | undefined {
    const { head, tail, above, indentation } = this.#site;
    const clean = withoutDirectionOverrides(raw);
    if (clean !== raw && clean.trim() === '') return undefined;
    if (this.#lines.length > 0) return reindent(clean, indentation).trimEnd();
    let line = head.trim() === '' ? reindent(clean, indentation) : clean;
    line = withoutRepeatedIndentation(line, head, above);
    line = withoutRepeatedHead(line, head);
    return withoutRepeatedTail(tail.trim() === '' ? line.trimEnd() : line, tail);
  }

  #refused(line: string): boolean {
    const first = this.#lines.every((one) => one.trim() === '');
    const { head, above, tail } = this.#site;
    if (line.length > LONGEST_LINE || loopsInside(line)) return true;
    if (line.trim() === '') return this.#lines.length >= 2 && this.#lines.slice(-2).every((one) => one.trim() === '');
    if (first) {
      const whole = this.#lines.length === 0 ? `${head}${line}` : line;
      const over = this.#lines.length === 0 || head.trim() === '' ? above : head;
      if (over !== undefined && isDistinctive(whole) && whole.trim() === over.trim() && tail.trim() === '') return true;
    }
    const next = this.#scanner.copy().read(`\n${line}`);
    // Closers right behind the caret may be said again: they are written over (fit.ts).
    return next.unmatched.length > this.#site.unclosed + leadingClosers(tail);
  }

  /** Sees whether the answer has come to what stands below anyway. */
  #followEcho(line: string): void {
    const { below, tail } = this.#site;
    const [first, second] = below;
    if (first === undefined || tail.trim() !== '' || line.trim() === '') return;
    const index = this.#lines.length - 1;
    if (this.#echoFrom !== undefined) {
      if (second === undefined || line.trim() === second.trim()) this.#over = true;
      else this.#echoFrom = undefined;
      if (this.#over) return;
    }
    if (index === 0 || line.trim() !== first.trim()) return;
    if (isDistinctive(line) && line.trim().length >= 20) {
      this.#echoFrom = index;
      this.#over = true;
    } else if (isDistinctive(line)) this.#echoFrom = index;
  }

  /** Whether the lines so far could be left as they are: no line broken off inside brackets or a string. */
  #stands(): boolean {
    if (this.#scanner.inShortString) return this.#site.tail.startsWith(this.#scanner.inside ?? ' ');
    return this.#scanner.standsAtLineEnd();
  }

  #settle(count: number): void {
    let end = count;
    while (end > 0 && this.#lines[end - 1]?.trim() === '') end--;
    if (end <= this.#settled) return;
    this.#settled = end;
    this.#text = this.#lines.slice(0, end).join('\n');
  }
}

function leadingClosers(tail: string): number {
  return /^[)\]}]*/.exec(tail)?.[0].length ?? 0;
}
