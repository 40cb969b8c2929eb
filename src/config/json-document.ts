import { isObject } from '../wire/json.ts';
import { bareJson } from './bare-json.ts';
import { configurationRule } from './schema-rules.ts';
import type { Source } from './settings.ts';
import { type Survey, survey } from './survey.ts';
import { type ArrayTree, child, type Entry, entriesOf, type ObjectTree, type Place, type Tree } from './tree.ts';

/**
 * Reads JSONC by the engine's own parser, several times faster than any that notes where things stand.
 * Nodes are made when they are looked at, places when one is asked for, from `positions`: the same text read
 * by a parser that notes them. `undefined` for whatever the engine's parser would not tell: an error, a key
 * written twice, keys in another order than written, deep nesting, no object.
 */
export function readJson(
  text: string,
  source: Source,
  maxDepth: number,
  positions: () => ObjectTree | undefined,
): ObjectTree | undefined {
  const read = parsed(text) ?? parsed(bareJson(text));
  if (read === undefined || !isObject(read.value)) return undefined;
  const { json, value } = read;
  // JavaScript puts keys that are integers before all others; a digit may be written as an escape.
  if (json.includes('\\u003') || /"(?:\d+"|\s+):/.test(json)) return undefined;
  const surveyed = survey(value, configurationRule(), maxDepth);
  // A key that is written again is dropped, and its colon is not. (One in a text only sends it the other way.)
  if (surveyed.tooDeep || surveyed.keys !== (json.match(/":/g)?.length ?? 0)) return undefined;
  const document: Document = { source, positions: once(positions) };
  return new JsonObject(new JsonPlace(document), value, surveyed);
}

function parsed(json: string | undefined): { readonly json: string; readonly value: unknown } | undefined {
  if (json === undefined) return undefined;
  try {
    return { json, value: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

interface Document {
  readonly source: Source;
  readonly positions: () => ObjectTree | undefined;
}

/** A place that is looked up, by the way down to it, when its line is asked for. Most are never asked. */
class JsonPlace implements Place {
  readonly #document: Document;
  readonly #parent: JsonPlace | undefined;
  readonly #key: string;
  readonly #ofKey: boolean;

  constructor(document: Document, parent?: JsonPlace, key = '', ofKey = false) {
    this.#document = document;
    this.#parent = parent;
    this.#key = key;
    this.#ofKey = ofKey;
  }

  get source(): Source {
    return this.#document.source;
  }

  get line(): number {
    return this.#found()?.line ?? 1;
  }

  get column(): number {
    return this.#found()?.column ?? 1;
  }

  get length(): number {
    return this.#found()?.length ?? 1;
  }

  /** The place of a member, or of its key. */
  of(key: string, ofKey: boolean): JsonPlace {
    return new JsonPlace(this.#document, this, key, ofKey);
  }

  #found(): Place | undefined {
    if (!this.#ofKey) return this.#node()?.place;
    const object = this.#parent === undefined ? undefined : this.#parent.#node();
    return entriesOf(object).get(this.#key)?.key;
  }

  #node(): Tree | undefined {
    if (this.#parent === undefined) return this.#document.positions();
    const above = this.#parent.#node();
    return above?.type === 'array' ? above.items[Number(this.#key)] : child(above, this.#key);
  }
}

class JsonObject implements ObjectTree {
  readonly type = 'object';
  readonly place: JsonPlace;
  readonly plain: Readonly<Record<string, unknown>>;
  readonly survey?: Survey;
  #entries: ReadonlyMap<string, Entry> | undefined;

  constructor(place: JsonPlace, plain: Readonly<Record<string, unknown>>, survey?: Survey) {
    this.place = place;
    this.plain = plain;
    if (survey !== undefined) this.survey = survey;
  }

  get entries(): ReadonlyMap<string, Entry> {
    this.#entries ??= this.#made();
    return this.#entries;
  }

  placeOf(key: string): Place {
    return this.place.of(key, false);
  }

  member(key: string): Tree | undefined {
    if (this.#entries !== undefined) return this.#entries.get(key)?.value;
    return Object.hasOwn(this.plain, key) ? nodeOf(this.plain[key], this.place.of(key, false)) : undefined;
  }

  #made(): ReadonlyMap<string, Entry> {
    const { place, plain } = this;
    const entries = new Map<string, Entry>();
    for (const key in plain) {
      entries.set(key, { key: place.of(key, true), value: nodeOf(plain[key], place.of(key, false)) });
    }
    return entries;
  }
}

class JsonArray implements ArrayTree {
  readonly type = 'array';
  readonly place: JsonPlace;
  readonly plain: readonly unknown[];
  #items: readonly Tree[] | undefined;

  constructor(place: JsonPlace, plain: readonly unknown[]) {
    this.place = place;
    this.plain = plain;
  }

  get items(): readonly Tree[] {
    this.#items ??= this.plain.map((item, index) => nodeOf(item, this.place.of(String(index), false)));
    return this.#items;
  }
}

function nodeOf(value: unknown, place: JsonPlace): Tree {
  if (Array.isArray(value)) return new JsonArray(place, value);
  if (isObject(value)) return new JsonObject(place, value);
  const scalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
  return { type: 'scalar', place, value: scalar };
}
