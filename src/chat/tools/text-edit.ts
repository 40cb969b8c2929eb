import { leavesOutCode, matchTolerantly } from './tolerant-match.ts';

/** A replacement of one text. If it is not in the file as it is, one that differs only in white space may be. */
export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  /** Replaces each occurrence; otherwise there must be exactly one. */
  readonly all?: boolean;
}

/** Number of lines of the most similar text that the model gets. */
const MAX_NEAREST = 20;
/** An equal line is compared with at most this many equal lines of the wanted text, so that the time is linear. */
const MAX_EQUAL = 4;
/** Number of line numbers in a message. */
const MAX_PLACES = 20;

/**
 * Applies edits one after another. Line ends of text and edits may differ: new lines get those of the text.
 *
 * @throws Error with the precise reason, for the model.
 */
export function applyTextEdits(path: string, text: string, edits: readonly TextEdit[]): string {
  return edits.reduce((before, edit, index) => {
    try {
      return applyEdit(path, before, edit);
    } catch (thrown) {
      if (edits.length === 1 || !(thrown instanceof Error)) throw thrown;
      throw new Error(`Edit ${index + 1} of ${edits.length}: ${thrown.message}`);
    }
  }, text);
}

function applyEdit(path: string, text: string, { oldText, newText, all }: TextEdit): string {
  const plain = withoutReturns(text);
  const wanted = withoutReturns(oldText);
  const replacement = withoutReturns(newText);
  if (wanted === '') throw new Error(`old_text is empty, but ${path} already has text. Give the text to replace.`);
  if (wanted === replacement) throw new Error('old_text and new_text are equal: there is nothing to change.');
  checkComplete(plain, wanted, replacement);
  const starts = occurrences(plain, wanted);
  if (starts.length === 0) {
    const match = all ? undefined : matchTolerantly(path, plain, wanted, replacement);
    if (match === undefined) throw new Error(notFound(path, plain, wanted));
    const found = plain.slice(match.start, match.end);
    if (found === match.replacement) throw new Error('old_text and new_text are equal: there is nothing to change.');
    return plain === text
      ? replaceAt(text, [match.start], found.length, match.replacement)
      : replaceKeepingReturns(text, [match.start], found, match.replacement);
  }
  if (starts.length > 1 && !all) throw new Error(foundSeveral(path, plain, starts));
  return plain === text
    ? replaceAt(text, starts, wanted.length, replacement)
    : replaceKeepingReturns(text, starts, wanted, replacement);
}

/** A line such as `// ... existing code ...` would take the place of the code. */
function checkComplete(text: string, wanted: string, replacement: string): void {
  const isIn = (whole: string, line: string) => whole.split('\n').some((each) => each.trim() === line);
  for (const line of replacement.split('\n')) {
    const content = line.trim();
    if (!leavesOutCode(content) || isIn(wanted, content) || isIn(text, content)) continue;
    throw new Error(`new_text leaves out code (${content}). Give all lines that replace old_text.`);
  }
}

function occurrences(text: string, wanted: string): readonly number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) starts.push(at);
  return starts;
}

function replaceAt(text: string, starts: readonly number[], length: number, replacement: string): string {
  const parts: string[] = [];
  let end = 0;
  for (const start of starts) {
    parts.push(text.slice(end, start), replacement);
    end = start + length;
  }
  return [...parts, text.slice(end)].join('');
}

/** Replaces in a text with `\r\n`. Lines that the edit does not change keep their line ends, which may be mixed. */
function replaceKeepingReturns(text: string, starts: readonly number[], wanted: string, replacement: string): string {
  const original = offsetsWithReturns(text);
  const lineEnd = usesReturns(text) ? '\r\n' : '\n';
  const { lead, tail } = commonLines(wanted, replacement);
  const inserted = replacement.slice(lead, replacement.length - tail).replaceAll('\n', lineEnd);
  const parts: string[] = [];
  let end = 0;
  for (const start of starts) {
    parts.push(text.slice(end, original(start + lead)), inserted);
    end = original(start + wanted.length - tail);
  }
  return [...parts, text.slice(end)].join('');
}

