import type { FileMatches, SearchResult } from './search-scope.ts';

const MAX_MATCHES = 100;
/** Longer lines are cut, with the match in the part that is shown. */
const MAX_LINE = 300;
/** Number of characters before the match in a line that is cut. */
const BEFORE_MATCH = 100;

/** The text for the model: matches as `path:line: text`, context lines below and above them without the path. */
export function searchReport({ files, matches, fileCount, incomplete }: SearchResult): string {
  if (matches === 0) return incomplete ? 'The search took too long. Use a pattern.' : '';
  const rows: string[] = [];
  let shown = 0;
  for (const file of files) {
    if (shown >= MAX_MATCHES) break;
    shown += addFile(rows, file, MAX_MATCHES - shown);
  }
  const all = `${count(matches)} ${matches === 1 ? 'match' : 'matches'} in ${count(fileCount)} ${fileCount === 1 ? 'file' : 'files'}`;
  const cut = shown < matches || incomplete;
  const head = cut
    ? `${count(shown)} of ${incomplete ? 'at least ' : ''}${all}. Narrow the search to see others.`
    : `${all}.`;
  return [head, ...rows].join('\n');
}

/** Adds the lines up to the last permitted match. Returns the number of matches. */
function addFile(rows: string[], { path, lines }: FileMatches, room: number): number {
  let shown = 0;
  let last: number | undefined;
  for (const { number, text, matches, at } of lines) {
    if (matches && shown === room) break;
    if (last !== undefined && number > last + 1) rows.push('--');
    last = number;
    const cut = cutLine(text, at ?? 0);
    rows.push(matches ? `${path}:${number}: ${cut}` : `  ${number}- ${cut}`);
    if (matches) shown += 1;
  }
  return shown;
}

/** The line, or the part of a long line around a match. @param at index of the match. */
export function cutLine(text: string, at: number): string {
  if (text.length <= MAX_LINE) return text;
  const start = Math.max(0, Math.min(at - BEFORE_MATCH, text.length - MAX_LINE));
  const end = start + MAX_LINE;
  // Half a character at an end is left out.
  const part = text.slice(start, end).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
  return `${start > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''}`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
