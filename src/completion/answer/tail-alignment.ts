import { BracketScanner, type Exit } from '../document/brackets.ts';
import type { Language } from '../document/languages.ts';

export interface FittedAnswer {
  readonly text: string;
  /** Number of characters of the tail that the text repeats and therefore replaces. */
  readonly replaceAfter: number;
}

/** The text around the caret, as far as it shows which brackets are open and closed there. */
export interface BracketContext {
  readonly language: Language;
  readonly caret: BracketScanner;
  /** The caret's line. */
  readonly head: string;
  readonly tail: string;
  /** The lines after it. Absent: they are not known. */
  readonly after?: string | undefined;
}

interface TailContext extends BracketContext {}

/**
 * Aligns an answer with the rest of the caret's line. Both are divided at the closers of brackets that were open at
 * the caret. As far as both close the same, the answer replaces the tail. The rest of the tail is found in the answer,
 * or stays after it; an answer that contradicts it is cut before the first closer.
 * @param goesOn more of the answer follows.
 */
export function alignWithTail(text: string, context: TailContext, goesOn: boolean): FittedAnswer | undefined {
  const around = withQuotes(context);
  const { language, caret, tail: wholeTail } = around;
  const tail = wholeTail.trimEnd();
  const own = caret.mark().read(text);
  if (isContent(text, tail, caret, own) && overlapOf(text, tail, language) === 0) return { text, replaceAfter: 0 };
  // Of several lines, a part may only seem to fit as long as the rest is not known.
  if (!(goesOn && text.includes('\n')) && fitsBefore(around, own)) return { text, replaceAfter: 0 };
  const scannedTail = caret.readTail(tail);
  const opensBlock = scannedTail.openedBrackets > 0;
  const whole = withTailOpened(text, tail, caret, scannedTail.surplus);
  if (whole !== undefined) return { text: whole, replaceAfter: tail.length };
  const shared = sharedClosers(text, own.exits, tail, scannedTail.exits);
  const tailEnd = shared.at(-1)?.there.end ?? 0;
  const answerEnd = shared.at(-1)?.own.end ?? 0;
  const rest = tail.slice(tailEnd);
  const after = text.slice(answerEnd);
  const before = shared.map(({ joined }) => joined).join('');
  if (rest.trim() === '') {
    return { text: before + after, replaceAfter: tail.length };
  }
  const remaining = scannedTail.exits.slice(shared.length);
  const closer = own.exits.find(({ at, depth }) => at >= answerEnd && remaining.some((exit) => exit.depth === depth));
  const part = alignRest(after, rest, {
    language,
    caret: shared.length === 0 ? caret : undefined,
    remaining,
    closerAt: closer === undefined ? undefined : closer.at - answerEnd,
    opensBlock,
    goesOn,
    head: around.head,
    below: around.after ?? '',
  });
  if (part !== undefined) return { text: before + part.text, replaceAfter: part.covers ? tail.length : tailEnd };
  // The answer contradicts the tail after a closer. The text before the closer still fits.
  const first = shared[0];
  return first === undefined ? undefined : { text: text.slice(0, first.own.at).trimEnd(), replaceAfter: 0 };
}

/** Quotes where the language has none, or not all: in tags, and in text. */
const QUOTED: Language = { quotes: `"'\``, longQuotes: [], brackets: false };

/** The context with the quote in which the caret is, if the language does not follow it. */
function withQuotes(context: TailContext): TailContext {
  const { language, caret, head, tail } = context;
  if ((language.quotes !== '' && language.tags !== true) || caret.inside !== undefined) return context;
  const tag = /<[A-Za-z][^<]*$/.exec(head)?.[0];
  const quoted = new BracketScanner(QUOTED).read(tag ?? head);
  const { inside } = quoted;
  // An apostrophe in a text is no quote.
  if (inside === undefined || (tag === undefined && !tail.startsWith(inside))) return context;
  return { ...context, caret: quoted };
}

/**
 * Whether an answer that closes a bracket of the caret's line belongs before all of the tail: it opens the same again,
 * or it completes brackets and strings of which the text around it has only one half.
 * @param own the state after the answer, from a mark at the caret.
 */
export function fitsBefore(around: BracketContext, own: BracketScanner): boolean {
  if (own.inside === '\n' || (own.exits.length === 0 && own.opened === 0)) return false;
  const without = countFaults(around.caret.mark(), around);
  const joined = countFaults(own.copy(), around);
  return joined === without ? own.exits.length > 0 && own.isInsideTheSame(around.caret) : joined < without;
}

