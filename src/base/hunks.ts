import { diffArrays } from 'diff';

/** Changed lines or words: the items `before`, starting at the index `from` of the old ones, become `after`. */
export interface Hunk {
  readonly from: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/**
 * The minimal diff takes quadratic time, and one with more differences is not useful. A limit in milliseconds would give
 * other results on a busy machine.
 */
export const MAX_DIFFERENCES = 1500;

/** The hunks that turn some items into others, in their order. Undefined: there are more differences than the limit allows. */
export function findHunks(
  before: readonly string[],
  after: readonly string[],
  maxEditLength = MAX_DIFFERENCES,
): Hunk[] | undefined {
  const number = itemNumbers();
  const changes = diffArrays(before.map(number), after.map(number), { maxEditLength });
  if (changes === undefined) return undefined;
  const hunks: { from: number; before: string[]; after: string[] }[] = [];
  let [old, now] = [0, 0];
  let open: (typeof hunks)[number] | undefined;
  for (const { added, removed, value } of changes) {
    if (!added && !removed) open = undefined;
    else if (open === undefined) {
      open = { from: old, before: [], after: [] };
      hunks.push(open);
    }
    if (added) open?.after.push(...after.slice(now, now + value.length));
    else if (removed) open?.before.push(...before.slice(old, old + value.length));
    if (!added) old += value.length;
    if (!removed) now += value.length;
  }
  return hunks;
}

/** Returns a function that gives equal items the same number. A diff that compares long lines takes seconds. */
export function itemNumbers(): (item: string) => number {
  const numbers = new Map<string, number>();
  return (item) => {
    const known = numbers.get(item);
    if (known !== undefined) return known;
    numbers.set(item, numbers.size);
    return numbers.size - 1;
  };
}
