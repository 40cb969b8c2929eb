import * as vscode from 'vscode';
import { findInWorkspace, type WorkspaceFile } from '../../../chat/tools/workspace-files.ts';

/** A path as the user knows it: from the workspace's root, with its folder's name where there are several. */
export function workspaceRelativePath(uri: vscode.Uri): string {
  return vscode.workspace.asRelativePath(uri).replaceAll('\\', '/');
}

/** A file of the workspace: its address with links followed, and what the address leads to on disk. */
export interface FoundFile {
  readonly uri: vscode.Uri;
  readonly real: string;
  readonly relative: string;
  /** Absent where the workspace is not on a disk. */
  readonly onDisk?: WorkspaceFile;
}

/**
 * The file that a path of a model or the page leads to.
 *
 * @throws Error for one outside of the workspace, also by way of a link: a model must not read or write what the user
 *   did not open.
 */
export async function workspaceFile(path: string): Promise<FoundFile> {
  const found = (await fileOnDisk(path)) ?? virtualFile(path);
  if (!found) throw new Error(`${path} is not inside of the workspace.`);
  return found;
}

/** As `workspaceFile`, for an address that VS Code gave: its searches follow links. */
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

/** In a folder that is not on a disk, such as a repository of a host: there are no links. */
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
