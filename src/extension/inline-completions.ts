import * as vscode from 'vscode';
import type { Suggester } from '../completion/suggest.ts';
import type { Suggestion, SuggestRequest } from '../completion/suggestion.ts';
import { documentView } from './document-view.ts';

/** Run when a suggestion was taken whole; VS Code calls it with the suggestion's id. */
export const ACCEPTED_COMMAND = 'svc.completion.accepted';

/** Ghost text: a thin translation between VS Code's provider and the engine. */
export function registerInlineCompletions(suggester: Suggester): vscode.Disposable {
  const growth = suggester.onDidGrow((uri) => {
    if (vscode.window.activeTextEditor?.document.uri.toString() !== uri) return;
    growing = true;
    void vscode.commands.executeCommand('editor.action.inlineSuggest.trigger');
  });
  // A growth that came while VS Code was still taking the first lines is asked for again at the end.
  let unfinished: string | undefined;
  const settled = suggester.onDidChangeState(({ kind }) => {
    if (kind !== 'ready' || unfinished === undefined) return;
    const uri = unfinished;
    unfinished = undefined;
    if (vscode.window.activeTextEditor?.document.uri.toString() !== uri) return;
    growing = true;
    void vscode.commands.executeCommand('editor.action.inlineSuggest.trigger');
  });
  // The trigger command asks as if by hand; a suggestion that grew is not the person's wish for another.
  let growing = false;
  const provider: vscode.InlineCompletionItemProvider = {
    async provideInlineCompletionItems(document, position, context, token) {
      const byHand = context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke && !growing;
      growing = false;
      const abort = new AbortController();
      const cancelled = token.onCancellationRequested(() => abort.abort());
      try {
        const request = requestOf(document, position, context, byHand);
        const answer = suggester.suggest(request, abort.signal);
        const suggestions = answer instanceof Promise ? await answer : answer;
        unfinished = suggestions[0]?.growing ? document.uri.toString() : undefined;
        return suggestions.map((suggestion) => itemOf(suggestion, position));
      } finally {
        cancelled.dispose();
      }
    },
  };
  return vscode.Disposable.from(
    { dispose: growth },
    { dispose: settled },
    vscode.languages.registerInlineCompletionItemProvider({ pattern: '**' }, provider),
    vscode.commands.registerCommand(ACCEPTED_COMMAND, (id: number) => suggester.accepted(id)),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges, reason }) =>
      suggester.documentChanged({
        uri: document.uri.toString(),
        changes: contentChanges.map(({ range, text }) => ({ start: range.start, end: range.end, text })),
        ...(reason === undefined ? {} : { reason: reason === vscode.TextDocumentChangeReason.Undo ? 'undo' : 'redo' }),
      }),
    ),
    vscode.workspace.onDidCloseTextDocument((document) => suggester.documentClosed(document.uri.toString())),
  );
}

function requestOf(
  document: vscode.TextDocument,
  position: vscode.Position,
  context: vscode.InlineCompletionContext,
  byHand: boolean,
): SuggestRequest {
  const editor = vscode.window.activeTextEditor;
  const here = editor?.document === document ? editor : undefined;
  const selected = context.selectedCompletionInfo;
  const { insertSpaces, tabSize } = here?.options ?? {};
  return {
    document: documentView(document),
    position,
    trigger: byHand ? 'invoke' : 'automatic',
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

function itemOf(suggestion: Suggestion, position: vscode.Position): vscode.InlineCompletionItem {
  const { id, insertText, replaceBefore, replaceAfter } = suggestion;
  const range = new vscode.Range(position.translate(0, -replaceBefore), position.translate(0, replaceAfter));
  return new vscode.InlineCompletionItem(insertText, range, {
    command: ACCEPTED_COMMAND,
    title: 'Accepted',
    arguments: [id],
  });
}
