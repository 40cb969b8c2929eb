import * as vscode from 'vscode';

/** A button of a list's row. @param icon a codicon. */
export function quickInputButton(icon: string, tooltip: string): vscode.QuickInputButton {
  return { iconPath: new vscode.ThemeIcon(icon), tooltip };
}
