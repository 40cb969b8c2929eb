import type { BracketScanner } from '../document/brackets.ts';
import type { Language } from '../document/languages.ts';
import { alignWithTail, type FittedAnswer, openElements } from './tail-alignment.ts';

export type { FittedAnswer } from './tail-alignment.ts';

/** The text around the caret now. It may have changed since the request. */
export interface Surroundings {
  readonly language: Language;
  /** The state of the text before the caret. */
  readonly caret: BracketScanner;
  /** The caret's line before and after the caret. */
  readonly head: string;
  readonly tail: string;
  /** Lines after the caret's line, as far as they show which brackets are closed there. Absent: they are not known. */
  readonly after?: string;
  /** The next line that is not blank. */
  readonly below: string | undefined;
}

/**
 * Fits the rest of an answer to the text after the caret, so that this text is neither doubled nor left in the wrong
 * place. `undefined`: the answer does not fit. @param goesOn more of the answer follows, so that it may leave blocks
 * open before brackets after the caret.
 */
export function fitAnswer(rest: string, around: Surroundings, goesOn = false): FittedAnswer | undefined {
  const text = withoutClosersBelow(withNamesOf(rest, around), around);
  if (text.trim() === '') return undefined;
  if (around.tail.trim() === '') return { text, replaceAfter: 0 };
  const aligned = alignWithTail(text, around, goesOn);
  const fitted = aligned === undefined ? undefined : withoutHidingComment(aligned, around, goesOn);
  return fitted === undefined || fitted.text.trim() === '' ? undefined : fitted;
}

/** The answer with the names of elements as the document's end tags write them, where their case means nothing. */
function withNamesOf(text: string, { language, tail, below = '' }: Surroundings): string {
  if (language.anyCase !== true || !text.includes('<')) return text;
  const ends = `${tail}\n${below}`.matchAll(/<\/([A-Za-z][\w:-]{0,80})/g);
  const names = new Map([...ends].map(([, name = '']) => [name.toLowerCase(), name]));
  return names.size === 0
    ? text
    : text.replace(/(?<=<\/?)[A-Za-z][\w:-]{0,80}/g, (name) => names.get(name.toLowerCase()) ?? name);
}

/** A line comment at the end of an answer would contain the rest of the tail. It stays if nothing remains. */
function withoutHidingComment(aligned: FittedAnswer, around: Surroundings, goesOn: boolean): FittedAnswer | undefined {
  const { tail } = around;
  const remains = tail.slice(aligned.replaceAfter).trim();
  const at = remains === '' ? -1 : commentStart(aligned.text, around);
  if (at < 0) return aligned;
  const code = aligned.text.slice(0, at).trimEnd();
  if (code === '') return undefined;
  if (/^[;,]$/.test(remains) && code.endsWith(remains)) return { text: aligned.text, replaceAfter: tail.length };
  const fitted = alignWithTail(code, around, goesOn);
  if (fitted === undefined || tail.slice(fitted.replaceAfter).trim() !== '') return fitted;
  return { ...fitted, text: fitted.text + aligned.text.slice(code.length) };
}

/** Index of the line comment in which an answer ends; -1 if it ends elsewhere or the comment began before the answer. */
function commentStart(text: string, { language, caret }: Surroundings): number {
  const mark = language.line;
  // The grammar of languages without quotes is not known.
  if (mark === undefined || language.quotes === '' || caret.mark().read(text).inside !== '\n') return -1;
  const lineStart = text.lastIndexOf('\n') + 1;
  const scanner = caret.mark().read(text.slice(0, lineStart));
  for (let at = text.indexOf(mark, lineStart); at >= 0; at = text.indexOf(mark, at + 1)) {
    if (scanner.copy().read(text.slice(lineStart, at)).inside !== undefined) continue;
    // `$#` and `${#name}` are variables in a shell, and `http://` is no comment.
    const isComment = at === 0 ? mark !== '#' : /\s/.test(text.charAt(at - 1));
    return isComment ? at : -1;
  }
  return -1;
}

/** The tail has no code: the lines below continue the text before the caret. */
const NO_CODE = /^(?:[\s)\]}"'`>;,]|\*\/|-->|#>|-\})*$/;
/** Lines that only close something: brackets, a comment, a string, an element. */
const CLOSES = /^\s*(?:[)\]}]|\*\/|-->|#>|-\}|"""|'''|<\/)/;
/** The line of a fence, also in a comment, and its language. */
const FENCE = /^\s*(?:(?:\*|#|\/\/[/!]?)\s*)?(?:```|~~~)([^\n]*)/;

/** Cuts before a line that closes a bracket that the next line of the document closes already. */
function withoutClosersBelow(rest: string, { language, caret, tail, below }: Surroundings): string {
  if (below === undefined || !NO_CODE.test(tail)) return rest;
  const closesBlock = language.blockEnds?.test(below.trim()) === true;
  if (!CLOSES.test(below) && !FENCE.test(below) && !closesBlock) return rest;
  const scanner = caret.mark();
  const indentations = new Set<number>();
  /** Brackets that a line such as `} else {` opened again: the next line of the document closes them. */
  let reopened = 0;
  let fenced = false;
  for (let start = 0; ; ) {
    const end = rest.indexOf('\n', start);
    const line = rest.slice(start, end < 0 ? rest.length : end);
    const exits = scanner.exits.length;
    const opened = scanner.openedBrackets;
    scanner.read(`${line}\n`);
    const exited = scanner.exits.length - exits;
    const again = exited > 0 ? Math.min(exited, scanner.openedBrackets - opened) : 0;
    const fence = FENCE.exec(line)?.[1]
      ?.replace(/^[`~]+/, '')
      .trim();
    const closesFence = fence === '' && !fenced;
    // One with a language opens.
    if (fence !== undefined) fenced = !fenced && fence !== '';
    if (start > 0 && line.trim() !== '') {
      const closes =
        exited > again ||
        scanner.openedBrackets < reopened ||
        (!language.brackets && closesBefore(rest.slice(0, start), line)) ||
        closesFence ||
        hasSurplusTag(rest.slice(0, start + line.length));
      if (closes && samePlace(line, below)) return rest.slice(0, start - 1);
      // Without brackets, a block that the answer opened itself starts at the same indentation.
      if (closesBlock && line === below && !indentations.has(indentationOf(line))) return rest.slice(0, start - 1);
      indentations.add(indentationOf(line));
    }
    reopened = Math.min(reopened + again, scanner.openedBrackets);
    if (end < 0) return rest;
    start = end + 1;
  }
}

/** In a language whose brackets are not followed: whether a line closes a bracket that the text before it did not open. */
function closesBefore(text: string, line: string): boolean {
  const closer = /^\s*([)\]}])/.exec(line)?.[1];
  if (closer === undefined) return false;
  const opener = '([{'[')]}'.indexOf(closer)] ?? closer;
  return text.split(opener).length <= text.split(closer).length;
}

/** Whether two lines close the same: the same text, or the same closer at the same indentation. */
function samePlace(line: string, below: string): boolean {
  const closer = /^\s*[)\]}]/.exec(below)?.[0];
  return closer === undefined ? line.trim() === below.trim() : line.startsWith(closer);
}

function indentationOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Whether the last tag of a text closes an element that the text did not open. */
function hasSurplusTag(text: string): boolean {
  const name = /<\/([A-Za-z][\w.:-]{0,80})>\s*$/.exec(text.slice(-100))?.[1];
  return name !== undefined && openElements(text, name) < 0;
}
