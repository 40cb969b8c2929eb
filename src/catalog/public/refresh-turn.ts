import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { REFRESH_INTERVAL_MS } from './refresh.ts';

/**
 * Takes the turn to look for a newer catalog, for processes that are too short to wait for an hour: whether
 * nobody has looked or taken the turn within the last hour. Reads no content, so asking costs next to nothing.
 * Never throws: where nothing can be written, no catalog could be kept either.
 *
 * @param now Unix milliseconds.
 */
export async function takeRefreshTurn(cacheFile: string, now = Date.now()): Promise<boolean> {
  const mark = `${cacheFile}.asked`;
  const ages = await Promise.all([cacheFile, mark].map((file) => age(file, now)));
  // A clock that was set back must not stop refreshing for years.
  if (ages.some((each) => each >= 0 && each < REFRESH_INTERVAL_MS)) return false;
  try {
    await mkdir(dirname(mark), { recursive: true });
    await writeFile(mark, '');
    return true;
  } catch {
    return false;
  }
}

async function age(file: string, now: number): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => now - mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
}
