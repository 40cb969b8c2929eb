import * as vscode from 'vscode';
import type { DocumentText } from '../../completion/document/document-text.ts';
import type { Snippet } from '../../completion/prompt/context.ts';
import { pathInFolder } from '../document-view.ts';

/** Only this many lines are searched for imports, which are at the top of a file. */
const HEAD_LINES = 60;
const IMPORT = /^(?:import\b|from\s+\S+\s+import\b|use\s|.*\brequire\()/;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/gu;
const KEYWORDS = new Set([
  'import',
  'from',
  'as',
  'type',
  'use',
  'require',
  'const',
  'let',
  'var',
  'default',
  'typeof',
]);
const NAMES = 6;
const LINES = 14;

/** The first lines of definitions that the file imports from its workspace, found by the language server. */
export async function importedDefinitions(document: DocumentText, signal: AbortSignal): Promise<Snippet[]> {
  const uri = vscode.Uri.parse(document.uri);
  const found: Snippet[] = [];
  for (const position of importedNames(document)) {
    if (signal.aborted) break;
    const snippet = await definitionAt(uri, position);
    if (snippet) found.push(snippet);
  }
  return found;
}

function importedNames(document: DocumentText): vscode.Position[] {
  const positions: vscode.Position[] = [];
  for (let line = 0; line < Math.min(document.lineCount, HEAD_LINES); line += 1) {
    const text = document.lineAt(line).slice(0, 300);
    if (!IMPORT.test(text.trimStart())) continue;
    const quoted = text.search(/['"]/);
    for (const match of text.slice(0, quoted < 0 ? undefined : quoted).matchAll(NAME)) {
      if (!KEYWORDS.has(match[0])) positions.push(new vscode.Position(line, match.index));
      if (positions.length === NAMES) return positions;
    }
  }
  return positions;
}

async function definitionAt(uri: vscode.Uri, position: vscode.Position): Promise<Snippet | undefined> {
  const locations = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
    'vscode.executeDefinitionProvider',
    uri,
    position,
  );
  const first = locations?.[0];
  if (!first) return undefined;
  const target = 'targetUri' in first ? first.targetUri : first.uri;
  const range = 'targetUri' in first ? first.targetRange : first.range;
  const path = pathInFolder(target);
  if (path === undefined || target.toString() === uri.toString() || path.includes('node_modules/')) return undefined;
  const document = await vscode.workspace.openTextDocument(target);
  const lines: string[] = [];
  for (let at = range.start.line; at < Math.min(document.lineCount, range.start.line + LINES); at += 1) {
    const text = document.lineAt(at).text;
    if (text.trim() === '' && lines.length > 1) break;
    lines.push(text.slice(0, 300));
  }
  return { kind: 'import', path, line: range.start.line, text: lines.join('\n') };
}
