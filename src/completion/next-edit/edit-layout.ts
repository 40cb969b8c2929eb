import { findHunks } from '../../base/hunks.ts';
import { commonPrefix, endOfText, equalEnds, offsetIn, type TextRange } from '../../base/text-change.ts';
import { type DocumentText, type Position, readLines } from '../document/document-text.ts';
import type { NextEdit, Replacement } from './next-edit.ts';
import { displayWidth } from './text-width.ts';

/** Text that is shown directly after a column. */
export interface InlineText {
  readonly at: Position;
  readonly text: string;
}

/** Text that is shown after the end of a line, at a common column. */
export interface BesideText {
  readonly line: number;
  /** Columns between the end of the line and the text. */
  readonly gap: number;
  readonly text: string;
  /** False: the text replaces the line. */
  readonly added: boolean;
}

/** How an edit is drawn without moving a line. */
export interface EditLayout {
  /** Removed text. */
  readonly struck: readonly TextRange[];
  /** New words in their place. */
  readonly inline: readonly InlineText[];
  /** New lines beside the code. */
  readonly beside: readonly BesideText[];
  /** Changed lines, before and after, that there is no space for. They are visible only in a diff. */
  readonly unseen?: { readonly before: number; readonly after: number };
  /** Lines with a change: the first ones of the ranges. */
  readonly marked: readonly number[];
}

