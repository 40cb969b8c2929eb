import { OPENINGS, ReasoningSplitter, type TextPiece } from '../../wire/reasoning-tags.ts';
import type { BracketScanner } from '../document/brackets.ts';
import type { Language } from '../document/languages.ts';
import { AnswerCleaner } from './answer-cleaner.ts';
import { IndentationRepair } from './indentation-repair.ts';
import { RepeatedLead } from './repeated-lead.ts';
import { fitsBefore } from './tail-alignment.ts';
import {
  isDistinctive,
  loopsInside,
  reindent,
  repeatedLines,
  withoutHalfWord,
  withoutRepeatedHead,
  withoutRepeatedIndentation,
  withoutRepeatedSign,
  withTab,
} from './trim.ts';

/** The text around the caret at the time of the request. The answer must fit it. */
export interface InsertionContext {
  readonly language: Language;
  readonly head: string;
  readonly tail: string;
  /** Lines after the caret's line, as far as they show which brackets are closed there. Absent: they are not known. */
  readonly after?: string;
  /** The lines before the caret's line that are not blank, as far as they matter; the nearest one last. */
  readonly above: readonly string[];
  /** The next lines that are not blank, as far as they matter. */
  readonly below: readonly string[];
  /** The state of the text before the caret. */
  readonly caret: BracketScanner;
  /** Whether the text around the caret contains a text. */
  readonly has: (text: string) => boolean;
  /** Number of brackets before the caret that are not closed after it. */
  readonly unclosed: number;
  readonly singleLine: boolean;
  /** The end tag of an element is after the caret: an answer whose first line has text has one line. */
  readonly beforeEndTag?: boolean;
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
  readonly #cleaner: AnswerCleaner;
  /** Absent: the text around the caret has such tags, so that the answer may have them too. */
  readonly #reasoning: ReasoningSplitter | undefined;
  readonly #lead: RepeatedLead;
  readonly #repair: IndentationRepair;
  #released = 0;
  /** Index of the line where an echo of the lines below the caret begins. */
  #echoFrom: number | undefined;
  /** Number of lines below the caret that are repeated from there, and whether one of them is distinctive. */
  #echoed = 0;
  #distinctive = false;
  #loops = false;
  #finished = false;
  #cut = false;
  #text = '';

  constructor(context: InsertionContext) {
    this.#context = context;
    this.#scanner = context.caret.mark();
    const { caret, language } = context;
    const code = language.prose !== true && caret.inside === undefined;
    // A string on one line cannot contain a fence, but a sentence.
    const removes = { sentences: code, fences: code || (language.prose !== true && caret.inShortString) };
    this.#cleaner = new AnswerCleaner(context.has, removes);
    this.#reasoning = OPENINGS.some(context.has) ? undefined : new ReasoningSplitter('no');
    this.#lead = new RepeatedLead(context.above, context.head);
    this.#repair = new IndentationRepair(context);
  }

  get text(): string {
    return this.#text;
  }

  /** True if further input is ignored. */
  get enough(): boolean {
    return this.#finished;
  }

  /** True if the answer was cut at a limit of lines or tokens: the rest is not known. */
  get cut(): boolean {
    return this.#cut;
  }

