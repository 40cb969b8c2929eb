import type { Origin } from './origin.ts';
import { entriesOf, nodeAt, type ObjectTree, type Place, type ScalarTree, type Tree } from './tree.ts';

/** A value that is in force. */
export interface SetValue {
  /** Keys and indexes down to it. */
  readonly path: readonly string[];
  readonly origin: Origin;
  /** Nothing of it may be shown: `value` is absent then. */
  readonly secret: boolean;
  /** As it may be shown. */
  readonly value?: string | number | boolean | null;
}

/** Keys whose texts are secrets wherever they stand: what a vendor calls its options is its own affair. */
export const LOOKS_SECRET = /key|token|secret|passw|auth|credential|cookie/i;

/** Every value that is in force, with the place in the source that it is from. Secrets stay inside. */
export class SetValues {
  readonly #tree: ObjectTree | undefined;

  constructor(tree?: ObjectTree) {
    this.#tree = tree;
  }

  /** The values at a path: one for a text, a number, a boolean or null, those inside for a list or an object. */
  at(path: readonly string[]): readonly SetValue[] {
    // Names of headers are read in lower case.
    const known = path.map((key, at) => (path[at - 1] === 'headers' ? key.toLowerCase() : key));
    const node = nodeAt(this.#tree, known);
    return node === undefined ? [] : [...below(node, known)];
  }

  /** Where the key of a member is written, `undefined` where nothing is in force there. */
  keyAt(path: readonly string[]): Place | undefined {
    return entriesOf(nodeAt(this.#tree, path.slice(0, -1))).get(path.at(-1) ?? '')?.key;
  }

  all(): readonly SetValue[] {
    return this.at([]);
  }
}

function* below(node: Tree, path: readonly string[]): Iterable<SetValue> {
  if (node.type === 'scalar') yield setValue(node, path);
  else if (node.type === 'array') for (const [at, item] of node.items.entries()) yield* below(item, [...path, `${at}`]);
  else for (const [key, { value }] of entriesOf(node)) yield* below(value, [...path, key]);
}

function setValue({ value, place: origin, reference }: ScalarTree, path: readonly string[]): SetValue {
  if (typeof value !== 'string') return { path, origin, secret: false, value };
  const secret = reference === true || path.some((key, at) => !isName(path, at) && LOOKS_SECRET.test(key));
  if (secret || path.includes('headers') || path.includes('byok')) return { path, origin, secret: true };
  // Keys are now and then put into an address's query.
  return { path, origin, secret: false, value: value.replace(/^(https?:[^?#]*)[?#].*$/s, '$1?…') };
}

/** Ids of providers and models are names that people give. */
function isName([root, , section]: readonly string[], at: number): boolean {
  return root === 'provider' && (at === 1 || (at === 3 && section === 'models'));
}
