import * as vscode from 'vscode';

/** Offered on problems alone, never preferred: no light bulb on every line, and auto-fix stays what it was. */
export class FixActions implements vscode.CodeActionProvider {
  provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    if (context.diagnostics.length === 0) return [];
    const action = new vscode.CodeAction(vscode.l10n.t('Fix with Svc'), vscode.CodeActionKind.QuickFix);
    action.diagnostics = [...context.diagnostics];
    action.command = { command: 'svc.chat.fix', title: action.title, arguments: [document.uri, range] };
    return [action];
  }
}
