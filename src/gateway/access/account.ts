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

/** The limits and the use of one key. Lives as long as the process; the limits may change meanwhile. */
export class Account {
  /** Nano-USD; absent: no budget. */
  budget: number | undefined;
  /** Requests a minute; absent: no limit. */
  rpm: number | undefined;
  readonly window = new RateWindow();
  /** Nano-USD that are stored in the state. */
  #stored = 0;
  /** Nano-USD that are not stored yet. */
  #pending = 0;

  /** Nano-USD spent on the gateway's own credentials. */
  get spent(): number {
    return this.#stored + this.#pending;
  }

  spend(cost: number): void {
    this.#pending += cost;
  }

  /** Marks `cost` of the pending amount as stored. */
  stored(cost: number): void {
    this.#pending -= cost;
    this.#stored += cost;
  }

  /** Sets the stored amount after the state was read again. */
  restore(stored: number): void {
    this.#stored = stored;
  }
}
