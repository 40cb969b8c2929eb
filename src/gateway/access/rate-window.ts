const WINDOW_MS = 60_000;

/** Counts requests in windows of a minute. Uses the monotonic clock. */
export class RateWindow {
  #startedAt = Number.NEGATIVE_INFINITY;
  #taken = 0;

  /** Takes one of `limit` requests per minute. Returns the milliseconds to wait if none is left, else 0. */
  take(limit: number, now: number = performance.now()): number {
    if (now - this.#startedAt >= WINDOW_MS) {
      this.#startedAt = now;
      this.#taken = 0;
    }
    if (this.#taken >= limit) return this.#startedAt + WINDOW_MS - now;
    this.#taken += 1;
    return 0;
  }
}
