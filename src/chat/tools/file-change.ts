import { structuredPatch } from 'diff';
import { itemNumbers, MAX_DIFFERENCES } from '../../base/hunks.ts';
import type { DiffHunk, FileChange } from '../message-parts.ts';

/** A change with the whole texts, for the diff editor. They exist only while the call waits or runs. */
export interface PreparedChange {
  readonly change: FileChange;
  /** Undefined: the file does not exist, or is no text. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const CONTEXT = 3;
/** With more differences, the whole text becomes one hunk: the minimal diff takes quadratic time. */
const LIMITS = { context: CONTEXT, maxEditLength: MAX_DIFFERENCES };
/** Maximum number of lines that are stored and shown for a change. */
const MAX_LINES = 3000;

/** The change from `before` to `after`. Undefined texts: the file does not exist. Line ends do not count as changes. */
export function textChange(path: string, before: string | undefined, after: string | undefined): PreparedChange {
  const kind = before === undefined ? 'create' : after === undefined ? 'delete' : 'edit';
  const all = diffHunks(plainLineEnds(before ?? ''), plainLineEnds(after ?? ''));
  const count = (sign: string) =>
    all.reduce((sum, { lines }) => sum + lines.filter((one) => one[0] === sign).length, 0);
  const added = count('+');
  const removed = count('-');
  const { hunks, shown } = firstLines(all);
  const hidden = added + removed - shown;
  const change = { kind, path, added, removed, hunks, ...(hidden > 0 ? { hidden } : {}) } as const;
  return { change, before, after };
}

/** Number of lines of the text for the model. */
const MAX_NOTE = 60;

/** The changes of a save beyond the approved change. */
export interface SaveEffect {
  /** The change that was made, with the lines of the editor. */
  readonly made: PreparedChange;
  /** For the model. */
  readonly note: string;
}

/**
 * Compares a text with the one that the editor saved. Undefined: they are the same.
 *
 * @param shows whether the model may see lines of the file.
 */
export function saveEffect(
  { change, before, after }: PreparedChange,
  saved: string,
  shows: boolean,
): SaveEffect | undefined {
  if (plainLineEnds(after ?? '') === plainLineEnds(saved)) return undefined;
  const { hunks, added, removed } = textChange(change.path, after, saved).change;
  const formatted = Math.max(added, removed);
  const rows = hunks.flatMap(({ newStart, lines }) => [`@@ line ${newStart}`, ...lines]);
  const cut =
    rows.length > MAX_NOTE ? `${rows.slice(0, MAX_NOTE).join('\n')}\n… Read the file again.` : rows.join('\n');
  const made = textChange(change.path, before, saved);
  return {
    made: { ...made, change: { ...made.change, formatted } },
    note: `When it saved ${change.path}, the editor (a formatter or a setting) changed ${formatted} more ${formatted === 1 ? 'line' : 'lines'}${shows ? `:\n${cut}` : '. Read the file again.'}`,
  };
}

export function renameChange(path: string, newPath: string): PreparedChange {
  return {
    change: { kind: 'rename', path, newPath, added: 0, removed: 0, hunks: [] },
    before: undefined,
    after: undefined,
  };
}

/** The deletion of a folder, or of a file that is no text. */
export function opaqueDeletion(path: string): PreparedChange {
  return { change: { kind: 'delete', path, added: 0, removed: 0, hunks: [] }, before: undefined, after: undefined };
}

/** Whether two changes do the same to the same file, perhaps at other line numbers. */
export function sameChange(a: FileChange, b: FileChange): boolean {
  return changeKey(a) === changeKey(b);
}

function changeKey({ kind, path, newPath, added, removed, hunks }: FileChange): string {
  const lines = hunks.flatMap((hunk) => hunk.lines.filter((line) => line[0] === '+' || line[0] === '-'));
  return JSON.stringify([kind, path, newPath, added, removed, lines]);
}

export function plainLineEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function diffHunks(before: string, after: string): readonly DiffHunk[] {
  const number = itemNumbers();
  const texts = new Map<string, string>();
  // An empty line stays: the last one means that the text ends with a line break.
  const shorten = (line: string) => {
    const short = line === '' ? '' : String(number(line));
    texts.set(short, line);
    return short;
  };
  const [old, now] = [before, after].map((text) => text.split('\n').map(shorten).join('\n'));
  const patch = structuredPatch('', '', old ?? '', now ?? '', undefined, undefined, LIMITS);
  // `\ No newline at end of file` is no line of a text.
  const restore = (line: string) => (line.startsWith('\\') ? line : line.slice(0, 1) + texts.get(line.slice(1)));
  if (patch) {
    return patch.hunks.map(({ oldStart, newStart, lines }) => ({ oldStart, newStart, lines: lines.map(restore) }));
  }
  return [{ oldStart: 1, newStart: 1, lines: [...signedLines('-', before), ...signedLines('+', after)] }];
}

function signedLines(sign: string, text: string): readonly string[] {
  const lines = text.split('\n').map((line) => `${sign}${line}`);
  return text === '' || text.endsWith('\n') ? lines.slice(0, -1) : lines;
}

/** The first lines of the hunks, and the number of changed lines in them. */
function firstLines(all: readonly DiffHunk[]): { readonly hunks: readonly DiffHunk[]; readonly shown: number } {
  const hunks: DiffHunk[] = [];
  let room = MAX_LINES;
  for (const hunk of all) {
    if (room <= 0) break;
    hunks.push(hunk.lines.length <= room ? hunk : { ...hunk, lines: hunk.lines.slice(0, room) });
    room -= hunk.lines.length;
  }
  const shown = hunks.reduce((sum, { lines }) => sum + lines.filter((line) => /^[+-]/.test(line)).length, 0);
  return { hunks, shown };
}
