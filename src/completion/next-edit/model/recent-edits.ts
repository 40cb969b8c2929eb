import { structuredPatch } from 'diff';
import { type RecentEdit, withBreak } from '../../../wire/edit/edit-request.ts';
import type { HistoryEdit } from '../edit-history.ts';

/** A longer edit has little to do with the next one. */
const MAX_CHARACTERS = 4_000;
const CONTEXT_LINES = 3;

/** An edit of the history as prompts show it. Undefined: too long, or nothing changed. */
export function recentEdit(edit: HistoryEdit, path: string): RecentEdit | undefined {
  const { above, before, after, below, at, predicted } = edit;
  const original = withBreak([...above, ...before, ...below].join('\n'));
  const updated = withBreak([...above, ...after, ...below].join('\n'));
  if (original.length + updated.length > MAX_CHARACTERS) return undefined;
  const { hunks } = structuredPatch(path, path, original, updated, '', '', { context: CONTEXT_LINES });
  if (hunks.length === 0) return undefined;
  const first = at - above.length;
  const diff = hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart + first},${oldLines} +${newStart + first},${newLines} @@`, ...lines, ''].join('\n'),
  );
  return { path, diff: diff.join(''), original, updated, line: first + 1, ...(predicted ? { predicted } : {}) };
}

/** The lines of a region before an edit. Undefined: the edit is not completely in the region. */
export function undoEdit(
  region: readonly string[],
  first: number,
  { line, before, after }: HistoryEdit & { readonly line: number },
): readonly string[] | undefined {
  const at = line - first;
  if (at < 0 || after.some((text, index) => region[at + index] !== text)) return undefined;
  return [...region.slice(0, at), ...before, ...region.slice(at + after.length)];
}
