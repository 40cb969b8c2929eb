/** Milliseconds for which a request waits for a share, instead of being refused although a limit is not reached. */
export const SHARE_WAIT_MS = 5_000;

/** Requests that wait for the next answer of those who grant shares. */
export class Answers {
  readonly #waiting = new Set<() => void>();

  /** Resolves with the next answer, or after some time. @param milliseconds at most. */
  async next(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const timer = setTimeout(resolve, milliseconds).unref();
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
  }

  arrived(): void {
    for (const resolve of this.#waiting) resolve();
  }
}

/**
 * Whether it makes sense to wait: a busy server is late for a moment. @param lostAt when the server was lost, of the
 * monotonic clock; undefined if it answers.
 */
export function answersSoon(lostAt: number | undefined): boolean {
  return lostAt === undefined || performance.now() - lostAt < SHARE_WAIT_MS;
}
