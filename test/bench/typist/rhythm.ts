/** Milliseconds, by a log-normal law. */
const GAP = { median: 140, spread: 0.45 };
const LINE_PAUSE = { median: 400, spread: 0.6 };
const ARGUMENT_PAUSE = { median: 250, spread: 0.6 };
/** Time that correct ghost text must be visible, to its last line, before the user accepts it. */
export const READING_MS = 400;

/** Times of keys: longer pauses before a line and before arguments. */
export class Rhythm {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds to the key after `before`. */
  gap(before: string): number {
    const gap = this.#around(GAP);
    if (/\n\s*$/.test(before)) return gap + this.#around(LINE_PAUSE);
    return before.endsWith('(') ? gap + this.#around(ARGUMENT_PAUSE) : gap;
  }

  #around({ median, spread }: { readonly median: number; readonly spread: number }): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
    return median * Math.exp(spread * normal);
  }
}
