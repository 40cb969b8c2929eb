import * as vscode from 'vscode';

/** Resolves when `holds` gives something other than undefined or false, asked at each event. No clock decides. */
export async function until<T>(event: vscode.Event<unknown>, holds: () => T | undefined | false): Promise<T> {
  const now = holds();
  if (now !== undefined && now !== false) return now;
  return new Promise((resolve) => {
    const watch = event(() => {
      const value = holds();
      if (value === undefined || value === false) return;
      watch.dispose();
      resolve(value);
    });
  });
}

/** The first folder of the workspace that the suites run in. */
export function workspaceFolder(): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error('The suites run in a folder.');
  return folder.uri;
}

export async function writeFile(name: string, content: string): Promise<vscode.Uri> {
  const uri = vscode.Uri.joinPath(workspaceFolder(), name);
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(content));
  return uri;
}