/** Number of brackets and strings that do not match, if the text after the caret follows the text so far. */
function countFaults(scanner: BracketScanner, { language, caret, head, tail, after = '' }: BracketContext): number {
  scanner.read(tail);
  // The next line does not continue a line that leaves a bracket open if it is not further indented.
  const next = /^\s*^([ \t]*)[^\s)\]}]/m.exec(after);
  const opensBlock = language.indentedBlocks === true && /:\s*$/.test(tail);
  const ends = opensBlock || (next !== null && (next[1] ?? '').length <= indentationOf(head));
  const before = caret.openBrackets - new BracketScanner(language).read(head).openedBrackets;
  const open = ends && scanner.openBrackets > before ? 1 : 0;
  return open + scanner.read(`\n${after}`).faults;
}

function indentationOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Whether an answer is text of the string or comment in which the caret is, and the tail more of it. */
function isContent(text: string, tail: string, { inside }: BracketScanner, own: BracketScanner): boolean {
  return inside !== undefined && own.insideSinceMark && !text.includes('\n') && tail.includes(inside.trim());
}

/** The answer, if it ends its first line with the tail and opens the brackets of which the tail has only the ends. */
function withTailOpened(text: string, tail: string, caret: BracketScanner, surplus: number): string | undefined {
  if (surplus === 0) return undefined;
  const [line = '', ...more] = text.split('\n');
  const code = tail.trim();
  if (!line.trimEnd().endsWith(code)) return undefined;
  const own = line.trimEnd().slice(0, -code.length);
  if (caret.mark().read(own).openedBrackets < surplus) return undefined;
  return [joinTail(own, tail), ...more].join('\n');
}

interface Shared {
  readonly own: Exit;
  readonly there: Exit;
  /** The answer up to and with the closer, with the white space of the tail. */
  readonly joined: string;
}

/** The closers that the answer and the tail have in common, from the innermost on. */
function sharedClosers(text: string, own: readonly Exit[], tail: string, there: readonly Exit[]): readonly Shared[] {
  const shared: Shared[] = [];
  let ownAt = 0;
  let ownFrom = 0;
  let thereFrom = 0;
  for (const exit of there) {
    // The answer may close brackets that the tail does not close.
    while (ownAt < own.length && (own[ownAt]?.depth ?? 0) > exit.depth) ownAt++;
    const mine = own[ownAt++];
    if (mine === undefined || mine.closer !== exit.closer || mine.depth !== exit.depth) break;
    const joined = joinBefore(text.slice(ownFrom, mine.at), tail.slice(thereFrom, exit.at));
    if (joined === undefined) break;
    shared.push({ own: mine, there: exit, joined: joined + exit.closer });
    ownFrom = mine.end;
    thereFrom = exit.end;
  }
  return shared;
}

/** The answer's text before a closer, if it ends with the tail's text there; with the white space of the tail. */
function joinBefore(own: string, there: string): string | undefined {
  if (own.endsWith(there)) return own;
  const code = there.trim();
  if (code === '') return own.trimEnd() + there;
  const end = own.trimEnd();
  return end.endsWith(code) ? end.slice(0, -code.length).trimEnd() + there : undefined;
}

interface RestContext {
  readonly language: Language;
  /** The state at the start of the answer's rest, if it is known. */
  readonly caret: BracketScanner | undefined;
  /** Closers in the tail's rest. */
  readonly remaining: readonly Exit[];
  /** Index in the answer's rest of the first closer of something that the tail's rest closes too. */
  readonly closerAt: number | undefined;
  readonly opensBlock: boolean;
  readonly goesOn: boolean;
  /** The caret's line before the caret. */
  readonly head: string;
  /** The lines after the caret's line, as far as they are known. */
  readonly below: string;
}

interface AlignedRest {
  readonly text: string;
  /** The text contains the rest of the tail. */
  readonly covers: boolean;
}

const ONLY_CLOSERS = /^[\s)\]}"'`>;,]*$/;
const SEPARATOR = /^[;,]$/;
const NO_SPACE_BEFORE = /^[\s,;.:)\]}>]/;

