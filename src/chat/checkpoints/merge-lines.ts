import { type Hunk, lineDiff } from '../tools/line-diff.ts';

/**
 * Applies the changes from `base` to `theirs` to `ours`. Undefined if both changed the same or adjacent lines.
 *
 * Works on any bytes that are decoded one character per byte.
 */
export function mergeLines(base: string, ours: string, theirs: string): string | undefined {
  const own = lineDiff(base, ours);
  const other = lineDiff(base, theirs).filter((hunk) => !own.some((one) => sameHunk(one, hunk)));
  if (other.some((hunk) => own.some((one) => touches(one, hunk)))) return undefined;
  const lines = base.split('\n');
  for (const { from, before, after } of [...own, ...other].sort((a, b) => b.from - a.from)) {
    lines.splice(from, before.length, ...after);
  }
  return lines.join('\n');
}

function sameHunk(a: Hunk, b: Hunk): boolean {
  return a.from === b.from && JSON.stringify([a.before, a.after]) === JSON.stringify([b.before, b.after]);
}

function touches(a: Hunk, b: Hunk): boolean {
  return a.from <= b.from + b.before.length && b.from <= a.from + a.before.length;
}
