import { isObject } from '../wire/json.ts';

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
  const found: Found = { braced: [], colons: 0, integerKeys: false, tooDeep: false };
  look(value, [], maxDepth, found);
  return found;
}

type Found = { -readonly [K in keyof Survey]: Survey[K] } & { readonly braced: BracedText[] };

/** `path` is the path of the moment, copied only for a find. */
function look(value: unknown, path: string[], depth: number, found: Found): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === 0) found.tooDeep = true;
  else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) lookAt(String(index), value[index], path, depth, found);
  } else if (isObject(value)) {
    let first = true;
    for (const key in value) {
      if (first && key.charCodeAt(0) <= 0x39 && /^\d+$/.test(key)) found.integerKeys = true;
      first = false;
      found.colons += 1;
      if (key.includes(':')) found.colons += count(key, ':');
      lookAt(key, value[key], path, depth, found);
    }
  }
}

function lookAt(key: string, value: unknown, path: string[], depth: number, found: Found): void {
  if (typeof value === 'string') {
    if (value.includes(':')) found.colons += count(value, ':');
    if (value.includes('{')) found.braced.push({ path: [...path, key], text: value });
  } else if (typeof value === 'object' && value !== null) {
    path.push(key);
    look(value, path, depth - 1, found);
    path.pop();
  }
}

/** How often a character occurs. */
export function count(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) found += 1;
  return found;
}
