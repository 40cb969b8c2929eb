import * as vscode from 'vscode';
import { textBefore } from '../../completion/document/document-text.ts';
import { type ContextSource, SimilarSnippets, type Snippet } from '../../completion/prompt/context.ts';
import { documentView, pathInFolder } from '../document-view.ts';
import { importedDefinitions } from './imported-definitions.ts';

const TABS = 8;
const SNIPPETS = 4;
/** Pieces of other files with a lower similarity are not sent. */
const MIN_SIMILARITY = 0.05;
/** Number of characters before the caret that are compared with other files. */
const NEAR = 1200;

/**
 * Collects context from the editor, of the kinds that the setting allows.
 *
 * @param recentEdits the text around recent edits in other files than this one.
 */
export function completionContext(recentEdits: (uri: string) => readonly Snippet[]): ContextSource {
  const similarSnippets = new SimilarSnippets(TABS);
  return async ({ document, position }, wanted, signal) => {
    const near = textBefore(document, position, NEAR);
    const known = [
      ...otherCells(document.uri),
      ...(wanted.openTabs ? openTabs(document.uri, near, similarSnippets) : []),
      ...(wanted.recentEdits ? recentEdits(document.uri) : []),
    ];
    const imports = wanted.imports ? await importedDefinitions(document, signal) : [];
    return [...imports, ...known];
  };
}

function openTabs(uri: string, near: string, similarSnippets: SimilarSnippets): Snippet[] {
  const tabs = vscode.workspace.textDocuments
    .filter(
      (other) => other.uri.toString() !== uri && other.uri.scheme === 'file' && pathInFolder(other.uri) !== undefined,
    )
    .slice(-TABS);
  return similarSnippets
    .find(tabs.map(documentView), near)
    .filter(({ score }) => score >= MIN_SIMILARITY)
    .sort((a, b) => b.score - a.score)
    .slice(0, SNIPPETS)
    .flatMap(({ document: { path }, line, text }) =>
      path === undefined ? [] : [{ kind: 'open-tab', path, line, text }],
    );
}

/** The code cells before this one, because their definitions are available here. */
function otherCells(uri: string): Snippet[] {
  const notebook = vscode.workspace.notebookDocuments.find((each) =>
    each.getCells().some((cell) => cell.document.uri.toString() === uri),
  );
  if (!notebook) return [];
  const cells = notebook.getCells();
  const here = cells.findIndex((cell) => cell.document.uri.toString() === uri);
  const path = pathInFolder(notebook.uri);
  if (path === undefined) return [];
  return cells
    .slice(Math.max(0, here - 12), here)
    .filter((cell) => cell.kind === vscode.NotebookCellKind.Code)
    .map((cell) => ({ kind: 'cell' as const, path, line: cell.index, text: cell.document.getText().slice(0, 2000) }));
}
