import { diffArrays } from 'diff';

/** Changed lines or words: the items `before`, starting at the index `from` of the old ones, become `after`. */
export interface Hunk {
  readonly from: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

interface DiffLimits {
  readonly maxEditLength: number;
  /** Milliseconds. */
  readonly timeout?: number;
}

/** The minimal diff takes quadratic time, and one with more differences is not useful. */
const LIMITS: DiffLimits = { maxEditLength: 1500, timeout: 250 };

/** The hunks that turn some items into others, in their order. Undefined: there are more differences than the limits allow. */
export function findHunks(before: string[], after: string[], limits = LIMITS): Hunk[] | undefined {
  const changes = diffArrays(before, after, limits);
  if (changes === undefined) return undefined;
  const hunks: { from: number; before: string[]; after: string[] }[] = [];
  let at = 0;
  let open: (typeof hunks)[number] | undefined;
  for (const { added, removed, value } of changes) {
    if (!added && !removed) open = undefined;
    else if (open === undefined) {
      open = { from: at, before: [], after: [] };
      hunks.push(open);
    }
    if (added) open?.after.push(...value);
    else {
      open?.before.push(...value);
      at += value.length;
    }
  }
  return hunks;
}
