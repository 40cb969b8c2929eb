/** Milliseconds, by a log-normal law. */
const GAP = { median: 140, spread: 0.45 };
const LINE_PAUSE = { median: 400, spread: 0.6 };
const ARGUMENT_PAUSE = { median: 250, spread: 0.6 };
/** How long right ghost text has to be on screen, to its last line, before a person takes it. */
export const READING_MS = 400;

/** When a person presses the next key: they think before a line and before arguments, and type the rest. */
export class Rhythm {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds to the key behind `before`. */
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
