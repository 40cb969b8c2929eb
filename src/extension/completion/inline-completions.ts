import * as vscode from 'vscode';
import type { DocumentChange, Suggestion, SuggestRequest } from '../../completion/document/suggestion.ts';
import type { Suggester } from '../../completion/suggester.ts';
import { documentView, toChanges } from '../document-view.ts';
import { AFTER_ACCEPTANCE, InlineRefresh } from './inline-refresh.ts';
import type { GhostTextWatch } from './next-edit/ghost-text-watch.ts';

/**
 * VS Code creates its part for inline completions for each editor, when the window has nothing else to do, at the latest
 * 5 s after the editor (`EditorContributionInstantiation.Eventually`). It requests nothing for keys before that.
 */
const FIRST_KEY_MS = 300;
const LAST_KEY_MS = 5_000;

export interface InlineCompletionsDeps {
  readonly suggester: Suggester;
  /** The extension id. */
  readonly extension: string;
  readonly onAccepted: () => void;
  readonly ghostText: GhostTextWatch;
  /** The text of a next edit to show as ghost text. */
  readonly nextEdit: (document: vscode.TextDocument, position: vscode.Position) => string | undefined;
  readonly onDidChangeNextEdit: vscode.Event<void>;
  /** Called with lines about each request of VS Code: what it did with a key is seen nowhere else. */
  readonly trace: (line: string) => void;
}

export interface InlineCompletions extends vscode.Disposable {
  /** Sends a manual request at the active editor's caret, even if VS Code has a result for it. */
  trigger(): Promise<void>;
}

/** Translates between VS Code's inline completion provider and the engine. */
export function registerInlineCompletions(deps: InlineCompletionsDeps): InlineCompletions {
  const { suggester, extension, onAccepted, ghostText, trace } = deps;
  /** The editors that were active when their document changed. */
  const changed = new WeakSet<vscode.TextEditor>();
  /** The editors that VS Code requested in after a change. */
  const requested = new WeakSet<vscode.TextEditor>();
  let firstKey: NodeJS.Timeout | undefined;
  const refresh = new InlineRefresh(extension, async (document, position, context, token, trigger) => {
    const editor = findActiveEditor(document);
    // In a split editor, a request before the first change may come from the other half.
    if (editor && changed.has(editor)) requested.add(editor);
    const asked = `version ${document.version}, line ${position.line + 1}, column ${position.character + 1}`;
    trace(`VS Code requests inline completions: ${asked}, ${trigger}.`);
    const edit = context.selectedCompletionInfo === undefined ? deps.nextEdit(document, position) : undefined;
    if (edit !== undefined) {
      trace(`VS Code gets the text of a next edit: ${asked}.`);
      return [new vscode.InlineCompletionItem(edit, new vscode.Range(position, position))];
    }
    const abort = new AbortController();
    const cancelled = token.onCancellationRequested(() => {
      trace(`VS Code cancels its request: ${asked}.`);
      abort.abort();
    });
    try {
      const answer = suggester.suggest(createRequest(document, position, context, trigger), abort.signal);
      const suggestions = answer instanceof Promise ? await answer : answer;
      trace(`VS Code gets inline completions: ${asked}, ${suggestions.length} found.`);
      // VS Code ignores the answer to a cancelled request.
      if (!token.isCancellationRequested) ghostText.provided(document, position, suggestions.length > 0);
      return suggestions.map((suggestion) => createItem(suggestion, position));
    } finally {
      cancelled.dispose();
    }
  });
  /** Requests, at longer and longer times until VS Code passes it on. */
  const request = (editor: vscode.TextEditor, key: vscode.TextDocumentContentChangeEvent, wait: number): void => {
    firstKey = setTimeout(() => {
      if (editor !== vscode.window.activeTextEditor || requested.has(editor) || wait > LAST_KEY_MS) return;
      const isAfter = isCaretAfter(key, editor);
      trace(
        `VS Code requests nothing for a first key: ${isAfter ? 'Svc makes it request' : 'the caret is elsewhere'}.`,
      );
      if (!isAfter) return;
      refresh.refreshInBackground('automatic');
      request(editor, key, 2 * wait);
    }, wait);
  };
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
      const editor = findActiveEditor(document);
      // VS Code also reports that the file became dirty or was saved.
      if (editor === undefined || contentChanges.length === 0) return;
      changed.add(editor);
      const undone = reason === vscode.TextDocumentChangeReason.Undo ? 'undo' : 'redo';
      const change: DocumentChange = {
        uri: document.uri.toString(),
        changes: toChanges(contentChanges),
        ...(reason === undefined ? {} : { reason: undone }),
      };
      const accepted = suggester.documentChanged(change, document.version);
      if (accepted > 0) onAccepted();
      clearTimeout(firstKey);
      const key = findKey(contentChanges);
      if (key === undefined || requested.has(editor) || reason !== undefined) return;
      // The command of a request shows suggestions also where the user has turned them off.
      if (vscode.workspace.getConfiguration('editor', document).get('inlineSuggest.enabled') === false) return;
      request(editor, key, FIRST_KEY_MS);
    }),
    { dispose: () => clearTimeout(firstKey) },
    vscode.window.onDidChangeActiveTextEditor(shown),
    vscode.workspace.onDidCloseTextDocument((document) => suggester.documentClosed(document.uri.toString())),
  );
  return {
    trigger: () => refresh.again('invoke'),
    dispose: () => lifetime.dispose(),
  };
}

function findActiveEditor(document: vscode.TextDocument): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor?.document === document ? editor : undefined;
}

/** One key, also if the editor closes a bracket. */
function findKey(changes: readonly vscode.TextDocumentContentChangeEvent[]) {
  const [change] = changes;
  const isKey = changes.length === 1 && change?.rangeLength === 0 && change.text.length > 0 && change.text.length <= 2;
  return isKey ? change : undefined;
}

/** Also between a bracket and the one that the editor added; not if the change was made elsewhere, as by a save. */
function isCaretAfter(key: vscode.TextDocumentContentChangeEvent, { document, selection }: vscode.TextEditor): boolean {
  const typed = document.offsetAt(selection.active) - key.rangeOffset;
  return typed > 0 && typed <= key.text.length;
}

function createRequest(
  document: vscode.TextDocument,
  position: vscode.Position,
  context: vscode.InlineCompletionContext,
  trigger: SuggestRequest['trigger'],
): SuggestRequest {
  const here = findActiveEditor(document);
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
