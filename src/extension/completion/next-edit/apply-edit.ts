import * as vscode from 'vscode';
import { advance } from '../../../completion/next-edit/edit-layout.ts';
import type { NextEdit, Replacement } from '../../../completion/next-edit/next-edit.ts';

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
      for (const each of edit.replacements) {
        const { range, text } = minimal(each);
        builder.replace(range, text);
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

export function toRange({ start, end }: Pick<Replacement, 'start' | 'end'>): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

function readRange(document: vscode.TextDocument, range: vscode.Range): string {
  return document.getText(range).replaceAll('\r\n', '\n');
}

/** Without the text that stays, so that the caret and folds in it stay too. */
function minimal({ start, expected, text }: Replacement): { range: vscode.Range; text: string } {
  const most = Math.min(expected.length, text.length);
  let head = 0;
  while (head < most && expected[head] === text[head]) head += 1;
  let tail = 0;
  while (tail < most - head && expected.at(-1 - tail) === text.at(-1 - tail)) tail += 1;
  // A position between the two halves of a character is not possible.
  if (isHalf(expected[head], expected[head - 1])) head -= 1;
  if (tail > 0 && isHalf(expected.at(-tail), expected.at(-tail - 1))) tail -= 1;
  const changed = {
    start: advance(start, expected.slice(0, head)),
    end: advance(start, expected.slice(0, expected.length - tail)),
  };
  return { range: toRange(changed), text: text.slice(head, text.length - tail) };
}

function isHalf(unit: string | undefined, before: string | undefined): boolean {
  return /[\udc00-\udfff]/.test(unit ?? '') || /[\ud800-\udbff]/.test(before ?? '');
}