/** The length of the whole lines that both texts begin and end with. */
function commonLines(a: string, b: string): { readonly lead: number; readonly tail: number } {
  const limit = Math.min(a.length, b.length);
  let lead = 0;
  for (let at = 0; at < limit && a[at] === b[at]; at += 1) if (a[at] === '\n') lead = at + 1;
  let tail = 0;
  for (let at = 1; at <= limit - lead && a.at(-at) === b.at(-at); at += 1) if (a.at(-at) === '\n') tail = at - 1;
  return { lead, tail };
}

/** Finds the offset in a text for an offset in the same text without `\r` at line ends. Offsets must not decrease. */
function offsetsWithReturns(text: string): (plain: number) => number {
  let plainAt = 0;
  let at = 0;
  return (plain) => {
    while (plainAt < plain) {
      at += text.startsWith('\r\n', at) ? 2 : 1;
      plainAt += 1;
    }
    return at;
  };
}

/** Whether most lines end with `\r\n`. */
function usesReturns(text: string): boolean {
  const count = (end: string) => text.split(end).length - 1;
  return count('\r\n') * 2 >= count('\n');
}

function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function foundSeveral(path: string, text: string, starts: readonly number[]): string {
  const lines = lineNumbers(text, starts.slice(0, MAX_PLACES)).join(', ');
  const more = starts.length > MAX_PLACES ? ', …' : '';
  return `old_text occurs ${starts.length} times in ${path}, in lines ${lines}${more}. Add lines around it, or set replace_all.`;
}

function lineNumbers(text: string, offsets: readonly number[]): readonly number[] {
  let line = 1;
  let at = 0;
  return offsets.map((offset) => {
    for (; at < offset; at += 1) if (text[at] === '\n') line += 1;
    return line;
  });
}

function notFound(path: string, text: string, wanted: string): string {
  const lines = text.split('\n');
  const wantedLines = wanted.replace(/\n$/, '').split('\n');
  const at = nearestByLines(lines, wantedLines) ?? nearestByWords(lines, wantedLines);
  if (at === undefined) return `old_text was not found in ${path}, and no text is similar. Read the file again.`;
  const shown = lines.slice(at, at + Math.min(wantedLines.length, MAX_NEAREST));
  const numbered = shown.map((line, index) => `${at + index + 1}: ${line.slice(0, 300)}`).join('\n');
  const same = wantedLines.every((line, index) => line.trim() === (lines[at + index] ?? '').trim());
  const difference = same ? ' It differs only in white space.' : '';
  return `old_text was not found in ${path}. The most similar text:\n${numbered}\n${difference}`.trimEnd();
}

/** The line where most of the wanted lines follow each other in their order, without regard to white space. */
function nearestByLines(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const places = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const key = line.trim();
    const known = places.get(key) ?? [];
    if (key.length > 2 && known.length < MAX_EQUAL) places.set(key, [...known, index]);
  }
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    for (const place of places.get(line.trim()) ?? []) {
      const start = Math.max(0, index - place);
      votes.set(start, (votes.get(start) ?? 0) + 1);
    }
  }
  let best: number | undefined;
  for (const [start, count] of votes) if (best === undefined || count > (votes.get(best) ?? 0)) best = start;
  return best;
}

/** The line that shares most words with the first wanted line that has any. */
function nearestByWords(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const first = wanted.findIndex((line) => wordsOf(line).size > 0);
  const words = wordsOf(wanted[first] ?? '');
  let best: { readonly at: number; readonly shared: number } | undefined;
  for (const [at, line] of lines.entries()) {
    let shared = 0;
    for (const word of wordsOf(line)) if (words.has(word)) shared += 1;
    if (shared * 2 >= words.size && shared > (best?.shared ?? 0)) best = { at, shared };
  }
  return best && Math.max(0, best.at - first);
}

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(line.slice(0, 1000).match(/\w+/g) ?? []);
}
