import { findHunks } from '../../base/hunks.ts';
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
 * quotes and the order of lines, and without what small models write around or into a text: numbers of lines, fences,
 * marks of diffs, escapes. There must be exactly one place.
 *
 * @param path of the file, which models write above a text.
 * @param text with `\n` at the ends of lines, as `wanted` and `replacement`.
 */
export function matchTolerantly(
  path: string,
  text: string,
  wanted: string,
  replacement: string,
): TolerantMatch | undefined {
  if (wanted.length > MOST) return undefined;
  const lines = readLines(text);
  const known = new Set(lines.map((line) => line.text));
  let pair: Pair = [wanted, replacement];
  let isDiff = false;
  for (const clean of CLEANERS) {
    const next = clean(pair, path);
    // The replacement alone is never cleaned: it may have such lines on purpose.
    if (clean !== asIs && next[0] === pair[0]) continue;
    pair = next;
    // The bullet of a list looks like the mark of a diff, so then only whole lines are certain.
    isDiff ||= clean === withoutDiff;
    if ((pair[0].match(/[\p{L}\p{N}]/gu) ?? []).length < LEAST) return undefined;
    const match =
      matchLines(text, lines, ...pair) ??
      (isDiff ? undefined : matchCharacters(text, ...pair)) ??
      matchElided(text, lines, ...pair) ??
      matchWithoutEdges(text, lines, known, ...pair);
    if (match !== undefined) return match;
  }
  return undefined;
}

/** The text that is sought, and the text that replaces it. */
type Pair = readonly [wanted: string, replacement: string];
type Cleaner = (pair: Pair, path: string) => Pair;

const asIs: Cleaner = (pair) => pair;

