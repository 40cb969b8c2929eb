/** The length of the window of all rates. */
export const MINUTE_MS = 60_000;
const SLICE_MS = 250;

/**
 * Counts the use of the last minute, in slices of a quarter of a second. Each use is free again a minute
 * later, so no minute, wherever it starts, has more than the limit. Uses the monotonic clock.
 */
export class SlidingMinute {
  readonly #minuteMs: number;
  readonly #slices: Float64Array;
  /** Number of the current slice. */
  #current = 0;
  /** No older slice has a value. */
  #first = 0;
  #used = 0;

  /** @param minuteMs multiple of 250. Tests use a short one, so that they need not wait. */
  constructor(minuteMs = MINUTE_MS) {
    this.#minuteMs = minuteMs;
    // Those of the window, and the one that is not over.
    this.#slices = new Float64Array(minuteMs / SLICE_MS + 1);
  }

  used(now = performance.now()): number {
    this.#advance(now);
    return this.#used;
  }

  add(amount: number, now = performance.now()): void {
    this.#advance(now);
    const index = this.#current % this.#slices.length;
    this.#slices[index] = (this.#slices[index] ?? 0) + amount;
    this.#used += amount;
  }

  /** Milliseconds until `amount` fits into `limit`; 0 if it fits now. */
  wait(amount: number, limit: number, now = performance.now()): number {
    this.#advance(now);
    let excess = this.#used + amount - limit;
    for (let age = this.#slices.length - 1; excess > 0 && age >= 0; age -= 1) {
      const slice = this.#current - age;
      if (slice >= 0) excess -= this.#slices[slice % this.#slices.length] ?? 0;
      if (excess <= 0) return (slice + this.#slices.length) * SLICE_MS - now;
    }
    return excess > 0 ? this.#minuteMs : 0;
  }

  /** Milliseconds until the first use is free again; 0 if nothing was used. */
  oldest(now = performance.now()): number {
    this.#advance(now);
    if (this.#used <= 0) return 0;
    while (this.#first < this.#current && (this.#slices[this.#first % this.#slices.length] ?? 0) === 0)
      this.#first += 1;
    return (this.#first + this.#slices.length) * SLICE_MS - now;
  }

  #advance(now: number): void {
    const slice = Math.floor(now / SLICE_MS);
    if (slice <= this.#current) return;
    const passed = Math.min(this.#slices.length, slice - this.#current);
    for (let next = 1; next <= passed; next += 1) {
      const index = (this.#current + next) % this.#slices.length;
      this.#used -= this.#slices[index] ?? 0;
      this.#slices[index] = 0;
    }
    this.#current = slice;
    this.#first = Math.max(this.#first, slice - this.#slices.length + 1);
  }
}
