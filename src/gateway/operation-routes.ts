import { requireKey } from './authentication.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayParts } from './parts.ts';
import type { Route } from './router.ts';

/** What whoever runs the gateway asks of it. */
export function operationRoutes(parts: GatewayParts, accepting: () => boolean): Route[] {
  return [
    { method: 'GET', path: '/healthz', handle: (exchange) => exchange.sendJson(200, { status: 'ok' }) },
    {
      method: 'GET',
      path: '/readyz',
      handle: (exchange) => {
        const ready = accepting() && !parts.ledger.full && parts.listing.listed;
        const ledger = parts.ledger.broken ? 'failing' : 'ok';
        const models = parts.listing.listed ? 'ok' : 'listing';
        exchange.sendJson(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', ledger, models });
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async (exchange) => {
        // Names of models and sums of money: for this machine, or with a key.
        if (!isLocal(exchange)) requireKey(exchange, parts.keys);
        const { writeMetrics } = await import('./metrics-text.ts');
        const { text, contentType } = await writeMetrics(parts);
        exchange.sendBytes(200, Buffer.from(text), { 'content-type': contentType });
      },
    },
    {
      method: 'GET',
      path: '/openapi.json',
      handle: async (exchange) => {
        const { openApi } = await import('./openapi.ts');
        exchange.sendJson(200, openApi());
      },
    },
  ];
}

/** From this machine and not on somebody's behalf. */
function isLocal(exchange: Exchange): boolean {
  const address = exchange.request.socket.remoteAddress ?? '';
  const direct = exchange.header('x-forwarded-for') === undefined && exchange.header('forwarded') === undefined;
  return direct && /^(::1|(::ffff:)?127\.)/.test(address);
}
