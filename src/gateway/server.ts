import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asGatewayError } from '../wire/errors.ts';
import { Exchange } from './exchange.ts';
import { fimRoute } from './fim-route.ts';
import { inferenceRoutes } from './inference-routes.ts';
import { modelsRoute } from './models-route.ts';
import type { GatewayParts } from './parts.ts';
import { Router } from './router.ts';
import { corsHeaders, guardAgainstPages } from './web-guard.ts';

export interface Gateway {
  /** Address with the port that was given, `http://127.0.0.1:4180`. */
  readonly url: string;
  /** Takes no new request, lets the running ones end for `drainMs`, then cuts them. */
  close(drainMs?: number): Promise<void>;
}

const DRAIN_MS = 10_000;

/** Starts the HTTP API (spec 4). */
export async function startGateway(
  parts: GatewayParts,
  listen: { readonly host: string; readonly port: number },
): Promise<Gateway> {
  const router = new Router([...inferenceRoutes(parts), fimRoute(parts), modelsRoute(parts)]);
  const server = createServer({ requestTimeout: 120_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 });
  server.on('request', (request, response) => void serve(parts, router, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return { url: `http://${host}:${port}`, close: (drainMs) => drain(server, drainMs ?? DRAIN_MS) };
}

async function serve(
  parts: GatewayParts,
  router: Router,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange = new Exchange(request, response);
  try {
    guardAgainstPages(exchange, parts.settings().gateway);
    for (const [name, value] of Object.entries(corsHeaders(exchange))) response.setHeader(name, value);
    if (request.method === 'OPTIONS' && exchange.header('origin') !== undefined) return preflight(response);
    const { route, params } = router.find(exchange);
    exchange.format = route.format;
    await route.handle(exchange, params);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.status >= 500) {
      parts.log.error({ id: exchange.id, path: exchange.path, status: error.status, error: error.message }, 'failed');
    }
    exchange.sendError(error);
  }
}

function preflight(response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'authorization, x-api-key, content-type, x-organization-id, anthropic-version',
    'access-control-max-age': '600',
  });
  response.end();
}

async function drain(server: Server, limit: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), limit);
  await closed;
  clearTimeout(cut);
}
