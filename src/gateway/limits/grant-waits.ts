import { setImmediate } from 'node:timers/promises';

/** Milliseconds for which a request of a client waits for a grant, instead of being refused. */
const GRANT_WAIT_MS = 5_000;
/** Milliseconds for which it waits for unused leases of peers. They return them within a second. */
const PEERS_WAIT_MS = 3_000;
/** Milliseconds after such a wait in vain in which requests are refused at once. */
const VAIN_MS = 1_000;

/** Requests of clients that wait for the next grant. */
export class GrantWaits {
  readonly #waiting = new Set<() => void>();
  #vainUntil = 0;

  /** One after the other, so that each takes its part before the next one looks whether something is left. */
  async granted(): Promise<void> {
    for (const resolve of [...this.#waiting]) {
      resolve();
      await setImmediate();
    }
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
   * Waits until a request has its lease, or there is no reason to wait.
   *
   * @param request requests it and returns for which event to wait: a grant that must come, or leases that peers return.
   * Undefined: none.
   */
  async until(request: () => 'grant' | 'peers' | undefined): Promise<void> {
    const start = performance.now();
    for (;;) {
      const awaited = request();
      if (awaited === undefined) return;
      const now = performance.now();
      const left = start - now + (awaited === 'grant' ? GRANT_WAIT_MS : PEERS_WAIT_MS);
      if (awaited === 'peers' && now < this.#vainUntil) return;
      if (left <= 0) {
        if (awaited === 'peers') this.#vainUntil = now + VAIN_MS;
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
export function grantsSoon(lostAt: number | undefined): boolean {
  return lostAt === undefined || performance.now() - lostAt < GRANT_WAIT_MS;
}
