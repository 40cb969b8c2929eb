import type { Socket } from 'node:net';
import { splitWords } from '../../base/split-words.ts';
import type { GatewaySettings } from '../../config/settings/settings.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { RequestContext } from './request-context.ts';

/** Headers that pages may read. */
const EXPOSED = [
  ...splitWords(
    'x-request-id retry-after warning ratelimit-limit ratelimit-remaining ratelimit-reset ratelimit-policy',
  ),
];
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The last host that was allowed on a connection. Requests on one connection usually name the same host. */
const ALLOWED = new WeakMap<Socket, { readonly host: string; readonly settings: GatewaySettings }>();

/**
 * Refuses requests of web pages. A page that the user visits must not be able to use the user's keys, neither with a
 * cross-origin request (Origin) nor with a domain that resolves to this machine (Host, DNS rebinding).
 * @throws SvcError 403 origin_not_allowed.
 */
export function checkOrigin(context: RequestContext, settings: GatewaySettings): void {
  const host = onlyHost(context);
  const { socket } = context.request;
  const last = ALLOWED.get(socket);
  if (last === undefined || last.host !== host || last.settings !== settings) {
    if (!hostAllowed(host, socket.localAddress, settings)) {
      throw refused(`The Host header names ${quoted(host)}, which is not this gateway.`, 'gateway.allowedHosts');
    }
    ALLOWED.set(socket, { host, settings });
  }
  const origin = context.header('origin');
  if (isAdminPath(context.path)) return checkAdminOrigin(context, origin, host);
  if (origin !== undefined && !settings.allowedOrigins.includes(origin)) {
    throw refused(`Requests from web pages at ${quoted(origin)} are refused.`, 'gateway.allowedOrigins');
  }
  // Fetch Metadata: browsers send it also without an Origin (images, scripts, links, GET of another site).
  const site = context.request.headers['sec-fetch-site'];
  if (origin === undefined && site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw refused('Requests that web pages of other sites make without CORS are refused.', 'gateway.allowedOrigins');
  }
}

/** The page and the API under `/admin`. */
function isAdminPath(path: string): boolean {
  return path === '/admin' || path.startsWith('/admin/');
}

/** Only the gateway's own page may use the admin API, also if other pages may send requests to models. */
function checkAdminOrigin(context: RequestContext, origin: string | undefined, host: string): void {
  const { headers, method } = context.request;
  // A proxy in front of the gateway may add TLS.
  const own = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  const site = headers['sec-fetch-site'];
  const sameSite = site === undefined || site === 'same-origin' || site === 'none';
  // A link on another page may open the page. That navigation sends no cookie.
  const opens =
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  if (own && (sameSite || (opens && !context.path.startsWith('/admin/v1')))) return;
  throw new SvcError({
    errorType: 'origin_not_allowed',
    message: 'Only the page of this gateway may use the admin API.',
    action: 'Open /admin at the address of the gateway.',
  });
}

/** The CORS headers for an allowed page. A request without Origin gets none. */
export function corsHeaders(context: RequestContext): Record<string, string> {
  const origin = context.header('origin');
  if (origin === undefined) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED.join(', '),
    vary: 'Origin',
  };
}

/** @throws SvcError 400 for several Host headers: a proxy may use another one than we do. */
function onlyHost({ request }: RequestContext): string {
  const { rawHeaders } = request;
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') seen += 1;
  }
  if (seen === 1) return request.headers.host ?? '';
  throw new SvcError({ errorType: 'invalid_request', message: 'The request must have exactly one Host header.' });
}

/** Allows loopback names, our own IP address (DNS rebinding needs a name) and configured hosts. */
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
    action: `To allow it, add it to ${key} in svc.jsonc.`,
  });
}
