import { diffArrays } from 'diff';

/** A stretch of lines that differs: `before` lines from `from` become `after`. */
export interface Hunk {
  /** 0-based line of the old text. */
  readonly from: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Texts with more differences have little in common: one hunk says as much, and finding the best takes quadratic time. */
const LIMITS = { maxEditLength: 1500, timeout: 250 };

/** The hunks that make `after` out of `before`. */
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

/** The old text with some of its hunks. @param chosen indexes of `hunks`. */
export function applyHunks(before: string, hunks: readonly Hunk[], chosen: ReadonlySet<number>): string {
  const lines = before.split('\n');
  for (const [index, hunk] of [...hunks.entries()].reverse()) {
    if (chosen.has(index)) lines.splice(hunk.from, hunk.before.length, ...hunk.after);
  }
  return lines.join('\n');
}
