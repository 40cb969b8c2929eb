import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Clock } from '../document/clock.ts';

const FIRST_WINDOW_MS = 2_000;
const LONGEST_WINDOW_MS = 120_000;
/** Where only a person can help: a key, credits, a permission, a model that can't fill holes. */
const PERSON_WINDOW_MS = 60_000;
const LONGEST_PERSON_WINDOW_MS = 900_000;

export interface OpenCircuit {
  readonly error: SvcError;
  /** On the clock; one request may go out then, to see whether it works again. */
  readonly until: number;
  /** Whether waiting can't help, only a person. */
  readonly needsPerson: boolean;
}

/**
 * Stops asking when asking fails. Each failure opens it for a window that doubles; when the window
 * is over, one request goes out as a probe, and the next only when that one has succeeded.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  #open: OpenCircuit | undefined;
  #failures = 0;
  #probing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get open(): OpenCircuit | undefined {
    return this.#open;
  }

  /** Whether a request may go out now. Ask only right before sending: a yes may be the one probe. */
  admits(): boolean {
    if (this.#open === undefined) return true;
    if (this.#probing || this.#clock.now() < this.#open.until) return false;
    this.#probing = true;
    return true;
  }

  succeeded(): void {
    this.reset();
  }

  /** A request that was stopped by us tells nothing. */
  stopped(): void {
    this.#probing = false;
  }

  failed(error: SvcError): void {
    const needsPerson = needsAPerson(error);
    // Requests that were sent before the first failure came back fail alike: they count once.
    const within = this.#open !== undefined && !this.#probing;
    this.#probing = false;
    if (within) return;
    const first = needsPerson ? PERSON_WINDOW_MS : FIRST_WINDOW_MS;
    const longest = needsPerson ? LONGEST_PERSON_WINDOW_MS : LONGEST_WINDOW_MS;
    const window = Math.min(longest, first * 2 ** this.#failures);
    this.#failures++;
    this.#open = { error, until: this.#clock.now() + Math.max(window, error.retryAfterMs ?? 0), needsPerson };
  }

  /** The person changed something (a key, the model) or asks to try again. */
  reset(): void {
    this.#open = undefined;
    this.#failures = 0;
    this.#probing = false;
  }
}

/** 400 is here because an identical request would be refused again (spec 7). */
function needsAPerson(error: SvcError): boolean {
  return !error.retryable && error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429;
}
