import type { Socket } from 'node:net';
import type { GatewaySettings } from '../../config/settings/settings.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { RequestContext } from './request-context.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The name that a connection was let in by last: who keeps one asks for the same again. */
const LET_IN = new WeakMap<Socket, { readonly host: string; readonly settings: GatewaySettings }>();

/**
 * Keeps web pages out: a page that a person visits must not spend the person's keys, neither with a
 * cross-origin request (Origin) nor by making its own name point here (Host, DNS rebinding).
 * @throws SvcError 403 origin_not_allowed.
 */
export function checkOrigin(context: RequestContext, settings: GatewaySettings): void {
  const host = onlyHost(context);
  const { socket } = context.request;
  const last = LET_IN.get(socket);
  if (last === undefined || last.host !== host || last.settings !== settings) {
    if (!hostAllowed(host, socket.localAddress, settings)) {
      throw refused(`The Host header names ${quoted(host)}, which is not this gateway.`, 'gateway.allowedHosts');
    }
    LET_IN.set(socket, { host, settings });
  }
  const origin = context.header('origin');
  if (origin !== undefined && !settings.allowedOrigins.includes(origin)) {
    throw refused(`Requests from web pages at ${quoted(origin)} are refused.`, 'gateway.allowedOrigins');
  }
  // Fetch Metadata: a browser says so also where it sends no Origin (images, scripts, links, GET of another site).
  const site = context.request.headers['sec-fetch-site'];
  if (origin === undefined && site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw refused('Requests that web pages of other sites make without CORS are refused.', 'gateway.allowedOrigins');
  }
}

/** The CORS headers of an allowed page; none for programs. */
export function corsHeaders(context: RequestContext): Record<string, string> {
  const origin = context.header('origin');
  if (origin === undefined) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'x-request-id, retry-after',
    vary: 'Origin',
  };
}

/** @throws SvcError 400 for several, which a proxy in front may read in another order. */
function onlyHost({ request }: RequestContext): string {
  const { rawHeaders } = request;
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') seen += 1;
  }
  if (seen === 1) return request.headers.host ?? '';
  throw new SvcError({ errorType: 'invalid_request', message: 'There must be one Host header.' });
}

/** Loopback names, our own address (rebinding needs a name), what is listed. */
function hostAllowed(host: string, address: string | undefined, settings: GatewaySettings): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  if (LOOPBACK.has(name) || name === settings.listen.host.toLowerCase()) return true;
  const own = address?.replace(/^::ffff:/, '');
  if (own !== undefined && (name === own || name === `[${own}]`)) return true;
  return settings.allowedHosts.some(
    (allowed) => allowed.toLowerCase() === name || allowed.toLowerCase() === host.toLowerCase(),
  );
}

const quoted = (text: string | undefined) => `“${(text ?? '').slice(0, 100)}”`;

function refused(message: string, key: string): SvcError {
  return new SvcError({
    errorType: 'origin_not_allowed',
    message,
    action: `List it under ${key} in svc.jsonc if it is meant to be let in.`,
  });
}
