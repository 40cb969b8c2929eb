import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Position } from '../../completion/document/document-text.ts';
import { exclusionOnDisk } from '../../completion/prompt/worktree.ts';
import { type Io, UsageError } from '../io.ts';
import { readPiped } from './standard-input.ts';

/** A position in a file: `FILE:LINE:COL`. `-` is standard input. */
export interface FilePlace {
  readonly file: string;
  readonly position: Position;
}

/** `parseArgs` would read `-:3:1` as an option, so it is moved after `--`. */
export function withInputLast(args: readonly string[]): string[] {
  const place = args.filter((arg) => /^-:\d+:\d+$/.test(arg));
  return place.length === 0 ? [...args] : [...args.filter((arg) => !place.includes(arg)), '--', ...place];
}

/** @throws UsageError with an example of `command`. */
export function parsePlace(positionals: readonly string[], command: string): FilePlace {
  const [, file, line, column] = /^(.+):(\d+):(\d+)$/s.exec(positionals[0] ?? '') ?? [];
  if (positionals.length !== 1 || file === undefined || Number(line) < 1 || Number(column) < 1) {
    throw new UsageError(
      `Add a position: svc ${command} FILE:LINE:COL. LINE and COL start at 1; use - as FILE for standard input.`,
    );
  }
  return { file, position: { line: Number(line) - 1, character: Number(column) - 1 } };
}

/** Rejects the files that the editor never sends. */
export async function refuseExcluded(file: string, cwd: string): Promise<void> {
  if (file === '-') return;
  const reason = await exclusionOnDisk(path.resolve(cwd, file));
  if (reason === 'gitignored') throw new UsageError(`${file} was not sent: it is excluded by a .gitignore file.`);
  if (reason !== undefined) throw new UsageError(`${file} was not sent: files of this type usually contain secrets.`);
}

export async function readCode(file: string, io: Io): Promise<string> {
  if (file === '-') return readPiped(io);
  try {
    return await readFile(path.resolve(io.cwd, file), { encoding: 'utf8', signal: io.signal });
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code === 'ENOENT') throw new UsageError(`The file ${file} does not exist.`);
    if (code === 'EISDIR') throw new UsageError(`${file} is a folder.`);
    throw thrown;
  }
}

/** The path in a prompt. Paths outside the current folder are reduced to the file name: folder names may be private. */
export function promptPath(file: string, cwd: string): string | undefined {
  if (file === '-') return undefined;
  const relative = path.relative(cwd, path.resolve(cwd, file)).replaceAll('\\', '/');
  return /^(\.\.|\/|[a-z]:)/i.test(relative) ? path.basename(file) : relative;
}

/** @param lines of the file, without line breaks. @throws UsageError if the position is not in the file. */
export function requireInside(lines: readonly string[], { file, position }: FilePlace): void {
  const { line, character } = position;
  if (line >= lines.length) throw new UsageError(`${file} has ${lines.length} lines; there is no line ${line + 1}.`);
  const length = lines[line]?.length ?? 0;
  if (character > length) {
    throw new UsageError(
      `Line ${line + 1} of ${file} ends at column ${length + 1}; there is no column ${character + 1}.`,
    );
  }
}
