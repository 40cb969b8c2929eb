import { SvcError } from '../../wire/errors/svc-error.ts';

const RETRY_AFTER_MS = 1_000;

/** Bytes of bodies, of requests and of answers, that are held in memory for all requests together. */
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

  /** What one request holds. */
  share(): HeldBodies {
    return new HeldBodies((bytes) => {
      if (bytes > 0 && this.#held + bytes > this.#limit()) throw full();
      this.#held += bytes;
    });
  }
}

/** The bodies of one request, until they are released. */
export class HeldBodies {
  readonly #take: (bytes: number) => void;
  #bytes = 0;
  #released = false;

  constructor(take: (bytes: number) => void) {
    this.#take = take;
  }

  /** @param bytes less than 0 for some that are let go of. @throws SvcError 503 when all requests hold too much. */
  add(bytes: number): void {
    // What still comes for a request that is over is not kept.
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
    message: 'The gateway holds as many bytes of other requests and answers as it may.',
    action: 'Try again soon, or raise gateway.maxBufferedBytes.',
    retryable: true,
    retryAfterMs: RETRY_AFTER_MS,
  });
}
