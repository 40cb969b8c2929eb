import type { ModelSettings } from './configured-model.ts';
import type { Origin } from './origin.ts';
import { ReferencedSecret } from './secret.ts';
import type { Survey } from './surveyed.ts';

/** Where a node stands in its source: 1-based, `length` in characters (1 for a container). */
export interface Place extends Origin {
  readonly length: number;
}

/** A place of which those further down can be told. */
export interface DeepPlace extends Place {
  of(key: string): DeepPlace;
}

/** One JSON value of a source with its place. Maps, not objects: `__proto__` is a key like any other. */
export type Tree = ObjectTree | ArrayTree | ScalarTree;

export interface ObjectTree {
  readonly type: 'object';
  readonly place: Place;
  readonly entries: ReadonlyMap<string, Entry>;
  /** What `plain` gives, where it is at hand. */
  readonly plain?: Readonly<Record<string, unknown>>;
  /** Of `plain` by the rule of a whole configuration, where it is at hand. */
  readonly survey?: Survey;
  /** Its members as models, those of which that is at hand. */
  readonly models?: ReadonlyMap<string, ModelSettings> | undefined;
  /** The place of a member of `plain`, without making its node. */
  placeOf?(key: string): Place;
  /** The value of a key, without making those of the others. */
  member?(key: string): Tree | undefined;
}

export interface ArrayTree {
  readonly type: 'array';
  readonly place: Place;
  readonly items: readonly Tree[];
  /** What `plain` gives, where it is at hand. */
  readonly plain?: readonly unknown[];
}

export interface ScalarTree {
  readonly type: 'scalar';
  readonly place: Place;
  readonly value: string | number | boolean | null;
  /** The text came, at least in part, through `{env:}` or `{file:}`: treat it as a secret. */
  readonly reference?: true;
}

export interface Entry {
  readonly key: Place;
  readonly value: Tree;
}

/** The value of a key, `undefined` where the tree is no object or lacks it. */
export function child(tree: Tree | undefined, key: string): Tree | undefined {
  if (tree?.type !== 'object') return undefined;
  return tree.member === undefined ? tree.entries.get(key)?.value : tree.member(key);
}

/** The node at a path, `undefined` where there is none. */
export function nodeAt(tree: Tree | undefined, path: readonly string[]): Tree | undefined {
  let at = tree;
  for (const key of path) at = at?.type === 'array' ? at.items[Number(key)] : child(at, key);
  return at;
}

export function entriesOf(tree: Tree | undefined): ReadonlyMap<string, Entry> {
  return tree?.type === 'object' ? tree.entries : new Map();
}

export function isNull(tree: Tree | undefined): boolean {
  return tree?.type === 'scalar' && tree.value === null;
}

/** A tree as a plain value, not to be changed; text that came through a reference is wrapped. */
export function plain(tree: ObjectTree): Readonly<Record<string, unknown>>;
export function plain(tree: Tree): unknown;
export function plain(tree: Tree): unknown {
  if (tree.type === 'array') return tree.plain ?? tree.items.map((item) => plain(item));
  if (tree.type === 'object') {
    // `fromEntries` defines its keys: an assignment to `__proto__` would change the prototype.
    return tree.plain ?? Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, plain(value)]));
  }
  if (tree.reference === undefined || typeof tree.value !== 'string') return tree.value;
  return new ReferencedSecret(tree.value, tree.place.source.trusted);
}

/** A copy without the node at `path`; the same tree if there is none. */
export function without(tree: ObjectTree, path: readonly string[]): ObjectTree {
  const [key, ...rest] = path;
  const entry = key === undefined ? undefined : tree.entries.get(key);
  if (key === undefined || entry === undefined) return tree;
  const entries = new Map(tree.entries);
  if (rest.length === 0) entries.delete(key);
  else if (entry.value.type === 'object') entries.set(key, { key: entry.key, value: without(entry.value, rest) });
  return { type: 'object', place: tree.place, entries };
}

/** A JSON value (an editor's setting, a property list) as a tree; every node stands at `place`. */
export function treeOf(value: unknown, place: Place): Tree | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return { type: 'scalar', place, value };
  }
  if (Array.isArray(value)) {
    return {
      type: 'array',
      place,
      items: value.map((item) => treeOf(item, place)).filter((item) => item !== undefined),
    };
  }
  if (typeof value !== 'object') return undefined;
  const entries = new Map<string, Entry>();
  for (const [key, item] of Object.entries(value)) {
    const node = treeOf(item, place);
    if (node !== undefined) entries.set(key, { key: place, value: node });
  }
  return { type: 'object', place, entries };
}

/** A copy with `value` at `path`, whose parents must be there; the same tree if they are not. */
export function withNode(tree: ObjectTree, path: readonly string[], value: Tree): ObjectTree {
  const [key, ...rest] = path;
  if (key === undefined) return tree;
  const entry = tree.entries.get(key);
  const entries = new Map(tree.entries);
  if (rest.length === 0) entries.set(key, { key: entry?.key ?? value.place, value });
  else if (entry?.value.type === 'object') entries.set(key, { ...entry, value: withNode(entry.value, rest, value) });
  return { type: 'object', place: tree.place, entries };
}
