import * as vscode from 'vscode';

/** Texts that the user reads and cannot change: earlier texts of files, reports. Closing their editor asks nothing. */
export class KeptTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #lifetime: vscode.Disposable;
  readonly #scheme: string;
  #count = 0;

  constructor(scheme: string) {
    this.#scheme = scheme;
    this.#lifetime = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#texts.delete(uri.toString())),
    );
  }

  dispose(): void {
    this.#lifetime.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? '';
  }

  /** Opens a text under a title. */
  async show(title: string, text: string): Promise<void> {
    const uri = this.keep(vscode.Uri.from({ scheme: 'file', path: `/${title}` }), text);
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  /** An address for a text with the name of the file, which also decides its language. Valid until it is closed. */
  keep(file: vscode.Uri, text: string): vscode.Uri {
    this.#count += 1;
    const uri = file.with({ scheme: this.#scheme, query: `${this.#count}`, authority: '', fragment: '' });
    this.#texts.set(uri.toString(), text);
    return uri;
  }
}
