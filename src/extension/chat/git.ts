import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';

const run = promisify(execFile);
const MAX = 400_000;

/** The diff of what is staged, else of what is changed, in the first workspace folder; empty outside of a repository. */
export async function gitDiff(folder = vscode.workspace.workspaceFolders?.[0]?.uri): Promise<string> {
  // A repository's own configuration names programs that git starts: not before the workspace is trusted.
  if (folder?.scheme !== 'file' || !vscode.workspace.isTrusted) return '';
  const diff = async (...args: string[]) => {
    const { stdout } = await run('git', ['--no-optional-locks', 'diff', '--no-ext-diff', '--no-color', ...args], {
      cwd: folder.fsPath,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.slice(0, MAX);
  };
  try {
    return (await diff('--cached')) || (await diff());
  } catch {
    // No repository, or no git: there is no diff.
    return '';
  }
}
