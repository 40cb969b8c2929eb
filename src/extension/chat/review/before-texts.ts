import * as vscode from 'vscode';

const SCHEME = 'svc-before';

/** Earlier texts of files, for the left side of diff editors. */
export class BeforeTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #lifetime: vscode.Disposable;
  #count = 0;

  constructor() {
    this.#lifetime = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#texts.delete(uri.toString())),
    );
  }

  dispose(): void {
    this.#lifetime.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? '';
  }

  /** An address for an earlier text of a file, with the same name, for its language. */
  keep(file: vscode.Uri, text: string): vscode.Uri {
    this.#count += 1;
    const uri = file.with({ scheme: SCHEME, query: `${this.#count}`, authority: '', fragment: '' });
    this.#texts.set(uri.toString(), text);
    return uri;
  }
}
