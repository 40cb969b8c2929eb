import type { Clock } from '../document/clock.ts';

/** Wait after a change, before edits are looked for. The user is typing a word: twice as long. */
const SETTLED_MS = 200;
const MID_WORD_FACTOR = 2;
/** The wait grows with each rejection and shrinks with each acceptance. */
const SLOWER = 1.5;
const FASTER = 0.8;
const MIN_FACTOR = 0.6;
const MAX_FACTOR = 4;
/** A verdict counts for this long. */
const REMEMBERED_MS = 600_000;
/** No model is asked for this long after a rejection. */
const COOL_DOWN_MS = 5_000;

/** How soon after a change an edit is looked for: later if the user rejected earlier ones. */
export class EditRate {
  readonly #clock: Clock;
  #verdicts: { readonly at: number; readonly factor: number }[] = [];
  #lastRejected: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  accepted(): void {
    this.#add(FASTER);
  }

  rejected(): void {
    this.#lastRejected = this.#clock.now();
    this.#add(SLOWER);
  }

  /** Milliseconds. `midWord`: the cursor is at the end of a word that may grow. */
  wait(midWord: boolean): number {
    return SETTLED_MS * this.#factor() * (midWord ? MID_WORD_FACTOR : 1);
  }

  /** True shortly after a rejection. */
  get coolingDown(): boolean {
    return this.#lastRejected !== undefined && this.#clock.now() - this.#lastRejected < COOL_DOWN_MS * this.#factor();
  }

  #add(factor: number): void {
    this.#verdicts.push({ at: this.#clock.now(), factor });
  }

  #factor(): number {
    const since = this.#clock.now() - REMEMBERED_MS;
    this.#verdicts = this.#verdicts.filter(({ at }) => at >= since);
    let factor = 1;
    for (const verdict of this.#verdicts) factor = Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, factor * verdict.factor));
    return factor;
  }
}
