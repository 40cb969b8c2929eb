import * as vscode from 'vscode';
import type { DocumentText } from '../completion/document/document-text.ts';

/** A document of the editor as the completion engine reads it: nothing is copied before it is asked for. */
export function documentView(document: vscode.TextDocument): DocumentText {
  const path = pathInFolder(document.uri);
  return {
    uri: document.uri.toString(),
    ...(path === undefined ? {} : { path }),
    languageId: document.languageId,
    version: document.version,
    eol: document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n',
    lineCount: document.lineCount,
    lineAt: (line) => document.lineAt(line).text,
  };
}

/** Relative to its folder, with `/`; undefined outside of every folder. */
export function pathInFolder(uri: vscode.Uri): string | undefined {
  if (vscode.workspace.getWorkspaceFolder(uri) === undefined) return undefined;
  return vscode.workspace.asRelativePath(uri, false).replaceAll('\\', '/');
}
