import * as vscode from 'vscode';
import { indentCode, indentOf } from '../../../chat/review/indent-code.ts';

/** The range from the beginning of its line on, if only white space is before it. */
export function fromLineStart(document: vscode.TextDocument, range: vscode.Range): vscode.Range {
  const { line, character } = range.start;
  const blank = document.lineAt(line).text.slice(0, character).trim() === '';
  return blank ? new vscode.Range(new vscode.Position(line, 0), range.end) : range;
}

/** Code with the indentation of the range that it replaces, and that range. */
export function atRange(
  document: vscode.TextDocument,
  range: vscode.Range,
  code: string,
): { readonly range: vscode.Range; readonly code: string } {
  const whole = fromLineStart(document, range);
  // In the middle of a line, code goes on with it.
  if (whole.start.character > 0) return { range, code };
  return { range: whole, code: indentCode(code, indentOf(document.lineAt(whole.start.line).text)) };
}
