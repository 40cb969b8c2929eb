import type { $ZodIssue, JSONSchema } from 'zod/v4/core';
import { nearMisses } from '../../base/near-miss.ts';
import { runAtOnce, type SlicedWork } from '../../base/time-slices.ts';
import { diagnosticAt } from '../load/parse.ts';
import type { Diagnostic, Severity } from '../settings/settings.ts';
import {
  escapedKey,
  nodeAt,
  type ObjectTree,
  type Place,
  replaceNodes,
  type Section,
  sectionsOf,
  type Tree,
  toPlainValue,
  unescapedKey,
} from '../settings/tree.ts';
import { cure, expectedValue, knownKeys, schemaAt, writtenValue } from './expected-value.ts';
import { checkOptions, checkSection } from './near-options.ts';
import { FOREIGN_SECTIONS, UNUSED_MODEL_KEYS } from './option-names.ts';
import { configSchema, isId, jsonSchema, optionsSchema } from './schema.ts';

interface Finding {
  readonly path: readonly string[];
  /** The position of the value, of its key, or of the object where it is missing. */
  readonly place: Place;
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly breaksAddress?: boolean;
}

export interface Validated {
  /** The tree without invalid entries. */
  readonly tree: ObjectTree;
  readonly diagnostics: readonly Diagnostic[];
  /** The keys of the invalid entries. */
  readonly removed: readonly {
    readonly path: readonly string[];
    readonly place: Place;
    /** The provider's address may be wrong because of it. */
    readonly breaksAddress?: boolean;
  }[];
}

/**
 * Checks one source with the schema. Only the smallest entry around an error is removed (`removableEntry`). Unknown keys are
 * kept and get a warning.
 */
export function validate(tree: ObjectTree): Validated {
  return runAtOnce(validateSteps(tree));
}

/** Like `validate`, but yields between providers. */
export function* validateSteps(tree: ObjectTree): SlicedWork<Validated> {
  const findings: Finding[] = [];
  let describe: Describe | undefined;
  for (const section of sectionsOf(tree)) {
    yield;
    const issues = findIssues(section);
    const own = checkNames(section, tree);
    findings.push(...own);
    if (issues.length === 0) continue;
    describe ??= describeIssues(tree);
    const seen = new Set(own.map(({ path }) => JSON.stringify(path)));
    for (const issue of issues) {
      for (const finding of describe(issue, section)) {
        // A value that breaks several rules is reported once.
        const id = JSON.stringify(finding.path);
        if (!seen.has(id)) findings.push(finding);
        seen.add(id);
      }
    }
  }
  const foreign = findings.filter(({ code }) => code === FOREIGN);
  const shown = [...findings.filter(({ code }) => code !== FOREIGN), ...oneForAll(foreign)];
  shown.sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
  const diagnostics = shown.map(({ place, severity, code, path, message, suggestion }) =>
    diagnosticAt(place, severity, code, path.join('.'), message, suggestion),
  );
  const removed = findings.filter((finding) => finding.severity === 'error' && !isModelChoice(finding, tree));
  return {
    tree: replaceNodes(
      tree,
      removed.map(({ path }) => ({ path: removableEntry(path), node: undefined })),
    ),
    diagnostics,
    removed,
  };
}

const OPTIONS = Object.keys(optionsSchema.shape);
const SECTIONS = Object.keys(configSchema.shape);

function checkNames({ path, tree: section }: Section, tree: ObjectTree): readonly Finding[] {
  const [root = '', id] = path;
  if (id !== undefined) return checkOptions(path, section, OPTIONS);
  const entry = tree.entries.get(root);
  return entry === undefined ? [] : checkSection(root, entry, SECTIONS);
}
const FOREIGN = 'foreign-key';

/** One line for all keys that other tools use. */
function oneForAll(foreign: readonly Finding[]): readonly Finding[] {
  const [first] = foreign;
  if (first === undefined) return [];
  const names = [...new Set(foreign.map(({ path }) => path.at(-1) ?? ''))].map((name) => `\`${name}\``);
  const message = `Settings of other tools have no effect in Svc: ${names.join(', ')}.`;
  return [{ ...first, path: [], message }];
}

/** A text that names no model is kept: a command must stop, and not use another model. */
function isModelChoice({ path }: Finding, tree: ObjectTree): boolean {
  const node = nodeAt(tree, path);
  const isText = node?.type === 'scalar' && typeof node.value === 'string' && isId(node.value);
  return isText && path.length === 1 && MODEL_CHOICES.has(path[0] ?? '');
}

const MODEL_CHOICES: ReadonlySet<string> = new Set(['model', 'completionModel', 'nextEditModel']);

/** Members of `gateway` that are treated as one value. */
const WHOLE = new Set(['listen', 'maxBodyBytes', 'maxBufferedBytes', 'telemetry']);

/**
 * The path of the smallest entry that can be omitted: a model, an option, a header, an organization, otherwise the key
 * of its section.
 */
