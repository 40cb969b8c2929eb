import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorBody } from '../wire/errors/error-body.ts';
import { asSvcError, type ErrorType, SvcError } from '../wire/errors/svc-error.ts';
import type { Administration } from './admin/call.ts';
import type { Inference } from './dispatch/pipeline.ts';
import { BodyMemory, defaultBodyBytes } from './http/body-memory.ts';
import { ConnectionLimit, readFileLimits } from './http/connection-limit.ts';
import { checkOrigin, corsHeaders } from './http/origin-check.ts';
import { withoutKeys } from './http/redact-path.ts';
import { PAGE_GUARD_HEADERS, RequestContext } from './http/request-context.ts';
import { RequestIds } from './http/request-ids.ts';
import { type LazyRoutes, Router, unknownPath } from './http/router.ts';
import { TickBatch } from './http/tick-batch.ts';
import { describeThisHealth } from './operations/health-report.ts';
import { LivePeers } from './operations/live-peers.ts';
import { describeThisReplica } from './operations/presence.ts';
import { type AdminPage, adminPageRoutes } from './routes/admin-page-route.ts';
import { catalogRoutes } from './routes/catalog-routes.ts';
import { compactRoute } from './routes/compact-route.ts';
import { countTokensRoutes } from './routes/count-tokens-routes.ts';
import { editRoute } from './routes/edit-route.ts';
import { embeddingsRoute } from './routes/embeddings-route.ts';
import { fimRoute } from './routes/fim-route.ts';
import { inferenceRoutes } from './routes/inference-routes.ts';
import { type Operation, operationRoutes } from './routes/operation-routes.ts';
import { transcriptionRoute } from './routes/transcription-route.ts';
import type { Peers } from './shared-state.ts';
import { KeptItems } from './state/kept-items.ts';
import { storableText } from './state/ledger-columns.ts';

// `import` reads all exports of the module, and one of them loads Node's own copy of undici. That takes a third of the
// time from the start to the first answer.
const { createServer } = process.getBuiltinModule('node:http');

/** Paths that balancers and monitors ask for. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export interface Gateway {
  /** Address with the actual port, such as `http://127.0.0.1:4180`. */
  readonly url: string;
  /**
   * Says that it is not ready, and accepts requests for `delayMs`, so that balancers can notice it.
   *
   * @param replaced another process takes over at the same address: only clients are asked for other connections.
   */
  announceClose(delayMs: number, hurry?: AbortSignal, replaced?: boolean): Promise<void>;
  /**
   * Refuses new requests, waits up to `drainMs` or until `cut` fires for active requests, then closes their
   * connections. Resolves with the number of those when the ledger has the usage of all requests.
   */
  close(drainMs?: number, cut?: AbortSignal): Promise<number>;
}

/** All parts of a gateway, for the routes. */
export type GatewayParts = Inference &
  Administration &
  Omit<Operation, 'adminPaths'> &
  AdminPage & { readonly peers?: Peers | undefined };

export interface Listen {
  readonly host: string;
  readonly port: number;
  /** Milliseconds to receive the head of a request, default 20,000. */
  readonly headersTimeout?: number;
  /** Milliseconds to receive a whole request, default 120,000. */
  readonly requestTimeout?: number;
}

const DRAIN_MS = 10_000;
/** Maximum time to wait for the accounting of requests whose connections were closed. */
const ACCOUNTING_MS = 2_000;

