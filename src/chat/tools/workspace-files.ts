import { stat } from 'node:fs/promises';
import path from 'node:path';
import { IgnorePatterns } from '../../base/ignore-patterns.ts';
import { findRealPath, isWithin } from '../../base/real-path.ts';
import type { Caution } from '../message-parts.ts';
import { cautionKind } from './caution.ts';
import type { NamedFile } from './tools.ts';

/** A workspace folder on this machine. */
export interface WorkspaceRoot {
  readonly name: string;
  readonly path: string;
}

/** A workspace file after resolving links: the same file has the same values for each spelling of its path. */
export interface WorkspaceFile {
  readonly root: WorkspaceRoot;
  /** Path from the root, with `/`; empty: the root itself. */
  readonly relative: string;
  readonly real: string;
  readonly realRoot: string;
}

/**
 * Finds the file for a path that a model wrote. Undefined if it is outside the workspace, also through a link, and for
 * a link to a file that does not exist. With several folders, a path without a folder's name is that of the first
 * folder in which the file exists, or of the first folder for a new file.
 */
export async function findInWorkspace(
  roots: readonly WorkspaceRoot[],
  written: string,
): Promise<WorkspaceFile | undefined> {
  let missing: WorkspaceFile | undefined;
  for (const candidate of candidates(roots, written)) {
    const file = await findInRoots(roots, candidate);
    if (file && (await exists(file.real))) return file;
    missing ??= file;
  }
  return missing;
}

async function findInRoots(roots: readonly WorkspaceRoot[], file: string): Promise<WorkspaceFile | undefined> {
  const real = await findRealPath(file);
  if (real === undefined) return undefined;
  for (const root of roots) {
    const realRoot = await findRealPath(root.path);
    if (realRoot === undefined || !isWithin(realRoot, real)) continue;
    return { root, relative: path.relative(realRoot, real).split(path.sep).join('/'), real, realRoot };
  }
  return undefined;
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

/** Models write both kinds of slashes. With several folders, they write the folder's name before the path. */
function candidates(roots: readonly WorkspaceRoot[], written: string): readonly string[] {
  const clean = written.replaceAll('\\', '/');
  if (path.isAbsolute(clean)) return [path.normalize(clean)];
  const named = roots.length > 1 ? roots.filter(({ name }) => clean.startsWith(`${name}/`)) : [];
  if (named.length > 0) return named.map((root) => path.join(root.path, clean.slice(root.name.length + 1)));
  return roots.map((root) => path.join(root.path, clean));
}

/** Why access to this file needs confirmation each time. Checks the real path and the written path. */
export function cautionFor(
  file: { readonly real: string; readonly relative: string },
  written: string,
  access: 'read' | 'write',
): Caution | undefined {
  const kind = cautionKind(file.real, access) ?? cautionKind(written, access);
  return kind && { kind, path: file.relative };
}

/** A file that a call names, for the judgement about it. */
export function namedFile(
  file: { readonly real: string; readonly relative: string },
  written: string,
  access: NamedFile['access'],
): NamedFile {
  const caution = cautionFor(file, written, access.some((kind) => kind !== 'read') ? 'write' : 'read');
  const secret = cautionFor(file, written, 'read') !== undefined;
  return { path: file.relative, access, secret, ...(caution ? { caution } : {}) };
}

/** Longer arguments, and later ones, are not looked at: the call is asked. */
const MAX_TEXT = 200_000;
const MAX_PATHS = 2000;
/** Texts with more characters or with several lines are contents, in which names of files are common. */
const MAX_PATH = 4096;

/** Texts in the arguments of a tool that may be paths, with those in file URIs, quotes and longer texts. */
export interface ArgumentPaths {
  readonly paths: readonly string[];
  /** Words of contents. */
  readonly words: readonly string[];
  /** Not all texts were looked at. */
  readonly incomplete: boolean;
}

/** Collects texts and names of members. Not recursive: arguments of a model may be nested without limit. */
export function pathsInArguments(input: unknown): ArgumentPaths {
  const paths = new Set<string>();
  const words = new Set<string>();
  const open: unknown[] = [input];
  let length = 0;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (!Array.isArray(value)) open.push(name);
        if (member !== undefined) open.push(member);
      }
    } else if (typeof value === 'string') {
      length += value.length;
      const text = value.trim();
      const isContent = text.length > MAX_PATH || /[\r\n]/.test(text);
      for (const each of text.slice(0, MAX_TEXT).split(/[\s"'`;&|()<>,=]+/))
        addSpellings(each, isContent ? words : paths);
      if (!isContent) addSpellings(text, paths);
    }
    if (length > MAX_TEXT || paths.size > MAX_PATHS || open.length > MAX_TEXT) break;
  }
  return { paths: [...paths], words: [...words], incomplete: open.length > 0 || length > MAX_TEXT };
}

function addSpellings(text: string, found: Set<string>): void {
  let spelling = text;
  // A URI may be encoded twice.
  for (let round = 0; round < 3; round += 1) {
    const plain = spelling.replace(/^["'`]+|["'`]+$/g, '').replace(/^[a-z][a-z\d+.-]+:\/\/[^/]*(?=\/)/i, '');
    // Without a query, a fragment and a line.
    const [path = ''] = plain.split(/[?#]|:(?=\d)/, 1);
    for (const one of [plain, path]) if (one !== '' && one.length <= MAX_PATH) found.add(one);
    if (!spelling.includes('%')) return;
    try {
      spelling = decodeURIComponent(spelling);
    } catch {
      return;
    }
  }
}

/**
 * Checks the arguments of a tool from another extension: each text that can be a path. Undefined if none is the path
 * of a file that contains secrets or controls which programs run.
 */
export function cautionInArguments(input: unknown): Caution | undefined {
  const { paths, words, incomplete } = pathsInArguments(input);
  for (const path of paths) {
    const kind = cautionKind(path, 'write') ?? possibleSecret(path);
    if (kind) return { kind, path };
  }
  const word = words.find((one) => cautionKind(one, 'read') !== undefined);
  if (word !== undefined) return { kind: 'secret', path: word };
  return incomplete ? { kind: 'secret', path: '…' } : undefined;
}

/** Names that most patterns for secret files match. */
const SECRET_NAMES = [
  '.env',
  '.env.local',
  'prod.env',
  '.npmrc',
  '.netrc',
  'id_rsa',
  'id_ed25519',
  'server.pem',
  'server.key',
];

/** Whether the last part of a path is a pattern for secret files rather than for all files of a folder or type. */
function possibleSecret(path: string): 'secret' | undefined {
  const name = path.slice(path.search(/[^\\/]*$/));
  if (!/[*?[]/.test(name) || /^[*?.]*$/.test(name)) return undefined;
  const pattern = new IgnorePatterns(`/${name}`);
  return SECRET_NAMES.some((secret) => pattern.verdict(secret, false) === 'ignored') ? 'secret' : undefined;
}
