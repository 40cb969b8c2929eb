import * as vscode from 'vscode';
import { indentCode, indentOf } from '../../../chat/review/indent-code.ts';

/** The range from the beginning of its line on, if only white space is before it. */
export function fromLineStart(document: vscode.TextDocument, range: vscode.Range): vscode.Range {
  const { line, character } = range.start;
  const blank = document.lineAt(line).text.slice(0, character).trim() === '';
  return blank ? new vscode.Range(new vscode.Position(line, 0), range.end) : range;
}

/** The indentation of the first line that is not blank, of a text that begins with a line. */
export function leadOf(text: string): string {
  return indentOf(text.split(/\r?\n/).find((line) => line.trim() !== '') ?? text);
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
  const last = document.lineAt(range.end.line).range.end;
  const text = document.getText(new vscode.Range(whole.start, last));
  // White space of a blank line would stay after the code.
  const end = text.trim() === '' ? last : range.end;
  return { range: new vscode.Range(whole.start, end), code: indentCode(code, leadOf(text)) };
}
