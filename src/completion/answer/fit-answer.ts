import { BracketScanner, scanBracketsTo } from '../document/brackets.ts';
import type { Language } from '../document/languages.ts';

/** The text around the caret now. It may have changed since the request. */
export interface Surroundings {
  readonly language: Language;
  /** The caret's line, before and after it. */
  readonly head: string;
  readonly tail: string;
  /** The next line that is not blank. */
  readonly below: string | undefined;
}

export interface FittedAnswer {
  readonly text: string;
  /** Number of characters of the tail that the text repeats and therefore replaces. */
  readonly replaceAfter: number;
}

/** Number of characters before the caret that are scanned to detect a string. */
const HEAD_READ = 2_000;

/**
 * Fits the rest of an answer to the text after the caret: closers that the editor inserted
 * automatically are overwritten, not doubled. `undefined`: the answer does not fit.
 */
export function fitAnswer(rest: string, around: Surroundings): FittedAnswer | undefined {
  const inside = insideString(around.language, around.head);
  const text = withoutClosersBelow(rest, around, inside);
  if (text.trim() === '') return undefined;
  const tail = around.tail.trimEnd();
  if (tail === '') return { text, replaceAfter: 0 };
  const covered = coveredClosers(text, tail, around.language, inside);
  const lineEnd = text.indexOf('\n');
  const firstLine = (lineEnd < 0 ? text : text.slice(0, lineEnd)).trimEnd();
  if (covered > 0 && firstLine.endsWith(tail)) return { text, replaceAfter: tail.length };
  // A line break in the text moves the rest of the tail to a new line: acceptable for closers, not for code.
  if (lineEnd >= 0 && /[^\s)\]}"'`>;,]/.test(tail.slice(covered))) return undefined;
  return { text, replaceAfter: covered };
}

function insideString(language: Language, head: string): string | undefined {
  const scanner = scanBracketsTo(head.slice(-HEAD_READ), language, head.length > HEAD_READ);
  return scanner.inside === language.block?.[1] ? undefined : scanner.inside;
}

/** Number of closers at the start of the tail that `text` contains itself. */
function coveredClosers(text: string, tail: string, language: Language, inside: string | undefined): number {
  if (inside !== undefined) {
    // Inside a string, only its own quote is a closer. Code follows it.
    const end = stringEnd(text, inside);
    if (end < 0 || !tail.startsWith(inside)) return 0;
    const { length } = inside;
    return length + coveredClosers(text.slice(end + length), tail.slice(length), language, undefined);
  }
  const { unmatched } = new BracketScanner(language).read(text);
  let covered = 0;
  while (covered < unmatched.length && covered < tail.length && tail[covered] === unmatched[covered]) covered++;
  return covered;
}

function stringEnd(text: string, quote: string): number {
  for (let at = 0; at < text.length && text[at] !== '\n'; at++) {
    if (text[at] === '\\') at++;
    else if (text.startsWith(quote, at)) return at;
  }
  return -1;
}

/** Cuts before a line with a closer that the next line of the document already has. */
function withoutClosersBelow(rest: string, around: Surroundings, inside: string | undefined): string {
  const below = around.below;
  if (below === undefined || !/^[\s)\]}"'`>;,]*$/.test(around.tail) || !/^\s*[)\]}]/.test(below)) return rest;
  const scanner = new BracketScanner(around.language, inside);
  for (let start = 0; ; ) {
    const end = rest.indexOf('\n', start);
    const line = rest.slice(start, end < 0 ? rest.length : end);
    const before = scanner.unmatched.length;
    scanner.read(`${line}\n`);
    if (start > 0 && scanner.unmatched.length > before && samePlace(line, below)) return rest.slice(0, start - 1);
    if (end < 0) return rest;
    start = end + 1;
  }
}

/** Whether two lines start with the same closer at the same indentation. */
function samePlace(line: string, below: string): boolean {
  const closer = /^\s*[)\]}]/.exec(below)?.[0];
  return closer !== undefined && line.startsWith(closer);
}
