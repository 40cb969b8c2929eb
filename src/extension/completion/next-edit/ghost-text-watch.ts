import * as vscode from 'vscode';

/** VS Code requests suggestions within this time after a change. If it does not, there is no ghost text. */
const REQUESTED_MS = 1500;

/** Whether ghost text of this extension is on screen. VS Code does not report it. */
export class GhostTextWatch implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<boolean>();
  readonly onDidChange = this.#changed.event;
  readonly #watch: vscode.Disposable;
  #shown:
    | { readonly document: vscode.TextDocument; readonly version: number; readonly at: vscode.Position }
    | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.#watch = vscode.Disposable.from(
      vscode.window.onDidChangeTextEditorSelection(({ textEditor: { document }, selections: [selection] }) => {
        const shown = this.#shown;
        if (shown === undefined || shown.document !== document || shown.version !== document.version) return;
        if (selection?.isEmpty !== true || !selection.active.isEqual(shown.at)) this.hidden();
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0 || this.#shown?.document !== document) return;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.hidden(), REQUESTED_MS);
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.hidden()),
    );
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#watch.dispose();
    this.#changed.dispose();
  }

  /** The answer that VS Code got for a position. */
  provided(document: vscode.TextDocument, at: vscode.Position, some: boolean): void {
    if (!some) {
      this.hidden();
      return;
    }
    clearTimeout(this.#timer);
    const before = this.#shown;
    this.#shown = { document, version: document.version, at };
    if (before === undefined) this.#changed.fire(true);
  }

  hidden(): void {
    clearTimeout(this.#timer);
    if (this.#shown === undefined) return;
    this.#shown = undefined;
    this.#changed.fire(false);
  }
}