  /** Adds the next piece of the answer as received. */
  push(piece: string): void {
    if (this.#finished) return;
    this.#read(this.#reasoning === undefined ? piece : answerOf(this.#reasoning.push(piece)));
  }

  #read(piece: string): void {
    // A CR at the end may be half of a CRLF: keep it until the next piece.
    this.#raw += piece;
    let text = this.#raw;
    const waits = text.endsWith('\r');
    if (waits) text = text.slice(0, -1);
    const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n');
    this.#raw = (lines.pop() ?? '') + (waits ? '\r' : '');
    for (const line of lines) this.#addRaw(line);
    if (this.#raw.length > MAX_LINE_LENGTH) this.#finished = true;
  }

  /** The answer is complete. @param whole the last line is complete, that is, the answer was not cut off. */
  end(whole: boolean): void {
    if (!this.#finished && this.#reasoning !== undefined) this.#read(answerOf(this.#reasoning.end()));
    const last = this.#raw.replace(/\r$/, '');
    this.#raw = '';
    if (!this.#finished && !whole) this.#cut = true;
    if (!this.#finished && last !== '') {
      if (whole) this.#addRaw(last);
      else if (this.#lines.length === 0) this.#addRaw(withoutHalfWord(last).trimEnd());
    }
    for (const line of this.#lead.end()) this.#addLine(line);
    this.#finished = true;
    // A single repetition is not a loop: release the lines that were kept because of it.
    const echoes = this.#echoFrom !== undefined && !this.#lines.slice(this.#echoFrom).every(isCloser);
    if (!this.#loops && !echoes && this.#canEndHere()) this.#release(this.#lines.length);
  }

  /** Adds a line as received. */
  #addRaw(raw: string): void {
    if (this.#finished) return;
    const { text, ends } = this.#cleaner.clean(raw);
    if (text !== undefined) for (const line of this.#lead.push(text)) this.#addLine(line);
    if (!ends) return;
    for (const line of this.#lead.end()) this.#addLine(line);
    this.#finished = true;
  }

  #addLine(clean: string): void {
    if (this.#finished) return;
    const line = this.#formatLine(clean);
    if (this.#isRejected(line)) {
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
    if (this.#lines.length >= this.#context.maxLines) this.#cut = true;
    const { singleLine, beforeEndTag = false } = this.#context;
    if (singleLine || (beforeEndTag && this.#lines[0]?.trim() !== '') || this.#cut) this.#finished = true;
  }

  /** The line as it would be inserted. */
  #formatLine(clean: string): string {
    const { head, tail, above, indentation, language } = this.#context;
    const place = { head, above: above.at(-1), comment: language.line };
    // White space is content in a string of several lines.
    if (this.#scanner.inLongString) {
      return this.#lines.length > 0 ? clean : withoutRepeatedIndentation(clean, place);
    }
    const previous = this.#lines.length > 1 ? this.#lines.at(-1) : head + (this.#lines[0] ?? '');
    const toStyle = (text: string, before: string | undefined) =>
      language.recipes === true ? withTab(text, before ?? '') : reindent(text, indentation);
    if (this.#lines.length > 0) return this.#repair.next(toStyle(clean, previous).trimEnd(), this.#scanner);
    let line = head.trim() === '' ? toStyle(clean, above.at(-1)) : clean;
    line = withoutRepeatedSign(line, head, language.variableSign);
    line = withoutRepeatedIndentation(line, place);
    line = this.#repair.first(withoutRepeatedHead(line, head));
    return tail.trim() === '' ? line.trimEnd() : line;
  }

  #isRejected(line: string): boolean {
    const first = this.#lines.every((one) => one.trim() === '');
    const { head, above, tail } = this.#context;
    if (line.length > MAX_LINE_LENGTH || loopsInside(line)) return true;
    if (line.trim() === '') return this.#lines.length >= 2 && this.#lines.slice(-2).every((one) => one.trim() === '');
    if (first) {
      const whole = this.#lines.length === 0 ? `${head}${line}` : line;
      const over = this.#lines.length === 0 || head.trim() === '' ? above.at(-1) : head;
      if (over !== undefined && isDistinctive(whole) && whole.trim() === over.trim() && tail.trim() === '') return true;
    }
    const next = this.#scanner.copy().read(this.#lines.length > 0 ? `\n${line}` : line);
    // A bracket that the line closes and opens again, such as `} else {`, is closed by a later line.
    const reopened = [...next.openedClosers];
    const closed = next.exits.filter(({ kind, closer }) => {
      const again = reopened.indexOf(closer);
      if (again >= 0) reopened.splice(again, 1);
      return kind === 'bracket' && again < 0;
    }).length;
    // The answer may repeat closers after the caret: they are overwritten (fit-answer.ts).
    return closed > this.#context.unclosed + closersIn(tail);
  }

  /** Detects that the answer repeats the lines below the caret. */
  #detectEcho(line: string): void {
    const { below, tail } = this.#context;
    if (below.length === 0 || !NO_CODE.test(tail) || line.trim() === '') return;
    if (this.#echoFrom !== undefined) {
      const next = below[this.#echoed];
      if (next === undefined || !this.#isSameLine(line, next)) this.#echoFrom = undefined;
      else this.#continueEcho(line);
      if (this.#finished || this.#echoFrom !== undefined) return;
    }
    const [first] = below;
    if (this.#lines.length === 1 || first === undefined || !this.#isSameLine(line, first)) return;
    this.#echoFrom = this.#lines.length - 1;
    this.#echoed = 0;
    this.#distinctive = false;
    this.#continueEcho(line);
  }

  /** Adds a line to the echo. One long line or two lines are no coincidence, if they are distinctive. */
  #continueEcho(line: string): void {
    this.#echoed++;
    this.#distinctive ||= isDistinctive(line);
    if (this.#distinctive && (this.#echoed >= 2 || line.trim().length >= 20)) this.#finished = true;
  }

  #isSameLine(line: string, other: string): boolean {
    // The indentation tells which block a bracket or a word such as `end` closes.
    if (isCloser(line) || this.#context.language.blockEnds?.test(line.trim()))
      return line.trimEnd() === other.trimEnd();
    return line.trim() === other.trim();
  }

  /** True if the suggestion could end here: not inside brackets or a string. */
  #canEndHere(): boolean {
    const { inside, insideSinceMark, inShortString } = this.#scanner;
    const { tail } = this.#context;
    if (tail.trim() !== '' && fitsBefore(this.#context, this.#scanner)) return true;
    if (inShortString) return insideSinceMark ? tail.includes(inside ?? ' ') : tail.startsWith(inside ?? ' ');
    return this.#scanner.isAtLineEnd() || this.#tailClosesAll();
  }

  /** Whether the rest of the line closes the brackets that the answer opened, and nothing else would match them. */
  #tailClosesAll(): boolean {
    const { caret, tail } = this.#context;
    const { opened, openedBrackets } = this.#scanner;
    return opened > 0 && opened === openedBrackets && caret.readTail(tail).surplus >= opened;
  }

  #release(count: number): void {
    let end = count;
    while (end > 0 && this.#lines[end - 1]?.trim() === '') end--;
    if (end <= this.#released) return;
    this.#released = end;
    this.#text = this.#lines.slice(0, end).join('\n');
  }
}

function answerOf(pieces: readonly TextPiece[]): string {
  return pieces.map(({ kind, text }) => (kind === 'text' ? text : '')).join('');
}

const NO_CODE = /^(?:[\s)\]}"'`>;,:{]|\*\/|-->|#>|-\})*$/;
/** Lines that only close something. Which of them are repeated is decided in fit-answer.ts, if no other line follows. */
const CLOSERS = /^[\s)\]}"'`~;,>]*$/;

function isCloser(line: string): boolean {
  return CLOSERS.test(line);
}

function closersIn(tail: string): number {
  let closers = 0;
  for (const character of tail) if (')]}'.includes(character)) closers++;
  return closers;
}
