import { defined } from '../../base/json.ts';
import type { Origin } from './origin.ts';
import { getEntries, nodeAt, type ObjectTree, type Place, type ScalarTree, type Tree } from './tree.ts';

/** An active value. */
export interface SetValue {
  /** Keys and indexes from the root. */
  readonly path: readonly string[];
  readonly origin: Origin;
  /** The value must not be shown: `value` is absent. */
  readonly secret: boolean;
  /** The references of a secret value, such as `{env:NAME}`. */
  readonly reference?: string;
  /** The displayable value. */
  readonly value?: string | number | boolean | null;
}

/** Keys whose texts are treated as secrets at any position, because vendors choose the names of their options. */
export const LOOKS_SECRET = /key|token|secret|passw|auth|credential|cookie/i;

/** All their texts are secrets. */
const HIDDEN_PARTS = ['headers', 'byok', 'queryParams'];

/** Every active value with its position in the source. Secrets are not exposed. */
export class SetValues {
  readonly #tree: ObjectTree | undefined;

  constructor(tree?: ObjectTree) {
    this.#tree = tree;
  }

  /** The values at a path: one for a scalar, all inner values for a list or an object. */
  at(path: readonly string[]): readonly SetValue[] {
    // Header names are stored in lower case.
    const known = path.map((key, at) => (path[at - 1] === 'headers' ? key.toLowerCase() : key));
    const node = nodeAt(this.#tree, known);
    return node === undefined ? [] : [...below(node, known)];
  }

  /** The position of a member's key, `undefined` if there is no active value. */
  keyAt(path: readonly string[]): Place | undefined {
    return getEntries(nodeAt(this.#tree, path.slice(0, -1))).get(path.at(-1) ?? '')?.key;
  }

  all(): readonly SetValue[] {
    return this.at([]);
  }
}

function* below(node: Tree, path: readonly string[]): Iterable<SetValue> {
  if (node.type === 'scalar') yield setValue(node, path);
  else if (node.type === 'array') for (const [at, item] of node.items.entries()) yield* below(item, [...path, `${at}`]);
  else for (const [key, { value }] of getEntries(node)) yield* below(value, [...path, key]);
}

function setValue({ value, place: origin, reference }: ScalarTree, path: readonly string[]): SetValue {
  if (typeof value !== 'string') return { path, origin, secret: false, value };
  if (reference !== undefined || isSecretPlace(path)) return { path, origin, secret: true, ...defined({ reference }) };
  // Some users put a key into the query of an address.
  return { path, origin, secret: false, value: value.replace(/^(https?:[^?#]*)[?#].*$/s, '$1?…') };
}

/** Whether values at a path are treated as secrets. */
export function isSecretPlace(path: readonly string[]): boolean {
  return path.some((key, at) => HIDDEN_PARTS.includes(key) || (!isName(path, at) && LOOKS_SECRET.test(key)));
}

/** Ids of providers and models are chosen by the user, so they do not mark a secret. */
function isName([root, , section]: readonly string[], at: number): boolean {
  return root === 'provider' && (at === 1 || (at === 3 && section === 'models'));
}
