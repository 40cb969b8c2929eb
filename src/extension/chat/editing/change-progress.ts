import * as vscode from 'vscode';
import { showProgress } from '../../foreign-text.ts';

/** Context key: Escape cancels the change. */
const RUNNING = 'svc.change.running';

/** Shows above the code that it is being changed, with a button to cancel. */
export class ChangeProgress implements vscode.Disposable {
  readonly #running = new Set<AbortController>();

  dispose(): void {
    this.cancel();
  }

  /** Cancels all running changes. */
  cancel(): void {
    for (const stopping of this.#running) stopping.abort();
  }

  /** Resolves with undefined if the user cancels. */
  async show<T>(
    document: vscode.TextDocument,
    range: vscode.Range,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const stopping = new AbortController();
    this.#running.add(stopping);
    // First: the marks name the key.
    await this.#updateContext();
    const marks = mark(document, range);
    try {
      const title = vscode.l10n.t('Changing the selection…');
      return await showProgress({ location: vscode.ProgressLocation.Window, title }, () => run(stopping.signal));
    } catch (thrown) {
      if (stopping.signal.aborted) return undefined;
      throw thrown;
    } finally {
      marks.dispose();
      this.#running.delete(stopping);
      await this.#updateContext();
    }
  }

  async #updateContext(): Promise<void> {
    await vscode.commands.executeCommand('setContext', RUNNING, this.#running.size > 0);
  }
}

function mark(document: vscode.TextDocument, range: vscode.Range): vscode.Disposable {
  const lenses = [
    new vscode.CodeLens(range, {
      title: `$(loading~spin) ${vscode.l10n.t('Changing the selection…')}`,
      command: '',
    }),
    new vscode.CodeLens(range, { title: vscode.l10n.t('Cancel (Escape)'), command: 'svc.chat.cancelChange' }),
  ];
  const selector = {
    scheme: document.uri.scheme,
    pattern: new vscode.RelativePattern(vscode.Uri.joinPath(document.uri, '..'), '*'),
  };
  const provider = vscode.languages.registerCodeLensProvider(selector, {
    provideCodeLenses: ({ uri }) => (uri.toString() === document.uri.toString() ? lenses : []),
  });
  const decoration = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.inactiveSelectionBackground'),
  });
  for (const editor of vscode.window.visibleTextEditors) {
    if (editor.document === document) editor.setDecorations(decoration, [range]);
  }
  return vscode.Disposable.from(provider, decoration);
}
