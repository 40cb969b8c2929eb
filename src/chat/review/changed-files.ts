import type { RecordedChange } from '../checkpoints/recorded-changes.ts';
import type { TurnSummary } from '../message-parts.ts';

/** All changes of one file, also across renames. */
export interface ChangedFile {
  /** Its path now, and before the first change. */
  readonly path: string;
  readonly firstPath: string;
  /** Oldest first. */
  readonly changes: readonly [RecordedChange, ...RecordedChange[]];
}

/** Groups changes by file. @param changes oldest first. */
export function changedFiles(changes: readonly RecordedChange[]): readonly ChangedFile[] {
  const files: { path: string; firstPath: string; changes: [RecordedChange, ...RecordedChange[]] }[] = [];
  for (const change of changes) {
    const known = files.find(({ path }) => path === change.path);
    if (known) known.changes.push(change);
    else files.push({ path: change.path, firstPath: change.path, changes: [change] });
    const file = known ?? files.at(-1);
    if (file && change.newPath !== undefined) file.path = change.newPath;
  }
  return files;
}

export function turnState(changes: readonly RecordedChange[]): TurnSummary['state'] {
  if (changes.every(({ state }) => state === 'undone')) return 'undone';
  return changes.some(({ state }) => state === 'applied') ? 'pending' : 'kept';
}

/** The calls all of whose changes were undone. */
export function undoneCalls(changes: readonly RecordedChange[]): readonly string[] {
  const byCall = Map.groupBy(changes, ({ call }) => call);
  return [...byCall].flatMap(([call, all]) => (all.every(({ state }) => state === 'undone') ? [call] : []));
}