export function removableEntry(path: readonly string[]): readonly string[] {
  const [section, , part] = path;
  if (section === 'provider') {
    if (part === 'models') return path.slice(0, 4);
    if (part === 'options') return path.slice(0, path[3] === 'headers' ? 5 : 4);
    return path.slice(0, 3);
  }
  if (section === 'gateway') return path.slice(0, WHOLE.has(path[1] ?? '') ? 2 : 3);
  return path.slice(0, 1);
}

/** The issues of a section. A single `undefined` means that there are too many to collect. */
function findIssues({ path, tree }: Section): readonly ($ZodIssue | undefined)[] {
  const value = path.reduceRight<unknown>((inner, key) => ({ [escapedKey(key)]: inner }), toPlainValue(tree));
  try {
    return configSchema.safeParse(value).error?.issues ?? [];
  } catch (error) {
    // zod passes the issues of a list as arguments, and more than about 100,000 exceed the stack.
    if (error instanceof RangeError) return [undefined];
    throw error;
  }
}

type Describe = (issue: $ZodIssue | undefined, section: Section) => readonly Finding[];

function describeIssues(tree: ObjectTree): Describe {
  const schema = jsonSchema();

  const unknownKey = (path: readonly string[]): Finding => {
    const at = { path, place: keyPlace(tree, path) };
    if (isForeign(path)) return { ...at, severity: 'information', code: FOREIGN, message: '' };
    const { hint, suggestion } = hintFor(schema, path);
    const message = `This key is not known and has no effect.${hint}`;
    return { ...at, severity: 'warning', code: 'unknown-key', message, suggestion };
  };

  const invalidValue = (path: readonly string[], node: Tree): Finding => {
    const wanted = schemaAt(schema, path);
    const choices = (wanted.enum ?? []).filter((choice) => typeof choice === 'string');
    const value = node.type === 'scalar' ? node.value : undefined;
    const [suggestion] = typeof value === 'string' ? nearMisses(value, choices) : [];
    const hint = suggestion === undefined ? cure(wanted, value) : ` Did you mean ${JSON.stringify(suggestion)}?`;
    const index = Number(path.at(-1));
    const subject = Number.isInteger(index) && path.length > 1 ? `Item ${index} must be` : 'This must be';
    const message = `${subject} ${expectedValue(wanted)}, and is ${writtenValue(node, path)}.${hint}`;
    return { path, place: node.place, severity: 'error', code: 'invalid-value', message, suggestion };
  };

  return (issue, section) => {
    const path = issue?.path.map(unescapedKey) ?? section.path;
    const error = { path, place: keyPlace(tree, path), severity: 'error' } as const;
    if (issue === undefined)
      return [{ ...error, code: 'invalid-value', message: 'There are too many errors to list.' }];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, unescapedKey(key)]));
    if (issue.code === 'invalid_key') {
      return [{ ...error, code: 'invalid-name', message: `This is not a valid ${expectedName(path)}.` }];
    }
    const node = nodeAt(tree, path);
    if (node !== undefined) return [invalidValue(path, node)];
    const place = nodeAt(tree, path.slice(0, -1))?.place ?? tree.place;
    return [{ ...error, place, code: 'missing-key', message: `\`${path.at(-1)}\` is missing.` }];
  };
}

function isForeign(path: readonly string[]): boolean {
  const key = path.at(-1) ?? '';
  if (path.length === 1) return FOREIGN_SECTIONS.has(key);
  return path[0] === 'provider' && path[2] === 'models' && path.length === 5 && UNUSED_MODEL_KEYS.has(key);
}

/** The most similar key of the level, else the same key one level below or above. */
function hintFor(schema: JSONSchema.BaseSchema, path: readonly string[]): { hint: string; suggestion?: string } {
  const key = path.at(-1) ?? '';
  const level = path.slice(0, -1);
  const below = knownKeys(schema, level).find((part) => knownKeys(schema, [...level, part]).includes(key));
  if (below !== undefined) return { hint: ` Write it in \`${below}\`.` };
  // The keys of a provider are the same for each id.
  if (level.length === 0 && knownKeys(schema, ['provider', 'id']).includes(key)) {
    return { hint: ' Write it in `provider.<id>`.' };
  }
  const above = level.slice(0, -1);
  const isAbove = level.length > 0 && knownKeys(schema, above).includes(key);
  if (isAbove) return { hint: ` Write it one level higher, beside \`${level.at(-1)}\`.` };
  const [suggestion] = nearMisses(key, knownKeys(schema, level));
  return suggestion === undefined ? { hint: '' } : { hint: ` Did you mean \`${suggestion}\`?`, suggestion };
}

/** A description of the names that are valid as the last key of the path. */
function expectedName(path: readonly string[]): string {
  if (path[0] === 'gateway') return 'name of a pool, such as "team/large"';
  return path.at(-2) === 'headers' ? 'header name' : 'id: it contains a control character';
}

/** The position of a key. */
function keyPlace(tree: ObjectTree, path: readonly string[]): Place {
  const parent = nodeAt(tree, path.slice(0, -1));
  const key = parent?.type === 'object' ? parent.entries.get(path.at(-1) ?? '')?.key : undefined;
  return key ?? parent?.place ?? tree.place;
}
