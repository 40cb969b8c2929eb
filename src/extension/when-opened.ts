import * as vscode from 'vscode';

/** Creates a component when the first matching document is opened, so that its code is not loaded earlier. */
export function whenOpened(
  selector: vscode.DocumentFilter,
  build: () => Promise<vscode.Disposable>,
): vscode.Disposable {
  let disposed = false;
  let built: vscode.Disposable | undefined;
  let watch: vscode.Disposable | undefined;
  const look = async (document: vscode.TextDocument) => {
    if (!watch || vscode.languages.match(selector, document) === 0) return;
    watch.dispose();
    watch = undefined;
    const part = await build();
    if (disposed) part.dispose();
    else built = part;
  };
  watch = vscode.workspace.onDidOpenTextDocument(look);
  for (const document of vscode.workspace.textDocuments) void look(document);
  return {
    dispose: () => {
      disposed = true;
      watch?.dispose();
      built?.dispose();
    },
  };
}
