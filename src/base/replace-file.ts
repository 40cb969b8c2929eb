import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Its owner alone: what we write may hold what others must not read. */
const OWN = 0o600;

/**
 * Writes a file whole or not at all, whenever the power goes: who reads it meanwhile has the old text or the new
 * one. A file that is there keeps its mode, and a link stays a link to it. The folder is made where it is missing.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const target = (await orMissing(realpath(file))) ?? file;
  const mode = (await orMissing(stat(target)))?.mode ?? OWN;
  const fresh = `${target}.${process.pid}.${randomUUID()}`;
  try {
    await writeFile(fresh, text, { flush: true, mode: mode & 0o777 });
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

async function orMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
