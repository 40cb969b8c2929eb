import * as vscode from 'vscode';
import type { NextEdit } from '../../../completion/next-edit/next-edit.ts';
import { textWithEdit } from './apply-edit.ts';

const SCHEME = 'svc-next-edit';

/** Shows an edit in VS Code's diff editor: completely, and accessible to a screen reader. */
export class NextEditDocument implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registration: vscode.Disposable;
  #text = '';

  constructor() {
    // Last: VS Code reads `onDidChange` now.
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }

  async show(edit: NextEdit): Promise<void> {
    const uri = vscode.Uri.parse(edit.uri);
    const document = await vscode.workspace.openTextDocument(uri);
    this.#text = textWithEdit(document, edit);
    const after = vscode.Uri.from({ scheme: SCHEME, path: uri.path });
    this.#changed.fire(after);
    const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
    const [first] = edit.replacements;
    const line = first?.start.line ?? 0;
    await vscode.commands.executeCommand('vscode.diff', uri, after, vscode.l10n.t('Next edit: {0}', name), {
      preview: true,
      selection: new vscode.Range(line, 0, line, 0),
    });
  }

  provideTextDocumentContent(): string {
    return this.#text;
  }
}
