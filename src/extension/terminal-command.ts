import { delimiter } from 'node:path';
import * as vscode from 'vscode';

/** The setting to turn it off. */
const SETTING = 'svc.terminal.command';

/** The variables by which `svc` in a terminal, and the gateway, find the keys of this window. */
export type WindowVariables = Readonly<Record<string, string>>;

/**
 * Adds the command `svc` to VS Code's terminals.
 *
 * @param folder with the launch scripts.
 * @param variables resolves when the window listens for `svc`.
 */
export function offerTerminalCommand(
  environment: vscode.GlobalEnvironmentVariableCollection,
  folder: string,
  variables: Promise<WindowVariables>,
): vscode.Disposable {
  // The variables open the keys of this window. VS Code would write them to disk, and apply them to later windows.
  environment.persistent = false;
  let window: WindowVariables = {};
  const apply = () => {
    environment.clear();
    if (!vscode.workspace.getConfiguration().get(SETTING, true)) return;
    environment.description = vscode.l10n.t('Adds the command `svc`');
    // At the end of PATH, so that the user's own `svc` takes precedence.
    const everywhere = { applyAtProcessCreation: true, applyAtShellIntegration: true };
    environment.append('PATH', `${delimiter}${folder}`, everywhere);
    environment.replace('SVC_NODE', process.execPath, everywhere);
    for (const [name, value] of Object.entries(window)) environment.replace(name, value, everywhere);
  };
  apply();
  void variables.then((resolved) => {
    window = resolved;
    apply();
  });
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(SETTING)) apply();
  });
}
