import { refusesMedia } from '../wire/errors/media-refusal.ts';
import type { SvcError } from '../wire/errors/svc-error.ts';

export interface RetryPolicy {
  /** Maximum number of retries. */
  readonly limit: number;
  /** First wait in milliseconds; doubles each time, with jitter, up to `maxMs`. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Longest `Retry-After` to wait for, in milliseconds. If it is longer, the error is reported instead. */
  readonly maxRetryAfterMs: number;
  /** Retry only if the connection failed, not if the upstream answered with an error. */
  readonly connectionOnly?: boolean;
}

/** At most 5 retries: spec 8 requires retries after `chunkTimeout` and has no limit. */
export const DEFAULT_RETRY: RetryPolicy = { limit: 5, baseMs: 500, maxMs: 8_000, maxRetryAfterMs: 60_000 };

/** Milliseconds before retry number `attempt` (from 0); undefined for no retry. */
export function retryDelay(error: SvcError, attempt: number, policy: RetryPolicy): number | undefined {
  // llama.cpp refuses pictures with status 500.
  if (!error.retryable || attempt >= policy.limit || refusesMedia(error)) return undefined;
  const connection = error.errorType === 'network_error' || error.errorType === 'upstream_disconnect';
  if (policy.connectionOnly && !connection) return undefined;
  if (error.retryAfterMs !== undefined)
    return error.retryAfterMs <= policy.maxRetryAfterMs ? error.retryAfterMs : undefined;
  const wait = Math.min(policy.baseMs * 2 ** attempt, policy.maxMs);
  return wait / 2 + Math.random() * (wait / 2);
}

const STALE_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Whether the upstream had closed an idle connection: it did not receive the request, which can be sent again. */
export function isStaleConnection({ errorType, code }: SvcError): boolean {
  return errorType === 'network_error' && code !== undefined && STALE_CODES.has(code);
}