/** Aligns the rest of the answer with the rest of the tail, which is not blank. */
function alignRest(after: string, rest: string, context: RestContext): AlignedRest | undefined {
  const code = rest.trim();
  const lineEnd = after.indexOf('\n');
  const first = lineEnd < 0 ? after : after.slice(0, lineEnd);
  const line = first.trimEnd();
  const more = lineEnd < 0 ? '' : after.slice(lineEnd);
  const { goesOn, opensBlock, remaining } = context;
  if (remaining.length === 0 && endsWithCode(line, code, context)) {
    // The body of a block that the tail opens is below it already.
    return { text: joinTail(line.slice(0, -code.length), rest) + (opensBlock ? '' : more), covers: true };
  }
  if (remaining.length === 0 && !opensBlock && endsWithCode(after.trimEnd(), code, context)) {
    return { text: joinTail(after.trimEnd().slice(0, -code.length), rest), covers: true };
  }
  if (remaining.length === 0 && ONLY_CLOSERS.test(code)) {
    // Closers in text that looks like a string: the answer has them before its last separator.
    const closed = line.replace(/[;,]$/, '');
    if (closed !== line && endsWithCode(closed, code, context)) return { text: line + more, covers: true };
  }
  if (SEPARATOR.test(code)) return alignSeparator(line, more, rest, context);
  // An answer that is not complete yet would leave a bracket open before the tail.
  if (remaining.length > 0 && ONLY_CLOSERS.test(code)) {
    return more !== '' && !goesOn && leavesOpen(after, context) ? undefined : { text: after, covers: false };
  }
  if (more.trim() !== '') return alignElement(after, code, context);
  if (line === '') return { text: '', covers: false };
  // A separator with a blank is followed by the text of the tail.
  if (/[;,]\s+$/.test(first) && !NO_SPACE_BEFORE.test(rest) && context.closerAt === undefined) {
    return { text: first, covers: false };
  }
  const aligned = alignCode(line, code, context);
  // White space at the end of the answer separates it from a word or an operator.
  const separates = aligned?.text === line && !NO_SPACE_BEFORE.test(rest);
  return separates ? { ...aligned, text: first } : aligned;
}

/** An end tag that the editor added, and what closes the brackets around the element. */
const END_TAG = /^<\/([\w.:-]*)>([\s)\]};,]*)$/;

/** An answer of several lines before end tags that the editor added: it closes the element itself, or has its lines only. */
function alignElement(after: string, code: string, { goesOn, head }: RestContext): AlignedRest | undefined {
  const [, name, closers] = END_TAG.exec(code) ?? [];
  if (name === undefined) return undefined;
  const tag = `</${name}>`;
  for (let at = after.indexOf(tag); at >= 0; at = after.indexOf(tag, at + 1)) {
    if (openElements(after.slice(0, at), name) !== 0) continue;
    // What the answer has after the end tag belongs after the closers too.
    if (closers !== '') return { text: after.slice(0, at), covers: false };
    const end = at + tag.length;
    const lineEnd = after.indexOf('\n', end);
    const line = after.slice(end, lineEnd < 0 ? undefined : lineEnd);
    // End tags of outer elements follow in the document.
    return { text: line.includes('</') ? after.slice(0, end) : after, covers: true };
  }
  if (goesOn || !/^\s*\n/.test(after) || openElements(after, name) !== 0) return undefined;
  return { text: `${after.trimEnd()}\n${/^\s*/.exec(head)?.[0] ?? ''}`, covers: false };
}

/** The answer's text before the tail and the tail, with the white space of the tail if it has any. */
function joinTail(own: string, tail: string): string {
  return (/^\s/.test(tail) ? own.trimEnd() : own) + tail;
}

/** A `;` or `,` ends the first line if the answer goes on with other statements, otherwise the answer. */
function alignSeparator(line: string, more: string, rest: string, context: RestContext): AlignedRest | undefined {
  const { caret } = context;
  const complete = caret === undefined ? line === '' : caret.mark().read(line).opened === 0;
  if (more.trim() !== '' && complete && !/^\s*[.?:)\]}&|+\-*/]/.test(more)) {
    return { text: line.replace(/[;,]$/, '') + rest + more, covers: true };
  }
  const whole = (line + more).trimEnd();
  if (more !== '' && leavesOpen(whole, context)) return undefined;
  return { text: whole.replace(/[;,]$/, ''), covers: false };
}

