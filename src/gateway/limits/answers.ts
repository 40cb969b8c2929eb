/** Milliseconds for which a request waits for an answer about shares, instead of being refused. */
export const ANSWER_WAIT_MS = 5_000;
/** Milliseconds for which it waits for unused leases of peers. They give them back within a second. */
const OTHERS_WAIT_MS = 3_000;
/** Milliseconds after such a wait in vain in which requests are refused at once. */
const VAIN_MS = 1_000;

/** Requests that wait for the next answer of those who grant shares. */
export class Answers {
  readonly #waiting = new Set<() => void>();
  #vainUntil = 0;

  arrived(): void {
    for (const resolve of this.#waiting) resolve();
  }

  /** @param milliseconds at most. */
  async #next(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const timer = setTimeout(resolve, milliseconds).unref();
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
  }

  /**
   * Waits until a request has its share, or there is no reason to wait.
   *
   * @param ask asks for it and says what to wait for: an answer that must come, or what others give back. Undefined:
   * nothing.
   */
  async until(ask: () => 'answer' | 'others' | undefined): Promise<void> {
    const start = performance.now();
    for (;;) {
      const awaited = ask();
      if (awaited === undefined) return;
      const now = performance.now();
      const left = start - now + (awaited === 'answer' ? ANSWER_WAIT_MS : OTHERS_WAIT_MS);
      if (awaited === 'others' && now < this.#vainUntil) return;
      if (left <= 0) {
        if (awaited === 'others') this.#vainUntil = now + VAIN_MS;
        return;
      }
      await this.#next(left);
    }
  }
}

/**
 * Whether it makes sense to wait: a busy server is late for a moment. @param lostAt when the server was lost, of the
 * monotonic clock; undefined if it answers.
 */
export function answersSoon(lostAt: number | undefined): boolean {
  return lostAt === undefined || performance.now() - lostAt < ANSWER_WAIT_MS;
}
