import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { REFRESH_INTERVAL_MS } from './refresh.ts';

/**
 * For short-lived processes: claims the next catalog refresh. Returns true if no process has refreshed or claimed a
 * refresh within the last hour. Reads only file times, so the check is cheap. Never throws: if the claim can't be
 * written, a catalog couldn't be stored either.
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
