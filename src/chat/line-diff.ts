/** A stretch of lines that differs: `before` lines from `from` become `after`. */
export interface Hunk {
  /** 0-based line of the old text. */
  readonly from: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** More than this many differing lines are one hunk: finding the best cut would cost too much. */
const MOST = 4000;

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
  if (oldLines.length + newLines.length > MOST) return [{ from: start, before: oldLines, after: newLines }];
  return hunksOf(shortestEdit(oldLines, newLines), start);
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

function shortestEdit(a: readonly string[], b: readonly string[]): Edit[] {
  const most = a.length + b.length;
  const trace: Map<number, number>[] = [];
  const reach = new Map<number, number>([[1, 0]]);
  for (let depth = 0; depth <= most; depth++) {
    trace.push(new Map(reach));
    for (let k = -depth; k <= depth; k += 2) {
      const down = k === -depth || (k !== depth && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a, b);
    }
  }
  return [];
}

function walkBack(trace: readonly Map<number, number>[], a: readonly string[], b: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (let depth = trace.length - 1; depth >= 0; depth--) {
    const reach = trace[depth];
    const k = x - y;
    const down = k === -depth || (k !== depth && (reach?.get(k - 1) ?? -1) < (reach?.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1;
    const beforeX = reach?.get(before) ?? 0;
    const beforeY = beforeX - before;
    while (x > beforeX && y > beforeY && x > 0 && y > 0) {
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
