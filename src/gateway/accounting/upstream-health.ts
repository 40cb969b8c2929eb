import type { SvcError } from '../../wire/errors/svc-error.ts';

/** The result of the last requests to a model, since this process started. */
export interface UpstreamReport {
  readonly model: string;
  /** Requests that are being answered. */
  readonly inFlight: number;
  /** Unix milliseconds. */
  readonly answeredAt?: number | undefined;
  readonly failedAt?: number | undefined;
  /** The type of the last failure. */
  readonly lastError?: string | undefined;
  /** Of the last answer. */
  readonly firstByteMs?: number | undefined;
}

/** An answer, a failure, or neither: the client left. */
export type UpstreamResult = { readonly firstByteMs: number } | { readonly error: SvcError } | undefined;

interface State {
  inFlight: number;
  answeredAt?: number;
  failedAt?: number;
  lastError?: string;
  firstByteMs?: number;
}

/** Maximum number of unknown reasons of a model that are reported. */
const MAX_REASONS = 20;

/** Whether models answer, for operators. It decides nothing. */
export class UpstreamHealth {
  readonly #unknownReasons = new Map<string, Set<string>>();
  readonly #unpriced = new Set<string>();
  readonly #states = new Map<string, State>();

  /** Counts an attempt. The returned function must be called once at its end. */
  begin(model: string): (result: UpstreamResult) => void {
    const state = this.#states.get(model) ?? { inFlight: 0 };
    this.#states.set(model, state);
    state.inFlight += 1;
    return (result) => {
      state.inFlight -= 1;
      if (result === undefined) return;
      if ('firstByteMs' in result) {
        state.answeredAt = Date.now();
        if (result.firstByteMs > 0) state.firstByteMs = Math.round(result.firstByteMs);
        return;
      }
      const { error } = result;
      // The client's request is the reason of other failures.
      if (error.provider !== undefined && error.status >= 500) {
        state.failedAt = Date.now();
        state.lastError = error.errorType;
      }
    };
  }

  /** Notes a reason of an answer's end that is not known. @returns whether it is the first time for this model. */
  isNewReason(model: string, reason: string): boolean {
    const seen = this.#unknownReasons.get(model) ?? new Set();
    this.#unknownReasons.set(model, seen);
    if (seen.has(reason) || seen.size >= MAX_REASONS) return false;
    seen.add(reason);
    return true;
  }

  /** Notes that a model has no price. @returns whether it is the first time. */
  isNewlyUnpriced(model: string): boolean {
    if (this.#unpriced.has(model)) return false;
    this.#unpriced.add(model);
    return true;
  }

  /** Models that got a request. */
  report(): UpstreamReport[] {
    return [...this.#states].map(([model, state]) => ({ model, ...state }));
  }
}
