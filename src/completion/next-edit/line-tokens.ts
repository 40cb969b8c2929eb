import { equalEnds } from '../../base/text-change.ts';

/** A token of one line. White space is between tokens. */
export interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'mark' | 'comment';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Longer lines are data or minified code. */
export const MAX_LINE = 1_000;
/** A line of a block comment in a language with `//`. A line of code may look the same, and is then left alone. */
const BLOCK_COMMENT = /^\s*(?:\/\*|\*(?:[\s/]|$))/;
const WORD = /[\p{L}\p{N}_$]/u;

/**
 * The words, numbers, strings and marks of a line, in any language. A string that does not end on its line is read
 * as a mark and the tokens after it. `comment`: the start of a comment up to the end of the line.
 */
export function splitLine(line: string, comment: string | undefined): Token[] {
  const tokens: Token[] = [];
  if (line.length > MAX_LINE) return tokens;
  const start = line.length - line.trimStart().length;
  if (comment === '//' && BLOCK_COMMENT.test(line)) {
    return [{ kind: 'comment', text: line.slice(start), start, end: line.length }];
  }
  let at = 0;
  while (at < line.length) {
    const first = line[at] ?? '';
    const end = comment !== undefined && line.startsWith(comment, at) ? line.length : endOfToken(line, at);
    if (first.trim() !== '') {
      const text = line.slice(at, end);
      const isComment = comment !== undefined && line.startsWith(comment, at);
      tokens.push({ kind: isComment ? 'comment' : kindOf(text), text, start: at, end });
    }
    at = end;
  }
  return tokens;
}

function endOfToken(line: string, at: number): number {
  const first = line[at] ?? '';
  if (first === '"' || first === "'" || first === '`') return endOfString(line, at) ?? at + 1;
  if (!WORD.test(first)) return at + 1;
  let end = at + 1;
  while (end < line.length && WORD.test(line[end] ?? '')) end++;
  return end;
}

function endOfString(line: string, at: number): number | undefined {
  for (let end = at + 1; end < line.length; end++) {
    if (line[end] === '\\') end++;
    else if (line[end] === line[at]) return end + 1;
  }
  return undefined;
}

function kindOf(text: string): Token['kind'] {
  const [first = ''] = text;
  if (/\d/.test(first)) return 'number';
  if (WORD.test(first)) return 'word';
  return text.length > 1 ? 'string' : 'mark';
}

const KEYWORDS = new Set(
  `and as async await begin bool boolean break case catch class const continue def default delete do done elif else elsif
   end enum except export extends extern false final finally float for foreach from func function if impl implements
   import in int interface is let long match mut new nil none not null number object or override package pass private
   protected pub public raise readonly return self static string struct super switch then this throw throws trait true try
   type typeof undefined unless until use using val var void where while with yield`.split(/\s+/),
);

/** True for a name: not a keyword, and longer than two letters. */
export function isName({ kind, text }: Token): boolean {
  return kind === 'word' && text.length >= 3 && !KEYWORDS.has(text.toLowerCase());
}

/** True for a string with a word in it. */
export function isText({ kind, text }: Token): boolean {
  return kind === 'string' && /\p{L}{3}/u.test(text);
}

/** The change of a line, in whole tokens: the text `old` at `start` became `text`. */
export interface LineChange {
  readonly tokens: readonly Token[];
  /** Tokens before and after the change. */
  readonly left: readonly Token[];
  readonly right: readonly Token[];
  /** Replaced and inserted tokens. */
  readonly removed: readonly Token[];
  readonly inserted: readonly Token[];
  readonly start: number;
  readonly old: string;
  readonly text: string;
}

/** Undefined: only white space or a comment changed, or nothing. */
export function compareLines(before: string, after: string, comment: string | undefined): LineChange | undefined {
  const tokens = splitLine(before, comment);
  const others = splitLine(after, comment);
  const texts = (all: readonly Token[]) => all.map(({ text }) => text);
  const { head, tail } = equalEnds(texts(tokens), texts(others));
  const removed = tokens.slice(head, tokens.length - tail);
  const inserted = others.slice(head, others.length - tail);
  if (removed.length + inserted.length === 0) return undefined;
  if ([...removed, ...inserted].some(({ kind }) => kind === 'comment')) return undefined;
  const left = tokens.slice(0, head);
  const right = tokens.slice(tokens.length - tail);
  const [old, oldStart] = gap(before, left, right);
  const [text] = gap(after, others.slice(0, head), others.slice(others.length - tail));
  const spaces = old.slice(0, old.length - old.trimStart().length);
  const lead = text.startsWith(spaces) ? spaces.length : 0;
  const rest = old.slice(lead);
  const end = rest.slice(rest.trimEnd().length);
  const trail = end !== '' && text.slice(lead).endsWith(end) ? end.length : 0;
  return {
    tokens,
    left,
    right,
    removed,
    inserted,
    start: oldStart + lead,
    old: old.slice(lead, old.length - trail),
    text: text.slice(lead, text.length - trail),
  };
}

/** The text between the tokens on the left and on the right, and where it begins. */
function gap(line: string, left: readonly Token[], right: readonly Token[]): readonly [text: string, start: number] {
  const start = left.at(-1)?.end ?? line.length - line.trimStart().length;
  const end = right[0]?.start ?? Math.max(start, line.trimEnd().length);
  return [line.slice(start, end), start];
}
