/**
 * The one error of the house. Every floor throws or yields it, every face shows it in its own way.
 *
 * `errorType` is what clients match on (spec 7); the list is documented in docs/errors.md and is
 * closed, so that a `switch` over it is checked by the compiler.
 */
export const ERROR_TYPES = [
  'invalid_request',
  'invalid_path',
  'method_not_allowed',
  'request_too_large',
  'unsupported_field',
  'unsupported_fim_model',
  'model_not_found',
  'context_length_exceeded',
  'authentication_required',
  'usage_limit_exceeded',
  'insufficient_credits',
  'model_not_allowed',
  'origin_not_allowed',
  'credential_withheld',
  'rate_limit_exceeded',
  'upstream_timeout',
  'upstream_disconnect',
  'upstream_error',
  'upstream_invalid_response',
  'temporarily_unavailable',
  'network_error',
  'content_filtered',
  'client_disconnect',
  'configuration_error',
  'internal_error',
] as const;

export type ErrorType = (typeof ERROR_TYPES)[number];

export interface GatewayErrorInit {
  /** HTTP status that a gateway answers with, 400 to 599 (499 for a client that went away). */
  readonly status: number;
  readonly errorType: ErrorType;
  /** A sentence for a person. Never holds a credential. */
  readonly message: string;
  /** Whether sending the same request again can help. */
  readonly retryable?: boolean;
  /** What the person can do about it, a sentence. */
  readonly action?: string;
  /** Milliseconds to wait before a retry, when the upstream said so. */
  readonly retryAfterMs?: number;
  /** The field of the request that is wrong, as a dotted path. */
  readonly param?: string;
  /** The vendor's own code, kept for logs and for clients that match on it. */
  readonly code?: string;
  /** Provider id whose upstream answered so. */
  readonly provider?: string;
  /** The status that the upstream itself answered with, when it was an upstream that failed. */
  readonly upstreamStatus?: number;
  readonly cause?: unknown;
}

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly status: number;
  readonly errorType: ErrorType;
  readonly retryable: boolean;
  readonly action: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly param: string | undefined;
  readonly code: string | undefined;
  readonly provider: string | undefined;
  readonly upstreamStatus: number | undefined;

  constructor(init: GatewayErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.status = init.status;
    this.errorType = init.errorType;
    this.retryable = init.retryable ?? false;
    this.action = init.action;
    this.retryAfterMs = init.retryAfterMs;
    this.param = init.param;
    this.code = init.code;
    this.provider = init.provider;
    this.upstreamStatus = init.upstreamStatus;
  }
}

/** Any thrown value as a `GatewayError`; an unknown one becomes `internal_error` with its cause kept. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError({
    status: 500,
    errorType: 'internal_error',
    message: thrown instanceof Error ? thrown.message : 'Something failed inside Svc.',
    cause: thrown,
  });
}

/** 400: a field has a value that it can't have. `param` is its dotted path. */
export function invalidRequest(param: string, message: string): GatewayError {
  return new GatewayError({ status: 400, errorType: 'invalid_request', message, param });
}

/** 400: a field that is understood but can't be carried out here. */
export function unsupportedField(param: string, message: string): GatewayError {
  return new GatewayError({ status: 400, errorType: 'unsupported_field', message, param });
}
