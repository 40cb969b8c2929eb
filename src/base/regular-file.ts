import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, unlink } from 'node:fs/promises';
import path from 'node:path';

export type FileProblem = 'missing' | 'not-a-file' | 'too-large' | 'unreadable' | 'outside' | 'foreign-owner';

export type FileRead = { readonly bytes: Uint8Array } | { readonly problem: FileProblem };

export interface ReadRules {
  /** Maximum size in bytes. */
  readonly limit: number;
  /** The real path of the folder that must contain the opened file. */
  readonly inside?: string;
  /** The real path that the opened file must have. */
  readonly at?: string;
  /** The ids of the users to whom the opened file may belong. */
  readonly owners?: readonly number[];
}

/**
 * Reads a regular file. Never blocks if the path is something else (a FIFO, a device, a terminal). With `inside`, the
 * opened descriptor is resolved and compared, then read. The path is not used again, so a symbolic link that is swapped
 * after the check has no effect.
 */
export async function readRegularFile(file: string, rules: ReadRules): Promise<FileRead> {
  let handle: FileHandle;
  try {
    // These flags are absent on Windows, whose file system has no FIFOs or controlling terminals.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
  } catch (error) {
    return { problem: classifyError(error) };
  }
  try {
    const real = rules.inside !== undefined || rules.at !== undefined ? await findHandlePath(handle, file) : undefined;
    if (rules.inside !== undefined && !isInside(rules.inside, real)) return { problem: 'outside' };
    if (rules.at !== undefined && (real === undefined || !isSamePath(rules.at, real))) return { problem: 'outside' };
    const stat = await handle.stat();
    if (!stat.isFile()) return { problem: 'not-a-file' };
    if (rules.owners && !rules.owners.includes(stat.uid)) return { problem: 'foreign-owner' };
    if (stat.size > rules.limit) return { problem: 'too-large' };
    return await readAll(handle, stat.size, rules.limit);
  } catch (error) {
    return { problem: classifyError(error) };
  } finally {
    await handle.close();
  }
}

/**
 * Creates a file at this real path. The opened descriptor is compared with the path before a byte is written: if a
 * folder was replaced by a link in the meantime, the empty file that was created elsewhere is removed again.
 *
 * @throws Error of the file system, also if the file exists, or `ESTALE` if the path leads to another folder.
 */
export async function createRegularFile(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    const real = await findHandlePath(handle, file);
    if (real === undefined || !isSamePath(real, file)) {
      if (real !== undefined) await unlink(real);
      throw Object.assign(new Error(`${file} is in another folder now. Nothing was written.`), { code: 'ESTALE' });
    }
    await handle.writeFile(bytes);
  } finally {
    await handle.close();
  }
}

function isSamePath(a: string, b: string): boolean {
  // The letter of a drive may differ.
  return process.platform === 'win32' ? a.toLowerCase() === b.toLowerCase() : a === b;
}

/**
 * Reads a file in one call if its reported size is correct. If the size is wrong (`/proc`, a growing file), reads until
 * the end of the file.
 */
async function readAll(handle: FileHandle, size: number, limit: number): Promise<FileRead> {
  const parts: Buffer[] = [];
  let total = 0;
  for (;;) {
    // The buffer is larger than the expected rest, so a full read of that rest proves that the file ended there.
    const buffer = Buffer.allocUnsafe(Math.max(size - total, 0) + 1024);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
    total += bytesRead;
    if (total > limit) return { problem: 'too-large' };
    const part = buffer.subarray(0, bytesRead);
    if (parts.length === 0 && bytesRead === size && size > 0) return { bytes: part };
    if (bytesRead === 0) return { bytes: Buffer.concat(parts, total) };
    parts.push(part);
  }
}

function classifyError(error: unknown): FileProblem {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
  if (code === 'EISDIR' || code === 'ENXIO') return 'not-a-file';
  return 'unreadable';
}

/** The real path of the opened file, or `undefined` if it can't be proven to be the same file. */
async function findHandlePath(handle: FileHandle, file: string): Promise<string | undefined> {
  if (process.platform === 'linux') return realpath(`/proc/self/fd/${handle.fd}`);
  const real = await realpath(file);
  const [opened, named] = await Promise.all([handle.stat({ bigint: true }), lstat(real, { bigint: true })]);
  const same = opened.dev === named.dev && opened.ino === named.ino;
  return same && (await realpath(file)) === real ? real : undefined;
}

/** Whether `file` is below `folder`, compared by path segments: `/a/bc` is not in `/a/b`, `/a/..x` is in `/a`. */
export function isInside(folder: string, file: string | undefined, paths: path.PlatformPath = path): boolean {
  if (file === undefined) return false;
  const relative = paths.relative(folder, file);
  return relative !== '' && !paths.isAbsolute(relative) && relative.split(paths.sep)[0] !== '..';
}
