import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { isSecretFile } from '../../../base/secret-files.ts';

const run = promisify(execFile);
const MAX = 400_000;

/**
 * The staged diff, or the unstaged diff if nothing is staged, without files that may contain secrets. Empty outside a
 * repository. By default for the first workspace folder.
 */
export async function gitDiff(folder = vscode.workspace.workspaceFolders?.[0]?.uri): Promise<string> {
  // The repository's configuration can make git start programs, so the workspace must be trusted.
  if (folder?.scheme !== 'file' || !vscode.workspace.isTrusted) return '';
  const git = async (...args: string[]) => {
    const fixed = ['--no-optional-locks', 'diff', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames'];
    const { stdout } = await run('git', [...fixed, ...args], { cwd: folder.fsPath, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  };
  const diff = async (...args: string[]) => {
    const names = (await git(...args, '--name-only', '-z')).split('\0').filter(Boolean);
    const excluded = names.filter(isSecretFile).map((name) => `:(exclude,top,literal)${name}`);
    if (names.length === excluded.length) return '';
    return (await git(...args, '--', ':(top)', ...excluded)).slice(0, MAX);
  };
  try {
    return (await diff('--cached')) || (await diff());
  } catch {
    // There is no repository, or git is not installed.
    return '';
  }
}
