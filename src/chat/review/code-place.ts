import { plainLineEnds } from '../tools/file-change.ts';
import { indent, indentDifference, indentOf } from './indent-code.ts';

/** Lines of a text that code replaces, from 0: from `start` to before `end`. The lines have the text’s indentation. */
export interface CodePlace {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** A declaration at the beginning of a line, in common languages. */
const DECLARATION =
  /^\s{0,200}(?:(?:export|default|declare|public|private|protected|internal|static|async|abstract|final|override|pub|const|let|var|func|fn|def|function|class|interface|enum|struct|type|trait|impl|module|namespace|record)\s{1,9}){1,8}\*?\s{0,9}([\p{L}_$][\p{L}\p{N}_$]{0,200})/u;

/** This many lines of the code after the nearest end show that the code goes on there. One may be a coincidence. */
const CERTAIN = 2;

/** A comment in place of code that does not change. */
const ELISION = /^\s{0,200}(?:\/\/|#|--|\/\*|<!--|\{\/\*)?\s{0,20}(?:\.\.\.|…)/;

/**
 * Finds the lines of a text that a piece of code replaces: by its first and last line, or by the name that it declares.
 * Undefined if the place is not certain. Code with comments such as `// ...` is placed piece by piece.
 */
export function findCodePlaces(text: string, code: string): readonly CodePlace[] | undefined {
  const lines = plainLineEnds(text).split('\n');
  const places: CodePlace[] = [];
  for (const piece of splitPieces(plainLineEnds(code).split('\n'))) {
    const place = placeByAnchors(lines, piece) ?? placeByName(lines, piece);
    if (!place || places.some((other) => place.start < other.end && other.start < place.end)) return undefined;
    places.push(place);
  }
  return places.length === 0 ? undefined : places.sort((a, b) => a.start - b.start);
}

/** The text with the code in its places. Line ends of the text are `\n`. */
export function applyPlaces(text: string, places: readonly CodePlace[]): string {
  const lines = plainLineEnds(text).split('\n');
  for (const { start, end, lines: own } of places.toReversed()) lines.splice(start, end - start, ...own);
  return lines.join('\n');
}

function splitPieces(code: readonly string[]): readonly (readonly string[])[] {
  const pieces: string[][] = [[]];
  for (const line of code) {
    if (ELISION.test(line)) pieces.push([]);
    else pieces.at(-1)?.push(line);
  }
  return pieces.map(trimBlank).filter((piece) => piece.length > 0);
}

function trimBlank(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return first === -1 ? [] : lines.slice(first, last + 1);
}

/** The first line must be in the text once, the last one after it with the same indentation. */
function placeByAnchors(lines: readonly string[], piece: readonly string[]): CodePlace | undefined {
  const [first = ''] = piece;
  const last = piece.at(-1) ?? '';
  if (!/[\p{L}\p{N}]/u.test(first)) return undefined;
  const start = onlyIndex(lines, (line) => line.trim() === first.trim());
  if (start === undefined) return undefined;
  if (piece.length === 1) return undefined;
  const lead = indentDifference(lines[start] ?? '', first);
  const isEnd = (line: string, index: number, after: number) => index > after && line === indent(last, lead);
  const nearest = lines.findIndex((line, index) => isEnd(line, index, start));
  const beyond = knownLines(lines, piece).filter((index) => index > nearest);
  const end =
    nearest === -1 || beyond.length < CERTAIN
      ? nearest
      : lines.findIndex((line, index) => isEnd(line, index, beyond.at(-1) ?? nearest));
  return end === -1
    ? placeByName(lines, piece)
    : { start, end: end + 1, lines: piece.map((line) => indent(line, lead)) };
}

/** The lines of the text that are there once and that the code contains, too. */
function knownLines(lines: readonly string[], piece: readonly string[]): readonly number[] {
  const inner = new Set(piece.slice(1, -1).flatMap((line) => (/[\p{L}\p{N}]/u.test(line) ? [line.trim()] : [])));
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line.trim(), (counts.get(line.trim()) ?? 0) + 1);
  return lines.flatMap((line, index) => (inner.has(line.trim()) && counts.get(line.trim()) === 1 ? [index] : []));
}

/** The declaration with the same name, to the end of its block. */
function placeByName(lines: readonly string[], piece: readonly string[]): CodePlace | undefined {
  const at = piece.findIndex((line) => DECLARATION.test(line));
  const name = DECLARATION.exec(piece[at] ?? '')?.[1];
  const top = indentOf(piece[at] ?? '');
  // Several declarations have no single place.
  const others = piece.filter((line) => DECLARATION.test(line) && indentOf(line).length <= top.length);
  if (name === undefined || others.length > 1) return undefined;
  const declared = onlyIndex(lines, (line) => DECLARATION.exec(line)?.[1] === name);
  if (declared === undefined) return undefined;
  const lead = indentDifference(lines[declared] ?? '', piece[at] ?? '');
  const end = blockEnd(lines, declared, indent(piece.at(-1) ?? '', lead));
  if (end === undefined) return undefined;
  return { start: declared, end, lines: piece.slice(leadingComments(piece, at)).map((line) => indent(line, lead)) };
}

/** Comments and decorators before a declaration stay as they are in the text. */
function leadingComments(piece: readonly string[], declaration: number): number {
  return piece.slice(0, declaration).every((line) => /^\s{0,200}(?:\/\/|\/\*|\*|#|@|$)/.test(line)) ? declaration : 0;
}

function blockEnd(lines: readonly string[], start: number, last: string): number | undefined {
  const own = indentOf(lines[start] ?? '').length;
  const inside = (line: string) => line.trim() === '' || indentOf(line).length > own;
  let end = start + 1;
  while (end < lines.length && inside(lines[end] ?? '')) end += 1;
  // Closing brackets belong to the block.
  if (/^\s{0,200}[\])}]/.test(lines[end] ?? '') && indentOf(lines[end] ?? '').length === own) return end + 1;
  // A block by indentation alone.
  if (/^\s{0,200}[\])}]/.test(last)) return undefined;
  while (end > start + 1 && (lines[end - 1] ?? '').trim() === '') end -= 1;
  return end;
}

function onlyIndex(lines: readonly string[], matches: (line: string) => boolean): number | undefined {
  const found = lines.findIndex(matches);
  return found === -1 || lines.findLastIndex(matches) !== found ? undefined : found;
}
