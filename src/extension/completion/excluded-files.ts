import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import { Exclusions, type IgnoreFile, type WorkspaceFolder } from '../../completion/prompt/exclusion.ts';
import type { NotSent } from '../../completion/trigger/trigger.ts';

const MAX_FILES = 500;

type Search = (folder: vscode.WorkspaceFolder) => Thenable<vscode.Uri[]>;

/**
 * Decides which files must not be sent. Follows changes of folders, .gitignore files and the setting.
 *
 * The search for the ignore files of a large workspace takes seconds. Until it has ended, a file is judged by the ignore
 * files of the folders above it, which are read in milliseconds and are all that concern it.
 */
export class ExcludedFiles implements vscode.Disposable {
  readonly #globs: () => readonly string[];
  readonly #search: Search;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #disposables = new DisposableStore();
  readonly onDidChange = this.#changed.event;
  #folders: readonly WorkspaceFolder[] | undefined;
  #rules: Exclusions | undefined;
  /** Rules for single files while the search runs; `undefined`: they are being read. */
  readonly #early = new Map<string, Exclusions | undefined>();
  #reading = 0;

  /** @param search finds all ignore files below a folder. */
  constructor(globs: () => readonly string[], onGlobsChange: vscode.Event<void>, search: Search = findIgnoreFiles) {
    this.#globs = globs;
    this.#search = search;
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
      onGlobsChange(() => {
        this.#early.clear();
        if (this.#rules) this.#applyRules();
      }),
    );
    readAgain();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Why a file must not be sent; undefined: it may be sent. Nothing may be sent before the ignore files are read. */
  readonly reason = (uriOrPath: string): NotSent | undefined => {
    if (this.#rules) return this.#rules.reason(uriOrPath);
    const early = this.#early.get(uriOrPath);
    if (early) return early.reason(uriOrPath);
    if (!this.#early.has(uriOrPath)) void this.#readEarly(uriOrPath);
    return 'unknown-yet';
  };

  /** Whether an ignore file excludes a file of the workspace. Waits until those that concern it were read. */
  async isIgnored(uri: string): Promise<boolean> {
    for (;;) {
      const rules = this.#rules ?? this.#early.get(uri);
      if (rules) return rules.isIgnored(uri);
      // Begins to read them.
      this.reason(uri);
      await new Promise<void>((resolve) => {
        const once = this.#changed.event(() => {
          once.dispose();
          resolve();
        });
      });
    }
  }

  /** Reads the ignore files above one file. @param uri others than those of the workspace wait for the search. */
  async #readEarly(uri: string): Promise<void> {
    const file = /^[a-z][a-z0-9+.-]+:/i.test(uri) ? vscode.Uri.parse(uri) : undefined;
    const folders = file && foldersOf(file);
    if (!file || !folders || folders.length === 0) return;
    this.#early.set(uri, undefined);
    const reading = this.#reading;
    const read = await Promise.all(folders.map((folder) => readFolderFor(folder, file)));
    if (this.#rules) return;
    // If an ignore file has changed meanwhile, whoever asks again causes another read.
    if (reading === this.#reading) this.#early.set(uri, new Exclusions(read, this.#globs()));
    this.#changed.fire();
  }

  async #read(): Promise<void> {
    this.#reading += 1;
    const reading = this.#reading;
    // The previous rules may allow too much.
    this.#rules = undefined;
    this.#early.clear();
    const folders = await Promise.all(
      (vscode.workspace.workspaceFolders ?? []).map((folder) => readFolder(folder, this.#search)),
    );
    // A later read has newer content.
    if (reading !== this.#reading) return;
    this.#folders = folders;
    this.#applyRules();
  }

  #applyRules(): void {
    if (this.#folders === undefined) return;
    this.#rules = new Exclusions(this.#folders, this.#globs());
    this.#early.clear();
    this.#changed.fire();
  }
}

function findIgnoreFiles(folder: vscode.WorkspaceFolder): Thenable<vscode.Uri[]> {
  const pattern = new vscode.RelativePattern(folder, '**/.gitignore');
  return vscode.workspace.findFiles(pattern, '**/node_modules/**', MAX_FILES);
}

async function readFolder(folder: vscode.WorkspaceFolder, search: Search): Promise<WorkspaceFolder> {
  const files = await search(folder);
  const below = await Promise.all(files.map((file) => readIgnore(folder, file)));
  const ignoreFiles = [...(await readAbove(folder.uri)), ...below.filter((each) => each !== undefined)];
  return { uri: folder.uri.toString(), ignoreFiles };
}

/** The workspace folders that contain a file: they may be nested. */
function foldersOf({ path, scheme, authority }: vscode.Uri): readonly vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(
    ({ uri }) => uri.scheme === scheme && uri.authority === authority && path.startsWith(`${uri.path}/`),
  );
}

/** Like `readFolder`, with the ignore files that concern one file only. */
async function readFolderFor(folder: vscode.WorkspaceFolder, file: vscode.Uri): Promise<WorkspaceFolder> {
  const names = file.path
    .slice(folder.uri.path.length + 1)
    .split('/')
    .slice(0, -1);
  const places = [
    folder.uri,
    ...names.map((_, index) => vscode.Uri.joinPath(folder.uri, ...names.slice(0, index + 1))),
  ];
  const below = await Promise.all(places.map((at) => readIgnore(folder, vscode.Uri.joinPath(at, '.gitignore'))));
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
