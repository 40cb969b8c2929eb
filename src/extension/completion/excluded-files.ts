import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import { Exclusions, type IgnoreFile, type WorkspaceFolder } from '../../completion/prompt/exclusion.ts';
import type { NotSent } from '../../completion/trigger/trigger.ts';

const MAX_FILES = 500;

/** Decides which files must not be sent. Follows changes of folders, .gitignore files and the setting. */
export class ExcludedFiles implements vscode.Disposable {
  readonly #globs: () => readonly string[];
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #disposables = new DisposableStore();
  readonly onDidChange = this.#changed.event;
  #folders: readonly WorkspaceFolder[] | undefined;
  #rules: Exclusions | undefined;
  #reading = 0;

  constructor(globs: () => readonly string[], onGlobsChange: vscode.Event<void>) {
    this.#globs = globs;
    const readAgain = () => void this.#read();
    // Faster than the file watcher.
    const saved = ({ uri }: vscode.TextDocument) => uri.path.endsWith('/.gitignore') && readAgain();
    const watcher = vscode.workspace.createFileSystemWatcher('**/.gitignore');
    this.#disposables.add(
      this.#changed,
      watcher,
      watcher.onDidChange(readAgain),
      watcher.onDidCreate(readAgain),
      watcher.onDidDelete(readAgain),
      vscode.workspace.onDidChangeWorkspaceFolders(readAgain),
      vscode.workspace.onDidSaveTextDocument(saved),
      // While files are being read, the new globs are applied at the end of reading.
      onGlobsChange(() => this.#rules && this.#applyRules()),
    );
    readAgain();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Why a file must not be sent; undefined: it may be sent. Nothing may be sent before the ignore files are read. */
  readonly reason = (uriOrPath: string): NotSent | undefined =>
    this.#rules ? this.#rules.reason(uriOrPath) : 'unknown-yet';

  async #read(): Promise<void> {
    this.#reading += 1;
    const reading = this.#reading;
    // The previous rules may allow too much.
    this.#rules = undefined;
    const folders = await Promise.all((vscode.workspace.workspaceFolders ?? []).map(readFolder));
    // A later read has newer content.
    if (reading !== this.#reading) return;
    this.#folders = folders;
    this.#applyRules();
  }

  #applyRules(): void {
    if (this.#folders === undefined) return;
    this.#rules = new Exclusions(this.#folders, this.#globs());
    this.#changed.fire();
  }
}

async function readFolder(folder: vscode.WorkspaceFolder): Promise<WorkspaceFolder> {
  const pattern = new vscode.RelativePattern(folder, '**/.gitignore');
  const files = await vscode.workspace.findFiles(pattern, '**/node_modules/**', MAX_FILES);
  const below = await Promise.all(files.map((file) => readIgnore(folder, file)));
  const ignoreFiles = [...(await readAbove(folder.uri)), ...below.filter((each) => each !== undefined)];
  return { uri: folder.uri.toString(), ignoreFiles };
}

async function readIgnore(folder: vscode.WorkspaceFolder, file: vscode.Uri): Promise<IgnoreFile | undefined> {
  const content = await readText(file);
  const relative = file.path.slice(folder.uri.path.length).replace(/^\//, '');
  return content === undefined ? undefined : { directory: relative.replace(/\/?\.gitignore$/, ''), content };
}

/** Reads the ignore files above a folder, up to the root of its repository; none outside a repository. */
async function readAbove(folder: vscode.Uri): Promise<readonly IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  for (let at = folder, down = ''; ; ) {
    if (await exists(vscode.Uri.joinPath(at, '.git'))) return found;
    const parent = vscode.Uri.joinPath(at, '..');
    if (parent.path === at.path) return [];
    const name = at.path.slice(at.path.lastIndexOf('/') + 1);
    down = down === '' ? name : `${name}/${down}`;
    at = parent;
    const content = await readText(vscode.Uri.joinPath(at, '.gitignore'));
    if (content !== undefined) found.push({ directory: '', down, content });
  }
}

/** Undefined if the file does not exist, for example because it was deleted after the search. */
async function readText(file: vscode.Uri): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  } catch {
    return undefined;
  }
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
