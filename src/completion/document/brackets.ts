import type { Interpolation, Language } from './languages.ts';

const CLOSER_OF: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Something that is open and ends with `end`: a bracket, a string, a comment or an interpolation in a string. */
interface Frame {
  readonly kind: 'bracket' | 'string' | 'comment';
  readonly end: string;
  /** Strings: the interpolation, if the string has one. */
  readonly interpolation?: Interpolation | undefined;
  /** Strings: a backslash does not escape the next character. */
  readonly raw?: boolean;
}

/** A closer of something that was open before the scanned text. */
export interface Exit {
  /** Index of the closer in the scanned text, and the index after it. */
  readonly at: number;
  readonly end: number;
  readonly kind: Frame['kind'];
  readonly closer: string;
  /** Number of frames that remain open; negative if the opener is before the known text. */
  readonly depth: number;
}

/** Number of characters before a slash that decide whether it starts a regular expression. */
const RECENT = 12;

/**
 * Tracks brackets, strings, comments and interpolations. It is not a parser: it only detects which brackets a text
 * closes and leaves open, and is fast enough to run on every key press.
 */
export class BracketScanner {
  readonly #language: Language;
  readonly #frames: Frame[] = [];
  /** Number of frames that were open at the last `mark` and still are. */
  #floor = 0;
  /** Closers without an opener in the known text. */
  #surplus = 0;
  /** Number of closers that do not match the innermost bracket, and of strings without an end on their line. */
  #mismatches = 0;
  #exits: Exit[] = [];
  /** True if the last code character of the last line with code opened a bracket. */
  #opensAtEnd = false;
  /** How many frames were opened at the end of a line: the following lines are their body. */
  #bodies = 0;
  /** Number of characters read since the mark. */
  #read = 0;
  #recent = '';
  /** The text is the rest of the caret's line. Quotes in it rather end a string than start one. */
  #isTail = false;

  constructor(language: Language) {
    this.#language = language;
  }

  /** A copy with the current state as its mark: exits and open brackets count from here. */
  mark(): BracketScanner {
    const copy = new BracketScanner(this.#language);
    copy.#frames.push(...this.#frames);
    copy.#floor = copy.#frames.length;
    copy.#bodies = copy.#frames.length;
    copy.#recent = this.#recent;
    return copy;
  }

  /** Reads the rest of the caret's line, from a mark at the caret. */
  readTail(tail: string): BracketScanner {
    const copy = this.mark();
    copy.#isTail = true;
    return copy.read(tail);
  }

  /** A copy that continues with the same mark. */
  copy(): BracketScanner {
    const copy = this.mark();
    copy.#floor = this.#floor;
    copy.#surplus = this.#surplus;
    copy.#mismatches = this.#mismatches;
    copy.#exits = [...this.#exits];
    copy.#opensAtEnd = this.#opensAtEnd;
    copy.#bodies = this.#bodies;
    copy.#read = this.#read;
    return copy;
  }

  /** Brackets that were closed since the mark although they were opened before it. */
  get exits(): readonly Exit[] {
    return this.#exits;
  }

  /** Number of closers that match nothing that is open. */
  get surplus(): number {
    return this.#surplus;
  }

  /** Number of brackets that are open. */
  get openBrackets(): number {
    return this.#frames.filter(({ kind }) => kind === 'bracket').length;
  }

  /** Number of frames that were opened since the mark and are still open. */
  get opened(): number {
    return this.#frames.length - this.#floor;
  }

  /** Number of brackets that were opened since the mark and are still open. */
  get openedBrackets(): number {
    return this.openedClosers.length;
  }

  /** Ends of all that was opened since the mark and is still open, outermost first. */
  get openedEnds(): readonly string[] {
    return this.#frames.slice(this.#floor).map(({ end }) => end);
  }

  /** True if the same brackets, strings and comments are open as in another scanner. */
  isInsideTheSame(other: BracketScanner): boolean {
    const { length } = this.#frames;
    return length === other.#frames.length && this.#frames.every(({ end }, at) => end === other.#frames[at]?.end);
  }

  /** Number of closers that match no open bracket, and of strings without an end, if a line ended here. */
  get faults(): number {
    return this.#mismatches + (this.inShortString ? 1 : 0);
  }

  /** Closers of the brackets that were opened since the mark and are still open. */
  get openedClosers(): readonly string[] {
    return this.#frames.slice(this.#floor).flatMap(({ kind, end }) => (kind === 'bracket' ? [end] : []));
  }

  /** End of the string or comment in which the text so far ends; a line feed for a line comment. */
  get inside(): string | undefined {
    const top = this.#frames.at(-1);
    return top === undefined || top.kind === 'bracket' ? undefined : top.end;
  }

  /** True if the text so far ends in a string or comment that began before the mark. */
  get insideSinceMark(): boolean {
    return this.inside !== undefined && this.#frames.length === this.#floor;
  }

  /** True if the text so far ends in a string that cannot continue on the next line. */
  get inShortString(): boolean {
    const top = this.#frames.at(-1);
    return top?.kind === 'string' && this.#isShort(top);
  }

  /** True if the text so far ends in a string of several lines, whose white space is content. */
  get inLongString(): boolean {
    const top = this.#frames.at(-1);
    return top?.kind === 'string' && !this.#isShort(top);
  }

  /** Call at the end of a line. True if the text could end here: only bodies are open. */
  isAtLineEnd(): boolean {
    const open = this.inside === '\n' ? this.#frames.length - 1 : this.#frames.length;
    if (this.#opensAtEnd) this.#bodies = open;
    return open <= Math.max(this.#bodies, this.#floor);
  }

  /** Reads lines joined by LF. The last line may continue in the next call. */
  read(text: string): this {
    let at = 0;
    while (at < text.length) {
      const top = this.#frames.at(-1);
      at = top === undefined || top.kind === 'bracket' ? this.#code(text, at) : this.#literal(text, at, top);
    }
    this.#read += text.length;
    this.#recent = (this.#recent + text.slice(-RECENT)).slice(-RECENT);
    return this;
  }

  #isShort({ end }: Frame): boolean {
    return end.length === 1 && this.#language.quotes.includes(end);
  }

  #push(frame: Frame): void {
    this.#frames.push(frame);
    this.#opensAtEnd = false;
  }

  /** Closes the innermost frame. `at` is the index of its closer. */
  #close(frame: Frame, at: number, length: number): void {
    this.#frames.pop();
    this.#bodies = Math.min(this.#bodies, this.#frames.length);
    if (this.#frames.length < this.#floor) this.#exit(frame.kind, frame.end, at, length);
  }

  #exit(kind: Frame['kind'], closer: string, at: number, length: number): void {
    this.#floor = this.#frames.length;
    const start = this.#read + at;
    const depth = this.#frames.length - this.#surplus;
    this.#exits.push({ at: start, end: start + length, kind, closer, depth });
  }

