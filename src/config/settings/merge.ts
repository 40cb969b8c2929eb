import type { Entry, ObjectTree, Tree } from './tree.ts';

/**
 * Merges `over` into `under`. Objects are merged key by key; everything else (arrays, scalars, `null`) is replaced.
 * Keys keep the order of their first appearance.
 */
export function merge(under: ObjectTree, over: ObjectTree): ObjectTree {
  const entries = new Map<string, Entry>(under.entries);
  for (const [key, entry] of over.entries) {
    const below = entries.get(key);
    entries.set(key, below === undefined ? entry : { key: entry.key, value: mergeValue(below.value, entry.value) });
  }
  return { type: 'object', place: over.place, entries };
}

function mergeValue(under: Tree, over: Tree): Tree {
  return under.type === 'object' && over.type === 'object' ? merge(under, over) : over;
}
