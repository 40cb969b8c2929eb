import { defined } from '../../base/json.ts';
import type { DocumentText } from '../document/document-text.ts';
import { findLanguage } from '../document/languages.ts';
import type { FoundEdit } from './edit-checks.ts';
import type { HistoryEdit } from './edit-history.ts';
import { compareLines, isName, isText, type LineChange, MAX_LINE, splitLine, type Token } from './line-tokens.ts';
import type { FinishedEdit, NextEditSource } from './next-edit.ts';

/** Places that are offered after one edit. */
const MAX_PLACES = 100;
/** Identical code at more places than this is a habit of the language, not a copy. */
export const MAX_COPIES = 20;
/** Earlier edits that the last one is compared with. */
export const COMPARED = 4;

/**
 * The same edit at the other places in the file where the same code is: after the user made it at two places, or changed
 * one of several copies of a line or a call.
 */
export class SameEditSource implements NextEditSource {
  readonly origin = 'same-edit';
  readonly #earlier: (uri: string, most: number) => readonly HistoryEdit[];

  /** @param earlier the finished edits of a document, latest first. */
  constructor(earlier: (uri: string, most: number) => readonly HistoryEdit[]) {
    this.#earlier = earlier;
  }

  find(edit: FinishedEdit): Promise<readonly FoundEdit[]> {
    return Promise.resolve(this.#find(edit));
  }

  #find(edit: FinishedEdit): readonly FoundEdit[] {
    const { document } = edit;
    const comment = findLanguage(document.languageId).line;
    const changes = lineChanges(edit, comment, edit.position.line);
    const [last, ...others] = changes;
    if (last === undefined) return [];
    const place = { document, line: last.line, comment };
    const pattern = repeatedPattern(last.change, [...others, ...this.#earlierChanges(document.uri, comment)]);
    // In one edit, a name without common code around it is a variable, which `RenamedNameSource` renames in its scope.
    if (pattern !== undefined && others.length > 0 && isNameAlone(pattern, last.change)) return [];
    if (pattern !== undefined) return findPattern(place, pattern);
    // If several lines changed together, the copies of one of them need not change.
    return edit.before.length === 1 && edit.after.length === 1 ? findCopies(place, last.old, last.change) : [];
  }

  #earlierChanges(uri: string, comment: string | undefined): readonly ChangedLine[] {
    const [, ...earlier] = this.#earlier(uri, 1 + COMPARED);
    return earlier.flatMap(({ at, before, after }) => lineChanges({ line: at, before, after }, comment));
  }
}

interface ChangedLine {
  readonly line: number;
  readonly old: string;
  readonly change: LineChange;
}

/** The lines that an edit changed, without those that it inserted or deleted. The one at `cursor`, or else the last one, is the first. */
function lineChanges(
  { line, before, after }: Pick<FinishedEdit, 'line' | 'before' | 'after'>,
  comment: string | undefined,
  cursor = -1,
): readonly ChangedLine[] {
  if (before.length !== after.length) return [];
  const changed = before.flatMap((old, index): readonly ChangedLine[] => {
    const now = after[index];
    if (now === undefined || old === now) return [];
    const change = compareLines(old, now, comment);
    return change === undefined ? [] : [{ line: line + index, old, change }];
  });
  const last = changed.findLast((each) => each.line === cursor) ?? changed.at(-1);
  return last === undefined ? [] : [last, ...changed.filter((each) => each !== last)];
}

/** The common parts of a change and an earlier one, if both replaced the same text with the same. */
function repeatedPattern(change: LineChange, earlier: readonly ChangedLine[]): Pattern | undefined {
  const same = earlier.find(({ change: { old, text } }) => old === change.old && text === change.text);
  return same === undefined ? undefined : commonPattern(same.change, change);
}

function isNameAlone({ left, right }: Pattern, { removed, inserted }: LineChange): boolean {
  const isRename = removed.length === 1 && inserted.length === 1 && [...removed, ...inserted].every(isName);
  return isRename && left.length + right.length === 0;
}

interface Place {
  readonly document: DocumentText;
  /** Of the user's edit. */
  readonly line: number;
  readonly comment: string | undefined;
}

/** Text to replace, and the tokens around it. Undefined: any word, number or string. */
interface Pattern {
  readonly old: string;
  readonly text: string;
  readonly removed: number;
  /** From the change outwards. */
  readonly left: readonly (string | undefined)[];
  readonly right: readonly (string | undefined)[];
  /** A line without it can't have the pattern. */
  readonly anchor: string;
}

/** Tokens around a replaced name that have to be the same. */
const NAME_LEFT = 2;
const NAME_RIGHT = 1;
/** So many replaced tokens are a piece of code. */
const PIECE = 3;
/** Tokens around other changes. */
const FAR = 12;

function commonPattern(a: LineChange, b: LineChange): Pattern | undefined {
  const named = a.removed.filter((token) => isName(token) || isText(token));
  const [leftReach, rightReach] = reachOf(a.removed.length, named.length);
  const left = align([...a.left].reverse(), [...b.left].reverse(), leftReach);
  const right = align(a.right, b.right, rightReach);
  const called =
    right[1] === '(' ? a.right.slice(0, 1).filter((token) => isName(token) && token.text === right[0]) : [];
  if (named.length === 0 && called.length === 0 && !reachesCallee(left, a.left)) return undefined;
  const names = [...named, ...called, ...a.left.filter((token) => left.includes(token.text) && isName(token))];
  const anchor = names.map(({ text }) => text).sort((x, y) => y.length - x.length)[0];
  if (anchor === undefined) return undefined;
  return { old: a.old, text: a.text, removed: a.removed.length, left, right, anchor };
}

/** How many tokens around the change have to be the same. A piece of code is enough by itself. */
function reachOf(removed: number, named: number): readonly [left: number, right: number] {
  if (named === 0) return [FAR, 2];
  return removed >= PIECE ? [0, 0] : [NAME_LEFT, NAME_RIGHT];
}

/** The tokens that both have, up to the first difference that is not a name or a literal. */
function align(a: readonly Token[], b: readonly Token[], reach: number): readonly (string | undefined)[] {
  const common: (string | undefined)[] = [];
  for (let at = 0; at < Math.min(reach, a.length, b.length); at++) {
    const [one, other] = [a[at], b[at]];
    if (one === undefined || other === undefined) break;
    if (one.text === other.text) common.push(one.text);
    else if (isOpen(one) && isOpen(other)) common.push(undefined);
    else break;
  }
  while (common.length > 0 && common.at(-1) === undefined) common.pop();
  return common;
}

function isOpen({ kind }: Token): boolean {
  return kind === 'word' || kind === 'number' || kind === 'string';
}

/** True if the common tokens contain the name whose brackets the change is in, or go to the start of the line. */
function reachesCallee(left: readonly (string | undefined)[], tokens: readonly Token[]): boolean {
  let depth = 0;
  for (const [at, text] of left.entries()) {
    if (text === ')' || text === ']' || text === '}') depth++;
    if (text === '(' || text === '[' || text === '{') depth--;
    if (depth >= 0) continue;
    const callee = tokens.at(-2 - at);
    return callee !== undefined && isName(callee) && left[at + 1] === callee.text;
  }
  return left.length === tokens.length && tokens.some((token) => isName(token) && left.includes(token.text));
}

function findPattern(place: Place, pattern: Pattern): FoundEdit[] {
  const edits: FoundEdit[] = [];
  for (const line of linesFrom(place)) {
    const text = place.document.lineAt(line);
    if (text.length > MAX_LINE || !text.includes(pattern.anchor)) continue;
    const tokens = splitLine(text, place.comment);
    for (let at = 0; at + pattern.removed <= tokens.length; at++) {
      const start = matchAt(text, tokens, at, pattern);
      if (start !== undefined) edits.push(createEdit(place.document, line, start, pattern));
      if (edits.length >= MAX_PLACES) return edits;
    }
  }
  return edits;
}

/** The column where the pattern's text begins, if the tokens to be replaced begin with token `at`. */
function matchAt(line: string, tokens: readonly Token[], at: number, pattern: Pattern): number | undefined {
  const { old, text, removed, left, right } = pattern;
  const fits = (wanted: string | undefined, token: Token | undefined): boolean =>
    token !== undefined && (wanted === undefined ? isOpen(token) : wanted === token.text);
  if (!left.every((wanted, index) => fits(wanted, tokens[at - 1 - index]))) return undefined;
  if (!right.every((wanted, index) => fits(wanted, tokens[at + removed + index]))) return undefined;
  const from = tokens[at - 1]?.end ?? line.length - line.trimStart().length;
  const to = tokens[at + removed]?.start ?? line.trimEnd().length;
  const spaces = line.slice(from, to);
  // An inserted `await ` belongs to the text after it, an inserted `, signal` to the text before it.
  const start = old === '' && /\s$/.test(text) ? to : from + spaces.indexOf(old);
  if (old === '' && (line.startsWith(text, start) || line.slice(0, start).endsWith(text))) return undefined;
  // Between the tokens on both sides, there is the replaced text and white space only.
  return spaces.includes(old) && spaces.replace(old, '').trim() === '' ? start : undefined;
}

/** The other copies of a changed line, or else of the call that the change is in. */
function findCopies(place: Place, old: string, change: LineChange): readonly FoundEdit[] {
  // If one place gets another value, the other places need not change.
  if (![...change.removed, ...change.inserted].some(isName)) return [];
  const call = enclosingCall(old, change);
  const found = isDistinctive(change.tokens, 3) ? copiesOfLine(place, old, change) : [];
  if (found.length > 0 || call === undefined) return found.length > MAX_COPIES ? [] : found;
  const copies = copiesOfCall(place, call, change);
  return copies.length > MAX_COPIES ? [] : copies;
}

function isDistinctive(tokens: readonly Token[], names: number): boolean {
  return new Set(tokens.filter(isName).map(({ text }) => text)).size >= names;
}

function copiesOfLine(place: Place, old: string, change: LineChange): FoundEdit[] {
  const wanted = old.trim();
  const indent = old.length - old.trimStart().length;
  const edits: FoundEdit[] = [];
  for (const line of linesFrom(place)) {
    const text = place.document.lineAt(line);
    if (text.length > MAX_LINE || text.trim() !== wanted) continue;
    const start = change.start - indent + text.length - text.trimStart().length;
    edits.push(createEdit(place.document, line, start, change));
    if (edits.length > MAX_COPIES) break;
  }
  return edits;
}

interface Call {
  readonly start: number;
  readonly text: string;
}

/** The call or index expression around a change, with the names before its bracket. Undefined: not on this line. */
function enclosingCall(line: string, { tokens, left, removed }: LineChange): Call | undefined {
  let first = left.length;
  let last = left.length + removed.length - 1;
  if (tokens[last + 1]?.text !== '(' || removed.length === 0) {
    const open = enclosingBracket(tokens, left.length);
    if (open === undefined) return undefined;
    first = open;
    last = open - 1;
  }
  const close = matchingBracket(tokens, last + 1);
  if (close === undefined || close < left.length + removed.length) return undefined;
  while (isChain(tokens, first)) first--;
  const inside = tokens.slice(first, close + 1);
  const [begin, end] = [inside[0], inside.at(-1)];
  if (!begin || !end || begin.kind !== 'word' || !isDistinctive(inside, 2)) return undefined;
  return { start: begin.start, text: line.slice(begin.start, end.end) };
}

/** True if the token before `first` belongs to the same name: `a.b`, `a::b`, `a->b`, or the name before a bracket. */
function isChain(tokens: readonly Token[], first: number): boolean {
  const [token, before] = [tokens[first], tokens[first - 1]];
  if (token === undefined || before === undefined || before.end !== token.start) return false;
  if (token.kind === 'mark')
    return before.kind === 'word' || (':>-?'.includes(before.text) && '>:.'.includes(token.text));
  return token.kind === 'word' && before.kind === 'mark' && '.:>'.includes(before.text);
}

function enclosingBracket(tokens: readonly Token[], from: number): number | undefined {
  let depth = 0;
  for (let at = from - 1; at >= 0; at--) {
    const text = tokens[at]?.text;
    if (text === ')' || text === ']') depth++;
    else if (text === '(' || text === '[') {
      if (depth === 0) return at;
      depth--;
    }
  }
  return undefined;
}

function matchingBracket(tokens: readonly Token[], open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    const text = tokens[at]?.text;
    if (text === '(' || text === '[') depth++;
    else if ((text === ')' || text === ']') && --depth === 0) return at;
  }
  return undefined;
}

