import type { Diagnostic } from '../settings/settings.ts';
import {
  child,
  type Entry,
  getEntries,
  nodeAt,
  type ObjectTree,
  type Place,
  type Replacement,
  replaceNodes,
  type Tree,
} from '../settings/tree.ts';
import { isForbidden, isReservedHeader } from './header-names.ts';
import { diagnosticAt } from './parse.ts';

/**
 * Keys that determine the address of a provider's requests. If such a key has an invalid value, the provider gets
 * `null` instead, which stops its requests: an API key must not be sent to a default address because the intended
 * address is invalid.
 */
export function decidesAddress(path: readonly string[]): boolean {
  const [section, , part, key] = path;
  if (section !== 'provider') return false;
  if (part === 'options') return key === 'baseURL' || key === 'fimURL' || key === 'resourceName';
  return part === 'npm' || part === 'api';
}

/** Replaces an invalid address with `null`. */
export function brokenAddress({
  path,
  place,
}: {
  readonly path: readonly string[];
  readonly place: Place;
}): Replacement {
  return { path, node: { type: 'scalar', place, value: null } };
}

export interface RestrictedTree {
  readonly tree: ObjectTree;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Removes the settings that a source must not set (spec 5.8 and docs/configuration.md, "Trust"), and converts header
 * names to lower case.
 */
export function applySourceRules(tree: ObjectTree, trusted: boolean): RestrictedTree {
  const diagnostics: Diagnostic[] = [];
  const allowed = trusted ? tree : dropUntrusted(tree, diagnostics);
  const replacements: Replacement[] = [];
  const lower = (node: Tree | undefined, path: readonly string[]) => {
    const headers = lowerHeaders(node, path, diagnostics);
    if (headers !== undefined) replacements.push({ path, node: headers });
  };
  for (const [id, { value }] of getEntries(child(allowed, 'provider'))) {
    lower(nodeAt(value, ['options', 'headers']), ['provider', id, 'options', 'headers']);
    for (const [key, model] of getEntries(child(value, 'models'))) {
      lower(child(model.value, 'headers'), ['provider', id, 'models', key, 'headers']);
    }
  }
  return { tree: replaceNodes(allowed, replacements), diagnostics };
}

function dropUntrusted(tree: ObjectTree, diagnostics: Diagnostic[]): ObjectTree {
  const dropped: Replacement[] = [];
  const drop = (path: readonly string[], place: Place, code: string, message: string) => {
    diagnostics.push(diagnosticAt(place, 'warning', code, path.join('.'), message));
    dropped.push({ path, node: undefined });
  };
  const gateway = tree.entries.get('gateway');
  if (gateway !== undefined) {
    drop(
      ['gateway'],
      gateway.key,
      'untrusted-gateway',
      'A project cannot configure the gateway; put this setting into your global svc.jsonc.',
    );
  }
  const localOnly = tree.entries.get('localOnly');
  if (localOnly !== undefined) {
    const message = 'A project cannot set localOnly; put this setting into your global svc.jsonc.';
    drop(['localOnly'], localOnly.key, 'untrusted-local-only', message);
  }
  for (const [id, { value }] of getEntries(child(tree, 'provider'))) {
    const env = getEntries(value).get('env');
    if (env === undefined) continue;
    const message = 'A project cannot name environment variables to read; put this setting into your global svc.jsonc.';
    drop(['provider', id, 'env'], env.key, 'untrusted-env', message);
  }
  return replaceNodes(tree, dropped);
}

/** Returns `undefined` if nothing changes. */
function lowerHeaders(
  node: Tree | undefined,
  path: readonly string[],
  diagnostics: Diagnostic[],
): ObjectTree | undefined {
  if (node?.type !== 'object' || [...node.entries.keys()].every(isReservedHeader)) return undefined;
  const entries = new Map<string, Entry>();
  for (const [name, entry] of node.entries) {
    const lower = name.toLowerCase();
    if (isForbidden(lower)) {
      const key = [...path, name].join('.');
      const message = 'This header cannot be set: it determines where a request is sent or where it ends.';
      diagnostics.push(diagnosticAt(entry.key, 'error', 'forbidden-header', key, message));
    } else entries.set(lower, entry);
  }
  return { type: 'object', place: node.place, entries };
}
