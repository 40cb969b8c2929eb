import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../base/replace-file.ts';
import { svcFolder } from '../../base/user-folders.ts';
import type { LastUsedStore } from '../../catalog/model-selection.ts';
import type { Io } from '../io.ts';

/** Maximum number of stored references. */
const KEPT = 5;

/** The file with the models that were last used in the terminal, in the platform's state folder. */
export function lastUsedFile(io: Pick<Io, 'env' | 'platform' | 'home'>): string {
  return path.join(svcFolder('state', io), 'model.json');
}

export function lastUsedStore(io: Pick<Io, 'env' | 'platform' | 'home'>): LastUsedStore {
  const file = lastUsedFile(io);
  const read = async () => {
    try {
      const value: unknown = JSON.parse(await readFile(file, 'utf8'));
      const recent = typeof value === 'object' && value !== null && 'recent' in value ? value.recent : undefined;
      return Array.isArray(recent) ? recent.filter((each) => typeof each === 'string') : [];
    } catch {
      // Missing or damaged: treated as empty.
      return [];
    }
  };
  const write = async (ref: string) => {
    const recent = [ref, ...(await read()).filter((each) => each !== ref)].slice(0, KEPT);
    await replaceFile(file, `${JSON.stringify({ recent })}\n`);
  };
  return { read, write };
}
