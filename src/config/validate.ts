import configJsonSchema from '../../schemas/svc.schema.json' with { type: 'json' };
import { nearMisses } from './near-miss.ts';
import { diagnosticAt } from './parse.ts';
import type { Diagnostic } from './settings.ts';
import { type Entry, type ObjectTree, type Place, type Tree, typeName, without } from './tree.ts';

/**
 * The part of JSON Schema that schemas/svc.schema.json is written in. It is interpreted over the
 * tree, so every problem has its place and no schema library is loaded at run time.
 */
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  /** What a person should write instead, from the zod schema's `expected`. */
  readonly expected?: string;
}

const ROOT: Schema = configJsonSchema;

interface Finding {
  readonly path: readonly string[];
  readonly place: Place;
  readonly diagnostic: Diagnostic;
}

export interface Validated {
  /** The tree without its invalid entries. */
  readonly tree: ObjectTree;
  readonly diagnostics: readonly Diagnostic[];
  /** Keys at fault. */
  readonly removed: readonly { readonly path: readonly string[]; readonly place: Place }[];
}

/** Checks one source. A bad entry is left out alone (`entryOf`), unknown keys stay and warn. */
export function validate(tree: ObjectTree): Validated {
  const findings: Finding[] = [];
  check(tree, ROOT, [], findings);
  let valid = tree;
  const removed: { path: readonly string[]; place: Place }[] = [];
  for (const { path, place, diagnostic } of findings) {
    if (diagnostic.severity !== 'error') continue;
    removed.push({ path, place });
    valid = without(valid, entryOf(path));
  }
  return { tree: valid, diagnostics: findings.map(({ diagnostic }) => diagnostic), removed };
}

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
  if (section === 'gateway') return path.slice(0, path[1] === 'listen' || path[1] === 'maxBodyBytes' ? 2 : 3);
  return path.slice(0, 1);
}

/** `path` is the path of the moment; a finding keeps a copy. */
function check(tree: Tree, schema: Schema, path: string[], findings: Finding[]): void {
  const branch = branchFor(tree, schema);
  if (branch === undefined || !scalarFits(tree, branch)) {
    report(tree.place, 'error', 'invalid-value', path, expectation(schema, tree, path), findings);
    return;
  }
  if (tree.type === 'object') checkObject(tree, branch, path, findings);
  if (tree.type === 'array' && branch.items !== undefined) {
    for (const [index, item] of tree.items.entries()) {
      path.push(String(index));
      check(item, branch.items, path, findings);
      path.pop();
    }
  }
}

function checkObject(tree: ObjectTree, schema: Schema, path: string[], findings: Finding[]): void {
  for (const key of schema.required ?? []) {
    if (!tree.entries.has(key)) {
      report(tree.place, 'error', 'missing-key', [...path, key], `\`${key}\` is missing.`, findings);
    }
  }
  // A schema that says nothing of its members lets all of them be.
  if (schema.properties === undefined && schema.propertyNames === undefined && !isSchema(schema.additionalProperties)) {
    if (schema.additionalProperties !== false) return;
  }
  tree.entries.forEach((entry, key) => {
    path.push(key);
    checkEntry(key, entry, schema, path, findings);
    path.pop();
  });
}

/** A schema that can find fault: `true` and `{}` cannot. */
function isSchema(schema: Schema | boolean | undefined): schema is Schema {
  if (typeof schema !== 'object') return false;
  for (const _ in schema) return true;
  return false;
}

function checkEntry(key: string, entry: Entry, schema: Schema, path: string[], findings: Finding[]): void {
  if (schema.propertyNames !== undefined && !nameFits(key, schema.propertyNames)) {
    report(entry.key, 'error', 'invalid-name', path, 'This is not a name that can be sent.', findings);
    return;
  }
  const known =
    schema.properties !== undefined && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  const next = known ?? schema.additionalProperties;
  if (next === false) reportUnknown(entry.key, path, Object.keys(schema.properties ?? {}), findings);
  else if (typeof next === 'object') check(entry.value, next, path, findings);
}

