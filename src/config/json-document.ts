import { isObject } from '../wire/json.ts';
import { bareJson } from './bare-json.ts';
import type { ModelSettings } from './configured-model.ts';
import type { Source } from './origin.ts';
import { configurationRule } from './schema-rules.ts';
import { survey } from './survey.ts';
import type { Survey } from './surveyed.ts';
import {
  type ArrayTree,
  child,
  type DeepPlace,
  type Entry,
  entriesOf,
  type ObjectTree,
  type Place,
  type Tree,
} from './tree.ts';

/**
 * Takes what the engine's own parser has read, several times faster than any that notes where things stand.
 * Nodes are made when they are looked at, places when one is asked for, from `positions`: the same text read
 * by a parser that notes them. `undefined` for whatever the engine's parser would not tell: an error, a key
 * written twice, keys in another order than written, deep nesting, no object.
 */
export function readJson(
  read: EngineRead | undefined,
  source: Source,
  maxDepth: number,
  positions: () => ObjectTree | undefined,
): ObjectTree | undefined {
  if (read === undefined || !isObject(read.value)) return undefined;
  const { json, value } = read;
  // JavaScript puts keys that are integers before all others; a digit may be written as an escape.
  if (json.includes('\\u003') || /"(?:\d+"|\s+):/.test(json)) return undefined;
  const models = (container: object) => surveyed.models.get(container);
  const place = new JsonPlace({ source, nodeOf: once(positions), models }, '');
  const surveyed = survey(value, configurationRule(), maxDepth, place);
  // A key that is written again is dropped, and its colon is not. (One in a text only sends it the other way.)
  if (surveyed.tooDeep || surveyed.keys !== keysWritten(json)) return undefined;
  return new JsonObject(place, value, surveyed);
}

const PIECE = 16 * 1024;

/** How often a colon stands behind a quote. In pieces: a list of all of them is so large that it sets off a collection. */
function keysWritten(json: string): number {
  let keys = 0;
  for (let start = 0; start < json.length; ) {
    const end = json.startsWith('":', start + PIECE - 1) ? start + PIECE + 1 : start + PIECE;
    keys += json.slice(start, end).match(/":/g)?.length ?? 0;
    start = end;
  }
  return keys;
}

/** What the engine's parser makes of a text, and the text that it was given in the end. */
export interface EngineRead {
  readonly json: string;
  readonly value: unknown;
}

/** The half of the work that is done by the engine. `undefined` where it finds an error. */
export function readByEngine(text: string): EngineRead | undefined {
  return parsed(text) ?? parsed(bareJson(text));
}

function parsed(json: string | undefined): EngineRead | undefined {
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

/** What has members of which the places can be looked up. */
interface Above {
  readonly source: Source;
  nodeOf(key: string): Tree | undefined;
  /** The members of an object of the document as models. */
  models(container: object): ReadonlyMap<string, ModelSettings> | undefined;
}

/** A place that is looked up, by the way down to it, when its line is asked for. Most are never asked. */
class JsonPlace implements DeepPlace, Above {
  readonly #above: Above;
  readonly #key: string;

  constructor(above: Above, key: string) {
    this.#above = above;
    this.#key = key;
  }

  get source(): Source {
    return this.#above.source;
  }

  get line(): number {
    return this.#node()?.place.line ?? 1;
  }

  get column(): number {
    return this.#node()?.place.column ?? 1;
  }

  get length(): number {
    return this.#node()?.place.length ?? 1;
  }

  nodeOf(key: string): Tree | undefined {
    const node = this.#node();
    return node?.type === 'array' ? node.items[Number(key)] : child(node, key);
  }

  of(key: string): JsonPlace {
    return new JsonPlace(this, key);
  }

  models(container: object): ReadonlyMap<string, ModelSettings> | undefined {
    return this.#above.models(container);
  }

  keyOf(key: string): Place | undefined {
    return entriesOf(this.#node()).get(key)?.key;
  }

  #node(): Tree | undefined {
    return this.#above.nodeOf(this.#key);
  }
}

/** As `JsonPlace`, of a key. */
class JsonKeyPlace implements Place {
  readonly #object: JsonPlace;
  readonly #key: string;

  constructor(object: JsonPlace, key: string) {
    this.#object = object;
    this.#key = key;
  }

  get source(): Source {
    return this.#object.source;
  }

  get line(): number {
    return this.#object.keyOf(this.#key)?.line ?? 1;
  }

  get column(): number {
    return this.#object.keyOf(this.#key)?.column ?? 1;
  }

  get length(): number {
    return this.#object.keyOf(this.#key)?.length ?? 1;
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

  get models(): ReadonlyMap<string, ModelSettings> | undefined {
    return this.place.models(this.plain);
  }

  placeOf(key: string): Place {
    return this.place.of(key);
  }

  member(key: string): Tree | undefined {
    if (this.#entries !== undefined) return this.#entries.get(key)?.value;
    return Object.hasOwn(this.plain, key) ? nodeOf(this.plain[key], this.place.of(key)) : undefined;
  }

  #made(): ReadonlyMap<string, Entry> {
    const { place, plain } = this;
    const entries = new Map<string, Entry>();
    for (const key in plain) {
      entries.set(key, { key: new JsonKeyPlace(place, key), value: nodeOf(plain[key], place.of(key)) });
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
    this.#items ??= this.plain.map((item, index) => nodeOf(item, this.place.of(String(index))));
    return this.#items;
  }
}

function nodeOf(value: unknown, place: JsonPlace): Tree {
  if (Array.isArray(value)) return new JsonArray(place, value);
  if (isObject(value)) return new JsonObject(place, value);
  const scalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
  return { type: 'scalar', place, value: scalar };
}
