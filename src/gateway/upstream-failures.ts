import { GatewayError } from '../wire/errors.ts';

/** What the gateway itself finds wrong with an upstream's answer; what upstreams say is wire/vendor-errors.ts. */

export function emptyAnswer(provider: string): GatewayError {
  return new GatewayError({
    errorType: 'upstream_invalid_response',
    message: `${provider} closed the stream without an event.`,
    retryable: true,
    provider,
  });
}

export function notJson(provider: string, contentType: string): GatewayError {
  return new GatewayError({
    errorType: 'upstream_invalid_response',
    message: `${provider} answered with ${contentType || 'no content type'} instead of JSON.`,
    action: 'Check the base URL of this provider.',
    provider,
  });
}

export function tooLarge(provider: string, limit: number): GatewayError {
  return new GatewayError({
    errorType: 'upstream_invalid_response',
    message: `${provider} answered with more than ${limit} bytes.`,
    provider,
  });
}

export function timedOut(provider: string, milliseconds: number, where: string): GatewayError {
  return new GatewayError({
    errorType: 'upstream_timeout',
    message: `${provider} was silent for ${milliseconds} ms ${where}.`,
    retryable: true,
    provider,
  });
}
