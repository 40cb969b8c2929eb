import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds until each limit has been checked again: its check starts a time, and the next one ends it. */
const CHECKED_MS = 50;

/**
 * Moves the clock of `performance.now()`, which time limits use, so that a test does not wait for them. Nothing else may
 * wait for a limit at the same time.
 */
export class MonotonicClock {
  #ahead = 0;
  readonly #restore: () => void;

  constructor() {
    const now = performance.now.bind(performance);
    const mocked = mock.method(performance, 'now', () => now() + this.#ahead);
    this.#restore = () => mocked.mock.restore();
  }

  /** Lets limits that are active exceed `milliseconds`, until `over`. */
  async passUntil(milliseconds: number, over: () => boolean): Promise<void> {
    while (!over()) {
      await sleep(CHECKED_MS);
      if (!over()) this.#ahead += milliseconds;
    }
  }

  /** Lets some time pass, after the limits that are active now have begun. They are checked before it returns. */
  async pass(milliseconds: number): Promise<void> {
    await sleep(CHECKED_MS);
    this.#ahead += milliseconds;
    await sleep(CHECKED_MS);
  }

  [Symbol.dispose](): void {
    this.#restore();
  }
}
