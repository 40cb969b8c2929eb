import * as vscode from 'vscode';
import type { DocumentChange, Suggestion, SuggestRequest } from '../../completion/document/suggestion.ts';
import type { Suggester } from '../../completion/suggester.ts';
import { documentView, toChanges } from '../document-view.ts';
import { AFTER_ACCEPTANCE, InlineRefresh } from './inline-refresh.ts';
import type { GhostTextWatch } from './next-edit/ghost-text-watch.ts';

export interface InlineCompletionsDeps {
  readonly suggester: Suggester;
  /** The extension id. */
  readonly extension: string;
  readonly onAccepted: () => void;
  readonly ghostText: GhostTextWatch;
  /** The text of a next edit to show as ghost text. */
  readonly nextEdit: (document: vscode.TextDocument, position: vscode.Position) => string | undefined;
  readonly onDidChangeNextEdit: vscode.Event<void>;
}

export interface InlineCompletions extends vscode.Disposable {
  /** Sends a manual request at the active editor's caret, even if VS Code has a result for it. */
  trigger(): Promise<void>;
}

/** Translates between VS Code's inline completion provider and the engine. */
export function registerInlineCompletions(deps: InlineCompletionsDeps): InlineCompletions {
  const { suggester, extension, onAccepted, ghostText } = deps;
  const refresh = new InlineRefresh(extension, async (document, position, context, token, trigger) => {
    const edit = context.selectedCompletionInfo === undefined ? deps.nextEdit(document, position) : undefined;
    if (edit !== undefined) return [new vscode.InlineCompletionItem(edit, new vscode.Range(position, position))];
    const abort = new AbortController();
    const cancelled = token.onCancellationRequested(() => abort.abort());
    try {
      const answer = suggester.suggest(createRequest(document, position, context, trigger), abort.signal);
      const suggestions = answer instanceof Promise ? await answer : answer;
      // VS Code ignores the answer to a cancelled request.
      if (!token.isCancellationRequested) ghostText.provided(document, position, suggestions.length > 0);
      return suggestions.map((suggestion) => createItem(suggestion, position));
    } finally {
      cancelled.dispose();
    }
  });
  const here = (uri: string): boolean => vscode.window.activeTextEditor?.document.uri.toString() === uri;
  const shown = (editor: vscode.TextEditor | undefined) =>
    editor && suggester.documentShown(documentView(editor.document), editor.selection.active);
  shown(vscode.window.activeTextEditor);
  const lifetime = vscode.Disposable.from(
    refresh,
    deps.onDidChangeNextEdit(() => refresh.refreshInBackground('automatic')),
    suggester.onDidGrow((uri) => here(uri) && refresh.refreshInBackground('grown')),
    suggester.onDidReopen((uri) => here(uri) && refresh.refreshInBackground('automatic')),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges, reason }) => {
      if (document !== vscode.window.activeTextEditor?.document) return;
      const undone = reason === vscode.TextDocumentChangeReason.Undo ? 'undo' : 'redo';
      const change: DocumentChange = {
        uri: document.uri.toString(),
        changes: toChanges(contentChanges),
        ...(reason === undefined ? {} : { reason: undone }),
      };
      const accepted = suggester.documentChanged(change, document.version);
      if (accepted > 0) onAccepted();
    }),
    vscode.window.onDidChangeActiveTextEditor(shown),
    vscode.workspace.onDidCloseTextDocument((document) => suggester.documentClosed(document.uri.toString())),
  );
  return {
    trigger: () => refresh.again('invoke'),
    dispose: () => lifetime.dispose(),
  };
}

function createRequest(
  document: vscode.TextDocument,
  position: vscode.Position,
  context: vscode.InlineCompletionContext,
  trigger: SuggestRequest['trigger'],
): SuggestRequest {
  const editor = vscode.window.activeTextEditor;
  const here = editor?.document === document ? editor : undefined;
  const selected = context.selectedCompletionInfo;
  const { insertSpaces, tabSize } = here?.options ?? {};
  return {
    document: documentView(document),
    position,
    trigger,
    ...(selected === undefined
      ? {}
      : {
          selectedCompletion: {
            text: selected.text,
            startCharacter: selected.range.start.character,
            endCharacter: selected.range.end.character,
          },
        }),
    carets: here?.selections.length ?? 1,
    selecting: here ? !here.selection.isEmpty : false,
    ...(typeof insertSpaces === 'boolean' && typeof tabSize === 'number'
      ? { indentation: { insertSpaces, tabSize } }
      : {}),
  };
}

function createItem(suggestion: Suggestion, position: vscode.Position): vscode.InlineCompletionItem {
  const { insertText, replaceBefore, replaceAfter, requestAfterAccept } = suggestion;
  const range = new vscode.Range(position.translate(0, -replaceBefore), position.translate(0, replaceAfter));
  return new vscode.InlineCompletionItem(insertText, range, requestAfterAccept ? AFTER_ACCEPTANCE : undefined);
}
