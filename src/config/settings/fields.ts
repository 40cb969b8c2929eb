import type { Credential, Located } from './origin.ts';
import { ReferencedSecret, Secret } from './secret.ts';
import { getEntries, type Tree } from './tree.ts';

/** The value if it is text, including text from a reference. */
export function text(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof ReferencedSecret ? value.reveal() : undefined;
}

/** The value if it is a number. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The value if it is `true` or `false`. */
export function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** The texts of a list. */
export function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.map(text).filter((item) => item !== undefined) : undefined;
}

/** A text and its position; `undefined` if it is missing or empty. */
export function located(node: Tree | undefined): Located<string> | undefined {
  if (node?.type !== 'scalar' || typeof node.value !== 'string' || node.value === '') return undefined;
  const { value, place } = node;
  if (node.reference === undefined) return { value, origin: place };
  const hidden: Located<string> = { value, origin: place, reference: true };
  return Object.defineProperty(hidden, 'value', { enumerable: false });
}

/** A secret and its position; `undefined` if it is missing or empty. */
export function credential(node: Tree | undefined): Credential | undefined {
  if (node?.type !== 'scalar' || typeof node.value !== 'string' || node.value === '') return undefined;
  return { secret: new Secret(node.value), origin: node.place, trusted: node.place.source.trusted };
}

/** Reads each text of an object as a credential, for example headers or keys by provider. */
export function credentials(node: Tree | undefined): ReadonlyMap<string, Credential> {
  const found = new Map<string, Credential>();
  for (const [name, { value }] of getEntries(node)) {
    const each = credential(value);
    if (each !== undefined) found.set(name, each);
  }
  return found;
}