/** Starts the HTTP API (spec 4). */
export async function startGateway(deps: GatewayParts, listen: Listen): Promise<Gateway> {
  let closing = false;
  const kept = new KeptItems();
  const routes = [
    ...inferenceRoutes(deps, kept),
    compactRoute(deps, kept),
    ...countTokensRoutes(deps),
    fimRoute(deps),
    editRoute(deps),
    embeddingsRoute(deps),
    transcriptionRoute(deps),
    ...catalogRoutes(deps),
    ...operationRoutes({ ...deps, adminPaths }, () => !deps.presence.draining),
    ...adminPageRoutes(deps),
  ];
  const router = new Router(routes, [lazyAdmin(deps)]);
  deps.metrics.watchMembers(() => deps.pools.health.report());
  const headersTimeout = listen.headersTimeout ?? 20_000;
  const server = createServer({
    headersTimeout,
    requestTimeout: listen.requestTimeout ?? 120_000,
    connectionsCheckingInterval: Math.min(5_000, headersTimeout / 2),
    keepAliveTimeout: 65_000,
    noDelay: true,
  });
  const tickBatch = new TickBatch(() => deps.metrics.active > 1);
  const ids = new RequestIds();
  const memory = new BodyMemory(() => deps.settings().gateway.maxBufferedBytes ?? defaultBodyBytes());
  const connections = new ConnectionLimit(
    readFileLimits(),
    plainAnswer('503 Service Unavailable', tooManyConnections()),
  );
  connections.watch(server);
  server.on('request', (request, response) => {
    // A balancer must not send its next request on a connection that is about to be closed.
    const refused = connections.isRefused(request.socket);
    if (closing || refused) response.shouldKeepAlive = false;
    const context = new RequestContext(request, response, tickBatch, memory.share(), ids.next());
    void serve(deps, refused ? REFUSING : router, context);
  });
  server.on('clientError', refuseBroken);
  await listenOn(server, listen)
    .catch((thrown: NodeJS.ErrnoException) => {
      // A machine without IPv6.
      if (thrown.code === 'EAFNOSUPPORT' && listen.host === '::')
        return listenOn(server, { ...listen, host: '0.0.0.0' });
      throw thrown;
    })
    .catch((thrown: NodeJS.ErrnoException) => {
      throw notListening(thrown, listen);
    });
  const { port, address } = server.address() as AddressInfo;
  const host = listen.host === '::' ? address : listen.host;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  deps.presence.address = url;
  if (deps.peers !== undefined) joinPeers(deps, deps.peers);
  return {
    url,
    announceClose: async (delayMs, hurry, replaced = false) => {
      deps.presence.draining = !replaced;
      closing = true;
      if (delayMs > 0) await sleep(delayMs, undefined, { ...(hurry ? { signal: hurry } : {}) }).catch(() => undefined);
    },
    close: (drainMs, cut) => {
      deps.presence.draining = true;
      closing = true;
      deps.live.close();
      return drain(server, deps, drainMs ?? DRAIN_MS, cut);
    },
  };
}

function joinPeers(deps: GatewayParts, peers: Peers): void {
  const live = new LivePeers(deps.live);
  peers.join({
    report: () =>
      JSON.stringify(
        { ...describeThisReplica(deps), health: describeThisHealth(deps), live: live.report() },
        // Peers of an earlier release let Postgres read it as JSON.
        (_, value: unknown) => (typeof value === 'string' ? storableText(value) : value),
      ),
    read: (facts) => live.read(facts),
  });
}

async function adminPaths(): Promise<Readonly<Record<string, object>>> {
  const openApi = await import('./admin/openapi.ts');
  return openApi.adminPaths();
}

/** The admin API. Most gateways do not turn it on. */
function lazyAdmin(deps: Administration): LazyRoutes {
  let router: Router | undefined;
  return {
    prefix: '/admin/v1/',
    load: async (context) => {
      if (deps.settings().gateway.admin === undefined) throw unknownPath(context.path);
      context.addHeaders({ 'cache-control': 'no-store' });
      const { adminRoutes } = await import('./admin/admin.ts');
      router ??= new Router(adminRoutes(deps));
      return router;
    },
  };
}

/** For connections that are too many. */
const REFUSING: Pick<Router, 'find'> = {
  find: () => {
    throw tooManyConnections();
  },
};

function tooManyConnections(): SvcError {
  return new SvcError({
    errorType: 'temporarily_unavailable',
    message: 'The gateway has as many connections as it can have open files.',
    action: 'Try again soon, or raise the limit of open files of the gateway (ulimit -n).',
    retryable: true,
    retryAfterMs: 1_000,
  });
}

async function serve(
  deps: Pick<GatewayParts, 'settings' | 'keys' | 'metrics' | 'log'>,
  router: Pick<Router, 'find'>,
  context: RequestContext,
): Promise<void> {
  const { request, response } = context;
  deps.metrics.active += 1;
  try {
    checkOrigin(context, deps.settings().gateway);
    if (context.header('origin') !== undefined) {
      context.addHeaders(corsHeaders(context));
      if (request.method === 'OPTIONS') return preflight(context);
    }
    const found = router.find(context);
    const { route, params } = found instanceof Promise ? await found : found;
    context.logFields.route = route.path;
    context.format = route.format;
    await route.handle(context, params);
  } catch (thrown) {
    const error = asSvcError(thrown);
    // An unknown failure is a defect of the gateway. Its message is logged and not sent to clients.
    if (error.errorType === 'internal_error') {
      const path = withoutKeys(context.path, deps.keys);
      deps.log.error({ id: context.id, path, error: error.cause ?? error.message }, 'internal error');
    }
    // The bodies are not needed for the error.
    context.held.release();
    if (context.answerBegun) response.destroy();
    else context.sendError(error.errorType === 'internal_error' ? internal(context.publicId) : error);
  } finally {
    context.end();
    deps.metrics.active -= 1;
    // The answer stays in memory until a slow client has read it.
    if (response.writableFinished || response.destroyed) context.held.release();
    else response.once('close', () => context.held.release());
    finished(deps, context);
  }
}

