import { delimiter } from 'node:path';
import * as vscode from 'vscode';

/** The setting to turn it off. */
const SETTING = 'svc.terminal.command';

/** Adds the command `svc` to VS Code's terminals. @param folder with the launch scripts. */
export function offerTerminalCommand(
  environment: vscode.GlobalEnvironmentVariableCollection,
  folder: string,
): vscode.Disposable {
  const apply = () => {
    environment.clear();
    if (!vscode.workspace.getConfiguration().get(SETTING, true)) return;
    environment.description = vscode.l10n.t('Adds the command `svc`');
    // At the end of PATH, so that the user's own `svc` takes precedence.
    const everywhere = { applyAtProcessCreation: true, applyAtShellIntegration: true };
    environment.append('PATH', `${delimiter}${folder}`, everywhere);
    environment.replace('SVC_NODE', process.execPath, everywhere);
  };
  apply();
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(SETTING)) apply();
  });
}
