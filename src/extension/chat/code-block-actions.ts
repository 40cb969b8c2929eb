import * as vscode from 'vscode';
import type { FromPage } from '../../chat/from-page.ts';
import type { Proposals } from './proposals.ts';

type CodeMessage = Extract<FromPage, { type: 'code' }>;

/** What the buttons of a code block do. */
export async function codeBlockAction({ action, text, language }: CodeMessage, proposals: Proposals): Promise<void> {
  switch (action) {
    case 'insert':
      return insertAtCursor(text);
    case 'diff':
      return compare(text, proposals);
    case 'new-file': {
      const known = (await vscode.languages.getLanguages()).includes(language);
      const document = await vscode.workspace.openTextDocument({ content: text, ...(known ? { language } : {}) });
      await vscode.window.showTextDocument(document);
      return;
    }
    case 'terminal':
      return askAndRun(text);
  }
}

/** The editor that the person worked in: the panel has the focus when its buttons are pressed. */
function lastEditor(): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) void vscode.window.showInformationMessage(vscode.l10n.t('Open a file first.'));
  return editor;
}

async function insertAtCursor(text: string): Promise<void> {
  const last = lastEditor();
  if (!last) return;
  const editor = await vscode.window.showTextDocument(last.document, last.viewColumn ?? vscode.ViewColumn.One);
  await editor.edit((edit) => {
    for (const selection of editor.selections) edit.replace(selection, text);
  });
}

async function compare(text: string, proposals: Proposals): Promise<void> {
  const editor = lastEditor();
  if (!editor) return;
  const { document, selection } = editor;
  const before = document.getText();
  const from = document.offsetAt(selection.start);
  const after = selection.isEmpty
    ? text
    : before.slice(0, from) + text + before.slice(document.offsetAt(selection.end));
  await proposals.propose(document.uri, selection.isEmpty && !text.endsWith('\n') ? `${after}\n` : after);
}

async function askAndRun(text: string): Promise<void> {
  const run = vscode.l10n.t('Run');
  const options = { modal: true, detail: text };
  const answer = await vscode.window.showWarningMessage(vscode.l10n.t('Run this in the terminal?'), options, run);
  if (answer !== run) return;
  const terminal = vscode.window.activeTerminal ?? vscode.window.createTerminal();
  terminal.show();
  terminal.sendText(text.trimEnd());
}
