/** A stretch of lines that differs: `before` lines from `from` become `after`. */
export interface Hunk {
  /** 0-based line of the old text. */
  readonly from: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Texts that differ in more lines than this have little in common: finding the best cut would cost too much. */
const MOST = 1500;

/** The hunks that make `after` out of `before` (Myers' shortest edit script over lines). */
export function lineDiff(before: string, after: string): Hunk[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const oldLines = a.slice(start, a.length - end);
  const newLines = b.slice(start, b.length - end);
  if (oldLines.length + newLines.length === 0) return [];
  const edits = shortestEdit(oldLines, newLines);
  return edits ? hunksOf(edits, start) : [{ from: start, before: oldLines, after: newLines }];
}

/** The old text with some of its hunks. @param chosen indexes of `hunks`. */
export function applyHunks(before: string, hunks: readonly Hunk[], chosen: ReadonlySet<number>): string {
  const lines = before.split('\n');
  for (const [index, hunk] of [...hunks.entries()].reverse()) {
    if (chosen.has(index)) lines.splice(hunk.from, hunk.before.length, ...hunk.after);
  }
  return lines.join('\n');
}

type Edit = { readonly type: 'same' | 'remove' | 'add'; readonly line: string };

/** How far each diagonal has come, by its number from `-size` to `size`. */
class Reach {
  readonly #far: Int32Array;
  readonly #size: number;

  constructor(size: number, far = new Int32Array(2 * size + 1)) {
    this.#size = size;
    this.#far = far;
  }

  at(diagonal: number): number {
    return this.#far[diagonal + this.#size] ?? 0;
  }

  set(diagonal: number, x: number): void {
    this.#far[diagonal + this.#size] = x;
  }

  /** As it is now, of the diagonals that `depth` edits look at. */
  copy(depth: number): Reach {
    const size = depth + 1;
    return new Reach(size, this.#far.slice(this.#size - size, this.#size + size + 1));
  }

  /** Whether the way to a diagonal of `depth` comes from the one above: a line that is added. */
  comesDown(diagonal: number, depth: number): boolean {
    return diagonal === -depth || (diagonal !== depth && this.at(diagonal - 1) < this.at(diagonal + 1));
  }
}

/** Undefined: more than `MOST` edits. */
function shortestEdit(a: readonly string[], b: readonly string[]): Edit[] | undefined {
  const most = Math.min(MOST, a.length + b.length);
  const trace: Reach[] = [];
  const reach = new Reach(most + 1);
  for (let depth = 0; depth <= most; depth++) {
    trace.push(reach.copy(depth));
    for (let k = -depth; k <= depth; k += 2) {
      let x = reach.comesDown(k, depth) ? reach.at(k + 1) : reach.at(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a, b);
    }
  }
  return undefined;
}

function walkBack(trace: readonly Reach[], a: readonly string[], b: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (const [depth, reach] of [...trace.entries()].reverse()) {
    const k = x - y;
    const down = reach.comesDown(k, depth);
    const before = down ? k + 1 : k - 1;
    const beforeX = depth === 0 ? 0 : reach.at(before);
    const beforeY = depth === 0 ? 0 : beforeX - before;
    while (x > beforeX && y > beforeY) {
      x -= 1;
      y -= 1;
      edits.push({ type: 'same', line: a[x] ?? '' });
    }
    if (depth === 0) break;
    if (down) {
      y -= 1;
      edits.push({ type: 'add', line: b[y] ?? '' });
    } else {
      x -= 1;
      edits.push({ type: 'remove', line: a[x] ?? '' });
    }
  }
  return edits.reverse();
}

function hunksOf(edits: readonly Edit[], start: number): Hunk[] {
  const hunks: { from: number; before: string[]; after: string[] }[] = [];
  let at = start;
  let open: { from: number; before: string[]; after: string[] } | undefined;
  for (const { type, line } of edits) {
    if (type === 'same') {
      open = undefined;
      at += 1;
      continue;
    }
    if (!open) {
      open = { from: at, before: [], after: [] };
      hunks.push(open);
    }
    if (type === 'add') open.after.push(line);
    else {
      open.before.push(line);
      at += 1;
    }
  }
  return hunks;
}
