import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { LocalOnly } from '../../config/settings/settings.ts';
import { singleHeader } from '../answer-start.ts';
import { contentDecoder, isEncoded } from './content-decoder.ts';
import { RestrictedDispatcher } from './local-only.ts';
import { disconnectError, networkError } from './network-failure.ts';
import { ProxyDispatcher, readProxies } from './proxies.ts';
import { sameOrigin } from './redirect.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { Agent, Pool } from './undici.ts';

export interface UndiciTransport extends Transport {
  /** The connection pool, for callers that forward bytes themselves. */
  readonly dispatcher: Dispatcher;
  /** Sends requests only to this machine and the listed networks from now on; `undefined`: to any address. */
  restrict(localOnly: LocalOnly | undefined): void;
  /** For libraries that expect the platform's `fetch`. */
  readonly fetch: typeof globalThis.fetch;
  /** Closes idle connections, then those in use when their answers are done. */
  close(): Promise<void>;
}

export interface UndiciOptions {
  /** Contains HTTP_PROXY, HTTPS_PROXY and NO_PROXY; default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** As for `restrict`. */
  readonly localOnly?: LocalOnly | undefined;
  /** Milliseconds for which a connection gets requests. Read when an origin gets its first request. Default: no limit. */
  readonly connectionAge?: () => number;
}

const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Uses undici's agent. Connections are kept open. HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read at the start; Node
 * itself reads NODE_EXTRA_CA_CERTS. undici's time limits are off because the caller enforces its own.
 *
 * @throws SvcError configuration_error for a variable that is not the address of a proxy.
 */
export function undiciTransport(options: UndiciOptions = {}): UndiciTransport {
  const agent = {
    // Each open stream occupies a connection. With a limit, further requests would wait for the end of a stream.
    connections: null,
    pipelining: 1,
    keepAliveTimeout: 60_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  };
  const proxies = readProxies(options.env ?? process.env);
  const { connectionAge } = options;
  const factory = (origin: string | URL, pool: object) =>
    // For requests through a proxy, undici passes on only a part of the options.
    new Pool(origin, { ...agent, ...pool, clientTtl: connectionAge?.() ?? null });
  const pooled = { ...agent, ...(connectionAge === undefined ? {} : { factory }) };
  const direct = new Agent(pooled);
  // Without a proxy, no request pays for the check.
  const open = proxies === undefined ? direct : new ProxyDispatcher(direct, pooled, proxies);
  const create = (connect: NonNullable<Agent.Options['connect']>) => new Agent({ ...pooled, connect });
  const dispatcher = new RestrictedDispatcher(open, create, CONNECT_TIMEOUT_MS);
  dispatcher.restrict(options.localOnly);
  const followed = sameOrigin({ send: (request) => send(dispatcher, request) });
  return {
    send: followed.send,
    dispatcher,
    restrict: (localOnly) => dispatcher.restrict(localOnly),
    // Node's fetch accepts undici's dispatchers (nodejs.org, "Custom dispatcher"), but its types lack the option.
    fetch: (input, init) => fetch(input, { ...init, dispatcher } as RequestInit),
    close: () => dispatcher.close(),
  };
}

async function send(dispatcher: Dispatcher, request: TransportRequest): Promise<TransportResponse> {
  const { method, url, headers, body, signal } = request;
  signal.throwIfAborted();
  let response: Dispatcher.ResponseData;
  try {
    const { origin, pathname, search } = new URL(url);
    const sent = body === undefined ? null : toUndiciBody(body);
    response = await dispatcher.request({ origin, path: pathname + search, method, headers, body: sent, signal });
  } catch (thrown) {
    signal.throwIfAborted();
    throw networkError(thrown, url);
  }
  return {
    status: response.statusCode,
    header: (name) => singleHeader(response.headers[name]),
    body: readBody(decoded(response), response, signal),
  };
}

/** @throws SvcError for an unknown encoding. */
function decoded({ body, headers }: Dispatcher.ResponseData): AsyncIterable<Uint8Array> {
  const encoding = singleHeader(headers['content-encoding']);
  if (!isEncoded(encoding)) return body;
  try {
    const decoder = contentDecoder(encoding);
    body.on('error', (error) => decoder.destroy(error));
    // If the iteration ends early, the decoder is destroyed. `readBody` destroys the body.
    return body.pipe(decoder);
  } catch (thrown) {
    body.on('error', () => undefined).destroy();
    throw thrown;
  }
}

function toUndiciBody(body: NonNullable<TransportRequest['body']>): string | Uint8Array | Readable {
  return typeof body === 'string' || body instanceof Uint8Array ? body : Readable.from(body);
}

async function* readBody(
  body: AsyncIterable<Uint8Array>,
  response: Dispatcher.ResponseData,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of body) yield bytes;
  } catch (thrown) {
    signal.throwIfAborted();
    throw disconnectError(thrown);
  } finally {
    // If the iteration ended early or decoding failed, this closes the socket.
    if (!response.body.destroyed) response.body.on('error', () => undefined).destroy();
  }
}
