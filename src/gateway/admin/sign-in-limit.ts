import { SvcError } from '../../wire/errors/svc-error.ts';

const WINDOW_MS = 60_000;
/** Failures of one address within the window. */
const MAX_FAILURES = 10;
/** Addresses that are remembered. The oldest are forgotten first. */
const MAX_ADDRESSES = 10_000;

/** Limits failed sign-ins of an address. In memory: each gateway counts for itself, and all its workers together. */
export class SignInLimit {
  /** Set if this process is one of several workers. They count it too. */
  tellWorkers: ((address: string) => void) | undefined;
  readonly #failures = new Map<string, { count: number; readonly until: number }>();

  /** @throws SvcError 429 after too many failures. */
  check(address: string, now = performance.now()): void {
    const found = this.#failures.get(address);
    if (found === undefined || found.until <= now || found.count < MAX_FAILURES) return;
    throw new SvcError({
      errorType: 'rate_limit_exceeded',
      message: 'There were too many failed attempts to sign in.',
      action: 'Wait a minute.',
      retryAfterMs: found.until - now,
    });
  }

  failed(address: string, now = performance.now()): void {
    this.tellWorkers?.(address);
    this.count(address, now);
  }

  count(address: string, now = performance.now()): void {
    const found = this.#failures.get(address);
    if (found !== undefined && found.until > now) {
      found.count += 1;
      return;
    }
    this.#failures.delete(address);
    this.#failures.set(address, { count: 1, until: now + WINDOW_MS });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_ADDRESSES && oldest !== undefined) this.#failures.delete(oldest);
  }
}
