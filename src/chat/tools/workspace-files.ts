import { stat } from 'node:fs/promises';
import path from 'node:path';
import { findRealPath, isWithin } from '../../base/real-path.ts';
import { type Caution, cautionKind } from './caution.ts';

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

/**
 * Checks the arguments of a tool from another extension: each text that can be a path. Undefined if none is the path
 * of a file that contains secrets or controls what runs.
 */
export function cautionInArguments(input: unknown): Caution | undefined {
  if (typeof input === 'string') {
    if (input.length > 4096 || /[\r\n]/.test(input)) return undefined;
    const kind = cautionKind(input.replace(/^[a-z][a-z\d+.-]+:\/\/(?=\/)/i, ''), 'write');
    return kind && { kind, path: input };
  }
  if (typeof input !== 'object' || input === null) return undefined;
  for (const value of Object.values(input)) {
    const found = cautionInArguments(value);
    if (found) return found;
  }
  return undefined;
}
