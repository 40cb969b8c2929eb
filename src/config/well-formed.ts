import type { Source } from './origin.ts';
import type { Entry, ObjectTree, Place, ScalarTree, Tree } from './tree.ts';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]|\r(?!\n)/;

/**
 * Reads JSONC that has nothing wrong with it, several times faster than a parser that can also say what
 * is wrong. `undefined` for anything else (an error, a key written twice, deep nesting, no object): then
 * parse.ts reads it again and finds the words. Both give the same tree for the same text.
 */
export function readWellFormed(text: string, source: Source, maxDepth: number): ObjectTree | undefined {
  if (CONTROL.test(text)) return undefined;
  try {
    return new Reader(text, source, maxDepth).root();
  } catch (thrown) {
    if (thrown === ELSE) return undefined;
    throw thrown;
  }
}

/** Thrown for whatever this reader leaves to the other one. */
const ELSE = Symbol('not well-formed');

class Reader {
  readonly #text: string;
  readonly #source: Source;
  readonly #maxDepth: number;
  readonly #tabs: boolean;
  #at = 0;
  #line = 1;
  #lineStart = 0;
  #depth = 0;
  /** Of the next backslash and line break, looked up when passed. */
  #backslash = -1;
  #break = -1;

  constructor(text: string, source: Source, maxDepth: number) {
    this.#text = text;
    this.#source = source;
    this.#maxDepth = maxDepth;
    this.#tabs = text.includes('\t');
  }

  root(): ObjectTree {
    if (this.#next() !== 0x7b) throw ELSE;
    const tree = this.#object();
    this.#next();
    if (this.#at < this.#text.length) throw ELSE;
    return tree;
  }

  /** Skips what means nothing. The code of the character that follows, NaN at the end. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x20 || code === 0x09 || code === 0x0d) this.#at += 1;
      else if (code === 0x0a) this.#newLine(this.#at);
      else if (code === 0x2f) this.#comment();
      else return code;
    }
  }

  #newLine(at: number): void {
    this.#at = at + 1;
    this.#line += 1;
    this.#lineStart = this.#at;
  }

  #comment(): void {
    const kind = this.#text.charCodeAt(this.#at + 1);
    if (kind === 0x2f) {
      const end = this.#text.indexOf('\n', this.#at);
      this.#at = end < 0 ? this.#text.length : end;
      return;
    }
    const end = kind === 0x2a ? this.#text.indexOf('*/', this.#at + 2) : -1;
    if (end < 0) throw ELSE;
    for (let at = this.#text.indexOf('\n', this.#at); at >= 0 && at < end; at = this.#text.indexOf('\n', at + 1)) {
      this.#newLine(at);
    }
    this.#at = end + 2;
  }

  #place(start: number, length: number): Place {
    return { source: this.#source, line: this.#line, column: start - this.#lineStart + 1, length };
  }

  #enter(): Place {
    this.#depth += 1;
    if (this.#depth > this.#maxDepth) throw ELSE;
    const place = this.#place(this.#at, 1);
    this.#at += 1;
    return place;
  }

  #object(): ObjectTree {
    const place = this.#enter();
    const entries = new Map<string, Entry>();
    for (let code = this.#next(); code !== 0x7d; code = this.#comma(0x7d)) {
      if (code !== 0x22) throw ELSE;
      const start = this.#at;
      const name = this.#string();
      const key = this.#place(start, this.#at - start);
      if (this.#next() !== 0x3a || entries.has(name)) throw ELSE;
      this.#at += 1;
      entries.set(name, { key, value: this.#value(this.#next()) });
    }
    this.#at += 1;
    this.#depth -= 1;
    return { type: 'object', place, entries };
  }

  #array(): Tree {
    const place = this.#enter();
    const items: Tree[] = [];
    for (let code = this.#next(); code !== 0x5d; code = this.#comma(0x5d)) items.push(this.#value(code));
    this.#at += 1;
    this.#depth -= 1;
    return { type: 'array', place, items };
  }

  /** Behind a member: a comma, after which the container may end, or its end. */
  #comma(end: number): number {
    const code = this.#next();
    if (code === end) return code;
    if (code !== 0x2c) throw ELSE;
    this.#at += 1;
    return this.#next();
  }

  #value(code: number): Tree {
    if (code === 0x7b) return this.#object();
    if (code === 0x5b) return this.#array();
    const start = this.#at;
    const value = code === 0x22 ? this.#string() : this.#literal(code);
    return { type: 'scalar', place: this.#place(start, this.#at - start), value };
  }

  #string(): string {
    const start = this.#at + 1;
    let end = this.#text.indexOf('"', start);
    if (this.#backslash < start) this.#backslash = this.#nextOf('\\', start);
    if (this.#break < start) this.#break = this.#nextOf('\n', start);
    const escaped = this.#backslash < end;
    if (escaped) end = this.#closingQuote(start);
    if (end < 0 || this.#break < end) throw ELSE;
    this.#at = end + 1;
    const text = this.#text.slice(start, end);
    if (this.#tabs && text.includes('\t')) throw ELSE;
    return escaped ? unescaped(this.#text.slice(start - 1, end + 1)) : text;
  }

  #nextOf(character: string, from: number): number {
    const found = this.#text.indexOf(character, from);
    return found < 0 ? Number.POSITIVE_INFINITY : found;
  }

  #closingQuote(start: number): number {
    for (let at = start; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x5c) at += 1;
      else if (code === 0x22) return at;
    }
    return -1;
  }

  #literal(code: number): ScalarTree['value'] {
    if (code === 0x74) return this.#word('true', true);
    if (code === 0x66) return this.#word('false', false);
    if (code === 0x6e) return this.#word('null', null);
    NUMBER.lastIndex = this.#at;
    const [digits] = NUMBER.exec(this.#text) ?? [];
    if (digits === undefined) throw ELSE;
    return this.#word(digits, Number(digits));
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw ELSE;
    this.#at += word.length;
    // `truest` and `01` are no values.
    if (/[^\s,\]}/]/.test(this.#text.charAt(this.#at))) throw ELSE;
    return value;
  }
}

function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw ELSE;
  }
}
