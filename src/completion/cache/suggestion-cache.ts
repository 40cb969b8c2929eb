import { type Anchor, anchorAt, isAnchorBefore, suffixKey } from '../document/anchor.ts';
import type { DocumentText, Position } from '../document/document-text.ts';

/** An answer, whole or still arriving. Its text only ever grows at its end. */
export interface CachedAnswer {
  readonly id: number;
  readonly scope: string;
  readonly start: Anchor;
  /** What fits in behind the start, as far as it is settled. */
  text: string;
  /** No more will come. */
  done: boolean;
  /** Its text up to here was on screen, so deleting back into it may show it again. */
  seen: boolean;
}

/** How an answer agrees with the text before a caret. */
export type CacheMatch =
  /** `rest` is what remains to be written; empty when all of it is there already. */
  | { readonly kind: 'agrees'; readonly answer: CachedAnswer; readonly rest: string; readonly deleted: number }
  /** All that arrived so far is typed, more may come. */
  | { readonly kind: 'awaited'; readonly answer: CachedAnswer }
  /** The text differs in nothing but the white space the editor indented the caret's line with. */
  | { readonly kind: 'indenting'; readonly answer: CachedAnswer };

/** Characters deleted before the place of an answer that it is still shown for. */
const DELETED = 8;
/** Bookkeeping bytes of an entry, roughly. */
const OVERHEAD = 200;

/**
 * Answers by what stands before and after them. The first level is a hash of the text around the
 * line they start on, the second compares characters, so a look-up costs the lines of one
 * suggestion, however many there are. Bounded by bytes, least recently used first out, in memory only.
 */
export class SuggestionCache {
  readonly #byStart = new Map<string, CachedAnswer[]>();
  /** In order of use; a value is the bytes accounted for. */
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

  /** Files an answer that is about to arrive. */
  open(document: DocumentText, position: Position, model: string): CachedAnswer {
    const scope = scopeOf(document, position, model);
    const start = anchorAt(document, position);
    const answer: CachedAnswer = { id: this.#next++, scope, start, text: '', done: false, seen: false };
    const key = keyOf(scope, start);
    const siblings = this.#byStart.get(key);
    if (siblings === undefined) this.#byStart.set(key, [answer]);
    else siblings.push(answer);
    this.#account(answer);
    return answer;
  }

  /** Call after `text` of an answer grew. */
  grew(answer: CachedAnswer): void {
    if (!this.#used.has(answer)) return;
    this.#account(answer);
  }

  /** Answers that agree with the text before the caret, newest first. */
  find(document: DocumentText, position: Position, model: string): CacheMatch[] {
    const scope = scopeOf(document, position, model);
    const found: CacheMatch[] = [];
    for (const start of isAnchorBefore(document, position, this.#span)) {
      for (const answer of this.#byStart.get(keyOf(scope, start)) ?? []) {
        const match = matchOf(answer, start.typed);
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
    const key = keyOf(answer.scope, answer.start);
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

  #account(answer: CachedAnswer): void {
    const { scope, start, text } = answer;
    // The scope and the anchor are held twice: in the answer and in the key of the first level.
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

/** How `answer` agrees with `typed`, the text from its start to the caret; `undefined`: it doesn't. */
function matchOf(answer: CachedAnswer, typed: string): CacheMatch | undefined {
  const asked = answer.start.typed;
  if (typed.length < asked.length) {
    const deleted = asked.length - typed.length;
    if (!answer.seen || deleted > DELETED || !asked.startsWith(typed)) return undefined;
    return { kind: 'agrees', answer, rest: asked.slice(typed.length) + answer.text, deleted };
  }
  const match = matchBehind(answer, typed.slice(asked.length));
  // Last, because this compares most: on a long line 1,000 characters and more, for each answer there.
  return match !== undefined && typed.startsWith(asked) ? match : undefined;
}

/** How an answer agrees with what was written since at its place. */
function matchBehind(answer: CachedAnswer, since: string): CacheMatch | undefined {
  if (answer.text.startsWith(since)) {
    const rest = answer.text.slice(since.length);
    if (rest === '' && !answer.done) return { kind: 'awaited', answer };
    return { kind: 'agrees', answer, rest, deleted: 0 };
  }
  if (!answer.done && since.startsWith(answer.text)) return { kind: 'awaited', answer };
  return differsInIndentation(answer.text, since) ? { kind: 'indenting', answer } : undefined;
}

/** Enter leaves the caret behind white space that the next character (a closer, mostly) takes back. */
function differsInIndentation(text: string, since: string): boolean {
  const lineStart = since.lastIndexOf('\n') + 1;
  if (lineStart === 0 || since.slice(lineStart).trim() !== '') return false;
  return text.startsWith(since.slice(0, lineStart));
}

function scopeOf(document: DocumentText, position: Position, model: string): string {
  return `${document.uri}\0${model}\0${suffixKey(document, position)}`;
}

function keyOf(scope: string, start: Anchor): string {
  return `${scope}\0${start.anchor}`;
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
