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

/**
 * Asks VS Code for code actions until the wanted ones are among them: whenever another extension registers a provider
 * a provider, VS Code cancels the request. The editor then repeats it; the command does not.
 */
export async function codeActions(
  uri: vscode.Uri,
  range: vscode.Range,
  wanted: (action: vscode.CodeAction) => boolean,
): Promise<vscode.CodeAction[]> {
  for (;;) {
    const found = await askForCodeActions(uri, range);
    const fitting = found.filter(wanted);
    if (fitting.length > 0) return fitting;
  }
}

export async function askForCodeActions(uri: vscode.Uri, range: vscode.Range): Promise<vscode.CodeAction[]> {
  try {
    return await vscode.commands.executeCommand('vscode.executeCodeActionProvider', uri, range);
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'Canceled') return [];
    throw thrown;
  }
}
