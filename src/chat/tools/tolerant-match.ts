import { withoutTrailing } from '../../base/text.ts';

/** Where a text is in a file, although small models wrote it with mistakes, and the text that replaces it there. */
export interface TolerantMatch {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Fewer letters and digits are in too many places to be certain. */
const LEAST = 6;
/** Longer texts are given as they are. */
const MOST = 50_000;
/** Characters that models write for others, of the same length. */
const ALIKE: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '–': '-',
  '—': '-',
  '−': '-',
  '\u00a0': ' ',
  '\u202f': ' ',
  '\u2009': ' ',
};

interface Line {
  readonly indent: string;
  /** Without white space at its ends. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the lines of `wanted` without regard to indentation, blank lines, white space at the ends of lines, typographic
 * quotes and the order of lines. There must be exactly one place.
 *
 * @param text with `\n` at the ends of lines, as `wanted` and `replacement`.
 */
export function matchTolerantly(text: string, wanted: string, replacement: string): TolerantMatch | undefined {
  if (wanted.length > MOST || (wanted.match(/[\p{L}\p{N}]/gu) ?? []).length < LEAST) return undefined;
  return matchCharacters(text, wanted, replacement) ?? matchLines(text, wanted, replacement);
}

function matchCharacters(text: string, wanted: string, replacement: string): TolerantMatch | undefined {
  const [plain, sought] = [plainCharacters(text), plainCharacters(wanted)];
  const start = plain.indexOf(sought);
  if (start === -1 || plain.indexOf(sought, start + 1) !== -1) return undefined;
  return { start, end: start + sought.length, replacement };
}

function matchLines(text: string, wanted: string, replacement: string): TolerantMatch | undefined {
  const lines = readLines(text);
  for (const clean of [(each: string) => each, withoutNumbers]) {
    const sought = readLines(clean(wanted));
    const at = onlyPlace(lines, sought);
    const [first, last] = [lines[at ?? -1], lines[(at ?? 0) + sought.length - 1]];
    if (at === undefined || !first || !last) continue;
    const found = lines.slice(at, at + sought.length);
    const fresh = indented(clean(replacement), sought, found);
    // Whole lines are replaced. With nothing in their place, their last line end goes too.
    const removed = fresh.trim() === '' && text[last.end] === '\n';
    return { start: first.start, end: last.end + (removed ? 1 : 0), replacement: removed ? '' : fresh };
  }
  return undefined;
}

/** The only place where the lines follow each other, in their order or, if there is none, in another one. */
function onlyPlace(lines: readonly Line[], sought: readonly Line[]): number | undefined {
  if (sought.length === 0) return undefined;
  const join = (each: readonly Line[]) => `\n${each.map(({ text }) => text).join('\n')}\n`;
  const [all, part] = [join(lines), join(sought)];
  const first = all.indexOf(part);
  if (first === -1) return sought.length < 3 ? undefined : onlyReordered(lines, sought);
  return all.indexOf(part, first + 1) === -1 ? all.slice(0, first + 1).split('\n').length - 2 : undefined;
}

function onlyReordered(lines: readonly Line[], sought: readonly Line[]): number | undefined {
  // How often each line is missing in the window of lines.
  const missing = new Map<string, number>();
  let wrong = 0;
  const change = (text: string, by: number) => {
    const before = missing.get(text) ?? 0;
    missing.set(text, before + by);
    wrong += Math.abs(before + by) - Math.abs(before);
  };
  for (const { text } of sought) change(text, 1);
  const places: number[] = [];
  for (const [index, { text }] of lines.entries()) {
    change(text, -1);
    const left = lines[index - sought.length];
    if (left) change(left.text, 1);
    if (wrong === 0) places.push(index - sought.length + 1);
  }
  return places.length === 1 ? places[0] : undefined;
}

/** Lines that are not blank. */
function readLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const indent = line.slice(0, line.length - line.trimStart().length);
    if (trimmed !== '') lines.push({ indent, text: plainCharacters(trimmed), start, end: start + line.length });
    start += line.length + 1;
  }
  return lines;
}

/** The new lines with the indentation of the file. */
function indented(replacement: string, sought: readonly Line[], found: readonly Line[]): string {
  const indents = new Map<string, string>();
  for (const [index, { indent }] of sought.entries())
    if (!indents.has(indent)) indents.set(indent, found[index]?.indent ?? indent);
  const tabs = found.some(({ indent }) => indent.includes('\t'));
  const adjust = (indent: string): string => {
    const known = [...indents.keys()].filter((each) => indent.startsWith(each)).sort((a, b) => b.length - a.length)[0];
    if (known === undefined) return indents.get(sought[0]?.indent ?? '') ?? indent;
    const deeper = indent.slice(known.length);
    const own = tabs && /^ +$/.test(deeper) ? '\t'.repeat(Math.round(deeper.length / unitOf(sought))) : deeper;
    return `${indents.get(known)}${own}`;
  };
  let next = 0;
  const lines = withoutTrailing(replacement, '\n')
    .split('\n')
    .map((line) => {
      const text = line.trim();
      if (text === '') return '';
      // A line that stays has the indentation that it has in the file.
      const indent = line.slice(0, line.length - line.trimStart().length);
      const plain = plainCharacters(text);
      const same = sought.findIndex((each, at) => at >= next && each.text === plain && each.indent === indent);
      if (same !== -1) next = same + 1;
      return (found[same]?.indent ?? adjust(indent)) + text;
    });
  return lines.join('\n');
}

/** Blanks of one level of indentation. */
function unitOf(lines: readonly Line[]): number {
  const widths = lines.map(({ indent }) => indent.length).filter((width) => width > 0);
  return widths.length > 0 && widths.every((width) => width % 4 === 0) ? 4 : 2;
}

/** The numbers of lines that `read_file` shows. */
function withoutNumbers(text: string): string {
  const lines = text.split('\n');
  const numbered = lines.filter((line) => line.trim() !== '').every((line) => /^\s{0,6}\d{1,6}[:|\t]/.test(line));
  return numbered ? lines.map((line) => line.replace(/^\s{0,6}\d{1,6}[:|\t] ?/, '')).join('\n') : text;
}

function plainCharacters(text: string): string {
  return text.replace(/[‘’‚“”„–—−\u00a0\u202f\u2009]/g, (character) => ALIKE[character] ?? character);
}
