import { isObject } from '../wire/json.ts';
import { isForbidden, isSettled } from './header-names.ts';
import { diagnosticAt } from './parse.ts';
import type { Diagnostic } from './settings.ts';
import {
  child,
  type Entry,
  entriesOf,
  nodeAt,
  type ObjectTree,
  type Place,
  plain,
  type Tree,
  withNode,
  without,
} from './tree.ts';

/**
 * Keys that decide where a provider's requests go. If one is there but cannot be used, its provider
 * gets `null` in its place, which stops requests: a key must not go to a default address because
 * the address that was meant is broken.
 */
export function decidesAddress(path: readonly string[]): boolean {
  const [section, , part, key] = path;
  if (section !== 'provider') return false;
  if (part === 'options') return key === 'baseURL' || key === 'fimURL' || key === 'resourceName';
  return part === 'npm' || part === 'api';
}

/** Puts `null` where an address is broken. */
export function markBroken(tree: ObjectTree, path: readonly string[], place: Place): ObjectTree {
  return withNode(tree, path, { type: 'scalar', place, value: null });
}

export interface Ruled {
  readonly tree: ObjectTree;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * What a source may not say (spec 5.8 and docs/configuration.md, "Trust"), and header names in one case.
 *
 * @param settled the names of all headers are known to be as they are sent.
 */
export function applySourceRules(tree: ObjectTree, trusted: boolean, settled = false): Ruled {
  const diagnostics: Diagnostic[] = [];
  let ruled = tree;
  if (!trusted) ruled = dropUntrusted(ruled, diagnostics);
  if (settled) return { tree: ruled, diagnostics };
  for (const [id, { value }] of entriesOf(child(ruled, 'provider'))) {
    const headers = child(child(value, 'options'), 'headers');
    if (headers !== undefined) ruled = lowerHeaders(ruled, ['provider', id, 'options', 'headers'], diagnostics);
    for (const key of modelsWithHeaders(child(value, 'models'))) {
      ruled = lowerHeaders(ruled, ['provider', id, 'models', key, 'headers'], diagnostics);
    }
  }
  return { tree: ruled, diagnostics };
}

function dropUntrusted(tree: ObjectTree, diagnostics: Diagnostic[]): ObjectTree {
  let kept = tree;
  const drop = (path: readonly string[], place: Place, code: string, message: string) => {
    diagnostics.push(diagnosticAt(place, 'warning', code, path.join('.'), message));
    kept = without(kept, path);
  };
  const gateway = tree.entries.get('gateway');
  if (gateway !== undefined) {
    drop(
      ['gateway'],
      gateway.key,
      'untrusted-gateway',
      'A project cannot configure the gateway; put this into your global svc.jsonc.',
    );
  }
  for (const [id, { value }] of entriesOf(child(tree, 'provider'))) {
    const env = entriesOf(value).get('env');
    if (env === undefined) continue;
    const message = 'A project cannot name environment variables to read; put this into your global svc.jsonc.';
    drop(['provider', id, 'env'], env.key, 'untrusted-env', message);
  }
  return kept;
}

function modelsWithHeaders(models: Tree | undefined): readonly string[] {
  if (models?.type !== 'object') return [];
  const found: string[] = [];
  const fields = plain(models);
  for (const key in fields) {
    const model = fields[key];
    if (isObject(model) && model.headers !== undefined) found.push(key);
  }
  return found;
}

function lowerHeaders(tree: ObjectTree, path: readonly string[], diagnostics: Diagnostic[]): ObjectTree {
  const node = nodeAt(tree, path);
  if (node?.type !== 'object') return tree;
  if ([...node.entries.keys()].every(isSettled)) return tree;
  const entries = new Map<string, Entry>();
  for (const [name, entry] of node.entries) {
    const lower = name.toLowerCase();
    if (isForbidden(lower)) {
      const key = [...path, name].join('.');
      const message = 'This header cannot be set: it decides where a request goes or ends.';
      diagnostics.push(diagnosticAt(entry.key, 'error', 'forbidden-header', key, message));
    } else entries.set(lower, entry);
  }
  return withNode(tree, path, { type: 'object', place: node.place, entries });
}
