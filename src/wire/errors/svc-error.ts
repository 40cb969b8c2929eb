import type { Usage } from '../token-usage.ts';

/**
 * The only error class. Every layer throws or yields it, and each front end formats it.
 *
 * Clients match on `errorType` (spec 7). The list is documented in docs/errors.md and is closed, so that the compiler
 * checks a `switch` over it.
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
  'permission_denied',
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

/** Types of errors that only the owner of the account at the provider may see (spec 7.1). */
export const ACCOUNT_PROBLEMS = ['insufficient_credits', 'authentication_required', 'model_not_allowed'] as const;

export type AccountProblem = (typeof ACCOUNT_PROBLEMS)[number];

/** The HTTP status of each type (spec 7). An error with a different status sets it where it is created. */
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
  permission_denied: 403,
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

/** An English template with the placeholders `{0}`, `{1}` and their values. The editor translates the template. */
export interface MessageText {
  readonly template: string;
  readonly values: readonly string[];
}

/** A text that the editor translates. l10n/ contains a translation of each template. */
export function msg(template: string, ...values: readonly (string | number)[]): MessageText {
  return { template, values: values.map(String) };
}

/** A text that is not translated, because it is from a provider or the system. */
export function verbatim(text: string): MessageText {
  return msg('{0}', text);
}

/** Inserts the values into a template. The result is English unless the template is translated. */
export function formatMessage({ template, values }: MessageText): string {
  return template.replace(/\{(\d)\}/g, (placeholder, index: string) => values[Number(index)] ?? placeholder);
}

/** The text with the provider's display name instead of its id. */
export function withProviderName(text: MessageText, id: string | undefined, name: string | undefined): MessageText {
  if (id === undefined || name === undefined) return text;
  return { template: text.template, values: text.values.map((value) => (value === id ? name : value)) };
}

export interface SvcErrorInit {
  readonly errorType: ErrorType;
  /**
   * One sentence for the user. Never contains a credential. A string is not translated: it is from a provider, or only
   * clients of the API and the terminal show it.
   */
  readonly message: MessageText | string;
  /** HTTP status of the gateway's answer, if it differs from the status of the type. */
  readonly status?: number;
  /** Whether a retry of the same request can succeed. */
  readonly retryable?: boolean;
  /** A sentence that tells the user how to solve the problem. */
  readonly action?: MessageText | string;
  /** Milliseconds to wait before a retry, if the upstream named them in a header or in the body of its error. */
  readonly retryAfterMs?: number;
  /** A quota of hours, a day or longer is used up: a retry in the next seconds can't succeed. */
  readonly quotaUsedUp?: boolean;
  /** The dotted path of the invalid request field. */
  readonly param?: string;
  /** The vendor's error code, for logs and for clients that match on it. */
  readonly code?: string;
  /** The problem of the gateway's own account that this error hides from clients. Only logs contain it and its `code`. */
  readonly hiddenProblem?: AccountProblem;
  /** The vendor's `error.details`, by which its SDK recovers. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The tokens of a request that exceeds the context window, and the window. */
  readonly context?: { readonly tokens?: number; readonly limit?: number };
  /** The usage that the provider reported although it failed. */
  readonly usage?: Usage;
  /** The request was sent on a connection that ended without an answer: the provider may have read it. */
  readonly sent?: boolean;
  /** Id of the failed provider. */
  readonly provider?: string;
  /** The status of the upstream's answer, if an upstream failed. */
  readonly upstreamStatus?: number;
  readonly cause?: unknown;
}

export class SvcError extends Error {
  override readonly name = 'SvcError';
  readonly status: number;
  readonly errorType: ErrorType;
  /** The unformatted `message`. */
  readonly text: MessageText;
  readonly retryable: boolean;
  readonly actionText: MessageText | undefined;
  readonly retryAfterMs: number | undefined;
  readonly quotaUsedUp: boolean;
  readonly param: string | undefined;
  readonly code: string | undefined;
  readonly hiddenProblem: AccountProblem | undefined;
  readonly details: SvcErrorInit['details'];
  readonly context: SvcErrorInit['context'];
  readonly usage: Usage | undefined;
  readonly sent: boolean;
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
    this.quotaUsedUp = init.quotaUsedUp ?? false;
    this.param = init.param;
    this.code = init.code;
    this.hiddenProblem = init.hiddenProblem;
    this.details = init.details;
    this.context = init.context;
    this.usage = init.usage;
    this.sent = init.sent ?? false;
    this.provider = init.provider;
    this.upstreamStatus = init.upstreamStatus;
  }

  /** The English text of the suggested action. */
  get action(): string | undefined {
    return this.actionText && formatMessage(this.actionText);
  }

  /** The same error with some members replaced. */
  with(changes: Partial<SvcErrorInit>): SvcError {
    return new SvcError({ ...this.#init, ...changes });
  }
}

/** Converts a thrown value to an `SvcError`. An unknown value becomes `internal_error` with the value as its cause. */
export function asSvcError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError) return thrown;
  return new SvcError({
    errorType: 'internal_error',
    message: thrown instanceof Error ? thrown.message : msg('Something failed inside Svc.'),
    cause: thrown,
  });
}

/** An API request has an invalid value in a field. `param` is the dotted path of the field. */
export function invalidRequest(param: string, message: string): SvcError {
  return new SvcError({ errorType: 'invalid_request', message, param });
}

/** A known field that is not supported here. */
export function unsupportedField(param: string, message: MessageText | string): SvcError {
  return new SvcError({ errorType: 'unsupported_field', message, param });
}
