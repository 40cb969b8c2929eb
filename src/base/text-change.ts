/** 0-based line and UTF-16 column, as in VS Code. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface TextRange {
  readonly start: Position;
  readonly end: Position;
}

/** `text` replaces a range of the text before the change. */
export interface TextChange extends TextRange {
  readonly text: string;
}

/** Characters of a text, or lines. */
type Items = string | readonly string[];

export function comparePositions(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

/** The last one first, so that the positions of the others still hold when it is applied. */
export function lastFirst<T extends TextRange>(changes: readonly T[]): readonly T[] {
  return [...changes].sort((a, b) => comparePositions(b.start, a.start));
}

/** True if the change replaces a part of the range, or inserts text in it. Not at its start or end. */
export function touches({ start, end }: TextRange, change: TextRange): boolean {
  return comparePositions(change.end, start) > 0 && comparePositions(change.start, end) < 0;
}

/** The end of a text that begins at `start`. */
export function endOfText(start: Position, text: string): Position {
  const lastBreak = text.lastIndexOf('\n');
  if (lastBreak < 0) return { line: start.line, character: start.character + text.length };
  let breaks = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) breaks++;
  return { line: start.line + breaks, character: text.length - lastBreak - 1 };
}

/** The index of a position in a text that begins at `start`; undefined: it is not in this text. */
export function offsetIn(text: string, start: Position, { line, character }: Position): number | undefined {
  let from = 0;
  for (let at = start.line; at < line; at++) {
    from = text.indexOf('\n', from) + 1;
    if (from === 0) return undefined;
  }
  const column = line === start.line ? character - start.character : character;
  const lineBreak = text.indexOf('\n', from);
  const width = (lineBreak < 0 ? text.length : lineBreak) - from;
  return line < start.line || column < 0 || column > width ? undefined : from + column;
}

/** The text of a range, with LF. */
export function textBetween(lineAt: (line: number) => string, { start, end }: TextRange): string {
  if (start.line === end.line) return lineAt(start.line).slice(start.character, end.character);
  const lines = [lineAt(start.line).slice(start.character)];
  for (let line = start.line + 1; line < end.line; line++) lines.push(lineAt(line));
  lines.push(lineAt(end.line).slice(0, end.character));
  return lines.join('\n');
}

/**
 * A position after a change. From the removed text, it moves to the start of the change.
 *
 * @param stays true: text that is inserted at the position comes after it.
 */
export function movePosition(position: Position, { start, end, text }: TextChange, stays = false): Position {
  const fromStart = comparePositions(position, start);
  if (fromStart < 0 || (stays && fromStart === 0)) return position;
  if (comparePositions(position, end) < 0) return start;
  const after = endOfText(start, text);
  const line = position.line + after.line - end.line;
  if (position.line > end.line) return { line, character: position.character };
  return { line, character: after.character + position.character - end.character };
}

/** The whole lines that a change replaces. The first one is `start.line` in both. */
export interface ChangedLines extends TextRange {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** The number of a line after a change. A line of the change itself keeps its number, as far as it is still there. */
export function moveLine(line: number, { start, end, before, after }: ChangedLines): number {
  if (line > end.line) return line + after.length - before.length;
  return Math.min(line, start.line + after.length - 1);
}

/** Applies a change, with LF, to lines. */
export function changeLines(lines: string[], { start, end, text }: TextChange): ChangedLines {
  const before = lines.slice(start.line, end.line + 1);
  const after = text.split('\n');
  const last = after.length - 1;
  const tail = (before.at(-1) ?? '').slice(end.character);
  after[0] = (before[0] ?? '').slice(0, start.character) + (after[0] ?? '');
  after[last] = (after[last] ?? '') + tail;
  if (before.length === 1 && after.length === 1) lines[start.line] = after[0];
  else replaceLines(lines, start.line, before.length, after);
  return { start, end, before, after };
}

/** `splice` with any number of lines: a spread of more than about 100,000 arguments throws. */
function replaceLines(lines: string[], at: number, count: number, replacement: readonly string[]): void {
  if (replacement.length < 10_000) {
    lines.splice(at, count, ...replacement);
    return;
  }
  const rest = lines.splice(at);
  for (const line of replacement) lines.push(line);
  for (let index = count; index < rest.length; index++) lines.push(rest[index] ?? '');
}

export function commonPrefix(a: Items, b: Items): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

export function commonSuffix(a: Items, b: Items, most = Math.min(a.length, b.length)): number {
  let length = 0;
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

/** How much is equal at both ends. In a text, both numbers leave the two halves of a character together. */
export function equalEnds<T extends Items>(before: T, after: T): { readonly head: number; readonly tail: number } {
  let head = commonPrefix(before, after);
  if (head > 0 && splitsCharacter(before, head)) head--;
  let tail = commonSuffix(before, after, Math.min(before.length, after.length) - head);
  if (tail > 0 && splitsCharacter(before, before.length - tail)) tail--;
  return { head, tail };
}

function splitsCharacter(text: Items, at: number): boolean {
  if (typeof text !== 'string') return false;
  return /[\udc00-\udfff]/.test(text[at] ?? '') || /[\ud800-\udbff]/.test(text[at - 1] ?? '');
}

/** The smallest change that makes `before`, which begins at `start`, to `after`. Both texts are empty if they are equal. */
export function minimalChange(
  before: string,
  after: string,
  start: Position = { line: 0, character: 0 },
): TextChange & { readonly removed: string } {
  const { head, tail } = equalEnds(before, after);
  const from = endOfText(start, before.slice(0, head));
  const removed = before.slice(head, before.length - tail);
  return { start: from, end: endOfText(from, removed), removed, text: after.slice(head, after.length - tail) };
}
