import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { isSecretFile } from '../../../base/secret-files.ts';

const run = promisify(execFile);
const MAX = 400_000;

/**
 * The diff of what is staged, else of what is changed, in the first workspace folder, without files that hold secrets;
 * empty outside of a repository.
 */
export async function gitDiff(folder = vscode.workspace.workspaceFolders?.[0]?.uri): Promise<string> {
  // A repository's own configuration names programs that git starts: not before the workspace is trusted.
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
    // No repository, or no git: there is no diff.
    return '';
  }
}
