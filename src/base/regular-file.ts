import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import path from 'node:path';

export type FileProblem = 'missing' | 'not-a-file' | 'too-large' | 'unreadable' | 'outside';

export type FileRead = { readonly bytes: Uint8Array } | { readonly problem: FileProblem };

export interface ReadRules {
  /** The most bytes that are read. */
  readonly limit: number;
  /** The real path of the folder that the opened file must lie in. */
  readonly inside?: string;
}

/**
 * Reads a regular file without ever blocking on what it may be instead (a FIFO, a device, a
 * terminal). With `inside` the opened descriptor is resolved and compared, then read: a symbolic
 * link that is swapped after the check changes nothing, because the path is not used again.
 */
export async function readRegularFile(file: string, rules: ReadRules): Promise<FileRead> {
  let handle: FileHandle;
  try {
    // Absent on Windows, where neither FIFOs nor controlling terminals are in the file system.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
  } catch (error) {
    return { problem: problemOf(error) };
  }
  try {
    if (rules.inside !== undefined && !isInside(rules.inside, await realPathOf(handle, file))) {
      return { problem: 'outside' };
    }
    const stat = await handle.stat();
    if (!stat.isFile()) return { problem: 'not-a-file' };
    if (stat.size > rules.limit) return { problem: 'too-large' };
    return await readAll(handle, stat.size, rules.limit);
  } catch (error) {
    return { problem: problemOf(error) };
  } finally {
    await handle.close();
  }
}

/** In one read where the file is as large as it says. It may be wrong (`/proc`, a file that grows): then until nothing comes. */
async function readAll(handle: FileHandle, size: number, limit: number): Promise<FileRead> {
  const parts: Buffer[] = [];
  let total = 0;
  for (;;) {
    // There is room for more than expected, so that what does not come is not there.
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

function problemOf(error: unknown): FileProblem {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
  if (code === 'EISDIR' || code === 'ENXIO') return 'not-a-file';
  return 'unreadable';
}

/** The real path of what was opened; `undefined` where it can't be proven to be the same file. */
async function realPathOf(handle: FileHandle, file: string): Promise<string | undefined> {
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