function finished(deps: Pick<GatewayParts, 'keys' | 'metrics' | 'log'>, context: RequestContext): void {
  const { logFields, response, request, id, publicId, startedAt } = context;
  const milliseconds = performance.now() - startedAt;
  const status = logFields.errorType === 'client_disconnect' ? 499 : response.statusCode;
  context.record?.end(status);
  deps.metrics.request(logFields.route ?? 'none', status, milliseconds / 1000);
  // A balancer asks each second. A probe that fails is worth a line.
  const probe = status < 400 && PROBES.has(context.path);
  deps.log[probe ? 'debug' : 'info'](
    {
      id,
      clientId: publicId === id ? undefined : publicId,
      method: request.method,
      route: logFields.route ?? withoutKeys(context.path, deps.keys),
      status,
      ms: Math.round(milliseconds * 100) / 100,
      ...logFields,
    },
    'request',
  );
}

function internal(id: string): SvcError {
  return new SvcError({
    errorType: 'internal_error',
    message: `Internal error of the gateway (${id}).`,
    action: 'See the gateway’s log for details.',
  });
}

function preflight(context: RequestContext): void {
  const requestedHeaders = context.request.headers['access-control-request-headers'];
  const response = context.writeHead(204, {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': requestedHeaders ?? 'authorization, content-type',
    'access-control-max-age': '600',
  });
  response.end();
}

const BROKEN: Readonly<Record<string, readonly [status: string, type: ErrorType, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'request_too_large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'invalid_request', 'The request did not arrive in time.'],
};

/** Answers a malformed HTTP request with an error in our format and closes the connection. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, errorType, message] = BROKEN[error.code ?? ''] ?? [
    '400 Bad Request',
    'invalid_request',
    'This is not a valid HTTP request.',
  ];
  const problem = new SvcError({ status: Number.parseInt(status, 10), errorType, message });
  socket.end(plainAnswer(status, problem), () => socket.destroy());
}

/** An error for a connection whose request was not read. */
function plainAnswer(status: string, error: SvcError): string {
  const body = JSON.stringify(errorBody(error));
  const guard = Object.entries(PAGE_GUARD_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return `${head}\r\n${guard.join('')}connection: close\r\n\r\n${body}`;
}

async function drain(
  server: Server,
  deps: Pick<GatewayParts, 'metrics'>,
  limit: number,
  cutSignal?: AbortSignal,
): Promise<number> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  let cut = 0;
  const cutAll = () => {
    cut = deps.metrics.active;
    server.closeAllConnections();
  };
  const timer = setTimeout(cutAll, limit);
  if (cutSignal?.aborted) cutAll();
  else cutSignal?.addEventListener('abort', cutAll, { once: true });
  // `server.close` also waits for connections that become idle after the call.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearTimeout(timer);
  clearInterval(idle);
  cutSignal?.removeEventListener('abort', cutAll);
  await whenAccounted(deps);
  return cut;
}

/** The handler of a request ends shortly after its connection was closed, and counts the usage only then. */
async function whenAccounted({ metrics }: Pick<GatewayParts, 'metrics'>): Promise<void> {
  const until = performance.now() + ACCOUNTING_MS;
  while (metrics.active > 0 && performance.now() < until) await sleep(5);
}

function listenOn(server: Server, { host, port }: Listen): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function notListening(error: NodeJS.ErrnoException, { host, port }: Listen): SvcError {
  const taken = error.code === 'EADDRINUSE';
  return new SvcError({
    errorType: 'configuration_error',
    message: taken ? `Port ${port} of ${host} is in use.` : `Can’t listen on ${host}:${port}: ${error.message}.`,
    action: 'Choose another port with --port or gateway.listen.port.',
    cause: error,
  });
}
