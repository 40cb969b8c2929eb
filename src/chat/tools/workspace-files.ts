import path from 'node:path';
import { findRealPath, isWithin } from '../../base/real-path.ts';
import { type Caution, cautionKind } from './caution.ts';

/** A folder of the workspace on this machine. */
export interface WorkspaceRoot {
  readonly name: string;
  readonly path: string;
}

/** A file of the workspace, links followed: the same file has the same place, however it was written. */
export interface WorkspaceFile {
  readonly root: WorkspaceRoot;
  /** From the root, with `/`; empty: the root itself. */
  readonly relative: string;
  readonly real: string;
  readonly realRoot: string;
}

/**
 * The file that a written path leads to. Undefined where that is outside of the workspace, also by way of a link, and of
 * a link to a file that does not exist yet.
 */
export async function findInWorkspace(
  roots: readonly WorkspaceRoot[],
  written: string,
): Promise<WorkspaceFile | undefined> {
  for (const candidate of candidates(roots, written)) {
    const real = await findRealPath(candidate);
    if (real === undefined) continue;
    for (const root of roots) {
      const realRoot = await findRealPath(root.path);
      if (realRoot === undefined || !isWithin(realRoot, real)) continue;
      return { root, relative: path.relative(realRoot, real).split(path.sep).join('/'), real, realRoot };
    }
  }
  return undefined;
}

/** Models write both kinds of slashes, and the folder's name before the path where there are several. */
function candidates(roots: readonly WorkspaceRoot[], written: string): readonly string[] {
  const clean = written.replaceAll('\\', '/');
  if (path.isAbsolute(clean)) return [path.normalize(clean)];
  const named = roots.length > 1 ? roots.filter(({ name }) => clean.startsWith(`${name}/`)) : [];
  if (named.length > 0) return named.map((root) => path.join(root.path, clean.slice(root.name.length + 1)));
  return roots.map((root) => path.join(root.path, clean));
}

/** Why touching this file is asked for each time: by the file that it is, and by the name that was written for it. */
export function cautionFor(
  file: { readonly real: string; readonly relative: string },
  written: string,
  access: 'read' | 'write',
): Caution | undefined {
  const kind = cautionKind(file.real, access) ?? cautionKind(written, access);
  return kind && { kind, path: file.relative };
}

/**
 * Cautions about arguments of a tool that is not ours: each text that can be a path is looked at. Undefined where none
 * names a file that holds secrets or decides what runs.
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
