import * as vscode from 'vscode';

/** A path as a person knows it: from the workspace's root, with its folder's name where there are several. */
export function relativePath(uri: vscode.Uri): string {
  return vscode.workspace.asRelativePath(uri).replaceAll('\\', '/');
}

/**
 * A path that a model or the page named, inside of the workspace.
 *
 * @throws Error for one outside of it: a model must not read or write what the person did not open.
 */
export async function workspaceUri(path: string): Promise<vscode.Uri> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const clean = path.replaceAll('\\', '/').replace(/^\.\//, '');
  for (const folder of folders) {
    const rest =
      folders.length > 1 && clean.startsWith(`${folder.name}/`) ? clean.slice(folder.name.length + 1) : clean;
    const uri = rest.startsWith('/') ? folder.uri.with({ path: rest }) : vscode.Uri.joinPath(folder.uri, rest);
    if (isBelow(uri, folder.uri) && (await staysBelow(uri, folder.uri))) return uri;
  }
  throw new Error(`${path} is not inside of the workspace.`);
}

function isBelow(uri: vscode.Uri, folder: vscode.Uri): boolean {
  const root = folder.path.endsWith('/') ? folder.path : `${folder.path}/`;
  return uri.scheme === folder.scheme && (uri.path === folder.path || uri.path.startsWith(root));
}

/** Symbolic links must not lead out of it either. */
async function staysBelow(uri: vscode.Uri, folder: vscode.Uri): Promise<boolean> {
  if (uri.scheme !== 'file') return true;
  const { realpath } = await import('node:fs/promises');
  const root = await realpath(folder.fsPath).catch(() => folder.fsPath);
  let path = uri.fsPath;
  for (;;) {
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined) return real === root || real.startsWith(root.endsWith('/') ? root : `${root}/`);
    const { dirname } = await import('node:path');
    const parent = dirname(path);
    if (parent === path) return false;
    path = parent;
  }
}
