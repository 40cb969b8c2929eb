import type { Anchor } from '../document/anchor.ts';
import type { CachedAnswer } from './suggestion-cache.ts';

interface Dismissed {
  readonly uri: string;
  readonly start: Anchor;
}

/** Characters typed or deleted at a place from which on it counts as another one. */
const SUBSTANTIAL = 8;
const REMEMBERED = 50;

/** What the person sent away: those answers, and the places they were sent away from. */
export class Dismissals {
  readonly #answers = new WeakSet<CachedAnswer>();
  #places: Dismissed[] = [];

  add(uri: string, start: Anchor, answers: readonly CachedAnswer[]): void {
    for (const answer of answers) this.#answers.add(answer);
    this.#places = [
      ...this.#places.filter((place) => place.uri !== uri || !sameLine(place.start, start)),
      { uri, start },
    ];
    if (this.#places.length > REMEMBERED) this.#places.shift();
  }

  /** An answer that was sent away isn't shown again, wherever it would agree. */
  holds(answer: CachedAnswer): boolean {
    return this.#answers.has(answer);
  }

  /** Whether nothing is to be shown here unless asked for by hand. */
  covers(uri: string, start: Anchor): boolean {
    return this.#places.some((place) => place.uri === uri && near(place.start, start));
  }

  /** Asked for by hand: the place is open again. */
  lift(uri: string, start: Anchor): void {
    this.#places = this.#places.filter((place) => place.uri !== uri || !near(place.start, start));
  }
}

function sameLine(a: Anchor, b: Anchor): boolean {
  return a.anchor === b.anchor;
}

function near(dismissed: Anchor, here: Anchor): boolean {
  if (!sameLine(dismissed, here)) return false;
  const shared = commonPrefix(dismissed.typed, here.typed);
  return dismissed.typed.length - shared + here.typed.length - shared < SUBSTANTIAL;
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
