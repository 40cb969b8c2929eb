import * as vscode from 'vscode';

/** Offered only for problems, to avoid a light bulb on every line, and not preferred, so that auto-fix ignores it. */
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
