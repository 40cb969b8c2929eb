import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { findRealPath } from '../../base/real-path.ts';
import { isSecretFile } from '../../base/secret-files.ts';
import { type Exclusion, Exclusions, type IgnoreFile } from './exclusion.ts';

/**
 * Why a file on disk must not be sent; `undefined`: it may be sent. Checks the given path and the real path: the kind
 * of file, and the ignore files of its Git worktree from the root down.
 */
export async function exclusionOnDisk(file: string): Promise<Exclusion | undefined> {
  const real = await findRealPath(file);
  if (real === undefined) return 'outside';
  for (const one of new Set([file, real])) {
    const reason = isSecretFile(one) ? 'secret-kind' : await exclusionInWorktree(one);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

async function exclusionInWorktree(file: string): Promise<Exclusion | undefined> {
  const root = await worktreeRoot(path.dirname(file));
  if (root === undefined) return undefined;
  const uri = pathToFileURL(root).href;
  const exclusions = new Exclusions([{ uri, ignoreFiles: await readIgnoreFiles(root, path.dirname(file)) }], []);
  return exclusions.reason(pathToFileURL(file).href);
}

/** The nearest folder that contains `.git`, which is a folder or the file of a linked worktree. */
async function worktreeRoot(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = path.dirname(at)) {
    if (await stat(path.join(at, '.git')).catch(() => undefined)) return at;
    if (path.dirname(at) === at) return undefined;
  }
}

/** Reads the ignore files from the root down to `folder`, and `info/exclude`, which all of them override. */
async function readIgnoreFiles(root: string, folder: string): Promise<readonly IgnoreFile[]> {
  const names = path.relative(root, folder).split(path.sep).filter(Boolean);
  const directories = ['', ...names.map((_, index) => names.slice(0, index + 1).join('/'))];
  const read = async (directory: string, name: string) => {
    const content = await readFile(path.join(root, directory, name), 'utf8').catch(() => undefined);
    return content === undefined ? [] : [{ directory, content }];
  };
  const exclude = (await read('.git', 'info/exclude')).map(({ content }) => ({ directory: '', content }));
  const ignoreFiles = await Promise.all(directories.map((directory) => read(directory, '.gitignore')));
  return [...ignoreFiles.flat(), ...exclude];
}
