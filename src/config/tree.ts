import type { Origin } from './settings.ts';

/** Where a node stands in its source: 1-based, `length` in characters (1 for a container). */
export interface Place extends Origin {
  readonly length: number;
}

/** One JSON value of a source with its place. Maps, not objects: `__proto__` is a key like any other. */
export type Tree = ObjectTree | ArrayTree | ScalarTree;

export interface ObjectTree {
  readonly type: 'object';
  readonly place: Place;
  readonly entries: ReadonlyMap<string, Entry>;
}

export interface ArrayTree {
  readonly type: 'array';
  readonly place: Place;
  readonly items: readonly Tree[];
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
  return tree?.type === 'object' ? tree.entries.get(key)?.value : undefined;
}

export function entriesOf(tree: Tree | undefined): ReadonlyMap<string, Entry> {
  return tree?.type === 'object' ? tree.entries : new Map();
}

export function isNull(tree: Tree | undefined): boolean {
  return tree?.type === 'scalar' && tree.value === null;
}

/** The JSON type of a node as a schema names it. */
export function typeName(tree: Tree): 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' {
  if (tree.type !== 'scalar') return tree.type;
  if (tree.value === null) return 'null';
  const name = typeof tree.value;
  return name === 'string' || name === 'number' ? name : 'boolean';
}

/** A copy without the node at `path`; the same tree if there is none. */
export function without(tree: ObjectTree, path: readonly string[]): ObjectTree {
  const [key, ...rest] = path;
  const entry = key === undefined ? undefined : tree.entries.get(key);
  if (key === undefined || entry === undefined) return tree;
  const entries = new Map(tree.entries);
  if (rest.length === 0) entries.delete(key);
  else if (entry.value.type === 'object') entries.set(key, { key: entry.key, value: without(entry.value, rest) });
  return { ...tree, entries };
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
  return { ...tree, entries };
}
