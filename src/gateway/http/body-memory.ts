import { getHeapStatistics } from 'node:v8';
import { SvcError } from '../../wire/errors/svc-error.ts';

const RETRY_AFTER_MS = 1_000;
const MOST_BYTES = 256 * 1024 * 1024;

/** A body is held as bytes, as text and as values, so a small heap holds less of them. */
export function defaultBodyBytes(): number {
  return Math.min(MOST_BYTES, Math.floor(getHeapStatistics().heap_size_limit / 4));
}

/** Counts the bytes of request and response bodies that all requests together hold in memory. */
export class BodyMemory {
  /** Bytes. */
  readonly #limit: () => number;
  #held = 0;

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Bytes. */
  get held(): number {
    return this.#held;
  }

  /** Creates the account of one request. */
  share(): HeldBodies {
    return new HeldBodies((bytes) => {
      if (bytes > 0 && this.#held + bytes > this.#limit()) throw full();
      this.#held += bytes;
    });
  }
}

/** Bytes that one request holds until `release`. */
export class HeldBodies {
  readonly #take: (bytes: number) => void;
  #bytes = 0;
  #released = false;

  constructor(take: (bytes: number) => void) {
    this.#take = take;
  }

  /** @param bytes negative to give bytes back. @throws SvcError 503 when all requests together exceed the limit. */
  add(bytes: number): void {
    // Bytes that arrive after the end of the request are not kept.
    if (this.#released || bytes === 0) return;
    this.#take(bytes);
    this.#bytes += bytes;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#take(-this.#bytes);
  }
}

function full(): SvcError {
  return new SvcError({
    errorType: 'temporarily_unavailable',
    message: 'The gateway has reached its memory limit for requests and answers.',
    action: 'Try again soon, or raise gateway.maxBufferedBytes.',
    retryable: true,
    retryAfterMs: RETRY_AFTER_MS,
  });
}