interface ChangedLines {
  readonly line: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** More changed places in a line are hard to read in place. */
const MAX_PLACES = 3;
const MAX_DIFFERENCES = 60;
/** Longer lines are not compared word by word. */
const MAX_COMPARED = 2000;
/** Columns between the code and the lines beside it. */
const GAP = 4;
/** The lines beside the code end at this column at the latest: the width of the editor is unknown to extensions. */
const MAX_COLUMN = 120;
const WORD = /[\p{L}\p{N}_$]+|\s+|./gsu;

/** @param caret in the same document; absent: it is elsewhere. */
export function layOutEdit(edit: NextEdit, document: DocumentText, caret?: Position, tabSize = 4): EditLayout {
  const layout = { struck: [], inline: [], beside: [], marked: [], unseen: { before: 0, after: 0 } };
  for (const replacements of groupByLine(edit.replacements)) {
    layOut(layout, changedLines(replacements, document), document, { caret, tabSize });
  }
  const { unseen, ...rest } = layout;
  return unseen.before + unseen.after === 0 ? rest : { ...rest, unseen };
}

/** The text that the edit inserts at the caret, if it does nothing else: an editor can show it as ghost text. */
export function textInsertedAt(edit: NextEdit, caret: Position): string | undefined {
  const [replacement, ...others] = edit.replacements;
  if (replacement === undefined || others.length > 0) return undefined;
  const { expected, text } = replacement;
  const offset = offsetIn(expected, replacement.start, caret);
  if (offset === undefined || text.length <= expected.length) return undefined;
  const kept = expected.length - offset;
  if (!text.startsWith(expected.slice(0, offset)) || !text.endsWith(expected.slice(offset))) return undefined;
  return text.slice(offset, text.length - kept);
}

/** Where the caret is placed to accept the edit: at the change, and not in leading white space if possible. */
export function editPosition(edit: NextEdit, document: DocumentText): Position {
  const [replacement] = edit.replacements;
  if (replacement === undefined) return { line: 0, character: 0 };
  const { start, expected, text } = replacement;
  const position = endOfText(start, expected.slice(0, commonPrefix(expected, text)));
  if (textInsertedAt(edit, position) !== undefined) return position;
  const line = document.lineAt(position.line);
  if (line.slice(0, position.character).trim() !== '') return position;
  const [first] = layOutEdit(edit, document).struck;
  const end = first?.end.line === position.line ? first.end.character : line.length;
  return { line: position.line, character: end };
}

/** The place of the edit that is nearest to a line, and the lines that it covers. */
export function nearestReplacement(edit: NextEdit, line: number): Replacement | undefined {
  const distance = ({ start, end }: Replacement) => Math.max(start.line - line, line - end.line, 0);
  return [...edit.replacements].sort((a, b) => distance(a) - distance(b))[0];
}

/** Replacements that share a line are drawn together. */
function groupByLine(replacements: readonly Replacement[]): readonly (readonly Replacement[])[] {
  const groups: Replacement[][] = [];
  for (const replacement of replacements) {
    const group = groups.at(-1);
    if (group?.at(-1)?.end.line === replacement.start.line) group.push(replacement);
    else groups.push([replacement]);
  }
  return groups;
}

/** Replacements in whole lines, without equal lines at their start and end. */
function changedLines(replacements: readonly Replacement[], document: DocumentText): ChangedLines {
  const first = replacements[0]?.start.line ?? 0;
  const last = replacements.at(-1)?.end.line ?? first;
  let text = '';
  let position: Position = { line: first, character: 0 };
  for (const { start, end, text: inserted } of replacements) {
    text += document.lineAt(start.line).slice(position.character, start.character) + inserted;
    position = end;
  }
  text += document.lineAt(last).slice(position.character);
  const before = readLines(document, first, last + 1);
  return withoutEqualEnds(first, before, text.split('\n'));
}

function withoutEqualEnds(line: number, before: readonly string[], after: readonly string[]): ChangedLines {
  const { head, tail } = equalEnds(before, after);
  return {
    line: line + head,
    before: before.slice(head, before.length - tail),
    after: after.slice(head, after.length - tail),
  };
}

interface Drawing {
  readonly struck: TextRange[];
  readonly inline: InlineText[];
  readonly beside: BesideText[];
  readonly marked: number[];
  readonly unseen: { before: number; after: number };
}

interface View {
  readonly caret: Position | undefined;
  readonly tabSize: number;
}

function layOut(drawing: Drawing, changed: ChangedLines, document: DocumentText, view: View): void {
  const { line, before, after } = changed;
  drawing.marked.push(Math.min(line, document.lineCount - 1));
  const words = before.length === after.length ? inWords(changed, view.caret) : undefined;
  if (words !== undefined) {
    drawing.struck.push(...words.struck);
    drawing.inline.push(...words.inline);
    return;
  }
  drawing.struck.push(...before.flatMap((text, row) => (text === '' ? [] : [wholeLine(line + row, text)])));
  if (after.length === 0) return;
  const rows = besideLines(changed, document, view.tabSize);
  if (rows !== undefined) {
    drawing.beside.push(...rows);
    return;
  }
  drawing.unseen.before += before.length;
  drawing.unseen.after += after.length;
}

function wholeLine(line: number, text: string): TextRange {
  const indent = text.length - text.trimStart().length;
  return { start: { line, character: indent === text.length ? 0 : indent }, end: { line, character: text.length } };
}

/** Changed words in place; undefined: too many changes, or the caret would move. */
function inWords({ line, before, after }: ChangedLines, caret: Position | undefined) {
  const struck: TextRange[] = [];
  const inline: InlineText[] = [];
  for (const [row, text] of before.entries()) {
    const places = changedPlaces(text, after[row] ?? '');
    if (places === undefined || places.length > MAX_PLACES) return undefined;
    for (const { from, to, text: inserted } of places) {
      const at = { line: line + row, character: to };
      if (inserted !== '' && caret?.line === at.line && caret.character > to) return undefined;
      if (to > from) struck.push({ start: { ...at, character: from }, end: at });
      if (inserted !== '') inline.push({ at, text: inserted });
    }
  }
  return { struck, inline };
}

interface Place {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The columns of a line that change, word by word. Places with only a space between them are one. */
function changedPlaces(before: string, after: string): readonly Place[] | undefined {
  if (before.length + after.length > MAX_COMPARED) return undefined;
  const words = before.match(WORD) ?? [];
  const hunks = findHunks(words, after.match(WORD) ?? [], MAX_DIFFERENCES);
  const places: Place[] = [];
  const widthOf = (some: readonly string[]) => some.reduce((sum, { length }) => sum + length, 0);
  for (const hunk of hunks ?? []) {
    const from = widthOf(words.slice(0, hunk.from));
    const place = { from, to: from + widthOf(hunk.before), text: hunk.after.join('') };
    const last = places.at(-1);
    const between = last && before.slice(last.to, from);
    if (last === undefined || between === undefined || between.trim() !== '') places.push(place);
    else places[places.length - 1] = { from: last.from, to: place.to, text: last.text + between + place.text };
  }
  return hunks && places;
}

/** New lines at a common column beside the old ones and the lines below; undefined: there is not enough space. */
function besideLines(
  { line, before, after }: ChangedLines,
  document: DocumentText,
  tabSize: number,
): readonly BesideText[] | undefined {
  if (line + after.length > document.lineCount) return undefined;
  const shown = withoutCommonIndent(after, tabSize);
  const widths = after.map((_, row) => displayWidth(document.lineAt(line + row), tabSize));
  const column = Math.max(...widths) + GAP;
  if (Math.max(...shown.map((text) => displayWidth(text, tabSize))) + column > MAX_COLUMN) return undefined;
  return shown.map((text, row) => ({
    line: line + row,
    gap: column - (widths[row] ?? 0),
    text,
    added: row >= before.length,
  }));
}

/** With spaces instead of tabs. */
function withoutCommonIndent(lines: readonly string[], tabSize: number): readonly string[] {
  const indents = lines.map((text) => {
    const indent = text.slice(0, text.length - text.trimStart().length);
    return { width: displayWidth(indent, tabSize), rest: text.trimStart() };
  });
  const common = Math.min(...indents.filter(({ rest }) => rest !== '').map(({ width }) => width));
  return indents.map(({ width, rest }) => (rest === '' ? '' : ' '.repeat(width - common) + rest));
}