/** The end of emphasis, code, a quotation or the text of a link. */
const PROSE_MARK = /^(?:["'`\]]|\*+|_+|~+)/;

/** The tail has code that the answer does not end with: the answer is inserted before it, without the overlap. */
function alignCode(whole: string, code: string, context: RestContext): AlignedRest | undefined {
  const { language, caret } = context;
  const quote = (language.prose === true ? PROSE_MARK : /^["'`]/).exec(code)?.[0];
  if (quote !== undefined && language.brackets === false && whole.includes(quote)) {
    return { text: whole.slice(0, whole.indexOf(quote)), covers: false };
  }
  if (caret === undefined && contradictsAfterCloser(whole, code, context)) return undefined;
  const line = whole.slice(0, contradictionAt(whole, code, context)).trimEnd();
  const overlap = overlapOf(line, code, language);
  if (overlap > 0) return { text: line.slice(0, line.length - overlap), covers: false };
  // After a closer that both have, an expression may go on. Statements may not.
  if (caret === undefined && /[;{,]$|^[;,]/.test(line)) return undefined;
  const tag = /^<\/([\w.:-]+)/.exec(code)?.[1];
  if (tag !== undefined && openElements(line, tag) < 0) {
    const own = line.slice(0, line.indexOf(`</${tag}`));
    if (own === '' || openElements(own, tag) !== 0) return undefined;
    const { head, below } = context;
    const closers = END_TAG.exec(code)?.[2];
    const [, outer = '', end] = END_TAG.exec(line.slice(own.length + `</${tag}>`.length)) ?? [];
    const isOpen = outer !== '' && openElements(`${head}${own}</${tag}>`, outer) > 0 && openElements(below, outer) >= 0;
    if (isOpen && closers !== undefined && end === '') return { text: line + closers, covers: true };
    // Other text after the end tag may be below already.
    return { text: own, covers: false };
  }
  const beforeComment = language.line !== undefined && code.startsWith(language.line);
  return { text: beforeComment ? line : line.replace(/;$/, ''), covers: false };
}

/** Follows a closer only once: an assignment, a type, a condition, a block. */
const ONCE = /^(?:=>|->|=(?!=)|:(?!:)|\?(?![.?])|\{)/;

/** Whether the answer continues after a closer with the text of the tail in another form. */
function contradictsAfterCloser(line: string, code: string, { language, closerAt }: RestContext): boolean {
  if (closerAt !== undefined && closerAt < line.length) return true;
  const once = ONCE.exec(code)?.[0];
  if (once !== undefined && ONCE.exec(line.trimStart())?.[0] === once) return true;
  // Both end the tag in which the closer is.
  return language.tags === true && !code.startsWith('>') && surplusAngle(line) >= 0 && surplusAngle(code) >= 0;
}

/** Index at which the answer closes a bracket that the tail closes too; the length of the line if it does not. */
function contradictionAt(line: string, code: string, { language, closerAt = line.length }: RestContext): number {
  const hasAngles = (language.brackets || language.tags === true) && /^>(?!=)/.test(code);
  const angle = hasAngles ? surplusAngle(line) : -1;
  return angle < 0 ? closerAt : Math.min(angle, closerAt);
}

/** Index of the first `>` that closes more than the text opens, or -1. Arrows and `>` after white space do not count. */
function surplusAngle(text: string): number {
  let open = 0;
  for (const { 0: sign, index } of text.matchAll(/<|\/>|(?<![=\s-])>/g)) {
    open += sign === '<' ? 1 : -1;
    if (open < 0) return index;
  }
  return -1;
}

function leavesOpen(text: string, { caret }: RestContext): boolean {
  return caret !== undefined && caret.mark().read(text).opened > 0;
}

/** Whether the answer's text ends with the tail's code on the same level. */
function endsWithCode(own: string, code: string, { language, caret, opensBlock }: RestContext): boolean {
  if (!own.endsWith(code)) return false;
  const before = own.slice(0, -code.length);
  if (/^[\p{L}\p{N}_$]/u.test(code) && /[\p{L}\p{N}_$]$/u.test(before)) return false;
  const tag = /^<\/([\w.:-]+)/.exec(code)?.[1];
  if (tag !== undefined && openElements(before, tag) !== 0) return false;
  if (tag === undefined && language.tags === true && /^<[A-Za-z]/.test(code)) return false;
  if (caret === undefined || !language.brackets || opensBlock) return true;
  const scanned = caret.mark().read(before);
  return scanned.opened === 0;
}

/** Number of characters at the end of the line with which the tail's code starts. */
function overlapOf(line: string, code: string, language: Language): number {
  for (let length = Math.min(code.length, line.length); length > 0; length--) {
    const end = code.slice(0, length);
    if (!line.endsWith(end)) continue;
    if (/^[\p{L}\p{N}_$]/u.test(end) && /[\p{L}\p{N}_$]$/u.test(line.slice(0, -length))) continue;
    // A single `>` may close a type parameter of the answer.
    if (end === '>' && !hasSurplusAngle(line)) continue;
    // The tail may start with a longer word.
    if (/[\p{L}\p{N}_$]$/u.test(end) && /^[\p{L}\p{N}_$]/u.test(code.slice(length))) continue;
    if (language.brackets === false || end === ',' || /[\p{L}\p{N}_=:+\-*/%<>&|?]/u.test(end)) return length;
  }
  return 0;
}

/** Number of elements of a name that a text opens, minus the number that it closes. A fragment has no name. */
export function openElements(text: string, name: string): number {
  if (name === '') return text.split('<>').length - text.split('</>').length;
  let open = 0;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    if (/[\w.:-]/.test(text[at + name.length] ?? '')) continue;
    if (text[at - 1] === '<') {
      const end = text.indexOf('>', at);
      if (end < 0 || text[end - 1] !== '/') open++;
    } else if (text.startsWith('</', at - 2)) open--;
  }
  return open;
}

/** Whether a text closes more angle brackets than it opens. Arrows are no brackets. */
function hasSurplusAngle(text: string): boolean {
  const open = text.split('<').length;
  return text.replace(/[=-]>/g, '').split('>').length > open;
}
