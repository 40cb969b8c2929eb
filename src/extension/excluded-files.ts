import * as vscode from 'vscode';
import { Exclusions, type IgnoreFile, type WorkspaceFolder } from '../completion/exclusion.ts';

const MOST_FILES = 500;

/** Which files must not be sent, kept up to date with the folders, their .gitignore files and the setting. */
export class ExcludedFiles implements vscode.Disposable {
  readonly #globs: () => readonly string[];
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #lifetime: vscode.Disposable[];
  readonly onDidChange = this.#changed.event;
  #rules: Exclusions | undefined;
  #reading = 0;

  constructor(globs: () => readonly string[], onGlobsChange: vscode.Event<void>) {
    this.#globs = globs;
    const again = () => void this.#read();
    const watcher = vscode.workspace.createFileSystemWatcher('**/.gitignore');
    this.#lifetime = [
      this.#changed,
      watcher,
      watcher.onDidChange(again),
      watcher.onDidCreate(again),
      watcher.onDidDelete(again),
      vscode.workspace.onDidChangeWorkspaceFolders(again),
      onGlobsChange(again),
    ];
    again();
  }

  dispose(): void {
    for (const part of this.#lifetime.reverse()) part.dispose();
  }

  /** Why a file must not be sent; undefined: it may. Until the ignore files are read, nothing may. */
  readonly reason = (uriOrPath: string): string | undefined =>
    this.#rules ? this.#rules.reason(uriOrPath) : vscode.l10n.t('the .gitignore files are still being read');

  async #read(): Promise<void> {
    this.#reading += 1;
    const mine = this.#reading;
    const folders = await Promise.all((vscode.workspace.workspaceFolders ?? []).map(readFolder));
    // A later reading knows more.
    if (mine !== this.#reading) return;
    this.#rules = new Exclusions(folders, this.#globs());
    this.#changed.fire();
  }
}

async function readFolder(folder: vscode.WorkspaceFolder): Promise<WorkspaceFolder> {
  const pattern = new vscode.RelativePattern(folder, '**/.gitignore');
  const files = await vscode.workspace.findFiles(pattern, '**/node_modules/**', MOST_FILES);
  const ignoreFiles = await Promise.all(files.map((file) => readIgnore(folder, file)));
  return { uri: folder.uri.toString(), ignoreFiles: ignoreFiles.filter((each) => each !== undefined) };
}

async function readIgnore(folder: vscode.WorkspaceFolder, file: vscode.Uri): Promise<IgnoreFile | undefined> {
  try {
    const content = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
    const relative = file.path.slice(folder.uri.path.length).replace(/^\//, '');
    return { directory: relative.replace(/\/?\.gitignore$/, ''), content };
  } catch {
    // Deleted between the search and the reading.
    return undefined;
  }
}
