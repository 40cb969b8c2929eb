import { SvcError } from '../../wire/errors/svc-error.ts';

const WINDOW_MS = 60_000;
/** Wrong keys and links of one address within the window. */
const MAX_FAILURES = 10;
/** Sign-ins of one key within the window. */
const MAX_OF_KEY = 10;
/** Addresses and keys that are remembered. The oldest are forgotten first. */
const MAX_KNOWN = 10_000;

/** Limits sign-ins. In memory: each gateway counts for itself, and all its workers together. */
export class SignInLimit {
  /** Set if this process is one of several workers. They count it too. */
  tellWorkers: ((of: string) => void) | undefined;
  readonly #counts = new Map<string, { count: number; readonly until: number }>();

  /** Counts a wrong key or link. @throws SvcError 429 after too many. */
  failed(address: string, now = performance.now()): void {
    this.#take(`address ${address}`, MAX_FAILURES, 'There were too many failed attempts to sign in.', now);
  }

  /** Counts a sign-in with a valid key: each one is kept in the state. @throws SvcError 429 after too many. */
  succeeded(key: string, now = performance.now()): void {
    this.#take(`key ${key}`, MAX_OF_KEY, 'This key has signed in too often.', now);
  }

  count(of: string, now = performance.now()): void {
    const found = this.#counts.get(of);
    if (found !== undefined && found.until > now) {
      found.count += 1;
      return;
    }
    this.#counts.delete(of);
    this.#counts.set(of, { count: 1, until: now + WINDOW_MS });
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_KNOWN && oldest !== undefined) this.#counts.delete(oldest);
  }

  #take(of: string, limit: number, message: string, now: number): void {
    const found = this.#counts.get(of);
    if (found !== undefined && found.until > now && found.count >= limit) {
      throw new SvcError({
        errorType: 'rate_limit_exceeded',
        message,
        action: 'Wait a minute.',
        retryAfterMs: found.until - now,
      });
    }
    this.tellWorkers?.(of);
    this.count(of, now);
  }
}
