import { hash } from 'node:crypto';
import type { Located } from './origin.ts';
import {
  child,
  getEntries,
  isNull,
  nodeAt,
  type ObjectTree,
  type Place,
  plain,
  type Replacement,
  replaceNodes,
  type Tree,
} from './tree.ts';

/** A setting of a project that is not used until the user has allowed the project's folder. */
export interface WaitingChange {
  /** Dotted key, `provider.p.options.baseURL`. */
  readonly key: string;
  /** The same as its parts, which may contain dots. */
  readonly path: readonly string[];
  readonly origin: Located<unknown>['origin'];
  /** SHA-256 of the value in hexadecimal. An answer about one value is not an answer about another. */
  readonly digest: string;
}

/** @param value as JSON. */
export function digestValue(value: unknown): string {
  return hash('sha256', JSON.stringify(value));
}

/** The settings of a project for one provider of the user. */
export interface ProjectPart {
  /** The part that is used without an answer. */
  readonly permitted: ObjectTree;
  readonly waiting: readonly WaitingChange[];
}

/**
 * Splits the settings of a project for a provider of the user (docs/configuration.md, "Trust"). Without an answer, it may
 * name the provider and its models, set limits, and hide models. All else changes where a request goes, its content,
 * its model or its price.
 *
 * @param project the provider in the project's sources.
 * @param effective the same in all sources: a value that a trusted source overrides is not the project's.
 * @param own the same in trusted sources; absent: the user has only a key for the provider.
 */
export function splitProjectPart(
  id: string,
  project: ObjectTree,
  effective: Tree | undefined,
  own: Tree | undefined,
): ProjectPart {
  const removed: Replacement[] = [];
  const waiting: WaitingChange[] = [];
  for (const { path, leaf } of leaves(project, [])) {
    const used = nodeAt(effective, path);
    if (used !== undefined && !used.place.source.trusted && isPermitted(path, leaf, own)) continue;
    removed.push({ path, node: undefined });
    const [part, key] = path;
    // A model of the project's own, without the fields that wait, would be another model.
    const added = part === 'models' && key !== undefined && nodeAt(own, [part, key]) === undefined;
    if (added) removed.push({ path: [part, key], node: undefined });
    if (used === undefined || used.place.source.trusted) continue;
    const full = ['provider', id, ...path];
    waiting.push({ key: full.join('.'), path: full, origin: originOf(leaf.place), digest: digestValue(plain(leaf)) });
  }
  return { permitted: replaceNodes(project, removed), waiting };
}

function originOf({ source, line, column }: Place): WaitingChange['origin'] {
  return { source, line, column };
}

interface Leaf {
  readonly path: readonly string[];
  readonly leaf: Tree;
}

/** Lists are replaced as a whole, as in a merge. */
function* leaves(tree: ObjectTree, path: readonly string[]): Iterable<Leaf> {
  for (const [key, { value }] of getEntries(tree)) {
    const at = [...path, key];
    if (value.type === 'object') yield* leaves(value, at);
    else yield { path: at, leaf: value };
  }
}

/** A list of models may be narrowed once, and not replaced: a project must not show models that the user has hidden. */
function isPermitted(path: readonly string[], leaf: Tree, own: Tree | undefined): boolean {
  const [part, , field] = path;
  if (path.length === 0 || part === 'name') return true;
  if (part === 'whitelist' || part === 'blacklist') return child(own, part) === undefined;
  if (part !== 'models') return false;
  if (path.length === 2) return isNull(leaf);
  return field === 'name' || field === 'limit';
}
