import * as vscode from 'vscode';
import { defined } from '../base/json.ts';
import type { Position, TextRange } from '../base/text-change.ts';
import type { DocumentText } from '../completion/document/document-text.ts';
import type { DocumentChange } from '../completion/document/suggestion.ts';

/**
 * Adapts a VS Code document for the completion engine. Reads lines on demand: after a change they are those of the new
 * text, and empty where that has ended.
 */
export function documentView(document: vscode.TextDocument): DocumentText {
  const path = pathInFolder(document.uri);
  return {
    uri: document.uri.toString(),
    ...defined({ path }),
    languageId: document.languageId,
    version: document.version,
    eol: document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n',
    lineCount: document.lineCount,
    lineAt: (line) => (line < document.lineCount ? document.lineAt(line).text : ''),
  };
}

/** The document of an address, if VS Code has it open. */
export function findDocument(uri: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri);
}

/** Path relative to the workspace folder, with `/`; undefined outside all folders. */
export function pathInFolder(uri: vscode.Uri): string | undefined {
  if (vscode.workspace.getWorkspaceFolder(uri) === undefined) return undefined;
  return vscode.workspace.asRelativePath(uri, false).replaceAll('\\', '/');
}

/** A plain value: the fields of VS Code's positions are accessors, which are lost in a copy. */
export function toPosition({ line, character }: vscode.Position): Position {
  return { line, character };
}

export function toRange({ start, end }: TextRange): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

export function toChanges(changes: readonly vscode.TextDocumentContentChangeEvent[]): DocumentChange['changes'] {
  return changes.map(({ range, text }) => ({ start: toPosition(range.start), end: toPosition(range.end), text }));
}
