import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import type { Io } from '../../src/cli/io.ts';
import { main } from '../../src/cli/main.ts';
import type { Command } from '../../src/cli/options.ts';
import { COMPILE_CACHE } from '../compile-cache.ts';
import type { ProjectFolder } from '../config/project-folder.ts';
import { CLI } from '../svc-program.ts';

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line in this process. */
export async function svc(
  folder: ProjectFolder,
  args: readonly string[],
  commands?: readonly Command[],
  input = '',
  spawnDetached?: Io['spawnDetached'],
): Promise<Finished> {
  let out = '';
  let err = '';
  const io: Io = {
    out: async (text) => {
      out += text;
    },
    err: async (text) => {
      err += text;
    },
    input: Readable.from(input === '' ? [] : [input]),
    env: folder.env,
    platform: 'linux',
    home: folder.home,
    cwd: folder.project,
    signal: new AbortController().signal,
    ...(spawnDetached === undefined ? {} : { spawnDetached }),
  };
  const code = await main(args, io, commands);
  return { code, out, err };
}

/** Runs a command line as a process, its output through a pipe. */
export function svcProcess(folder: ProjectFolder, args: readonly string[]): Promise<Finished> {
  const env = { ...folder.env, HOME: folder.home, PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [CLI, ...args],
      { cwd: folder.project, env, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err });
      },
    );
  });
}