function nameFits(name: string, schema: Schema): boolean {
  return schema.pattern === undefined || patternOf(schema.pattern).test(name);
}

function reportUnknown(place: Place, path: readonly string[], known: readonly string[], findings: Finding[]): void {
  const [suggestion] = nearMisses(path.at(-1) ?? '', known);
  const hint = suggestion === undefined ? '' : ` Did you mean \`${suggestion}\`?`;
  report(
    place,
    'warning',
    'unknown-key',
    path,
    `This key is not known and changes nothing.${hint}`,
    findings,
    suggestion,
  );
}

function report(
  place: Place,
  severity: 'error' | 'warning',
  code: string,
  path: readonly string[],
  message: string,
  findings: Finding[],
  suggestion?: string,
): void {
  findings.push({
    path: [...path],
    place,
    diagnostic: diagnosticAt(place, severity, code, path.join('.'), message, suggestion),
  });
}

/** The alternative of a schema that the value's JSON type picks. */
function branchFor(tree: Tree, schema: Schema): Schema | undefined {
  if (schema.anyOf === undefined) return fits(tree, schema) ? schema : undefined;
  return schema.anyOf.find((branch) => fits(tree, branch));
}

function fits(tree: Tree, { type, const: value }: Schema): boolean {
  return value === undefined ? typeFits(tree, type) : tree.type === 'scalar' && tree.value === value;
}

function typeFits(tree: Tree, type: string | undefined): boolean {
  if (type === undefined) return true;
  if (type === 'integer') return tree.type === 'scalar' && Number.isSafeInteger(tree.value);
  return typeName(tree) === type;
}

function scalarFits(tree: Tree, schema: Schema): boolean {
  if (tree.type !== 'scalar') return true;
  const { value } = tree;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  if (typeof value === 'string') {
    return (
      (schema.minLength ?? 0) <= value.length && (schema.pattern === undefined || patternOf(schema.pattern).test(value))
    );
  }
  if (typeof value !== 'number') return true;
  return (
    Number.isFinite(value) &&
    value >= (schema.minimum ?? Number.NEGATIVE_INFINITY) &&
    value <= (schema.maximum ?? Number.POSITIVE_INFINITY) &&
    value > (schema.exclusiveMinimum ?? Number.NEGATIVE_INFINITY)
  );
}

const patterns = new Map<string, RegExp>();
function patternOf(source: string): RegExp {
  const known = patterns.get(source) ?? new RegExp(source);
  patterns.set(source, known);
  return known;
}

/** Says what is expected; never repeats the value, which may be a secret. */
function expectation(schema: Schema, tree: Tree, path: readonly string[]): string {
  const index = Number(path.at(-1));
  const where = Number.isInteger(index) && path.length > 1 ? `Item ${index} must be` : 'This must be';
  return `${where} ${expected(schema)}, and is ${described(tree)}.`;
}

function expected(schema: Schema): string {
  if (schema.expected !== undefined) return schema.expected;
  if (schema.anyOf !== undefined) return schema.anyOf.map(expected).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  if (schema.minLength !== undefined) return 'text that is not empty';
  const bounds = [
    schema.exclusiveMinimum === undefined ? undefined : `above ${schema.exclusiveMinimum}`,
    schema.minimum === undefined || schema.minimum < -1e15 ? undefined : `at least ${schema.minimum}`,
    schema.maximum === undefined || schema.maximum > 1e15 ? undefined : `at most ${schema.maximum}`,
  ].filter((bound) => bound !== undefined);
  return [NAMES[schema.type ?? ''] ?? 'another value', ...bounds].join(', ');
}

const NAMES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};

function described(tree: Tree): string {
  const type = typeName(tree);
  return type === 'string' || type === 'number' ? `${NAMES[type]} that does not fit` : (NAMES[type] ?? type);
}
