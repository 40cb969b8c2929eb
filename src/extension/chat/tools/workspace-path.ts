import { mkdir, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { findRealPath } from '../../../base/real-path.ts';
import { createRegularFile } from '../../../base/regular-file.ts';
import type { NamedFile } from '../../../chat/tools/tools.ts';
import { cautionFor, findInWorkspace, namedFile, type WorkspaceFile } from '../../../chat/tools/workspace-files.ts';

/**
 * The path relative to the workspace folder, with the folder's name if there are several. Absolute if two folders have
 * this name, so that `workspaceFile` finds the same file for it.
 */
export function workspaceRelativePath(uri: vscode.Uri): string {
  const path = sharesName(vscode.workspace.getWorkspaceFolder(uri))
    ? absolutePath(uri)
    : vscode.workspace.asRelativePath(uri);
  return path.replaceAll('\\', '/');
}

function sharesName(folder: vscode.WorkspaceFolder | undefined): boolean {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ name }) => name === folder?.name).length > 1;
}

function absolutePath(uri: vscode.Uri): string {
  return uri.scheme === 'file' ? uri.fsPath : uri.path;
}

/** A workspace file: its URI after resolving links, and the file on disk. */
export interface FoundFile {
  readonly uri: vscode.Uri;
  readonly real: string;
  readonly relative: string;
  /** Absent if the workspace is not on a disk. */
  readonly onDisk?: WorkspaceFile;
}

/**
 * Finds the file for a path from a model or the page.
 *
 * @throws Error if it is outside the workspace, also through a link: a model must not access other files.
 */
export async function workspaceFile(path: string): Promise<FoundFile> {
  const found = (await fileOnDisk(path)) ?? virtualFile(path);
  if (!found) throw new Error(`${path} is not inside the workspace.`);
  return found;
}

/**
 * The files at paths of a call, for the judgement about them.
 *
 * @throws Error as `workspaceFile`.
 */
export async function namedFiles(paths: readonly string[], access: NamedFile['access']): Promise<readonly NamedFile[]> {
  return Promise.all(paths.map(async (path) => namedFile(await workspaceFile(path), path, access)));
}

/** Like `workspaceFile`, for a URI from VS Code, whose searches follow links. */
export async function fileAt(uri: vscode.Uri): Promise<FoundFile | undefined> {
  if (uri.scheme === 'file') return fileOnDisk(uri.fsPath);
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return folder && { uri, real: uri.path, relative: workspaceRelativePath(uri) };
}

async function fileOnDisk(path: string): Promise<FoundFile | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  const roots = folders.map(({ name, uri }) => ({ name, path: uri.fsPath, uri }));
  const onDisk = await findInWorkspace(roots, path);
  const folder = roots.find((root) => root === onDisk?.root);
  if (!onDisk || !folder) return undefined;
  const uri = onDisk.relative === '' ? folder.uri : vscode.Uri.joinPath(folder.uri, ...onDisk.relative.split('/'));
  return { uri, real: onDisk.real, relative: workspaceRelativePath(uri), onDisk };
}

/** A file in a virtual workspace, such as a remote repository, where there are no links. */
function virtualFile(path: string): FoundFile | undefined {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme !== 'file');
  const clean = path.replaceAll('\\', '/');
  for (const folder of folders) {
    const named = folders.length > 1 && clean.startsWith(`${folder.name}/`);
    const rest = named ? clean.slice(folder.name.length + 1) : clean;
    const uri = vscode.Uri.joinPath(folder.uri.with({ path: rest.startsWith('/') ? '/' : folder.uri.path }), rest);
    const root = folder.uri.path.endsWith('/') ? folder.uri.path : `${folder.uri.path}/`;
    if (uri.path === folder.uri.path || uri.path.startsWith(root)) {
      return { uri, real: uri.path, relative: workspaceRelativePath(uri) };
    }
  }
  return undefined;
}

/**
 * Writes a file of the workspace. Looks at its path once more after the write: if it leads to another file, because a
 * folder became a link in the meantime, the write is taken back.
 *
 * @param create the file must not exist.
 */
export async function writeFound({ uri, relative, onDisk }: FoundFile, bytes: Uint8Array, create: boolean) {
  if (!onDisk) return vscode.workspace.fs.writeFile(uri, bytes);
  const { real } = onDisk;
  if (create) {
    const folder = dirname(real);
    const made = await mkdir(folder, { recursive: true });
    try {
      return await createRegularFile(real, bytes);
    } catch (error) {
      if (made !== undefined) await removeEmpty(folder, made);
      throw error;
    }
  }
  const isMoved = async () => (await findRealPath(uri.fsPath)) !== real;
  const before = await vscode.workspace.fs.readFile(uri);
  const moved = `${relative} is another file now. Nothing was written.`;
  if (await isMoved()) throw new Error(moved);
  // Through VS Code, so that its editors show the new text at once.
  await vscode.workspace.fs.writeFile(uri, bytes);
  if (!(await isMoved())) return;
  await vscode.workspace.fs.writeFile(uri, before);
  throw new Error(moved);
}

/** Removes a folder and those above it, up to `last`, as long as they are empty. */
async function removeEmpty(folder: string, last: string): Promise<void> {
  for (let at = folder; at.startsWith(last); at = dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

/** Whether a tool may show text of a file without a question: it has no secrets, and no rule restricts reading it. */
export async function mayShow(uri: vscode.Uri, mayRead: ((path: string) => boolean) | undefined): Promise<boolean> {
  const file = await fileAt(uri);
  if (!file || cautionFor(file, uri.path, 'read')) return false;
  return mayRead?.(file.relative) ?? true;
}
