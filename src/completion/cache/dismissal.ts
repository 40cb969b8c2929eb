import { commonPrefix } from '../../base/text-change.ts';
import type { Anchor } from '../document/anchor.ts';
import type { CachedAnswer } from './suggestion-cache.ts';

interface Dismissed {
  readonly uri: string;
  readonly start: Anchor;
}

/** After this many typed or deleted characters, the position counts as a different one. */
const SUBSTANTIAL = 8;
const REMEMBERED = 50;

/** The answers that the user dismissed, and the positions where that happened. */
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

  /** True if the answer was dismissed. It is not shown again, at any position. */
  holds(answer: CachedAnswer): boolean {
    return this.#answers.has(answer);
  }

  /** True if nothing may be shown here without a manual request. */
  covers(uri: string, start: Anchor): boolean {
    return this.#places.some((place) => place.uri === uri && near(place.start, start));
  }

  /** The user requested a suggestion manually: allow suggestions here again. */
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