  /** Reads in a string or comment. Returns the index after it. */
  #literal(text: string, start: number, frame: Frame): number {
    const { kind, end, interpolation, raw } = frame;
    const short = kind === 'string' && this.#isShort(frame);
    for (let at = start; at < text.length; at++) {
      const character = text[at];
      if (interpolation !== undefined && text.startsWith(interpolation.open, at)) {
        const { open, close } = interpolation;
        // `{{` in a string with `{` is an escaped brace.
        if (open === '{' && text[at + 1] === '{') {
          at++;
          continue;
        }
        this.#push({ kind: 'bracket', end: close });
        return at + open.length;
      }
      if (kind === 'string' && raw !== true && character === '\\') at++;
      else if (character === '\n' && (short || end === '\n')) {
        if (short) this.#mismatches++;
        this.#frames.pop();
        this.#floor = Math.min(this.#floor, this.#frames.length);
        return at;
      } else if (end !== '\n' && text.startsWith(end, at)) {
        this.#close(frame, at, end.length);
        return at + end.length;
      }
    }
    return text.length;
  }

  #code(text: string, at: number): number {
    const { line, block, quotes, longQuotes } = this.#language;
    const character = text[at] ?? '';
    if (isWord(character)) {
      this.#opensAtEnd = false;
      return at + 1;
    }
    if (character === ' ' || character === '\t' || character === '\n') return at + 1;
    if (line !== undefined && text.startsWith(line, at)) {
      this.#frames.push({ kind: 'comment', end: '\n' });
      return at + line.length;
    }
    if (block !== undefined && text.startsWith(block[0], at)) {
      this.#frames.push({ kind: 'comment', end: block[1] });
      return at + block[0].length;
    }
    const quote =
      longQuotes.find((long) => text.startsWith(long, at)) ?? (quotes.includes(character) ? character : undefined);
    if (quote !== undefined && this.#endsOuterString(text, at, quote)) return at + quote.length;
    if (quote !== undefined) {
      const interpolation = this.#language.interpolations?.find(
        ({ quotes: own, prefix }) =>
          own.includes(quote) && (prefix === undefined || prefix.test(this.#before(text, at))),
      );
      this.#push({
        kind: 'string',
        end: quote,
        interpolation,
        raw: this.#language.rawQuotes?.includes(quote) === true,
      });
      return at + quote.length;
    }
    const literal = this.#literalEnd(text, at);
    if (literal > at) {
      this.#opensAtEnd = false;
      return literal;
    }
    this.#bracket(character, at);
    return at + 1;
  }

  /** Whether a quote ends the string around an interpolation that is not closed yet. Closes both then. */
  #endsOuterString(text: string, at: number, quote: string): boolean {
    const top = this.#frames.at(-1);
    const string = this.#frames.at(-2);
    if (!this.#isTail || this.#frames.length !== this.#floor || top === undefined) return false;
    if (string?.kind !== 'string' || string.end !== quote || text.lastIndexOf(top.end) > at) return false;
    this.#frames.pop();
    this.#floor = this.#frames.length;
    this.#close(string, at, quote.length);
    return true;
  }

  #bracket(character: string, at: number): void {
    if (character.trim() === '') return;
    const closer = this.#language.brackets ? CLOSER_OF[character] : undefined;
    if (closer !== undefined) {
      this.#push({ kind: 'bracket', end: closer });
      this.#opensAtEnd = true;
      return;
    }
    this.#opensAtEnd = false;
    if (!')]}'.includes(character)) return;
    const top = this.#frames.at(-1);
    if (top?.end === character) this.#close(top, at, 1);
    else if (this.#language.brackets) this.#closeUnmatched(character, at);
  }

  /** A closer that does not match the innermost bracket: it closes an outer one, or one before the known text. */
  #closeUnmatched(character: string, at: number): void {
    this.#mismatches++;
    // Brackets that were opened since the mark stay open: the text is wrong, and nothing is known.
    const outer = this.#frames.length === this.#floor ? this.#frames.findLastIndex(({ end }) => end === character) : -1;
    const crossesString = this.#frames.slice(outer + 1).some(({ kind }) => kind !== 'bracket');
    if (outer >= 0 && !crossesString) this.#frames.length = outer;
    else this.#surplus++;
    this.#bodies = Math.min(this.#bodies, this.#frames.length);
    const floor = this.#floor;
    this.#exit('bracket', character, at, 1);
    if (outer < 0) this.#floor = floor;
  }

  #before(text: string, at: number): string {
    const own = text.slice(Math.max(0, at - RECENT), at);
    return own.length === RECENT ? own : (this.#recent + own).slice(-RECENT);
  }

  /** End of a character literal (where `'` does not delimit strings) or of a regular expression literal. */
  #literalEnd(text: string, at: number): number {
    if (text[at] === "'" && !this.#language.quotes.includes("'")) {
      if (text[at + 1] === '\\' && text[at + 3] === "'") return at + 4;
      return text[at + 2] === "'" ? at + 3 : at;
    }
    if (text[at] !== '/' || this.#language.regexes !== true) return at;
    const before = this.#before(text, at).trimEnd();
    if (before !== '' && !/(?:[(=,:[!&|?{;>~]|\b(?:return|case|typeof|yield|await|of|in|throw))$/.test(before))
      return at;
    let inClass = false;
    for (let i = at + 1; i < text.length && text[i] !== '\n'; i++) {
      if (text[i] === '\\') i++;
      else if (text[i] === '[') inClass = true;
      else if (text[i] === ']') inClass = false;
      else if (text[i] === '/' && !inClass) return i + 1;
    }
    return at;
  }
}

function isWord(character: string): boolean {
  return (
    (character >= 'a' && character <= 'z') ||
    (character >= 'A' && character <= 'Z') ||
    (character >= '0' && character <= '9') ||
    character === '_'
  );
}

/** The part of a text without its start from which the state is known: from the first definition on, if it has one. */
export function fromDefinition(text: string, language: Language): string {
  return text.slice(language.definition?.exec(text)?.index ?? 0);
}

/**
 * Reads text up to a caret. `torn`: the text starts in the middle of the caret's line, possibly inside a string. A
 * quote may then be the end of that string, so text that looks like a string up to the caret is treated as code.
 */
export function scanBracketsTo(text: string, language: Language, torn: boolean): BracketScanner {
  const scanner = new BracketScanner(language).read(text);
  return torn && scanner.inShortString ? new BracketScanner(language) : scanner;
}
