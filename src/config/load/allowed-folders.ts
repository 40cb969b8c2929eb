import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { isObject } from '../../base/json.ts';
import { readRegularFile } from '../../base/regular-file.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { svcFolder, type UserPlace } from '../../base/user-folders.ts';

const MAX_BYTES = 1024 * 1024;

/** The file with the folders whose configuration the user has allowed, in the terminal or in the editor. */
export function allowedFoldersFile(place: UserPlace): string {
  return path.join(svcFolder('state', place), 'allowed-folders.json');
}

/** Real paths. Empty if the file is missing or damaged: the user is then asked again. */
export async function readAllowedFolders(place: UserPlace): Promise<readonly string[]> {
  const file = await readRegularFile(allowedFoldersFile(place), { limit: MAX_BYTES });
  if ('problem' in file) return [];
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(file.bytes));
    const folders = isObject(value) && Array.isArray(value.folders) ? value.folders : [];
    return folders.filter((each) => typeof each === 'string');
  } catch {
    return [];
  }
}

/**
 * Allows the configuration of a folder and of the folders below it, or takes that back.
 *
 * @returns the real path of the folder.
 * @throws Error of the file system, for example if the folder does not exist.
 */
export async function allowFolder(place: UserPlace, folder: string, allowed: boolean): Promise<string> {
  const real = await realpath(folder);
  const others = (await readAllowedFolders(place)).filter((each) => each !== real);
  const folders = allowed ? [...others, real].sort() : others;
  await replaceFile(allowedFoldersFile(place), `${JSON.stringify({ folders }, null, 2)}\n`);
  return real;
}

/** @param folder a real path. */
export function isAllowed(folder: string, allowed: readonly string[]): boolean {
  return allowed.some((each) => {
    const below = path.relative(each, folder);
    return below === '' || (!path.isAbsolute(below) && below.split(path.sep)[0] !== '..');
  });
}
