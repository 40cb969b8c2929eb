import { msg, SvcError } from '../../wire/errors/svc-error.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

const MAX_REDIRECTS = 3;

/**
 * Follows redirects within the origin. A redirect to another origin is refused, because keys and prompts may be
 * sent only to the origin that trusted configuration names (credentials, spec 5.8).
 * 301 and 302 keep method and body, because no API uses them to request a GET.
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
        ? msg('{0} answered with a redirect that can’t be followed; the request was not sent there.', origin)
        : msg('{0} redirects to {1}; the request was not sent there.', origin, target.origin);
  return new SvcError({
    errorType: 'upstream_invalid_response',
    message,
    action: msg('Set the base URL to the final address.'),
    upstreamStatus,
  });
}

/** A transport that never follows a redirect to another origin. */
export function sameOrigin(transport: Transport): Transport {
  return { send: (request) => followRedirects((hop) => transport.send(hop), request) };
}
