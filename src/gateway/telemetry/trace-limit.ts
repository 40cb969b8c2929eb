/** Traces that are recorded in a second. Recording each of thousands takes as much CPU as the requests themselves. */
const MAX_PER_SECOND = 200;

/** Decides about the traces that begin at this gateway: a share of them, and at most `MAX_PER_SECOND` in a second. */
export class TraceLimit {
  readonly #share: number;
  #second = 0;
  #recorded = 0;

  /** @param share from 0 to 1. */
  constructor(share: number) {
    this.#share = share;
  }

  /** True if a trace that begins now is recorded. */
  take(): boolean {
    if (Math.random() >= this.#share) return false;
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#recorded = 0;
    }
    this.#recorded += 1;
    return this.#recorded <= MAX_PER_SECOND;
  }
}
