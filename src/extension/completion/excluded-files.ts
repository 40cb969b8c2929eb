import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import { Exclusions, type IgnoreFile, type WorkspaceFolder } from '../../completion/prompt/exclusion.ts';
import type { NotSent } from '../../completion/trigger/trigger.ts';

const MOST_FILES = 500;

/** Which files must not be sent, kept up to date with the folders, their .gitignore files and the setting. */
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
    const again = () => void this.#read();
    // Before the watcher tells, which may take its time.
    const saved = ({ uri }: vscode.TextDocument) => uri.path.endsWith('/.gitignore') && again();
    const watcher = vscode.workspace.createFileSystemWatcher('**/.gitignore');
    this.#disposables.add(
      this.#changed,
      watcher,
      watcher.onDidChange(again),
      watcher.onDidCreate(again),
      watcher.onDidDelete(again),
      vscode.workspace.onDidChangeWorkspaceFolders(again),
      vscode.workspace.onDidSaveTextDocument(saved),
      // While the files are read, the end of the reading takes the new globs.
      onGlobsChange(() => this.#rules && this.#draw()),
    );
    again();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Why a file must not be sent; undefined: it may. Until the ignore files are read, nothing may. */
  readonly reason = (uriOrPath: string): NotSent | undefined =>
    this.#rules ? this.#rules.reason(uriOrPath) : 'unknown-yet';

  async #read(): Promise<void> {
    this.#reading += 1;
    const mine = this.#reading;
    // What held before may allow too much.
    this.#rules = undefined;
    const folders = await Promise.all((vscode.workspace.workspaceFolders ?? []).map(readFolder));
    // A later reading knows more.
    if (mine !== this.#reading) return;
    this.#folders = folders;
    this.#draw();
  }

  #draw(): void {
    if (this.#folders === undefined) return;
    this.#rules = new Exclusions(this.#folders, this.#globs());
    this.#changed.fire();
  }
}

async function readFolder(folder: vscode.WorkspaceFolder): Promise<WorkspaceFolder> {
  const pattern = new vscode.RelativePattern(folder, '**/.gitignore');
  const files = await vscode.workspace.findFiles(pattern, '**/node_modules/**', MOST_FILES);
  const below = await Promise.all(files.map((file) => readIgnore(folder, file)));
  const ignoreFiles = [...(await readAbove(folder.uri)), ...below.filter((each) => each !== undefined)];
  return { uri: folder.uri.toString(), ignoreFiles };
}

async function readIgnore(folder: vscode.WorkspaceFolder, file: vscode.Uri): Promise<IgnoreFile | undefined> {
  const content = await messageText(file);
  const relative = file.path.slice(folder.uri.path.length).replace(/^\//, '');
  return content === undefined ? undefined : { directory: relative.replace(/\/?\.gitignore$/, ''), content };
}

/** The ignore files above a folder, up to the root of its repository; none where it is in no repository. */
async function readAbove(folder: vscode.Uri): Promise<readonly IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  for (let at = folder, down = ''; ; ) {
    if (await exists(vscode.Uri.joinPath(at, '.git'))) return found;
    const parent = vscode.Uri.joinPath(at, '..');
    if (parent.path === at.path) return [];
    const name = at.path.slice(at.path.lastIndexOf('/') + 1);
    down = down === '' ? name : `${name}/${down}`;
    at = parent;
    const content = await messageText(vscode.Uri.joinPath(at, '.gitignore'));
    if (content !== undefined) found.push({ directory: '', down, content });
  }
}

/** undefined where there is no such file, also because it was deleted between the search and the reading. */
async function messageText(file: vscode.Uri): Promise<string | undefined> {
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
