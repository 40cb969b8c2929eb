import type { SvcError } from '../wire/errors/svc-error.ts';

export interface RetryPolicy {
  /** Most repetitions; 0: none. */
  readonly limit: number;
  /** First wait in milliseconds; doubles each time, with jitter, up to `maxMs`. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Longest wait that an upstream may ask for, milliseconds: beyond it the error is shown instead. */
  readonly maxAskedMs: number;
  /** Repeat only when the connection failed, not for an answer that says no. */
  readonly connectionOnly?: boolean;
}

/** At most 5 times (spec 8's chunkTimeout "aborted and retried", with an end to it). */
export const DEFAULT_RETRY: RetryPolicy = { limit: 5, baseMs: 500, maxMs: 8_000, maxAskedMs: 60_000 };

/** Milliseconds before repetition number `attempt` (from 0), `undefined`: don't. */
export function retryDelay(error: SvcError, attempt: number, policy: RetryPolicy): number | undefined {
  if (!error.retryable || attempt >= policy.limit) return undefined;
  const connection = error.errorType === 'network_error' || error.errorType === 'upstream_disconnect';
  if (policy.connectionOnly && !connection) return undefined;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= policy.maxAskedMs ? error.retryAfterMs : undefined;
  const wait = Math.min(policy.baseMs * 2 ** attempt, policy.maxMs);
  return wait / 2 + Math.random() * (wait / 2);
}

const STALE_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Whether a kept connection had been closed by the upstream: the request never reached it, and can be sent again. */
export function isStaleConnection({ errorType, code }: SvcError): boolean {
  return errorType === 'network_error' && code !== undefined && STALE_CODES.has(code);
}
