import {
  defined,
  finiteNumber,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOrEmpty,
  ownEntry,
  parseJson,
  tokenCount,
} from '../../base/json.ts';
import { accountLimit } from './account-limits.ts';
import { namedWaitMs } from './named-wait.ts';
import {
  ACCOUNT_PROBLEMS,
  formatMessage,
  type MessageText,
  msg,
  SvcError,
  type SvcErrorInit,
  verbatim,
} from './svc-error.ts';

/** Returns a header by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

export interface VendorFailure {
  /** Provider id for the message. */
  readonly provider: string;
  /** Status of the upstream's answer; 200 for an error inside a stream. */
  readonly status: number;
  readonly header?: HeaderReader;
  readonly bodyText: string;
  /** The caller supplied the credential (spec 5.5, 7.1), so the caller may see its payment and access problems. */
  readonly byok: boolean;
}

/** Longer waits are an upstream error or a quota. No request waits for a day. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;
const MAX_MESSAGE = 2000;

/**
 * Messages of vendors for a request that exceeds the context window. OpenAI, vLLM, DeepSeek and OpenRouter: "maximum
 * context length is N tokens"; Anthropic: "prompt is too long: N tokens > M maximum", "input length and `max_tokens`
 * exceed context limit"; Mistral: "too large for model with M maximum context length"; llama.cpp: "exceeds the
 * available context size", exceed_context_size_error; Ollama: "exceeds the context window" / "input length exceeds"; LM
 * Studio: "context length of only M tokens", "(n_keep: N >= n_ctx: M)"; Google: "input token count (N) exceeds the maximum number of tokens
 * allowed (M)".
 */
const CONTEXT_WORDS = [
  /maximum context length/i,
  /max(?:imum)?[_ ]model[_ ]len(?:gth)?/i,
  /context[_ ](?:length|window|limit|size)[^.]{0,40}exceed/i,
  /exceed[^.]{0,60}context[_ ](?:length|window|limit|size)/i,
  /prompt is too long/i,
  /prompt (?:contains|has) \d+ tokens[^.]*too (?:large|long)/i,
  /too large for model with \d+/i,
  /input (?:is too long|length exceeds)/i,
  /context length of only \d+/i,
  /input token count[^.]*exceeds the maximum/i,
  /greater than the context length/i,
  /longer than the model'?s context/i,
  /reduce the length of the (?:messages|prompt|input)/i,
];
const CONTEXT_CODES = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
]);

