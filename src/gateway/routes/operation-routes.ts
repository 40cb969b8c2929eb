import { requireKey } from '../access/authentication.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';

/** Routes for the operator of the gateway. */
export function operationRoutes(deps: GatewayDeps, accepting: () => boolean): Route[] {
  return [
    // Claude Code checks the base URL with `HEAD /`.
    { method: 'GET', path: '/', handle: (context) => context.sendJson(200, { api: '/openapi.json' }) },
    { method: 'GET', path: '/healthz', handle: (context) => context.sendJson(200, { status: 'ok' }) },
    {
      method: 'GET',
      path: '/readyz',
      handle: (context) => {
        const strict = context.request.url?.endsWith('?strict') === true;
        const state = deps.shared?.status ?? 'ok';
        // All replicas lose their database at once, so it must not take them out of the balancer.
        const written = strict ? !deps.ledger.broken && state === 'ok' : !deps.ledger.full;
        const ready = accepting() && written && deps.listing.listed;
        const ledger = deps.ledger.broken ? 'failing' : 'ok';
        const models = deps.listing.listed ? 'ok' : 'listing';
        context.sendJson(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', ledger, models, state });
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async (context) => {
        // Metrics contain names of models and costs, so requests from another machine need a key.
        if (!isLocal(context)) requireKey(context, deps.keys);
        const { text, contentType } = await deps.metrics.write();
        context.sendBytes(200, Buffer.from(text), { 'content-type': contentType });
      },
    },
    {
      method: 'GET',
      path: '/openapi.json',
      handle: async (context) => {
        const { openApi } = await import('../http/openapi.ts');
        context.sendJson(200, openApi());
      },
    },
  ];
}

/** Headers that proxies, tunnels and CDNs add. Each adds some of them. */
const PROXY_HEADERS = [
  ...['via', 'forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port'],
  ...['x-forwarded-server', 'x-original-forwarded-for', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip'],
  ...['true-client-ip', 'cf-connecting-ip', 'cf-ray', 'cdn-loop', 'fastly-client-ip', 'x-envoy-external-address'],
];
/** Host headers of requests from this machine. A request through a proxy may have the proxy's host. */
const LOCAL_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Whether a request comes from this machine without a proxy. nginx adds no header by default but sends HTTP/1.0. */
function isLocal({ request }: RequestContext): boolean {
  const { headers, httpVersion, socket } = request;
  if (PROXY_HEADERS.some((name) => headers[name] !== undefined) || httpVersion === '1.0') return false;
  return LOCAL_HOST.test(headers.host ?? '') && /^(::1|(::ffff:)?127\.)/.test(socket.remoteAddress ?? '');
}
