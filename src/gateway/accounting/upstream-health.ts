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

/** Whether models answer, for operators. It decides nothing. */
export class UpstreamHealth {
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

  /** Models that got a request. */
  report(): UpstreamReport[] {
    return [...this.#states].map(([model, state]) => ({ model, ...state }));
  }
}
