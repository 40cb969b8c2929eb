import * as vscode from 'vscode';
import type { DocumentText } from '../completion/document/document-text.ts';

/** Adapts a VS Code document for the completion engine. Reads lines on demand. */
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

/** Path relative to the workspace folder, with `/`; undefined outside all folders. */
export function pathInFolder(uri: vscode.Uri): string | undefined {
  if (vscode.workspace.getWorkspaceFolder(uri) === undefined) return undefined;
  return vscode.workspace.asRelativePath(uri, false).replaceAll('\\', '/');
}
