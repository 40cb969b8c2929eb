import { msg, SvcError } from '../../wire/errors/svc-error.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

const MAX_REDIRECTS = 3;

/**
 * Follows redirects that stay within the origin. A redirect to another origin is refused: a key is
 * for the origin that trusted configuration names, and a prompt too (spec 5.8's credentials).
 * 301 and 302 keep method and body, as no API means "come back with GET".
 */
async function followRedirects(
  once: (request: TransportRequest) => Promise<TransportResponse>,
  request: TransportRequest,
): Promise<TransportResponse> {
  let current = request;
  for (let hops = 0; ; hops++) {
    const response = await once(current);
    const location = response.header('location');
    if (![301, 302, 307, 308].includes(response.status) || location === undefined) return response;
    await discard(response);
    const target = URL.canParse(location, current.url) ? new URL(location, current.url) : undefined;
    const origin = new URL(current.url).origin;
    if (target === undefined || target.origin !== origin || hops >= MAX_REDIRECTS || isStream(current.body)) {
      throw refused(origin, target, response.status);
    }
    current = { ...current, url: target.href };
  }
}

function isStream(body: TransportRequest['body']): boolean {
  return body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array);
}

async function discard(response: TransportResponse): Promise<void> {
  for await (const _ of response.body) break;
}

function refused(origin: string, target: URL | undefined, upstreamStatus: number): SvcError {
  const message =
    target === undefined
      ? msg('{0} redirects to an invalid address; the request was not sent there.', origin)
      : target.origin === origin
        ? msg('{0} redirects to itself again and again; the request was not sent there.', origin)
        : msg('{0} redirects to {1}; the request was not sent there.', origin, target.origin);
  return new SvcError({
    errorType: 'upstream_invalid_response',
    message,
    action: msg('Set the base URL to the address that answers.'),
    upstreamStatus,
  });
}

/** A transport that never carries a request to another origin. */
export function sameOrigin(transport: Transport): Transport {
  return { send: (request) => followRedirects((hop) => transport.send(hop), request) };
}
