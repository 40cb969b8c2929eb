import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { readRegularFile } from '../../../base/regular-file.ts';
import { runGit, runGitForBytes } from '../../../base/run-git.ts';
import { isSecretFile } from '../../../base/secret-files.ts';
import { decodeContent } from '../tools/file-text.ts';
import { fileAt, workspaceRelativePath } from '../tools/workspace-path.ts';

const MAX = 400_000;

/** Contents of larger new files are left out. */
const MAX_NEW_BYTES = 100_000;
const MAX_NEW_FILES = 200;

/**
 * Uncommitted changes with new files, without files that may contain secrets. Empty outside a repository. By default
 * of the first workspace folder.
 *
 * @param which `commit`: the staged changes if there are any, as Git commits them. `all`: staged or not.
 * @param mayRead whether a workspace file is included, by its path in the workspace. If it is given, files outside the
 * workspace are left out.
 */
export async function gitDiff(
  which: 'commit' | 'all' = 'commit',
  folder = vscode.workspace.workspaceFolders?.[0]?.uri,
  mayRead?: (path: string) => boolean,
): Promise<string> {
  // The repository's configuration can make git start programs, so the workspace must be trusted.
  if (folder?.scheme !== 'file' || !vscode.workspace.isTrusted) return '';
  const repository = new Repository(folder.fsPath, mayRead);
  try {
    const staged = await repository.diff('--cached');
    if (which === 'commit' && staged !== '') return staged.slice(0, MAX);
    const changed = which === 'all' ? await repository.diff('HEAD').catch(() => staged) : await repository.diff();
    return (changed + (await repository.newFiles())).slice(0, MAX);
  } catch {
    // There is no repository, or git is not installed.
    return '';
  }
}

class Repository {
  readonly #folder: string;
  readonly #mayRead: ((path: string) => boolean) | undefined;

  constructor(folder: string, mayRead: ((path: string) => boolean) | undefined) {
    this.#folder = folder;
    this.#mayRead = mayRead;
  }

  async diff(...args: string[]): Promise<string> {
    // Names are relative to the root of the repository, and a submodule is one name.
    const diff = ['-c', 'diff.relative=false', 'diff', '--submodule=short'];
    const fixed = [...diff, '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames'];
    const names = split(await this.#git(...fixed, ...args, '--name-only', '-z'));
    const included = new Set(await this.#included(await this.#root(), names));
    if (included.size === 0) return '';
    const excluded = names.filter((name) => !included.has(name)).map((name) => `:(exclude,top,literal)${name}`);
    const shown = ['-c', 'core.quotePath=false', ...fixed, ...args, '--', ':(top)', ...excluded];
    return decodeDiff(await runGitForBytes(shown, this.#call), await this.#root());
  }

  /** Files that Git does not know yet, in the form of a diff. */
  async newFiles(): Promise<string> {
    const root = await this.#root();
    const listed = await this.#git('-C', root, 'ls-files', '--others', '--exclude-standard', '-z');
    const names = await this.#included(root, split(listed));
    const diffs: string[] = [];
    for (const name of names.slice(0, MAX_NEW_FILES)) diffs.push(await newFileDiff(root, name));
    const more = names.length > MAX_NEW_FILES ? `\n${names.length - MAX_NEW_FILES} more new files\n` : '';
    return diffs.join('') + more;
  }

  async #root(): Promise<string> {
    return (await this.#git('rev-parse', '--show-toplevel')).replace(/\r?\n$/, '');
  }

  /** The files that may be read. @param names relative to the root of the repository. */
  async #included(root: string, names: readonly string[]): Promise<readonly string[]> {
    const plain = names.filter((name) => !isSecretFile(name));
    const mayRead = this.#mayRead;
    if (!mayRead) return plain;
    // A folder that became a link has another real path than its deleted files had.
    const uris = plain.map((name) => vscode.Uri.file(join(root, name)));
    const files = await Promise.all(uris.map(fileAt));
    return plain.filter((_, index) => {
      const file = files[index];
      const uri = uris[index];
      return file && uri && mayRead(file.relative) && mayRead(workspaceRelativePath(uri));
    });
  }

  #git(...args: string[]): Promise<string> {
    return runGit(args, this.#call);
  }

  get #call() {
    return { cwd: this.#folder, maxBuffer: 64 * 1024 * 1024 };
  }
}

/** Decodes the part of each file as the editor does. A byte order mark is no text. */
async function decodeDiff(diff: Buffer, root: string): Promise<string> {
  const parts: string[] = [];
  for (let start = 0; start < diff.length; ) {
    const next = diff.indexOf('\ndiff --git ', start);
    const end = next === -1 ? diff.length : next + 1;
    const part = diff.subarray(start, end);
    const [, name] = /^(?:\+\+\+ b|--- a)\/(.+?)\t?$/m.exec(part.toString('utf8')) ?? [];
    const uri = vscode.Uri.file(join(root, name ?? ''));
    parts.push(isUtf8(part) ? part.toString('utf8') : await decodeContent(uri, part));
    start = end;
  }
  return parts.join('').replace(/^([ +-])\uFEFF/gm, '$1');
}

async function newFileDiff(root: string, name: string): Promise<string> {
  const head = `diff --git a/${name} b/${name}\nnew file\n`;
  // Inside: a link to another place is not read.
  const read = await readRegularFile(join(root, name), { limit: MAX_NEW_BYTES, inside: root });
  if (!('bytes' in read)) return read.problem === 'too-large' ? `${head}Large file, not shown\n` : '';
  if (read.bytes.subarray(0, 8000).includes(0)) return `${head}Binary file\n`;
  const text = await decodeContent(vscode.Uri.file(join(root, name)), read.bytes);
  const lines = text.replace(/\n$/, '').split('\n');
  const body = text === '' ? '' : `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
  return `${head}--- /dev/null\n+++ b/${name}\n${body}`;
}

function split(list: string): readonly string[] {
  return list.split('\0').filter(Boolean);
}
