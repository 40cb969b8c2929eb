import { realpath } from 'node:fs/promises';
import { platformPath } from '../../base/real-path.ts';
import { type FileProblem, isInside, readRegularFile } from '../../base/regular-file.ts';
import { runInSlices, type SlicedWork } from '../../base/time-slices.ts';
import { SECTIONS } from '../schema/schema.ts';
import type { Diagnostic, Severity } from '../settings/settings.ts';
import {
  type ObjectTree,
  type Place,
  type Replacement,
  replaceNodes,
  sectionsOf,
  type Tree,
} from '../settings/tree.ts';
import { diagnosticAt } from './parse.ts';

/** Maximum size of a referenced file in bytes. */
const MAX_REFERENCE_BYTES = 64 * 1024;

/** Maximum total size of the resolved references of one source, in characters. */
const MAX_EXPANDED = 4 * 1024 * 1024;
/** Maximum number of files that one source may reference. */
const MAX_FILES = 1000;

interface Reference {
  readonly kind: 'env' | 'file';
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The references in a text, in order. Linear: after a search without `}`, no further search starts. A regular
 * expression would start again at each `{env:`.
 */
export function findReferences(text: string): readonly Reference[] {
  const found: Reference[] = [];
  const opening = /\{(env|file):/g;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const end = text.indexOf('}', opening.lastIndex);
    if (end < 0) break;
    const kind = match[1] === 'env' ? 'env' : 'file';
    found.push({ kind, name: text.slice(opening.lastIndex, end), start: match.index, end: end + 1 });
    opening.lastIndex = end + 1;
  }
  return found;
}

/** The limits for the references of one source. */
export interface ReferenceScope {
  readonly trusted: boolean;
  /** No reference is resolved: the source is a project in a workspace that the user does not trust. */
  readonly closed?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** The base of a relative `{file:}`: the folder of the source as it was opened. */
  readonly folder: string;
  /**
   * The project folder as opened and with resolved symbolic links. `{file:}` of an untrusted source must be inside it.
   */
  readonly root?: { readonly opened: string; readonly real: string };
}

export interface Resolved {
  readonly tree: ObjectTree;
  readonly diagnostics: readonly Diagnostic[];
  /** Keys without a value because their reference failed. */
  readonly absent: readonly { readonly path: readonly string[]; readonly place: Place }[];
  /** Absolute paths of the referenced files. */
  readonly files: readonly string[];
}

type Outcome =
  | { readonly text: string }
  | { readonly code: string; readonly severity: Severity; readonly message: string };

const CLOSED: Outcome = {
  code: 'untrusted-workspace',
  severity: 'information',
  message: 'This reference is not resolved until the workspace is trusted.',
};

/** A text with a `{`, which may be a reference. */
interface BracedText {
  readonly path: readonly string[];
  readonly text: string;
  readonly place: Place;
}

/**
 * Replaces `{env:NAME}` and `{file:PATH}` in the string values of a parsed source (spec 5.8). Keys, comments and the
 * resolved texts are not searched. A value with a failed reference is omitted; the others remain.
 */
export async function resolveReferences(tree: ObjectTree, scope: ReferenceScope): Promise<Resolved> {
  const braced = await runInSlices(bracedTexts(tree));
  const found = braced.filter(({ text }) => findReferences(text).length > 0);
  const diagnostics: Diagnostic[] = braced.flatMap((each) => misspelled(each) ?? []);
  if (found.length === 0) return { tree, diagnostics, absent: [], files: [] };
  const files = scope.closed ? new Map<string, Outcome>() : await readFiles(found, scope);
  const budget = { left: MAX_EXPANDED };
  const absent: { path: readonly string[]; place: Place }[] = [];
  const values: Replacement[] = [];
  for (const { path, text, place } of found) {
    const outcome = scope.closed ? CLOSED : resolveText(text, files, scope, budget);
    if ('text' in outcome) {
      const reference = findReferences(text)
        .map(({ start, end }) => text.slice(start, end))
        .join(' ');
      values.push({ path, node: { type: 'scalar', place, value: outcome.text, reference } });
      continue;
    }
    absent.push({ path, place });
    values.push({ path, node: undefined });
    diagnostics.push(diagnosticAt(place, outcome.severity, outcome.code, path.join('.'), outcome.message));
  }
  const usedFiles = [...files.keys()].filter((name) => name !== '').map((name) => referencedFile(name, scope));
  return { tree: replaceNodes(tree, values), diagnostics, absent, files: usedFiles };
}

function* bracedTexts(tree: ObjectTree): SlicedWork<readonly BracedText[]> {
  const found: BracedText[] = [];
  for (const section of sectionsOf(tree)) {
    yield;
    // References without an effect are not read.
    if (!SECTIONS.has(section.path[0] ?? '')) continue;
    collectBraced(section.tree, [...section.path], found);
  }
  return found;
}

/** Collects the texts with a `{`. `path` changes during the traversal, so each result has a copy. */
function collectBraced(tree: Tree, path: string[], found: BracedText[]): void {
  if (tree.type === 'scalar') {
    const { value, place } = tree;
    if (typeof value === 'string' && value.includes('{')) found.push({ path: [...path], text: value, place });
    return;
  }
  const members = tree.type === 'array' ? tree.items.entries() : tree.entries;
  for (const [key, member] of members) {
    path.push(String(key));
    collectBraced('place' in member ? member : member.value, path, found);
    path.pop();
  }
}

/** Variable syntax of other programs, and misspelled references. */
const NEARLY = /\{\s*(?:env|file)\s*[:.]|^\$\{?\{?[A-Za-z_]|^\{\{/i;

/** Reports a misspelled reference: otherwise its text would be sent as the key without a warning. */
function misspelled({ path, text, place }: BracedText): Diagnostic | undefined {
  if (path[0] !== 'provider' || path[2] !== 'options') return undefined;
  const dollar = text.includes('${env:') || text.includes('${file:');
  const rest = withoutReferences(text);
  if (!dollar && (rest === '' || !NEARLY.test(rest))) return undefined;
  const taken = dollar
    ? 'The $ is not part of a reference and is kept'
    : 'This is not a reference, so the text is used unchanged';
  const message = `${taken}. References are written {env:NAME} and {file:PATH}.`;
  return diagnosticAt(place, 'warning', 'not-a-reference', path.join('.'), message);
}

function withoutReferences(text: string): string {
  let rest = '';
  let at = 0;
  for (const { start, end } of findReferences(text)) {
    rest += text.slice(at, start);
    at = end;
  }
  return rest + text.slice(at);
}

/** Reads every referenced file once. The result is keyed by the name in the text. */
async function readFiles(found: readonly BracedText[], scope: ReferenceScope): Promise<ReadonlyMap<string, Outcome>> {
  const naming = found.filter(({ text }) => text.includes('{file:'));
  const names = new Set(
    naming.flatMap(({ text }) => findReferences(text).flatMap(({ kind, name }) => (kind === 'file' ? [name] : []))),
  );
  const read = async (name: string) => [name, await readReference(name, scope)] as const;
  return new Map(await Promise.all([...names].slice(0, MAX_FILES).map(read)));
}

function resolveText(
  text: string,
  files: ReadonlyMap<string, Outcome>,
  scope: ReferenceScope,
  budget: { left: number },
): Outcome {
  let result = '';
  let at = 0;
  for (const { kind, name, start, end } of findReferences(text)) {
    const outcome = kind === 'env' ? readVariable(name, scope) : (files.get(name) ?? TOO_MANY_FILES);
    if (!('text' in outcome)) return outcome;
    budget.left -= outcome.text.length;
    if (budget.left < 0) return TOO_LONG;
    result += text.slice(at, start) + outcome.text;
    at = end;
  }
  return { text: result + text.slice(at) };
}

const TOO_MANY_FILES: Outcome = {
  code: 'file-reference',
  severity: 'error',
  message: `This file refers to more than ${MAX_FILES} files, so this value is ignored.`,
};
const TOO_LONG: Outcome = {
  code: 'references-too-long',
  severity: 'error',
  message: `The references of this file contain more than ${MAX_EXPANDED / 1024 / 1024} MiB, so this value is ignored.`,
};
const MAX_SHOWN_NAME = 200;

/** Shortens a name for a message. */
function shownName(name: string): string {
  return name.length > MAX_SHOWN_NAME ? `${name.slice(0, MAX_SHOWN_NAME)}…` : name;
}

function readVariable(name: string, scope: ReferenceScope): Outcome {
  if (!scope.trusted) {
    return {
      code: 'project-env-refused',
      severity: 'warning',
      message: `{env:${shownName(name)}} is not read here: a project's file cannot read environment variables. Put it into your global svc.jsonc, or use {file:…} inside the project.`,
    };
  }
  if (name === '') {
    return {
      code: 'env-not-set',
      severity: 'warning',
      message: '{env:} does not name a variable, so this value is ignored.',
    };
  }
  const value = variable(name, scope);
  if (value !== undefined && value !== '') return { text: value };
  return {
    code: 'env-not-set',
    severity: 'warning',
    message: `The environment variable ${JSON.stringify(shownName(name))} is not set, so this value is ignored.`,
  };
}

/** Looks up an environment variable. Windows ignores case. */
function variable(name: string, scope: ReferenceScope): string | undefined {
  if (Object.hasOwn(scope.env, name)) return scope.env[name];
  if (scope.platform !== 'win32') return undefined;
  const key = Object.keys(scope.env).find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : scope.env[key];
}

async function readReference(name: string, scope: ReferenceScope): Promise<Outcome> {
  const file = name === '' ? '' : referencedFile(name, scope);
  if (!scope.trusted) return readProjectFile(name, file, scope);
  if (file === '') return failed(name, 'does not name a file', 'file-reference');
  const read = await readRegularFile(file, { limit: MAX_REFERENCE_BYTES });
  if ('problem' in read) return failed(name, `${shownName(file)} ${WORDS[read.problem]}`, 'file-reference');
  return decodeText(name, file, read.bytes);
}

/** Resolves a referenced path. `~/` is the home folder. Other relative paths start at the folder of the source. */
export function referencedFile(name: string, scope: Pick<ReferenceScope, 'platform' | 'folder' | 'home'>): string {
  const home = name.startsWith('~/') || (scope.platform === 'win32' && name.startsWith('~\\'));
  const { resolve, join } = platformPath(scope.platform);
  return resolve(scope.folder, home ? join(scope.home, name.slice(2)) : name);
}

const WORDS: Readonly<Record<FileProblem, string>> = {
  missing: 'does not exist',
  'not-a-file': 'is not a regular file',
  'too-large': `is larger than ${MAX_REFERENCE_BYTES / 1024} KiB`,
  unreadable: 'cannot be read',
  outside: 'is outside the project',
  'foreign-owner': 'belongs to another user',
};

/**
 * All failures before the opened file is known to be inside the project have the same message, so that a project file
 * cannot find out which files exist elsewhere. A path whose text is not inside the project is never opened: opening can
 * mount a share or wake a device.
 */
async function readProjectFile(name: string, file: string, scope: ReferenceScope): Promise<Outcome> {
  const { root } = scope;
  const refusal = failed(name, 'is not a readable file inside the project folder', 'project-file-refused');
  if (root === undefined || file === '') return refusal;
  const { platform } = scope;
  const inside = isWrittenInside(file, root, platform) || (await leadsToRoot(name, root.real, platform));
  if (!inside) return refusal;
  const read = await readRegularFile(file, { limit: MAX_REFERENCE_BYTES, inside: root.real });
  if ('problem' in read) {
    const isOpened = read.problem === 'not-a-file' || read.problem === 'too-large';
    return isOpened ? failed(name, WORDS[read.problem], 'project-file-refused') : refusal;
  }
  return decodeText(name, file, read.bytes);
}

/** Whether the text of a path is below the project, on case-sensitive and case-insensitive file systems. */
export function isWrittenInside(
  file: string,
  root: { readonly opened: string; readonly real: string },
  platform: NodeJS.Platform,
): boolean {
  const fold = (text: string) => (platform === 'linux' ? text : text.toLowerCase());
  return [root.opened, root.real].some((folder) => isInside(fold(folder), fold(file), platformPath(platform)));
}

/**
 * Whether a folder of an absolute path is a link to the project's root. Only folders are resolved, and no network path:
 * that would contact its server.
 */
async function leadsToRoot(name: string, root: string, platform: NodeJS.Platform): Promise<boolean> {
  const paths = platformPath(platform);
  if (!paths.isAbsolute(name) || (platform === 'win32' && !/^[a-z]:/i.test(name))) return false;
  const folders = paths.dirname(paths.resolve(name)).split(paths.sep);
  for (let depth = 2; depth <= folders.length; depth++) {
    const real = await realpath(folders.slice(0, depth).join(paths.sep)).catch(() => undefined);
    if (real === undefined) return false;
    if (real === root) return true;
  }
  return false;
}

function decodeText(name: string, file: string, bytes: Uint8Array): Outcome {
  if (bytes.includes(0)) return failed(name, `${file} contains NUL bytes`, 'file-reference');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
    return text === '' ? failed(name, `${file} is empty`, 'file-reference', 'warning') : { text };
  } catch {
    return failed(name, `${file} is not UTF-8 text`, 'file-reference');
  }
}

function failed(name: string, why: string, code: string, severity: 'error' | 'warning' = 'error'): Outcome {
  return { code, severity, message: `{file:${shownName(name)}} ${why}, so this value is ignored.` };
}