/** Each gets what the one before has left. */
const CLEANERS: readonly Cleaner[] = [
  asIs,
  ([wanted, replacement]) => [withoutNumbers(wanted), withoutNumbers(replacement)],
  withoutMarks,
  withoutDiff,
  ([wanted, replacement]) =>
    /\\[nt"'`]/.test(wanted) ? [unescaped(wanted), unescaped(replacement)] : [wanted, replacement],
  ([wanted, replacement]) => (ENTITY.test(wanted) ? [decoded(wanted), decoded(replacement)] : [wanted, replacement]),
];

function matchCharacters(text: string, wanted: string, replacement: string): TolerantMatch | undefined {
  const [plain, sought] = [plainCharacters(text), plainCharacters(wanted)];
  const start = plain.indexOf(sought);
  if (start === -1 || plain.indexOf(sought, start + 1) !== -1) return undefined;
  const end = start + sought.length;
  return { start, end, replacement: plainAs(text.slice(start, end), wanted, replacement) };
}

/** Without the typographic characters that the model wrote for those of the file. */
function plainAs(found: string, wanted: string, replacement: string): string {
  const isPlain = plainCharacters(found) === found && plainCharacters(wanted) !== wanted;
  return isPlain ? plainCharacters(replacement) : replacement;
}

function matchLines(
  text: string,
  lines: readonly Line[],
  wanted: string,
  replacement: string,
): TolerantMatch | undefined {
  const sought = readLines(wanted);
  const at = onlyPlace(lines, sought);
  const [first, last] = [lines[at ?? -1], lines[(at ?? 0) + sought.length - 1]];
  if (at === undefined || !first || !last) return undefined;
  const found = lines.slice(at, at + sought.length);
  const plain = plainAs(text.slice(first.start, last.end), wanted, withoutEmptyEdges(wanted, replacement));
  const fresh = indented(text, plain, sought, found);
  // Whole lines are replaced. With nothing in their place, their last line end goes too.
  const removed = fresh.trim() === '' && text[last.end] === '\n';
  return { start: first.start, end: last.end + (removed ? 1 : 0), replacement: removed ? '' : fresh };
}

/** A line that stands for lines that are left out: `// ... existing code ...`, `...`, but not the code `...rest`. */
const ELISION = /^(?!\.{3}\w+$)(?:\/\/|#|\/\*|<!--|--)? ?(?:\.{3}|…)[\w ]*(?:\.{3}|…)?(?: ?(?:\*\/|-->))?$/;

/** Whether a line leaves out code in words, which is never meant to be in a file. */
export function leavesOutCode(line: string): boolean {
  const text = line.trim();
  return text.length < 100 && ELISION.test(text) && /\b(?:existing|rest|remaining|unchanged|omitted)\b/.test(text);
}

/** Both texts leave out the same lines: those of the file stay. Parts that do not change show where the others are. */
function matchElided(
  text: string,
  lines: readonly Line[],
  wanted: string,
  replacement: string,
): TolerantMatch | undefined {
  const [before, after] = [segmentsOf(wanted), segmentsOf(replacement)];
  if (before.length < 2 || before.length !== after.length) return undefined;
  let match: TolerantMatch | undefined;
  let end = 0;
  for (const [index, part] of before.entries()) {
    const fresh = after[index] ?? '';
    const size = (part.match(/[\p{L}\p{N}]/gu) ?? []).length;
    // Brackets alone do not tell a place.
    if (part === fresh && size === 0) continue;
    if (part !== fresh && size < LEAST) return undefined;
    const next = matchLines(text, lines, part, fresh);
    if (next === undefined || next.start < end || endsBlock(lines, end, next.start)) return undefined;
    end = next.end;
    if (part === fresh) continue;
    match = match
      ? {
          start: match.start,
          end: next.end,
          replacement: match.replacement + text.slice(match.end, next.start) + next.replacement,
        }
      : next;
  }
  return match;
}

/** Whether lines of the file that are left out end the block that the line above them begins. */
function endsBlock(lines: readonly Line[], from: number, to: number): boolean {
  const outer = lines.findLast((line) => line.end <= from)?.indent.length;
  const inner = lines.find((line) => line.start >= to)?.indent.length;
  if (outer === undefined || inner === undefined || inner <= outer) return false;
  return lines.some((line) => line.start >= from && line.start < to && line.indent.length <= outer);
}

function segmentsOf(text: string): readonly string[] {
  const segments: string[][] = [[]];
  for (const line of text.split('\n')) {
    if (line.length < 100 && ELISION.test(line.trim())) segments.push([]);
    else segments.at(-1)?.push(line);
  }
  return segments.map((each) => each.join('\n'));
}

/**
 * Leaves out a first or last line that both texts have but the file does not, as the model remembered it wrongly. The
 * line of the file there must be similar. The other lines must be certain.
 */
function matchWithoutEdges(
  text: string,
  lines: readonly Line[],
  known: ReadonlySet<string>,
  wanted: string,
  replacement: string,
): TolerantMatch | undefined {
  for (const edge of ['first', 'last'] as const) {
    const [before, after] = [withoutEdge(wanted, edge), withoutEdge(replacement, edge)];
    if (!before || !after || before.line !== after.line || known.has(before.line)) continue;
    const sought = readLines(before.rest);
    if (sought.length < 2 || (before.rest.match(/[\p{L}\p{N}]/gu) ?? []).length < LEAST) continue;
    const at = onlyPlace(lines, sought);
    const beside = at === undefined ? undefined : lines[edge === 'first' ? at - 1 : at + sought.length];
    if (beside && areSimilar(beside.text, before.line)) return matchLines(text, lines, before.rest, after.rest);
  }
  return undefined;
}

function withoutEdge(text: string, edge: 'first' | 'last') {
  const lines = text.split('\n');
  const at =
    edge === 'first'
      ? lines.findIndex((each) => each.trim() !== '')
      : lines.findLastIndex((each) => each.trim() !== '');
  const line = lines[at];
  if (line === undefined) return undefined;
  const rest = edge === 'first' ? lines.slice(at + 1) : lines.slice(0, at);
  return { line: normalLine(line), rest: rest.join('\n') };
}

/** Whether most words of each line are in the other one. */
function areSimilar(a: string, b: string): boolean {
  const words = (line: string) => new Set(line.slice(0, 1000).match(/\w+/g) ?? []);
  const [one, other] = [words(a), words(b)];
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared > 0 && shared * 2 > Math.max(one.size, other.size);
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
    if (trimmed !== '') lines.push({ indent, text: normalLine(trimmed), start, end: start + line.length });
    start += line.length + 1;
  }
  return lines;
}

/** Without the empty lines at the ends that both texts have: those of the file stay. */
function withoutEmptyEdges(wanted: string, replacement: string): string {
  const empty = (lines: readonly string[]) => {
    const first = lines.findIndex((line) => line.trim() !== '');
    return first === -1 ? lines.length : first;
  };
  const [before, after] = [wanted.split('\n'), replacement.split('\n')];
  const lead = Math.min(empty(before), empty(after));
  const tail = Math.min(empty(before.toReversed()), empty(after.toReversed()));
  return after.slice(lead, after.length - tail).join('\n');
}

/** The new lines with the indentation of the file. */
function indented(text: string, replacement: string, sought: readonly Line[], found: readonly Line[]): string {
  const isFlat =
    new Set(sought.map(({ indent }) => indent)).size === 1 && new Set(found.map(({ indent }) => indent)).size > 1;
  const adjust = adjuster(sought, found);
  const fresh = withoutTrailing(replacement, '\n').split('\n');
  const partner = alignLines(sought, fresh);
  let previous = found[0]?.indent ?? '';
  let above = '';
  const lines = fresh.map((line, index) => {
    const content = line.trim();
    if (content === '') return '';
    const indent = line.slice(0, line.length - line.trimStart().length);
    const { at, same } = partner.get(index) ?? {};
    const stays = same === true && sought[at ?? -1]?.indent === indent;
    const own = stays || isFlat ? found[at ?? -1] : undefined;
    if (own) previous = own.indent;
    else if (isFlat) previous = nestedIndent(previous, above, content, found);
    else previous = adjust(indent);
    above = content;
    // A line that stays is as it is in the file, unless the lines of the file have another order.
    return own && stays && own.text === normalLine(content) ? text.slice(own.start, own.end) : previous + content;
  });
  return lines.join('\n');
}

/** For each new line the old one that it is, or whose place it takes. */
function alignLines(
  sought: readonly Line[],
  fresh: readonly string[],
): ReadonlyMap<number, { readonly at: number; readonly same: boolean }> {
  const filled = [...fresh.keys()].filter((index) => fresh[index]?.trim() !== '');
  const before = sought.map((line) => line.text);
  const after = filled.map((index) => normalLine(fresh[index] ?? ''));
  const partner = new Map<number, { at: number; same: boolean }>();
  let [old, next] = [0, 0];
  const pair = (same: boolean) => partner.set(filled[next++] ?? -1, { at: old++, same });
  const hunks = findHunks(before, after);
  if (hunks === undefined) return partner;
  for (const hunk of hunks) {
    while (old < hunk.from) pair(true);
    const end = { old: old + hunk.before.length, next: next + hunk.after.length };
    while (old < end.old && next < end.next) pair(false);
    [old, next] = [end.old, end.next];
  }
  while (old < before.length && next < after.length) pair(true);
  return partner;
}

/** The indentation of a line that was written without one, by the brackets around it. */
function nestedIndent(previous: string, above: string, line: string, found: readonly Line[]): string {
  const unit = found.some(({ indent }) => indent.includes('\t')) ? '\t' : ' '.repeat(unitOf(found));
  const opens = /[{([:]$/.test(above) ? unit : '';
  const nested = previous + opens;
  return /^[})\]]/.test(line) ? nested.slice(0, Math.max(0, nested.length - unit.length)) : nested;
}

/** Translates the indentation of the model into that of the file. */
function adjuster(sought: readonly Line[], found: readonly Line[]): (indent: string) => string {
  const indents = new Map<string, string>();
  for (const [index, { indent }] of sought.entries())
    if (!indents.has(indent)) indents.set(indent, found[index]?.indent ?? indent);
  const tabs = found.some(({ indent }) => indent.includes('\t'));
  const [[least, own], [most, mostOwn]] = [...indents].reduce(
    ([low, high], each) => [each[0].length < low[0].length ? each : low, each[0].length > high[0].length ? each : high],
    [[...indents][0] ?? ['', ''], [...indents][0] ?? ['', '']],
  );
  // A block whose first line alone lacks its indentation has the levels of the file.
  const isSame = [...indents].some(([each, indent]) => each !== '' && each === indent);
  const scale =
    !isSame && most.length > least.length ? (mostOwn.length - own.length) / (most.length - least.length) : 1;
  return (indent) => {
    const known = [...indents.keys()].filter((each) => indent.startsWith(each)).sort((a, b) => b.length - a.length)[0];
    if (known === undefined) return indents.get(sought[0]?.indent ?? '') ?? indent;
    const deeper = indent.slice(known.length);
    const base = indents.get(known) ?? '';
    if (/^\t+$/.test(deeper) && !tabs) {
      const width = /^\t+$/.test(known) ? base.length / known.length : unitOf(found);
      return base + ' '.repeat(Math.round(deeper.length * width));
    }
    if (!/^ +$/.test(deeper)) return base + deeper;
    if (tabs) return base + '\t'.repeat(Math.round(deeper.length / unitOf(sought)));
    return base + ' '.repeat(Math.round(deeper.length * (scale > 0 ? scale : 1)));
  };
}

/** Blanks of one level of indentation. */
function unitOf(lines: readonly Line[]): number {
  const widths = lines.map(({ indent }) => indent.length).filter((width) => width > 0);
  return widths.length > 0 && widths.every((width) => width % 4 === 0) ? 4 : 2;
}

/** The numbers of lines that `read_file` and tools of others show: `12: `, `12 | `, `12→`. */
function withoutNumbers(text: string): string {
  const lines = text.split('\n');
  const numbered = lines.filter((line) => line.trim() !== '').every((line) => /^\s{0,6}\d{1,6} ?[:|\t→]/.test(line));
  return numbered ? lines.map((line) => line.replace(/^\s{0,6}\d{1,6} ?[:|\t→] ?/, '')).join('\n') : text;
}

/**
 * Leaves out lines around a text that are not part of it: a fence, the path of the file, marks of a search block. The
 * replacement loses at most as many at an end as the text that is sought: others belong to the file.
 */
function withoutMarks([wanted, replacement]: Pair, path: string): Pair {
  const [before, after] = [wanted.split('\n'), replacement.split('\n')];
  const [lead, tail] = [marksAtStart(before, path), marksAtStart(before.toReversed(), path)];
  const strip = (lines: readonly string[], start: number, end: number) =>
    lines.slice(start, Math.max(start, lines.length - end)).join('\n');
  return [
    strip(before, lead.lines, tail.lines),
    strip(after, marksAtStart(after, path, lead.marks).lines, marksAtStart(after.toReversed(), path, tail.marks).lines),
  ];
}

/** Marks that no file has. */
const SEARCH_MARK = /^(?:<{5,9} ?(?:SEARCH|ORIGINAL)|>{5,9} ?(?:REPLACE|UPDATED))$/;

/** The number of marks, and of lines up to the last of them with the blank lines below. */
function marksAtStart(lines: readonly string[], path: string, most = Number.POSITIVE_INFINITY) {
  const name = path.split(/[\\/]/).at(-1) ?? path;
  const isMark = (content: string): boolean => {
    if (/^(?:`{3,}|~{3,})[\w+#.-]{0,20}$/.test(content) || /^(?:={5,9}|-{5,9})$/.test(content)) return true;
    const words = content.replace(/^(?:\/\/|#|<!--|\/\*|--) ?/, '').replace(/ ?(?:-->|\*\/|:)$/, '');
    return words === path || words === name;
  };
  const found = { marks: 0, lines: 0 };
  for (const [index, line] of lines.entries()) {
    const content = line.trim();
    if (SEARCH_MARK.test(content) || (found.marks < most && isMark(content))) found.marks += 1;
    else if (content !== '') break;
    if (found.marks > 0) found.lines = index + 1;
  }
  return found;
}

/** Leaves out the marks of a diff. A text without a replacement may as well be a list. */
function withoutDiff([wanted, replacement]: Pair): Pair {
  const isDiff = marksEachLine(wanted, '-') && marksEachLine(replacement, '+');
  return isDiff ? [withoutColumn(wanted), withoutColumn(replacement)] : [wanted, replacement];
}

/** Whether each line has the mark of a diff or is context, and one at least has the mark. */
function marksEachLine(text: string, mark: '-' | '+'): boolean {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.every((line) => line[0] === mark || line[0] === ' ') && lines.some((line) => line[0] === mark);
}

function withoutColumn(text: string): string {
  return text
    .split('\n')
    .map((line) => line.slice(1))
    .join('\n');
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '"': '"', "'": "'", '`': '`', '\\': '\\' };

/** A text that was escaped twice. If it has line ends, `\n` in it belongs to the code. */
function unescaped(text: string): string {
  const pattern = text.includes('\n') ? /\\(["'`\\])/g : /\\([nt"'`\\])/g;
  return text.replace(pattern, (_whole, character: string) => ESCAPES[character] ?? character);
}

const ENTITY = /&(lt|gt|amp|quot|apos|#39);/;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", '#39': "'" };

function decoded(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

/** A line as it is compared. Characters without width are left out. */
function normalLine(line: string): string {
  return plainCharacters(line)
    .replace(/[\u200b\u2060\ufeff]/g, '')
    .replaceAll('…', '...')
    .normalize('NFC')
    .trim();
}

function plainCharacters(text: string): string {
  return text.replace(/[‘’‚“”„–—−\u00a0\u202f\u2009]/g, (character) => ALIKE[character] ?? character);
}
