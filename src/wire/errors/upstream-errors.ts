import { defined } from '../../base/json.ts';
import { type MessageText, msg, SvcError } from './svc-error.ts';

/**
 * What is wrong with an upstream's connection or answer, as found by Svc itself; each event has one text. What an
 * upstream reports in its own words is in vendor-errors.ts, and why no connection was made in provider/network-failure.ts.
 */

interface Details {
  /** Provider id. */
  readonly provider?: string;
  /** The system's code of the failure. */
  readonly code?: string | undefined;
  readonly cause?: unknown;
}

/** The connection ended, or broke, before the answer was complete. */
export function answerCutShort(details: Details = {}): SvcError {
  return disconnected(msg('The provider closed the connection before the answer was complete.'), details);
}

/** The answer has no content at all. */
export function emptyAnswer(provider: string): SvcError {
  return disconnected(msg('The provider closed the connection before it said anything.'), { provider });
}

function disconnected(message: MessageText, details: Details): SvcError {
  return new SvcError({
    ...{ errorType: 'upstream_disconnect', retryable: true, message },
    ...defined({ ...details }),
  });
}

/** No first byte within `timeout` milliseconds. */
export function notAnswered(timeout: number): SvcError {
  return timedOut(msg('The provider did not answer within {0}.', seconds(timeout)));
}

/** Nothing more for so many milliseconds. */
export function fellSilent(limit: number): SvcError {
  return timedOut(msg('The provider sent nothing for {0}.', seconds(limit)));
}

function timedOut(message: MessageText): SvcError {
  return new SvcError({
    errorType: 'upstream_timeout',
    message,
    retryable: true,
    action: msg('Try again, or raise `timeout` or `chunkTimeout` of this provider.'),
  });
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

export function webPage(contentType: string): SvcError {
  return otherAnswer(
    contentType === ''
      ? msg('The provider answered with a web page.')
      : msg('The provider answered with a web page ({0}).', contentType),
  );
}

/** @param text the answer, of which the start is shown. */
export function notJson(contentType: string, text: string): SvcError {
  const type = contentType === '' ? 'no content type' : contentType;
  return otherAnswer(msg('The provider’s answer is not JSON ({0}): {1}', type, text.slice(0, 80)));
}

/** An answer that starts as JSON and is none. */
export function invalidJson(): SvcError {
  return new SvcError({
    errorType: 'upstream_invalid_response',
    message: msg('The provider’s answer is not complete JSON.'),
    retryable: true,
  });
}

/** An answer that is something else than the API's, which a wrong address explains. */
function otherAnswer(message: MessageText): SvcError {
  const action = msg('Check the base URL of this provider.');
  return new SvcError({ errorType: 'upstream_invalid_response', message, action });
}

/** An event of a stream. @param data of which the start is shown. */
export function invalidEvent(data: string): SvcError {
  return unusable(msg('The provider sent an event that is not JSON: {0}', data.slice(0, 80)));
}

/** The most bytes of an answer that is kept until it is complete. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** More than `MAX_ANSWER_BYTES`. */
export function answerTooLarge(): SvcError {
  return unusable(msg('The provider’s answer is larger than 64 MB.'));
}

/** @param what there is too much of. */
export function excessiveAnswer(what: string): SvcError {
  return unusable(msg('The provider answered with {0}.', what));
}

function unusable(message: MessageText): SvcError {
  return new SvcError({ errorType: 'upstream_invalid_response', message });
}

/** The error with the provider's id, where it has none. */
export function ofProvider(error: SvcError, provider: string): SvcError {
  return error.provider === undefined || error.provider === '' ? error.with({ provider }) : error;
}
