import { defined } from '../../base/json.ts';
import type { Frame } from '../format.ts';
import type { FormatName } from '../format-name.ts';
import type { SvcError } from './svc-error.ts';

/** Anthropic's error types (docs "Errors") by the status of our answer. */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

/** OpenAI's error types by status. */
const OPENAI_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'invalid_request_error',
  429: 'rate_limit_error',
};

function typeFor(format: FormatName | undefined, status: number): string {
  if (format !== 'messages') return OPENAI_TYPES[status] ?? 'server_error';
  return MESSAGES_TYPES[status] ?? 'api_error';
}

function clientMessage(error: SvcError, format: FormatName | undefined): string {
  const message = error.action === undefined ? error.message : `${error.message} ${error.action}`;
  const tooLong = format === 'messages' ? promptTooLong(error) : undefined;
  return tooLong === undefined ? message : `${tooLong} ${message}`;
}

/**
 * Anthropic's words for a prompt that exceeds the context window (docs "Errors"). Claude Code shortens the conversation
 * when it reads them. Without a reported number of tokens, the lowest possible one is named.
 */
function promptTooLong({ context }: SvcError): string | undefined {
  if (context === undefined) return undefined;
  const { limit, tokens } = context;
  if (limit === undefined) return 'prompt is too long.';
  return `prompt is too long: ${Math.max(tokens ?? 0, limit + 1)} tokens > ${limit} maximum.`;
}

/**
 * The body of an error answer (spec 7). Both official SDKs can read it: `error.message` for OpenAI's, `type: "error"`
 * for Anthropic's, and `error_type` for clients that match on it.
 */
export function errorBody(error: SvcError, format?: FormatName): Record<string, unknown> {
  const message = clientMessage(error, format);
  const vendorCode = error.hiddenProblem === undefined ? error.code : undefined;
  const body = {
    error: {
      message,
      type: typeFor(format, error.status),
      code: vendorCode ?? error.errorType,
      param: error.param ?? null,
      error_type: error.errorType,
      ...defined({ details: error.details }),
    },
    error_type: error.errorType,
    message,
  };
  return format === 'messages' ? { type: 'error', ...body } : body;
}

/**
 * An error frame after the start of the output. Not for Responses, whose writer numbers the events and also marks the
 * answer as failed (wire/responses/writer.ts).
 */
export function errorFrame(error: SvcError, format: 'chat-completions' | 'messages'): Frame {
  const data = JSON.stringify(errorBody(error, format));
  return format === 'messages' ? { event: 'error', data } : { data };
}
