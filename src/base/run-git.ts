import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

export interface GitCall {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  /** In milliseconds. */
  readonly timeout?: number;
  /** Of the output, in bytes. */
  readonly maxBuffer?: number;
}

/**
 * Options that keep the content of a folder from starting a program: a folder that is itself a repository (`HEAD`,
 * `config`, `objects/` as plain files, which a clone contains) is refused, and neither a file system monitor nor a hook
 * runs (git-config(1), `safe.bareRepository`, `core.fsmonitor`, `core.hooksPath`).
 */
const SAFE = ['safe.bareRepository=explicit', 'core.fsmonitor=false', 'core.hooksPath=/dev/null'];

/** Runs git and returns its output. @throws if git is not installed, or ends with another code than 0. */
export async function runGit(args: readonly string[], call: GitCall): Promise<string> {
  return (await runGitForBytes(args, call)).toString('utf8');
}

/** As `runGit`, for output with the content of files, which may have any encoding. */
export async function runGitForBytes(
  args: readonly string[],
  { env = process.env, ...call }: GitCall,
): Promise<Buffer> {
  const git = findProgram('git', env, process.platform);
  if (git === undefined) throw new Error('git is not installed.');
  const options = SAFE.flatMap((each) => ['-c', each]);
  const { stdout } = await promisify(execFile)(git, ['--no-optional-locks', ...options, ...args], {
    ...call,
    encoding: 'buffer',
    windowsHide: true,
    env: { ...env, GIT_TERMINAL_PROMPT: '0' },
  });
  return stdout;
}

/**
 * The absolute path of a program on the PATH. A bare name would be looked up in the working folder first on Windows,
 * where a repository may contain a `git.exe`. Relative entries of the PATH are skipped for the same reason.
 */
export function findProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string | undefined {
  const windows = platform === 'win32';
  const { delimiter, isAbsolute, join } = windows ? path.win32 : path.posix;
  const [, value = ''] = Object.entries(env).find(([key]) => (windows ? key.toUpperCase() : key) === 'PATH') ?? [];
  const folders = value.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, windows ? `${name}.exe` : name)).find(isFile);
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
