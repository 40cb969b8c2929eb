import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Readable and writable by the owner only: the content may be secret. */
const OWN = 0o600;

/**
 * Replaces a file atomically, also if the power fails: a reader gets the old or the new content. An existing file
 * keeps its mode, and a symbolic link remains a link. Creates the folder if it is missing.
 */
export async function replaceFile(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const target = (await orMissing(realpath(file))) ?? file;
  const mode = (await orMissing(stat(target)))?.mode ?? OWN;
  const fresh = `${target}.${process.pid}.${randomUUID()}`;
  try {
    await writeFile(fresh, content, { flush: true, mode: mode & 0o777 });
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

async function orMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
