import type { Origin } from './origin.ts';
import { ReferencedSecret } from './secret.ts';

/** The position of a node in its source: 1-based; `length` is in characters (1 for a container). */
export interface Place extends Origin {
  readonly length: number;
}

/** One JSON value of a source with its position. Objects are Maps, so that `__proto__` is an ordinary key. */
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
  /** The references in the text, such as `{env:NAME}`: treat the text as a secret. Their names are not secret. */
  readonly reference?: string;
}

export interface Entry {
  readonly key: Place;
  readonly value: Tree;
}

/** The value of a key, `undefined` if the tree is not an object or has no such key. */
export function child(tree: Tree | undefined, key: string): Tree | undefined {
  return tree?.type === 'object' ? tree.entries.get(key)?.value : undefined;
}

/** The node at a path, `undefined` if there is none. */
export function nodeAt(tree: Tree | undefined, path: readonly string[]): Tree | undefined {
  let at = tree;
  for (const key of path) at = at?.type === 'array' ? at.items[Number(key)] : child(at, key);
  return at;
}

export function getEntries(tree: Tree | undefined): ReadonlyMap<string, Entry> {
  return tree?.type === 'object' ? tree.entries : new Map();
}

export function isNull(tree: Tree | undefined): boolean {
  return tree?.type === 'scalar' && tree.value === null;
}

/** Converts a tree to a plain value. Text from a reference is wrapped. */
export function plain(tree: ObjectTree): Readonly<Record<string, unknown>>;
export function plain(tree: Tree): unknown;
export function plain(tree: Tree): unknown {
  if (tree.type === 'array') return tree.items.map((item) => plain(item));
  if (tree.type === 'object') {
    const fields: Record<string, unknown> = {};
    for (const [key, { value }] of tree.entries) {
      // An assignment to `__proto__` would change the prototype.
      if (key === '__proto__') Object.defineProperty(fields, key, { value: plain(value), enumerable: true });
      else fields[key] = plain(value);
    }
    return fields;
  }
  if (tree.reference === undefined || typeof tree.value !== 'string') return tree.value;
  return new ReferencedSecret(tree.value, tree.place.source.trusted);
}

/** Converts a tree to a plain value for zod, with text from references as it is. */
export function toPlainValue(tree: Tree): unknown {
  if (tree.type === 'scalar') return tree.value;
  if (tree.type === 'array') return tree.items.map(toPlainValue);
  const fields: Record<string, unknown> = {};
  for (const [key, { value }] of tree.entries) fields[escapedKey(key)] = toPlainValue(value);
  return fields;
}

/**
 * zod ignores a key `__proto__`, but it must be checked like any other. Each key that starts with `__proto__` gets a
 * `~` at its end.
 */
export function escapedKey(key: string): string {
  return key.startsWith('__proto__') ? `${key}~` : key;
}

export function unescapedKey(key: PropertyKey): string {
  const name = String(key);
  return name.startsWith('__proto__') ? name.slice(0, -1) : name;
}

/** Converts a JSON value (an editor setting, a property list) to a tree. Every node gets the position `place`. */
export function toTree(value: unknown, place: Place): Tree | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return { type: 'scalar', place, value };
  }
  if (Array.isArray(value)) {
    return {
      type: 'array',
      place,
      items: value.map((item) => toTree(item, place)).filter((item) => item !== undefined),
    };
  }
  if (typeof value !== 'object') return undefined;
  const entries = new Map<string, Entry>();
  for (const [key, item] of Object.entries(value)) {
    const node = toTree(item, place);
    if (node !== undefined) entries.set(key, { key: place, value: node });
  }
  return { type: 'object', place, entries };
}

/** A part of a configuration that can be processed separately, so that other work can run in between. */
export interface Section {
  readonly path: readonly string[];
  readonly tree: Tree;
}

/** Yields each top-level member and each provider. */
export function* sectionsOf(tree: ObjectTree): Iterable<Section> {
  for (const [key, { value }] of tree.entries) {
    if (key !== 'provider' || value.type !== 'object') yield { path: [key], tree: value };
    else for (const [id, provider] of value.entries) yield { path: [key, id], tree: provider.value };
  }
}

/** A new node for a path; `undefined` removes the node. */
export interface Replacement {
  readonly path: readonly string[];
  readonly node: Tree | undefined;
}

/** The replacements at a node and below it. */
interface Branch {
  replacement?: Replacement;
  readonly below: Map<string, Branch>;
}

/**
 * A copy with all replacements. Their parents must exist. If two have the same path, the last one is used. A
 * replacement overrides those below it. Each container is copied only once: one copy per replacement would take
 * quadratic time for a large object.
 */
export function replaceNodes(tree: ObjectTree, replacements: readonly Replacement[]): ObjectTree {
  return replacements.length === 0 ? tree : replaceMembers(tree, groupReplacements(replacements));
}

function groupReplacements(replacements: readonly Replacement[]): Branch {
  const root: Branch = { below: new Map() };
  for (const replacement of replacements) {
    let at = root;
    for (const key of replacement.path) {
      let next = at.below.get(key);
      if (next === undefined) {
        next = { below: new Map() };
        at.below.set(key, next);
      }
      at = next;
    }
    at.replacement = replacement;
  }
  return root;
}

function replaceMembers(tree: ObjectTree, { below }: Branch): ObjectTree {
  const entries = new Map(tree.entries);
  for (const [key, branch] of below) {
    const entry = tree.entries.get(key);
    const value = replaced(entry?.value, branch);
    if (value === undefined) entries.delete(key);
    else entries.set(key, { key: entry?.key ?? value.place, value });
  }
  return { type: 'object', place: tree.place, entries };
}

function replaced(tree: Tree | undefined, branch: Branch): Tree | undefined {
  if (branch.replacement !== undefined) return branch.replacement.node;
  if (tree?.type === 'object') return replaceMembers(tree, branch);
  return tree?.type === 'array' ? { ...tree, items: replaceItems(tree.items, branch) } : tree;
}

function replaceItems(items: readonly Tree[], { below }: Branch): readonly Tree[] {
  return items.flatMap((item, index) => {
    const branch = below.get(String(index));
    return branch === undefined ? [item] : (replaced(item, branch) ?? []);
  });
}

/**
 * Merges `over` into `under`. Objects are merged key by key; everything else (arrays, scalars, `null`) is replaced.
 * Keys keep the order of their first appearance.
 */
export function mergeTrees(under: ObjectTree, over: ObjectTree): ObjectTree {
  const entries = new Map<string, Entry>(under.entries);
  for (const [key, entry] of over.entries) {
    const below = entries.get(key);
    entries.set(key, below === undefined ? entry : { key: entry.key, value: mergeValue(below.value, entry.value) });
  }
  return { type: 'object', place: over.place, entries };
}

function mergeValue(under: Tree, over: Tree): Tree {
  return under.type === 'object' && over.type === 'object' ? mergeTrees(under, over) : over;
}
