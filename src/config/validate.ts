import { isObject, type JsonObject } from '../wire/json.ts';
import { branchFor, scalarFits, typeOf } from './fit.ts';
import { nearMisses } from './near-miss.ts';
import { diagnosticAt } from './parse.ts';
import { configurationRule, type Rule, TYPE_NAMES } from './schema-rules.ts';
import type { Diagnostic } from './settings.ts';
import { nodeAt, type ObjectTree, type Place, plain, without } from './tree.ts';

interface Finding {
  readonly path: readonly string[];
  /** Whether the value at the path is at fault, its key, or the object that lacks it. */
  readonly at: 'value' | 'key' | 'object';
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly suggestion?: string;
}

export interface Validated {
  /** The tree without its invalid entries. */
  readonly tree: ObjectTree;
  readonly diagnostics: readonly Diagnostic[];
  /** Keys at fault. */
  readonly removed: readonly { readonly path: readonly string[]; readonly place: Place }[];
}

/**
 * Checks one source by schemas/svc.schema.json, over plain values; a problem's place is looked up by its
 * path, and no schema library is loaded at run time. A bad entry is left out alone (`entryOf`), unknown
 * keys stay and warn.
 */
export function validate(tree: ObjectTree): Validated {
  const findings: Finding[] = [];
  check(plain(tree), configurationRule(), [], findings);
  let valid = tree;
  const removed: { path: readonly string[]; place: Place }[] = [];
  const diagnostics = findings.map((finding) => {
    const { path, severity, code, message, suggestion } = finding;
    const place = placeOf(finding, tree);
    if (severity === 'error') {
      removed.push({ path, place });
      valid = without(valid, entryOf(path));
    }
    return diagnosticAt(place, severity, code, path.join('.'), message, suggestion);
  });
  return { tree: valid, diagnostics, removed };
}

function placeOf({ path, at }: Finding, tree: ObjectTree): Place {
  const parent = at === 'value' ? undefined : nodeAt(tree, path.slice(0, -1));
  if (at === 'key' && parent?.type === 'object') return parent.entries.get(path.at(-1) ?? '')?.key ?? parent.place;
  return (parent ?? nodeAt(tree, path) ?? tree).place;
}

/** Members of `gateway` that are one value. */
const WHOLE = new Set(['listen', 'maxBodyBytes', 'maxBufferedBytes']);

/**
 * The smallest entry that can be left out by itself: a model, an option, a header, an organization,
 * else the key of its section.
 */
export function entryOf(path: readonly string[]): readonly string[] {
  const [section, , part] = path;
  if (section === 'provider') {
    if (part === 'models') return path.slice(0, 4);
    if (part === 'options') return path.slice(0, path[3] === 'headers' ? 5 : 4);
    return path.slice(0, 3);
  }
  if (section === 'gateway') return path.slice(0, WHOLE.has(path[1] ?? '') ? 2 : 3);
  return path.slice(0, 1);
}

/** `path` is the path of the moment; a finding keeps a copy. */
function check(value: unknown, rule: Rule, path: string[], findings: Finding[]): void {
  const type = typeOf(value);
  const branch = branchFor(value, type, rule);
  if (branch === undefined || !scalarFits(value, type, branch)) {
    findings.push(invalidValue(value, type, rule, path));
    return;
  }
  if (branch.open) {
    if (branch.items !== undefined && Array.isArray(value)) checkItems(value, branch.items, path, findings);
  } else if (type === 'object' && isObject(value)) checkObject(value, branch, path, findings);
}

function invalidValue(value: unknown, type: string, rule: Rule, path: readonly string[]): Finding {
  const known = (rule.choices ?? []).filter((choice) => typeof choice === 'string');
  const [suggestion] = typeof value === 'string' ? nearMisses(value, known) : [];
  const hint = suggestion === undefined ? '' : ` Did you mean ${JSON.stringify(suggestion)}?`;
  const message = expectation(rule, type, path) + hint;
  const finding: Finding = { path: [...path], at: 'value', severity: 'error', code: 'invalid-value', message };
  return suggestion === undefined ? finding : { ...finding, suggestion };
}

function checkItems(list: readonly unknown[], rule: Rule, path: string[], findings: Finding[]): void {
  for (let index = 0; index < list.length; index += 1) {
    const value = list[index];
    if (typeof value === 'string' && rule.choices?.includes(value)) continue;
    path.push(String(index));
    check(value, rule, path, findings);
    path.pop();
  }
}

function checkObject(value: JsonObject, rule: Rule, path: string[], findings: Finding[]): void {
  if (rule.required !== undefined) checkRequired(value, rule.required, path, findings);
  const { members, rest, names } = rule;
  for (const key in value) {
    const next = members.get(key) ?? rest;
    const member = value[key];
    path.push(key);
    if (next && names === undefined) check(member, next, path, findings);
    else checkMember(key, member, rule, path, findings);
    path.pop();
  }
}

function checkRequired(value: JsonObject, keys: readonly string[], path: string[], findings: Finding[]): void {
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] ?? '';
    if (Object.hasOwn(value, key)) continue;
    const message = `\`${key}\` is missing.`;
    findings.push({ path: [...path, key], at: 'object', severity: 'error', code: 'missing-key', message });
  }
}

function checkMember(key: string, value: unknown, rule: Rule, path: string[], findings: Finding[]): void {
  if (rule.names !== undefined && !rule.names.test(key)) {
    const message = 'This is not a name that can be sent.';
    findings.push({ path: [...path], at: 'key', severity: 'error', code: 'invalid-name', message });
    return;
  }
  const next = rule.members.get(key) ?? rule.rest;
  if (next === false) findings.push(unknownKey(path, rule.members.keys()));
  else if (next !== undefined) check(value, next, path, findings);
}

function unknownKey(path: readonly string[], known: Iterable<string>): Finding {
  const [suggestion] = nearMisses(path.at(-1) ?? '', known);
  const hint = suggestion === undefined ? '' : ` Did you mean \`${suggestion}\`?`;
  return {
    path: [...path],
    at: 'key',
    severity: 'warning',
    code: 'unknown-key',
    message: `This key is not known and changes nothing.${hint}`,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** Says what is expected; never repeats the value, which may be a secret. */
function expectation(rule: Rule, type: string, path: readonly string[]): string {
  const index = Number(path.at(-1));
  const where = Number.isInteger(index) && path.length > 1 ? `Item ${index} must be` : 'This must be';
  return `${where} ${rule.expected}, and is ${described(type)}.`;
}

function described(type: string): string {
  const name = TYPE_NAMES[type] ?? type;
  return type === 'string' || type === 'number' ? `${name} that does not fit` : name;
}
