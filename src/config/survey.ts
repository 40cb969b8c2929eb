import { isObject, type JsonObject } from '../wire/json.ts';

/** A text with a `{` in it, which may be a reference, and where in a value it stands. */
export interface BracedText {
  readonly path: readonly string[];
  readonly text: string;
}

/** What one walk over a value tells. */
export interface Survey {
  readonly braced: readonly BracedText[];
  /** Keys of all objects in it. */
  readonly keys: number;
  /** Something nests deeper than was asked; it was not looked at. */
  readonly tooDeep: boolean;
}

type Found = { -readonly [K in keyof Survey]: Survey[K] } & { readonly braced: BracedText[] };

/** Looks at a plain object, whose objects and lists nest `maxDepth` levels at most. */
export function survey(value: JsonObject, maxDepth = Number.POSITIVE_INFINITY): Survey {
  const found: Found = { braced: [], keys: 0, tooDeep: maxDepth < 1 };
  if (!found.tooDeep) lookOver(value, [], maxDepth - 1, found);
  return found;
}

/**
 * Every value of a file passes here, most of them in code that runs for the first time: few steps each,
 * no calls but for what nests. `path` is the path of the moment, copied for a find.
 */
function lookOver(object: JsonObject, path: string[], depth: number, found: Found): void {
  let keys = 0;
  for (const key in object) {
    keys += 1;
    const value = object[key];
    if (typeof value === 'string') {
      if (value.includes('{')) found.braced.push({ path: [...path, key], text: value });
    } else if (typeof value === 'object' && value !== null) {
      path.push(key);
      if (depth === 0) found.tooDeep = true;
      else if (isObject(value)) lookOver(value, path, depth - 1, found);
      else if (Array.isArray(value)) lookThrough(value, path, depth - 1, found);
      path.pop();
    }
  }
  found.keys += keys;
}

function lookThrough(list: readonly unknown[], path: string[], depth: number, found: Found): void {
  for (let index = 0; index < list.length; index += 1) {
    const value = list[index];
    if (typeof value === 'string') {
      if (value.includes('{')) found.braced.push({ path: [...path, String(index)], text: value });
    } else if (typeof value === 'object' && value !== null) {
      path.push(String(index));
      if (depth === 0) found.tooDeep = true;
      else if (isObject(value)) lookOver(value, path, depth - 1, found);
      else if (Array.isArray(value)) lookThrough(value, path, depth - 1, found);
      path.pop();
    }
  }
}
