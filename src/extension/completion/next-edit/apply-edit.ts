import * as vscode from 'vscode';
import { minimalChange } from '../../../base/text-change.ts';
import type { NextEdit } from '../../../completion/next-edit/next-edit.ts';
import { toRange } from '../../document-view.ts';

/** True if the document has the text that the edit was made for. */
export function isCurrent(document: vscode.TextDocument, { replacements }: Pick<NextEdit, 'replacements'>): boolean {
  return replacements.every((each) => {
    const range = toRange(each);
    return document.validateRange(range).isEqual(range) && readRange(document, range) === each.expected;
  });
}

/** Applies an edit as one undo step. Returns false if the document is another one by now: nothing is changed then. */
export async function applyEdit(editor: vscode.TextEditor, edit: Pick<NextEdit, 'replacements'>): Promise<boolean> {
  const { document } = editor;
  if (!isCurrent(document, edit)) return false;
  return editor.edit(
    (builder) => {
      // Without the text that stays, so that the caret and folds in it stay too.
      for (const { start, expected, text } of edit.replacements) {
        const change = minimalChange(expected, text, start);
        builder.replace(toRange(change), change.text);
      }
    },
    { undoStopBefore: true, undoStopAfter: true },
  );
}

/** The document's text with the edit, with its own line breaks. */
export function textWithEdit(document: vscode.TextDocument, { replacements }: Pick<NextEdit, 'replacements'>): string {
  const eol = document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
  const text = document.getText();
  let result = '';
  let from = 0;
  for (const each of replacements) {
    result += text.slice(from, document.offsetAt(toRange(each).start)) + each.text.replaceAll('\n', eol);
    from = document.offsetAt(toRange(each).end);
  }
  return result + text.slice(from);
}

function readRange(document: vscode.TextDocument, range: vscode.Range): string {
  return document.getText(range).replaceAll('\r\n', '\n');
}
