import { type Anchor, anchorAt, isAnchorBefore, suffixKey } from '../document/anchor.ts';
import type { DocumentText, Position } from '../document/document-text.ts';

/** An answer, complete or still streaming. Its text only grows at its end. */
export interface CachedAnswer {
  readonly id: number;
  readonly scope: string;
  readonly start: Anchor;
  /** The text to insert after the start, as far as it has passed the checks. */
  text: string;
  /** The answer is complete. */
  done: boolean;
  /** A limit of lines or tokens ended the answer: the rest is not known. */
  cut: boolean;
  /** The answer was on screen, so it may be shown again when the user deletes back into it. */
  seen: boolean;
  /** Number of characters of `text` that the user accepted as a whole; 0: none. */
  accepted: number;
}

/** How an answer agrees with the text before a caret. */
export type CacheMatch =
  /** `rest` is the text that remains to be inserted; empty if the document contains all of it. */
  | { readonly kind: 'agrees'; readonly answer: CachedAnswer; readonly rest: string; readonly deleted: number }
  /** As `agrees`, but the user accepted the text and deleted it, or a part of it. */
  | { readonly kind: 'withdrawn'; readonly answer: CachedAnswer; readonly rest: string; readonly deleted: number }
  /** The user typed everything received so far. More may follow. */
  | { readonly kind: 'awaited'; readonly answer: CachedAnswer }
  /**
   * The text differs only in the white space with which the editor indented the caret's line, which is blank so far.
   * `rest` begins at the start of that line.
   */
  | { readonly kind: 'indented'; readonly answer: CachedAnswer; readonly rest: string };

/** An answer is still shown after this many characters before its start were deleted. */
const MAX_DELETED = 8;
/** Approximate overhead of an entry in bytes. */
const OVERHEAD = 200;

/**
 * Answers, found by the text before and after them. The first level is a map by the text around the
 * line where an answer starts; the second level compares characters. So the cost of a look-up depends
 * on the lines of one suggestion, not on the number of answers. Limited in bytes (least recently used
 * answers are dropped first) and in memory only.
 */
export class SuggestionCache {
  readonly #byStart = new Map<string, CachedAnswer[]>();
  /** In order of use. The value is the size in bytes. */
  readonly #used = new Map<CachedAnswer, number>();
  readonly #limit: number;
  #bytes = 0;
  #span = 0;
  #next = 1;

  constructor(limitBytes = 4_000_000) {
    this.#limit = limitBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an empty answer for a request that is about to be sent. */
  open(document: DocumentText, position: Position, model: string): CachedAnswer {
    const scope = buildScope(document, position, model);
    const start = anchorAt(document, position);
    const empty = { text: '', done: false, cut: false, seen: false, accepted: 0 };
    const answer: CachedAnswer = { id: this.#next++, scope, start, ...empty };
    const key = buildKey(scope, start);
    const siblings = this.#byStart.get(key);
    if (siblings === undefined) this.#byStart.set(key, [answer]);
    else siblings.push(answer);
    this.#updateSize(answer);
    return answer;
  }

  /** Call after `text` of an answer grew. */
  grew(answer: CachedAnswer): void {
    if (!this.#used.has(answer)) return;
    this.#updateSize(answer);
  }

  /** Answers that agree with the text before the caret, newest first. */
  find(document: DocumentText, position: Position, model: string): CacheMatch[] {
    const scope = buildScope(document, position, model);
    const found: CacheMatch[] = [];
    for (const start of isAnchorBefore(document, position, this.#span)) {
      for (const answer of this.#byStart.get(buildKey(scope, start)) ?? []) {
        const match = findMatch(answer, start.typed);
        if (match !== undefined) found.push(match);
      }
    }
    found.sort((a, b) => b.answer.id - a.answer.id);
    for (const { answer } of found) this.#touch(answer);
    return found;
  }

  delete(answer: CachedAnswer): void {
    const bytes = this.#used.get(answer);
    if (bytes === undefined) return;
    this.#used.delete(answer);
    this.#bytes -= bytes;
    const key = buildKey(answer.scope, answer.start);
    const rest = (this.#byStart.get(key) ?? []).filter((other) => other !== answer);
    if (rest.length === 0) this.#byStart.delete(key);
    else this.#byStart.set(key, rest);
  }

  clear(): void {
    this.#byStart.clear();
    this.#used.clear();
    this.#bytes = 0;
    this.#span = 0;
  }

  #updateSize(answer: CachedAnswer): void {
    const { scope, start, text } = answer;
    // The scope and the anchor are stored twice: in the answer and in the key of the first level.
    const bytes = OVERHEAD + 2 * (2 * (scope.length + start.anchor.length) + start.typed.length + text.length);
    this.#bytes += bytes - (this.#used.get(answer) ?? 0);
    this.#used.delete(answer);
    this.#used.set(answer, bytes);
    this.#span = Math.max(this.#span, linesIn(text));
    for (const oldest of this.#used.keys()) {
      if (this.#bytes <= this.#limit || oldest === answer) break;
      this.delete(oldest);
    }
  }

  #touch(answer: CachedAnswer): void {
    const bytes = this.#used.get(answer);
    if (bytes === undefined) return;
    this.#used.delete(answer);
    this.#used.set(answer, bytes);
  }
}

/** How `answer` agrees with `typed`, the text from its start to the caret; `undefined`: it does not. */
function findMatch(answer: CachedAnswer, typed: string): CacheMatch | undefined {
  const requested = answer.start.typed;
  if (typed.length < requested.length) {
    const deleted = requested.length - typed.length;
    if (!answer.seen || deleted > MAX_DELETED || !requested.startsWith(typed)) return undefined;
    const kind = answer.accepted > 0 ? 'withdrawn' : 'agrees';
    return { kind, answer, rest: requested.slice(typed.length) + answer.text, deleted };
  }
  const match = matchTypedSince(answer, typed.slice(requested.length));
  // Last, because it is the most expensive comparison: 1,000 characters and more for each answer on a long line.
  return match !== undefined && typed.startsWith(requested) ? match : undefined;
}

/** How an answer agrees with the text that was typed since the request. */
function matchTypedSince(answer: CachedAnswer, since: string): CacheMatch | undefined {
  if (answer.text.startsWith(since)) {
    const rest = answer.text.slice(since.length);
    if (rest === '' && !answer.done) return { kind: 'awaited', answer };
    return { kind: since.length < answer.accepted ? 'withdrawn' : 'agrees', answer, rest, deleted: 0 };
  }
  if (!answer.done && since.startsWith(answer.text)) return { kind: 'awaited', answer };
  const rest = restOfIndentedLine(answer.text, since);
  return rest === undefined ? undefined : { kind: 'indented', answer, rest };
}

/** After Enter, the caret is after white space that the next character (mostly a closer) removes again. */
function restOfIndentedLine(text: string, since: string): string | undefined {
  const lineStart = since.lastIndexOf('\n') + 1;
  if (lineStart === 0 || since.slice(lineStart).trim() !== '') return undefined;
  return text.startsWith(since.slice(0, lineStart)) ? text.slice(lineStart) : undefined;
}

function buildScope(document: DocumentText, position: Position, model: string): string {
  return `${document.uri}\0${model}\0${suffixKey(document, position)}`;
}

function buildKey(scope: string, start: Anchor): string {
  return `${scope}\0${start.anchor}`;
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
