import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Clock } from '../document/clock.ts';

const FIRST_WINDOW_MS = 2_000;
const MAX_WINDOW_MS = 120_000;
/** For problems that only the user can solve: a key, credits, a permission, a model that cannot complete code. */
const USER_WINDOW_MS = 60_000;
const MAX_USER_WINDOW_MS = 900_000;

export interface OpenCircuit {
  readonly error: SvcError;
  /** Time of the clock from which one request may be sent as a probe. */
  readonly until: number;
  /** True if only the user can solve the problem; waiting does not help. */
  readonly needsUser: boolean;
}

/**
 * Stops sending requests while they fail. Each failure opens the circuit for a window that doubles.
 * After the window, one request is sent as a probe. Others follow only if the probe succeeds.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  #open: OpenCircuit | undefined;
  #failures = 0;
  #probing = false;
  #resets = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get open(): OpenCircuit | undefined {
    return this.#open;
  }

  /** True if `admits` refuses now. */
  get waits(): boolean {
    return this.#open !== undefined && (this.#probing || this.#clock.now() < this.#open.until);
  }

  /**
   * The number of resets. A request that was sent before one was sent with another key, model or setting: its outcome
   * is not reported.
   */
  get resets(): number {
    return this.#resets;
  }

  /** True if a request may be sent now. Call it only directly before sending: the request may be the probe. */
  admits(): boolean {
    if (this.#open === undefined) return true;
    if (this.waits) return false;
    this.#probing = true;
    return true;
  }

  succeeded(): void {
    this.#close();
  }

  /** A request that the engine stopped itself is neither a success nor a failure. */
  stopped(): void {
    this.#probing = false;
  }

  failed(error: SvcError): void {
    const needsUser = needsUserAction(error);
    // Requests sent before the first failure was known usually fail too: count them once.
    const within = this.#open !== undefined && !this.#probing;
    this.#probing = false;
    if (within) return;
    const first = needsUser ? USER_WINDOW_MS : FIRST_WINDOW_MS;
    const longest = needsUser ? MAX_USER_WINDOW_MS : MAX_WINDOW_MS;
    const window = Math.min(longest, first * 2 ** this.#failures);
    this.#failures++;
    this.#open = { error, until: this.#clock.now() + Math.max(window, error.retryAfterMs ?? 0), needsUser: needsUser };
  }

  /** The user changed something (a key, the model) or requested a retry. */
  reset(): void {
    this.#resets++;
    this.#close();
  }

  #close(): void {
    this.#open = undefined;
    this.#failures = 0;
    this.#probing = false;
  }
}

/** Includes 400, because an identical request would be rejected again (spec 7). */
function needsUserAction(error: SvcError): boolean {
  if (error.errorType === 'credential_withheld' || error.errorType === 'configuration_error') return true;
  return !error.retryable && error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429;
}
