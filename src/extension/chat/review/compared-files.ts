import * as vscode from 'vscode';

/** Files in the editor for several changes. Undefined: there is no such file before or after. */
export type ComparedFile = readonly [name: vscode.Uri, before: vscode.Uri | undefined, after: vscode.Uri | undefined];

export async function viewFiles(title: string, files: readonly ComparedFile[]): Promise<void> {
  await vscode.commands.executeCommand('vscode.changes', title, files);
}