/** The token limit in these messages. */
const LIMIT_WORDS = [
  /\bn_ctx: {0,3}(\d[\d,]*)/i,
  /maximum context length (?:is|of)\s+(\d[\d,]*)/i,
  /(\d[\d,]*)\s+(?:maximum context length|maximum)/i,
  />\s*(\d[\d,]*)/,
  /context limit[^\d]{0,40}(?:\d+\s*\+\s*\d+\s*>\s*)?(\d[\d,]*)/i,
  /available context size \((\d[\d,]*)/i,
  /context length of only (\d[\d,]*)/i,
  /allowed \((\d[\d,]*)\)/i,
  /context (?:window|size|length)[^\d.]{0,40}(\d[\d,]*)/i,
];

/** The tokens of the request in these messages. */
const REQUESTED_WORDS = [
  /\bn_keep: {0,3}(\d[\d,]*)/i,
  /prompt is too long: (\d[\d,]*) tokens/i,
  /(?:requested|resulted in|contains|has) (?:about )?(\d[\d,]*) tokens/i,
  /input token count \((\d[\d,]*)\)/i,
  /request \((\d[\d,]*) tokens\)/i,
];
/** llama.cpp while it starts. Milliseconds until the next attempt: a large model takes a minute. */
const LOADING = /^loading model$/i;
const LOADING_MS = 10_000;
/** Ollama has not enough memory for the model. To try again takes as long, with the same result. */
const NO_MEMORY = /requires more system memory/i;
/** Anthropic's words if a lower `max_tokens` is enough. Claude Code lowers it when it reads them. */
const OUTPUT_TOO_LARGE = /`max_tokens` exceed context limit/;

/** Converts an upstream's error answer to an `SvcError` (spec 7, statuses in docs/errors.md). */
export function vendorError(failure: VendorFailure): SvcError {
  const error = reportedError(failure);
  return failure.byok ? error : hideAccountProblem(error);
}

/** The error as the vendor reports it, for the owner of the credential. */
function reportedError(failure: Omit<VendorFailure, 'byok'>): SvcError {
  const body = parseJson(failure.bodyText);
  const fields = describe(body, failure.bodyText);
  const status = effectiveStatus(failure.status, fields);
  const base = defined({
    provider: failure.provider,
    upstreamStatus: failure.status,
    code: fields.code,
    param: fields.param,
    retryAfterMs:
      statedWaitMs(failure.header, body, fields.message) ??
      (isLoading(status, fields.message) ? LOADING_MS : undefined),
  });
  const make = (init: SvcErrorInit): SvcError => new SvcError({ ...base, ...init });
  if (isContextExceeded(fields, status)) return make(contextExceeded(fields));
  // An error inside a stream has its own status. A redirect or a 304 is reported with its status.
  const message =
    fields.message === undefined
      ? fallbackMessage(failure.provider, failure.status === 200 ? status : failure.status)
      : verbatim(fields.message);
  const limit =
    status === 402 ? 'funds' : accountLimit([fields.code, fields.type], [fields.message ?? '', ...quotaIds(body)]);
  if (limit === 'funds') return make(paymentProblem(failure.provider, formatMessage(message)));
  if (limit === 'quota') return make({ errorType: 'rate_limit_exceeded', message, quotaUsedUp: true });
  switch (status) {
    case 401:
    case 403:
      return make(accessProblem(status, message));
    case 404:
      return make({
        errorType: 'model_not_found',
        message,
        action: msg('Check the model’s id and the base URL.'),
      });
    case 408:
    case 504:
      return make({ errorType: 'upstream_timeout', message, retryable: true });
    case 413:
      return make({ errorType: 'request_too_large', message });
    case 429:
      return make({ errorType: 'rate_limit_exceeded', message, retryable: true });
    case 503:
    case 529:
      return make({ errorType: 'temporarily_unavailable', message, retryable: true });
  }
  if (status >= 500)
    return make({ errorType: 'upstream_error', message, retryable: !NO_MEMORY.test(fields.message ?? '') });
  if (fields.code === 'content_filter' || fields.type === 'content_filter') {
    return make({ errorType: 'content_filtered', message });
  }
  if (status >= 400) return make({ errorType: 'invalid_request', message });
  return make({ errorType: 'upstream_error', message, retryable: true });
}

function isLoading(status: number, message = ''): boolean {
  return status === 503 && LOADING.test(message.trim());
}

/**
 * Converts an error inside a stream, or in a body with status 200, for the owner of the credential. `error` is the
 * vendor's value. Readers of formats do not know the credential: their callers use `hideAccountProblem`.
 */
export function vendorErrorValue(error: unknown, provider = ''): SvcError {
  return vendorError({ provider, status: 200, bodyText: JSON.stringify({ error }), byok: true });
}

/**
 * The error for a client whose request used an account that is not the client's. Hides payment and access problems of
 * that account (spec 7.1) and returns other errors unchanged.
 */
export function hideAccountProblem(error: SvcError): SvcError {
  const hiddenProblem = ACCOUNT_PROBLEMS.find((problem) => problem === error.errorType);
  if (hiddenProblem === undefined) return error;
  const { provider, upstreamStatus, code, retryAfterMs } = error;
  return new SvcError({
    ...defined({ provider, upstreamStatus, code, retryAfterMs }),
    errorType: 'temporarily_unavailable',
    message: msg('The provider is temporarily unavailable.'),
    hiddenProblem,
  });
}

interface ErrorFields {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
  /** The status in the body, for errors inside a stream. */
  readonly status?: number;
}

/** Reads {error:{…}}, {error:"…"}, {message}, {detail}, [{error}], {errors:[…]}, {object:"error"}. */
function describe(body: unknown, text: string): ErrorFields {
  let outer = body;
  // Not recursive: nested lists could exceed the stack.
  while (Array.isArray(outer)) outer = outer[0];
  return isObject(outer) ? describeObject(outer) : describeText(text);
}

function describeObject(body: JsonObject): ErrorFields {
  const inner = body.error ?? (Array.isArray(body.errors) ? body.errors[0] : undefined);
  const error: JsonObject = isObject(inner) ? inner : typeof inner === 'string' ? { ...body, message: inner } : body;
  const message =
    nonEmptyString(error.message) ??
    nonEmptyString(error.detail) ??
    detailMessage(error.detail) ??
    nonEmptyString(body.message);
  const metadata = objectOrEmpty(error.metadata);
  const raw = nonEmptyString(metadata.raw);
  const code = nonEmptyString(error.code) ?? nonEmptyString(body.error_type);
  return defined({
    // OpenRouter reports "Provider returned error" and puts the vendor's message into metadata.raw.
    message: clean(raw === undefined ? message : `${message ?? ''} ${rawMessage(raw)}`.trim()),
    type: nonEmptyString(error.type) ?? nonEmptyString(body.type),
    code,
    param: nonEmptyString(error.param),
    status:
      finiteNumber(error.code) ?? finiteNumber(error.status_code) ?? finiteNumber(error.status) ?? finiteNumber(code),
  });
}

function rawMessage(raw: string): string {
  const value = parseJson(raw);
  return isObject(value) ? (describe(value, raw).message ?? raw) : raw;
}

/** Reads FastAPI's list of validation errors. */
function detailMessage(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return isObject(detail) ? nonEmptyString(detail.message) : undefined;
  const lines = detail.map((item) => nonEmptyString(objectOrEmpty(item).msg)).filter((line) => line !== undefined);
  return lines.length > 0 ? lines.join('; ') : undefined;
}

function describeText(text: string): ErrorFields {
  const trimmed = text.trim();
  if (trimmed === '' || /^<(?:!doctype|html|\?xml)/i.test(trimmed)) return {};
  return defined({ message: clean(trimmed) });
}

/** Removes control characters and limits the length: the text is used in logs, headers and UIs. */
function clean(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const plain = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' ').trim();
  return plain.length > MAX_MESSAGE ? `${plain.slice(0, MAX_MESSAGE)}…` : plain || undefined;
}

