import type { Language } from './languages.ts';

const CLOSER_OF: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * Tracks brackets in code line by line and skips strings and comments of the language. It is not a
 * parser: it only detects surplus closers, and is fast enough to run on every key press.
 */
export class BracketScanner {
  /** Closers of the brackets that are still open, outermost first. */
  readonly waiting: string[] = [];
  /** Closers without an opener. */
  readonly unmatched: string[] = [];
  /** End delimiter of the string or comment in which the text so far ends. */
  inside: string | undefined;
  /** True if the last code character of the last line with code opened a bracket. */
  opensAtEnd = false;
  /** How many of `waiting` were opened at the end of a line: the following lines are their body. */
  #bodies = 0;
  readonly #language: Language;

  constructor(language: Language, inside?: string) {
    this.#language = language;
    this.inside = inside;
  }

  copy(): BracketScanner {
    const copy = new BracketScanner(this.#language, this.inside);
    copy.waiting.push(...this.waiting);
    copy.unmatched.push(...this.unmatched);
    copy.opensAtEnd = this.opensAtEnd;
    copy.#bodies = this.#bodies;
    return copy;
  }

  /** Call at the end of a line. True if the text could end here: only bodies are open. */
  isAtLineEnd(): boolean {
    if (this.opensAtEnd) this.#bodies = this.waiting.length;
    return this.waiting.length === this.#bodies;
  }

  /** True if the text so far ends in a string that cannot continue on the next line. */
  get inShortString(): boolean {
    return this.inside !== undefined && this.inside.length === 1 && this.#language.quotes.includes(this.inside);
  }

  /** Reads lines joined by LF. The last line may continue in the next call. */
  read(text: string): this {
    let at = 0;
    while (at < text.length) at = this.inside === undefined ? this.#code(text, at) : this.#string(text, at);
    return this;
  }

  #string(text: string, at: number): number {
    const end = this.inside ?? '';
    for (; at < text.length; at++) {
      if (text[at] === '\\' && end !== '*/') at++;
      else if (text[at] === '\n' && this.inShortString) {
        this.inside = undefined;
        return at;
      } else if (text.startsWith(end, at)) {
        this.inside = undefined;
        return at + end.length;
      }
    }
    return at;
  }

  #code(text: string, at: number): number {
    const { line, block, quotes, longQuotes } = this.#language;
    const character = text[at] ?? '';
    if (line !== undefined && text.startsWith(line, at)) {
      const end = text.indexOf('\n', at);
      return end < 0 ? text.length : end;
    }
    if (block !== undefined && text.startsWith(block[0], at)) {
      this.inside = block[1];
      return at + block[0].length;
    }
    const long = longQuotes.find((quote) => text.startsWith(quote, at));
    if (long !== undefined || quotes.includes(character)) {
      this.inside = long ?? character;
      this.opensAtEnd = false;
      return at + this.inside.length;
    }
    const literal = literalEnd(text, at, quotes);
    if (literal > at) {
      this.opensAtEnd = false;
      return literal;
    }
    this.#bracket(character);
    return at + 1;
  }

  #bracket(character: string): void {
    if (character.trim() === '') return;
    const closer = this.#language.brackets ? CLOSER_OF[character] : undefined;
    this.opensAtEnd = closer !== undefined;
    if (closer !== undefined) this.waiting.push(closer);
    else if (this.#language.brackets && ')]}'.includes(character)) {
      if (this.waiting.at(-1) === character) {
        this.waiting.pop();
        this.#bodies = Math.min(this.#bodies, this.waiting.length);
      } else this.unmatched.push(character);
    }
  }
}

/** End of a character literal (where `'` does not delimit strings) or of a regular expression literal. */
function literalEnd(text: string, at: number, quotes: string): number {
  if (text[at] === "'" && !quotes.includes("'")) {
    if (text[at + 1] === '\\' && text[at + 3] === "'") return at + 4;
    return text[at + 2] === "'" ? at + 3 : at;
  }
  if (text[at] !== '/') return at;
  const before = text.slice(Math.max(0, at - 12), at).trimEnd();
  if (before !== '' && !/(?:[(=,:[!&|?{;>]|\b(?:return|case|typeof|yield|await|of|in|throw))$/.test(before)) return at;
  let inClass = false;
  for (let i = at + 1; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '[') inClass = true;
    else if (text[i] === ']') inClass = false;
    else if (text[i] === '/' && !inClass) return i + 1;
  }
  return at;
}

/**
 * Reads text up to a caret. `mayStartInString`: the text starts in the middle of the caret's line. A quote may then be
 * the end of a string, so text that looks like a string up to the caret is treated as code.
 */
export function scanBracketsTo(text: string, language: Language, mayStartInString: boolean): BracketScanner {
  const scanner = new BracketScanner(language).read(text);
  return mayStartInString && scanner.inShortString ? new BracketScanner(language) : scanner;
}
