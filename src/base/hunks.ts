import { diffArrays } from 'diff';

/** Changed lines or words: the items `before`, starting at the index `from` of the old ones, become `after`. */
export interface Hunk {
  readonly from: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/**
 * The minimal diff takes quadratic time, and one with more differences is not useful. With this limit, it takes a fifth of a
 * second at most. A limit in milliseconds would give other results on a busy machine.
 */
export const MAX_DIFFERENCES = 1500;

/** The hunks that turn some items into others, in their order. Undefined: there are more differences than the limit allows. */
export function findHunks(before: string[], after: string[], maxEditLength = MAX_DIFFERENCES): Hunk[] | undefined {
  const changes = diffArrays(before, after, { maxEditLength });
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
