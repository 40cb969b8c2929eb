import { delimiter } from 'node:path';
import * as vscode from 'vscode';

/** Where it is switched off. */
const SETTING = 'svc.terminal.command';

/** Lets `svc` be called in VS Code's terminals, wherever the extension is installed. @param folder of the launchers. */
export function offerTerminalCommand(
  environment: vscode.GlobalEnvironmentVariableCollection,
  folder: string,
): vscode.Disposable {
  const apply = () => {
    environment.clear();
    if (!vscode.workspace.getConfiguration().get(SETTING, true)) return;
    environment.description = vscode.l10n.t('Adds the command `svc`');
    // Behind the rest: a person's own `svc` goes first.
    const everywhere = { applyAtProcessCreation: true, applyAtShellIntegration: true };
    environment.append('PATH', `${delimiter}${folder}`, everywhere);
    environment.replace('SVC_NODE', process.execPath, everywhere);
  };
  apply();
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(SETTING)) apply();
  });
}
