/**
 * JSONC as JSON: without its comments and trailing commas, found by a few searches of the engine's own instead
 * of a look at each character. It may let an error stand for the JSON parser to find, and never makes one good.
 * `undefined` where line ends leave a doubt.
 */
export function bareJson(text: string): string | undefined {
  if (text.includes('\r') && /\r(?!\n)/.test(text)) return undefined;
  const bare = withoutComments(text);
  return bare === undefined ? undefined : withoutTrailingCommas(bare);
}

function withoutComments(text: string): string | undefined {
  const strings = new Strings(text);
  let bare = '';
  let copied = 0;
  for (let at = text.indexOf('/'); at >= 0; at = text.indexOf('/', at)) {
    const kind = text[at + 1];
    if ((kind !== '/' && kind !== '*') || strings.reachTo(at)) {
      at += 1;
      continue;
    }
    bare += `${text.slice(copied, at)} `;
    const end = kind === '/' ? text.indexOf('\n', at) : text.indexOf('*/', at + 2);
    if (end < 0) return kind === '/' ? bare : undefined;
    copied = kind === '/' ? end : end + 2;
    at = copied;
    strings.passTo(copied);
  }
  return bare + text.slice(copied);
}

function withoutTrailingCommas(text: string): string {
  const strings = new Strings(text);
  let bare = '';
  let copied = 0;
  // The comma is first: it is searched for, and what is around it is looked at where one is.
  const trailing = /,(?=\s*[}\]])(?<=["\w}\]]\s*,)/g;
  while (trailing.test(text)) {
    const index = trailing.lastIndex - 1;
    if (strings.reachTo(index)) continue;
    bare += text.slice(copied, index);
    copied = index + 1;
  }
  return bare + text.slice(copied);
}

/**
 * Tells whether a place is in a string, for places in rising order. No string of JSON goes over a line's end, so each
 * line is looked at by itself. What was found ahead is kept: no part of the text is searched twice for the same,
 * however long its lines are.
 */
class Strings {
  readonly #text: string;
  /** Outside of strings. */
  #at = 0;
  readonly #nextBreak: Ahead;
  readonly #nextQuote: Ahead;
  /** Behind the string that reached to the last place. */
  #end = 0;

  constructor(text: string) {
    this.#text = text;
    this.#nextBreak = new Ahead(text, '\n');
    this.#nextQuote = new Ahead(text, '"');
  }

  /** Everything before is known to be no string. */
  passTo(at: number): void {
    this.#at = at;
  }

  /** Whether a string that begins before a place reaches to it. */
  reachTo(place: number): boolean {
    if (this.#nextBreak.from(this.#at) < place) this.#at = this.#text.lastIndexOf('\n', place) + 1;
    if (this.#at < this.#end && place < this.#end) return true;
    for (;;) {
      const open = this.#nextQuote.from(this.#at);
      if (open > place) return false;
      const end = this.#endOf(open);
      if (end > place) {
        this.#end = end;
        return true;
      }
      this.#at = end;
    }
  }

  /** Behind the closing quote; behind everything where there is none. */
  #endOf(open: number): number {
    const text = this.#text;
    for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
      let escapes = 0;
      while (text[at - 1 - escapes] === '\\') escapes += 1;
      if (escapes % 2 === 0) return at + 1;
    }
    return text.length;
  }
}

/** Where a character comes next, for places in rising order; behind everything where it comes no more. */
class Ahead {
  readonly #text: string;
  readonly #wanted: string;
  #found = -1;

  constructor(text: string, wanted: string) {
    this.#text = text;
    this.#wanted = wanted;
  }

  from(place: number): number {
    if (this.#found < place) {
      const found = this.#text.indexOf(this.#wanted, place);
      this.#found = found < 0 ? this.#text.length : found;
    }
    return this.#found;
  }
}
