/**
 * The only error class. Every layer throws or yields it; each front end formats it.
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

/** The HTTP status of each type (spec 7). The few errors with another one name it where they are made. */
const STATUS: Readonly<Record<ErrorType, number>> = {
  invalid_request: 400,
  invalid_path: 404,
  method_not_allowed: 405,
  request_too_large: 413,
  unsupported_field: 400,
  unsupported_fim_model: 400,
  model_not_found: 400,
  context_length_exceeded: 400,
  authentication_required: 401,
  usage_limit_exceeded: 402,
  insufficient_credits: 402,
  model_not_allowed: 403,
  origin_not_allowed: 403,
  credential_withheld: 503,
  rate_limit_exceeded: 429,
  upstream_timeout: 503,
  upstream_disconnect: 503,
  upstream_error: 503,
  upstream_invalid_response: 503,
  temporarily_unavailable: 503,
  network_error: 503,
  content_filtered: 400,
  client_disconnect: 499,
  configuration_error: 500,
  internal_error: 500,
};

/** An English template with placeholders `{0}`, `{1}` and their values. The editor translates the template. */
export interface MessageText {
  readonly template: string;
  readonly values: readonly string[];
}

/** A text that the editor translates: l10n/ has a translation of each template. */
export function msg(template: string, ...values: readonly (string | number)[]): MessageText {
  return { template, values: values.map(String) };
}

/** A text that is not translated: the words of a provider or of the system. */
export function verbatim(text: string): MessageText {
  return msg('{0}', text);
}

/** A template with its values in place, in English unless the template is translated. */
export function formatMessage({ template, values }: MessageText): string {
  return template.replace(/\{(\d)\}/g, (placeholder, index: string) => values[Number(index)] ?? placeholder);
}

export interface SvcErrorInit {
  readonly errorType: ErrorType;
  /**
   * One sentence for the user. Never holds a credential. A string is shown as it is: the words of a provider, and
   * what only clients of the API and the terminal can see.
   */
  readonly message: MessageText | string;
  /** HTTP status of the gateway's answer, where it is not the one of the type. */
  readonly status?: number;
  /** Whether sending the same request again can help. */
  readonly retryable?: boolean;
  /** What the user can do about it, a sentence. */
  readonly action?: MessageText | string;
  /** Milliseconds to wait before a retry, when the upstream sent them. */
  readonly retryAfterMs?: number;
  /** The field of the request that is wrong, as a dotted path. */
  readonly param?: string;
  /** The vendor's own code, kept for logs and for clients that match on it. */
  readonly code?: string;
  /** Id of the provider whose upstream failed. */
  readonly provider?: string;
  /** The status that the upstream itself answered with, when it was an upstream that failed. */
  readonly upstreamStatus?: number;
  readonly cause?: unknown;
}

export class SvcError extends Error {
  override readonly name = 'SvcError';
  readonly status: number;
  readonly errorType: ErrorType;
  /** `message` before it is formatted. */
  readonly text: MessageText;
  readonly retryable: boolean;
  readonly actionText: MessageText | undefined;
  readonly retryAfterMs: number | undefined;
  readonly param: string | undefined;
  readonly code: string | undefined;
  readonly provider: string | undefined;
  readonly upstreamStatus: number | undefined;
  readonly #init: SvcErrorInit;

  constructor(init: SvcErrorInit) {
    const text = typeof init.message === 'string' ? verbatim(init.message) : init.message;
    super(formatMessage(text), init.cause === undefined ? undefined : { cause: init.cause });
    this.#init = init;
    this.status = init.status ?? STATUS[init.errorType];
    this.errorType = init.errorType;
    this.text = text;
    this.retryable = init.retryable ?? false;
    this.actionText = typeof init.action === 'string' ? verbatim(init.action) : init.action;
    this.retryAfterMs = init.retryAfterMs;
    this.param = init.param;
    this.code = init.code;
    this.provider = init.provider;
    this.upstreamStatus = init.upstreamStatus;
  }

  /** What the user can do about it, in English. */
  get action(): string | undefined {
    return this.actionText && formatMessage(this.actionText);
  }

  /** The same error with some members replaced. */
  with(changes: Partial<SvcErrorInit>): SvcError {
    return new SvcError({ ...this.#init, ...changes });
  }
}

/** Any thrown value as a `SvcError`; an unknown one becomes `internal_error` with its cause kept. */
export function asSvcError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError) return thrown;
  return new SvcError({
    errorType: 'internal_error',
    message: thrown instanceof Error ? thrown.message : msg('Something failed inside Svc.'),
    cause: thrown,
  });
}

/** A field of a request to the API has a value that it can't have. `param` is its dotted path. */
export function invalidRequest(param: string, message: string): SvcError {
  return new SvcError({ errorType: 'invalid_request', message, param });
}

/** A field that is understood but can't be carried out here. */
export function unsupportedField(param: string, message: MessageText | string): SvcError {
  return new SvcError({ errorType: 'unsupported_field', message, param });
}
