import { findHunks, type Hunk } from '../../base/hunks.ts';

export type { Hunk };

/** The hunks that turn `before` into `after`. With too many differences, the whole text becomes one hunk. */
export function lineDiff(before: string, after: string): Hunk[] {
  const [oldLines, newLines] = [before.split('\n'), after.split('\n')];
  return findHunks(oldLines, newLines) ?? [{ from: 0, before: oldLines, after: newLines }];
}

/** Applies some of the hunks to the old text. @param chosen indexes of `hunks`. */
export function applyHunks(before: string, hunks: readonly Hunk[], chosen: ReadonlySet<number>): string {
  const lines = before.split('\n');
  for (const [index, hunk] of [...hunks.entries()].reverse()) {
    if (chosen.has(index)) lines.splice(hunk.from, hunk.before.length, ...hunk.after);
  }
  return lines.join('\n');
}
