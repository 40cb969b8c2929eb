import * as vscode from 'vscode';

/** A button of an item in a list. @param icon name of a codicon. */
export function quickInputButton(icon: string, tooltip: string): vscode.QuickInputButton {
  return { iconPath: new vscode.ThemeIcon(icon), tooltip };
}
