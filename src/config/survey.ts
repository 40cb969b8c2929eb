import { isObject, type JsonObject } from '../wire/json.ts';

/** A text with a `{` in it, which may be a reference, and where in a value it stands. */
export interface BracedText {
  readonly path: readonly string[];
  readonly text: string;
}

/** What one walk over a value tells. */
export interface Survey {
  readonly braced: readonly BracedText[];
  /** Colons of its JSON where none is written as an escape: one behind each key, and those in texts and keys. */
  readonly colons: number;
  /** An object has a key that is an integer; JavaScript puts such keys before all others. */
  readonly integerKeys: boolean;
  /** Something nests deeper than was asked; it was not looked at. */
  readonly tooDeep: boolean;
}

/** Looks at a plain value, whose objects and lists nest `maxDepth` levels at most. */
export function survey(value: unknown, maxDepth = Number.POSITIVE_INFINITY): Survey {
  const walk = new Walk(maxDepth);
  walk.visit(value);
  return walk;
}

class Walk implements Survey {
  readonly braced: BracedText[] = [];
  colons = 0;
  integerKeys = false;
  tooDeep = false;
  readonly #maxDepth: number;
  /** The path of the moment, copied only for a find. */
  readonly #at: string[] = [];

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  visit(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    if (this.#at.length >= this.#maxDepth) this.tooDeep = true;
    else if (Array.isArray(value)) this.#list(value);
    else if (isObject(value)) this.#object(value);
  }

  #list(items: readonly unknown[]): void {
    for (let index = 0; index < items.length; index += 1) this.#member(String(index), items[index]);
  }

  #object(value: JsonObject): void {
    let first = true;
    for (const key in value) {
      if (first && /^\d+$/.test(key)) this.integerKeys = true;
      first = false;
      this.colons += 1;
      if (key.includes(':')) this.colons += count(key, ':');
      this.#member(key, value[key]);
    }
  }

  #member(key: string, value: unknown): void {
    if (typeof value === 'string') {
      if (value.includes(':')) this.colons += count(value, ':');
      if (value.includes('{')) this.braced.push({ path: [...this.#at, key], text: value });
    }
    if (typeof value !== 'object') return;
    this.#at.push(key);
    this.visit(value);
    this.#at.pop();
  }
}

/** How often a character occurs. */
export function count(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) found += 1;
  return found;
}