const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  insufficient_quota: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

function effectiveStatus(status: number, fields: ErrorFields): number {
  if (status >= 400) return status;
  if (fields.status !== undefined && fields.status >= 400 && fields.status < 600) return fields.status;
  return ownEntry(STATUS_OF_TYPE, fields.type ?? '') ?? ownEntry(STATUS_OF_TYPE, fields.code ?? '') ?? 500;
}

function isContextExceeded(fields: ErrorFields, status: number): boolean {
  if (CONTEXT_CODES.has(fields.code ?? '') || CONTEXT_CODES.has(fields.type ?? '')) return true;
  if (status !== 400 && status !== 413 && status !== 422 && status !== 500) return false;
  const message = fields.message;
  return message !== undefined && CONTEXT_WORDS.some((words) => words.test(message));
}

function contextExceeded({ message }: ErrorFields): SvcErrorInit {
  const limit = findNumber(LIMIT_WORDS, message);
  const tokens = findNumber(REQUESTED_WORDS, message);
  return {
    errorType: 'context_length_exceeded',
    message: contextMessage(limit, message),
    ...(OUTPUT_TOO_LARGE.test(message ?? '')
      ? {}
      : { context: defined({ tokens: toNumber(tokens), limit: toNumber(limit) }) }),
    action: msg('Shorten the conversation or choose a model with a larger context window.'),
  };
}

/** The digits that the first matching pattern finds. */
function findNumber(patterns: readonly RegExp[], text = ''): string | undefined {
  const found = patterns.map((words) => words.exec(text)?.[1]).find((digits) => digits !== undefined);
  return found?.replaceAll(',', '');
}

function toNumber(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : tokenCount(Number(digits));
}

function contextMessage(limit: string | undefined, words: string | undefined): MessageText {
  if (limit === undefined) {
    return words === undefined
      ? msg('The request is larger than the model’s context window.')
      : msg('The request is larger than the model’s context window. {0}', words);
  }
  return words === undefined
    ? msg('The request is larger than the model’s context window: the maximum context length is {0} tokens.', limit)
    : msg(
        'The request is larger than the model’s context window: the maximum context length is {0} tokens. {1}',
        limit,
        words,
      );
}

/** The names of the quotas in Google's `google.rpc.QuotaFailure`. */
function quotaIds(body: unknown): string[] {
  const outer = objectOrEmpty(Array.isArray(body) ? body[0] : body);
  const details = objectOrEmpty(outer.error).details;
  if (!Array.isArray(details)) return [];
  const violations = details.flatMap((detail) => objectOrEmpty(detail).violations);
  return violations.flatMap((violation) => nonEmptyString(objectOrEmpty(violation).quotaId) ?? []);
}

function paymentProblem(provider: string, words: string): SvcErrorInit {
  return {
    errorType: 'insufficient_credits',
    message: msg('Your account at {0} is out of funds: {1}', provider || 'the provider', words),
    action: msg('Add funds at the provider or choose another model.'),
  };
}

function accessProblem(status: 401 | 403, message: MessageText): SvcErrorInit {
  return status === 401
    ? { errorType: 'authentication_required', message, action: msg('Check the API key of this provider.') }
    : {
        errorType: 'model_not_allowed',
        message,
        action: msg('Check what this key may use, or choose another model.'),
      };
}

function fallbackMessage(provider: string, status: number): MessageText {
  return provider === ''
    ? msg('The provider answered with status {0} and no explanation.', status)
    : msg('{0} answered with status {1} and no explanation.', provider, status);
}

/** The wait that the headers or the body of an error name, in milliseconds. */
function statedWaitMs(header: HeaderReader | undefined, body: unknown, message: string | undefined) {
  const now = Date.now();
  const named = namedWaitMs(Array.isArray(body) ? body[0] : body, message, now);
  return (header && retryAfterMs(header, now)) ?? named;
}

/**
 * The wait in milliseconds from `retry-after-ms` or `Retry-After` (seconds or a date). Negative and invalid values are
 * ignored; values above a day are reduced to a day.
 */
export function retryAfterMs(header: HeaderReader, now: number): number | undefined {
  const exact = Number.parseFloat(header('retry-after-ms') ?? '');
  if (Number.isFinite(exact) && exact >= 0) return Math.min(exact, MAX_RETRY_AFTER_MS);
  const value = header('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^[+-]?[\d.]+$/.test(value)) {
    const seconds = Number(value);
    return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : undefined;
  }
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), MAX_RETRY_AFTER_MS);
}
