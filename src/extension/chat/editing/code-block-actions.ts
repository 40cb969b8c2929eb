import * as vscode from 'vscode';
import { plainLineEnds } from '../../../chat/tools/file-change.ts';
import { foldText, showUnseen } from '../../../chat/tools/visible-text.ts';
import type { FromPage } from '../../../protocol/chat/from-page.ts';
import { ask, showInformation } from '../../foreign-text.ts';
import { type CommandTerminals, requireReadable, workingFolder } from '../tools/command-terminals.ts';
import type { ToolPlaces } from '../tools/own-tools.ts';
import { applyCode, newFile } from './apply-code.ts';
import { atRange } from './code-range.ts';

type CodeMessage = Extract<FromPage, { type: 'code' }>;

/** Runs the action of a button of a code block. */
export async function codeBlockAction(message: CodeMessage, { proposals, terminals }: ToolPlaces): Promise<void> {
  const { action, text, language, file } = message;
  switch (action) {
    case 'insert':
      return insertAtCursor(text);
    case 'diff':
      return applyCode(text, file, proposals);
    case 'new-file':
      return newFile(text, file, language);
    case 'terminal':
      return askAndRun(text.trimEnd(), terminals);
  }
}

/** The editor that was used last. The panel has the focus when one of its buttons is pressed. */
function lastEditor(): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) void showInformation(vscode.l10n.t('Open a file first.'));
  return editor;
}

async function insertAtCursor(text: string): Promise<void> {
  const last = lastEditor();
  if (!last) return;
  const editor = await vscode.window.showTextDocument(last.document, last.viewColumn ?? vscode.ViewColumn.One);
  await editor.edit((edit) => {
    const [only, ...others] = editor.selections;
    if (only && others.length === 0) {
      const { range, code } = atRange(editor.document, only, plainLineEnds(text));
      edit.replace(range, code);
    } else for (const selection of editor.selections) edit.replace(selection, text);
  });
}

/** Number of rows of a dialog that fit on a small screen, including its buttons. */
const ROWS = 18;
const WIDTH = 90;

async function askAndRun(command: string, terminals: CommandTerminals): Promise<void> {
  requireReadable(command);
  const run = vscode.l10n.t('Run');
  const showAll = vscode.l10n.t('Show All');
  const { detail, whole } = commandInQuestion(command);
  const buttons = whole ? [run] : [run, showAll];
  const question = vscode.l10n.t('Run this in the terminal?');
  const answer = await ask(question, { detail }, ...buttons);
  if (answer === showAll) {
    const document = await vscode.workspace.openTextDocument({ content: showUnseen(command) });
    await vscode.window.showTextDocument(document);
  }
  if (answer !== run) return;
  await terminals.run({ command, cwd: workingFolder(), background: false, owner: {} }, new AbortController().signal);
}

/** Shows the beginning and the end of a long command, and the number of omitted lines. */
function commandInQuestion(command: string): { readonly detail: string; readonly whole: boolean } {
  const { head, rest } = foldText(showUnseen(command), ROWS, WIDTH);
  if (!rest) return { detail: head, whole: true };
  const gap = vscode.l10n.t('… {0} more lines ({1} characters) …', rest.lines, rest.characters);
  return { detail: [head.trimEnd(), gap, rest.tail].join('\n'), whole: false };
}
