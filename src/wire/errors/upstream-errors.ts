import { defined } from '../../base/json.ts';
import { type MessageText, msg, SvcError } from './svc-error.ts';

/**
 * Problems of an upstream's connection or answer that Svc detects. Each problem has one text. Errors that an upstream
 * reports are in vendor-errors.ts; failed connections are in provider/transport/network-failure.ts.
 */

interface Details {
  /** Provider id. */
  readonly provider?: string;
  /** The system's error code. */
  readonly code?: string | undefined;
  readonly cause?: unknown;
}

/** The connection ended before the answer was complete. */
export function answerCutShort(details: Details = {}): SvcError {
  return disconnected(msg('The provider closed the connection before the answer was complete.'), details);
}

/** The answer has no content at all. */
export function emptyAnswer(provider: string): SvcError {
  return disconnected(msg('The provider closed the connection before it sent an answer.'), { provider });
}

/** The provider sent a second answer while a tool call of the first was incomplete. */
export function answerRestarted(): SvcError {
  return disconnected(msg('The provider started its answer again before a tool call was complete.'), {});
}

/** A call without a name can't be run. */
export function namelessCall(): SvcError {
  return unusable(msg('The provider sent a tool call without a name.'));
}

function disconnected(message: MessageText, details: Details): SvcError {
  return new SvcError({
    errorType: 'upstream_disconnect',
    retryable: true,
    message,
    ...defined({ ...details }),
  });
}

/** No first byte arrived within `timeout` milliseconds. */
export function notAnswered(timeout: number): SvcError {
  return timedOut(msg('The provider did not answer within {0}.', seconds(timeout)));
}

/** No data arrived for `limit` milliseconds. */
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

/** @param text the answer. The message contains its start. */
export function notJson(contentType: string, text: string): SvcError {
  const type = contentType === '' ? 'no content type' : contentType;
  return otherAnswer(msg('The provider’s answer is not JSON ({0}): {1}', type, text.slice(0, 80)));
}

/** An answer that starts like JSON but is not valid JSON. */
export function invalidJson(): SvcError {
  return new SvcError({
    errorType: 'upstream_invalid_response',
    message: msg('The provider’s answer is not complete JSON.'),
    retryable: true,
  });
}

/** The answer is not from the expected API, probably because the base URL is wrong. */
function otherAnswer(message: MessageText): SvcError {
  const action = msg('Check the base URL of this provider.');
  return new SvcError({ errorType: 'upstream_invalid_response', message, action });
}

/** A stream event that is not JSON. @param data the event. The message contains its start. */
export function invalidEvent(data: string): SvcError {
  return unusable(msg('The provider sent an event that is not JSON: {0}', data.slice(0, 80)));
}

/** Maximum size in bytes of an answer that is buffered completely. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The answer exceeds `MAX_ANSWER_BYTES`. */
export function answerTooLarge(): SvcError {
  return unusable(msg('The provider’s answer is larger than 64 MB.'));
}

/** @param what a description of the excess. */
export function excessiveAnswer(what: string): SvcError {
  return unusable(msg('The provider answered with {0}.', what));
}

function unusable(message: MessageText): SvcError {
  return new SvcError({ errorType: 'upstream_invalid_response', message });
}

/** A project's configuration changes the provider's address, so the user's key is not sent. */
export function keyWithheld(provider: string): SvcError {
  return new SvcError({
    errorType: 'credential_withheld',
    message: msg('The key of {0} was withheld, because this project changes the provider’s address.', provider),
    action: msg('Decide whether to send the key to that address.'),
  });
}

/** Adds the provider's id to the error if it has none. */
export function ofProvider(error: SvcError, provider: string): SvcError {
  return error.provider === undefined || error.provider === '' ? error.with({ provider }) : error;
}
