import * as vscode from 'vscode';

/** Folders that are nested deeper are not read. */
const MAX_DEPTH = 4;

/**
 * The files with an ending in a folder of each workspace folder, and in the folders below it, by path. Reads the folders
 * directly: a search of the workspace takes seconds in a large one. Links to folders are not followed.
 */
export async function filesIn(folder: string, ending: string): Promise<readonly vscode.Uri[]> {
  const roots = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) =>
    vscode.Uri.joinPath(uri, ...folder.split('/')),
  );
  const found = await Promise.all(roots.map((root) => listFiles(root, ending, MAX_DEPTH)));
  return found.flat().sort((a, b) => a.path.localeCompare(b.path));
}

async function listFiles(folder: vscode.Uri, ending: string, depth: number): Promise<vscode.Uri[]> {
  const entries = await vscode.workspace.fs.readDirectory(folder).then(
    (read) => read,
    () => [],
  );
  const nested = await Promise.all(
    entries.map(async ([name, type]) => {
      const uri = vscode.Uri.joinPath(folder, name);
      if (type === vscode.FileType.Directory) return depth > 0 ? listFiles(uri, ending, depth - 1) : [];
      return name.endsWith(ending) ? [uri] : [];
    }),
  );
  return nested.flat();
}
