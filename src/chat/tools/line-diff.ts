import { diffArrays } from 'diff';

/** A range of changed lines: the lines `before`, starting at `from`, become `after`. */
export interface Hunk {
  /** 0-based line of the old text. */
  readonly from: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** With more differences, the whole text becomes one hunk: the minimal diff takes quadratic time and is not useful. */
const LIMITS = { maxEditLength: 1500, timeout: 250 };

/** The hunks that turn `before` into `after`. */
export function lineDiff(before: string, after: string): Hunk[] {
  const oldLines = before.split('\n');
  const newLines = after.split('\n');
  const changes = diffArrays(oldLines, newLines, LIMITS);
  if (changes === undefined) return [{ from: 0, before: oldLines, after: newLines }];
  const hunks: { from: number; before: string[]; after: string[] }[] = [];
  let line = 0;
  let open: (typeof hunks)[number] | undefined;
  for (const { added, removed, value } of changes) {
    if (!added && !removed) open = undefined;
    else if (open === undefined) {
      open = { from: line, before: [], after: [] };
      hunks.push(open);
    }
    if (added) open?.after.push(...value);
    else {
      open?.before.push(...value);
      line += value.length;
    }
  }
  return hunks;
}

/** Applies some of the hunks to the old text. @param chosen indexes of `hunks`. */
export function applyHunks(before: string, hunks: readonly Hunk[], chosen: ReadonlySet<number>): string {
  const lines = before.split('\n');
  for (const [index, hunk] of [...hunks.entries()].reverse()) {
    if (chosen.has(index)) lines.splice(hunk.from, hunk.before.length, ...hunk.after);
  }
  return lines.join('\n');
}