function copiesOfCall(place: Place, call: Call, change: LineChange): FoundEdit[] {
  const edits: FoundEdit[] = [];
  for (const line of linesFrom(place)) {
    const text = place.document.lineAt(line);
    if (text.length > MAX_LINE || !text.includes(call.text)) continue;
    const tokens = splitLine(text, place.comment);
    for (let at = text.indexOf(call.text); at >= 0; at = text.indexOf(call.text, at + call.text.length)) {
      if (!isWholeCall(tokens, at, call.text.length)) continue;
      edits.push(createEdit(place.document, line, at + change.start - call.start, change));
    }
    if (edits.length > MAX_COPIES) break;
  }
  return edits;
}

/** True if a token begins and ends there, and the first name is not a part of a longer one like `a.b`. */
function isWholeCall(tokens: readonly Token[], start: number, length: number): boolean {
  const first = tokens.findIndex((token) => token.start === start && token.kind === 'word');
  if (first < 0 || !tokens.some((token) => token.end === start + length)) return false;
  return !isChain(tokens, first);
}

function createEdit(
  document: DocumentText,
  line: number,
  start: number,
  { old, text }: { readonly old: string; readonly text: string },
): FoundEdit {
  const { uri, path } = document;
  const before = document.lineAt(line);
  const end = start + old.length;
  const changed = (before.slice(0, start) + text + before.slice(end)).trim();
  return {
    origin: 'same-edit',
    uri,
    ...defined({ path }),
    replacements: [{ start: { line, character: start }, end: { line, character: end }, expected: old, text }],
    title: { kind: 'change', line: changed },
  };
}

/** The other lines of the document: those below the edit, then those above. */
function* linesFrom({ document, line }: Place): Generator<number> {
  for (let at = line + 1; at < document.lineCount; at++) yield at;
  for (let at = 0; at < line; at++) yield at;
}
