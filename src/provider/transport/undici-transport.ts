import { Readable } from 'node:stream';
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { contentDecoder, isEncoded } from './content-decoder.ts';
import { disconnectError, networkError } from './network-failure.ts';
import { sameOrigin } from './redirect.ts';
import { singleHeader } from './single-header.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export interface UndiciTransport extends Transport {
  /** The connections' owner, for callers that stream bytes through on their own. */
  readonly dispatcher: Dispatcher;
  /** For what is written for the platform's `fetch`. */
  readonly fetch: typeof globalThis.fetch;
  /** Closes idle connections, then those in use when their answers are done. */
  close(): Promise<void>;
}

export interface UndiciOptions {
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are, default the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * On undici's agent: connections are kept open, HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured, as they
 * are at the start (NODE_EXTRA_CA_CERTS is Node's own). Time limits are kept by the caller, so undici's are off.
 */
export function undiciTransport(options: UndiciOptions = {}): UndiciTransport {
  const agent = {
    // Each stream that is open holds one: with a limit, the next request would wait until one of them ends.
    connections: null,
    pipelining: 1,
    keepAliveTimeout: 60_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 30_000 },
  };
  const proxies = proxiesOf(options.env ?? process.env);
  // Asking at each request whether there is a proxy costs a twentieth of the gateway's throughput.
  const dispatcher = proxies === undefined ? new Agent(agent) : new EnvHttpProxyAgent({ ...agent, ...proxies });
  const followed = sameOrigin({ send: (request) => send(dispatcher, request) });
  return {
    send: followed.send,
    dispatcher,
    // Node's own takes undici's dispatchers (nodejs.org, "Custom dispatcher"); its types do not say so.
    fetch: (input, init) => fetch(input, { ...init, dispatcher } as RequestInit),
    close: () => dispatcher.close(),
  };
}

/** Lower case goes first, as curl has it. */
function proxiesOf(env: Readonly<Record<string, string | undefined>>) {
  const variable = (name: string) => env[name.toLowerCase()] ?? env[name] ?? '';
  const httpProxy = variable('HTTP_PROXY');
  const httpsProxy = variable('HTTPS_PROXY');
  if (httpProxy === '' && httpsProxy === '') return undefined;
  // Plain http goes to the proxy as it is, as with curl: many let tunnels through to port 443 alone.
  return { httpProxy, httpsProxy, noProxy: variable('NO_PROXY'), proxyTunnel: false };
}

async function send(dispatcher: Dispatcher, request: TransportRequest): Promise<TransportResponse> {
  const { method, url, headers, body, signal } = request;
  signal.throwIfAborted();
  let response: Dispatcher.ResponseData;
  try {
    const { origin, pathname, search } = new URL(url);
    const sent = body === undefined ? null : bodyOf(body);
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

/** @throws SvcError for an encoding that can't be undone. */
function decoded({ body, headers }: Dispatcher.ResponseData): AsyncIterable<Uint8Array> {
  const encoding = singleHeader(headers['content-encoding']);
  if (!isEncoded(encoding)) return body;
  try {
    const decoder = contentDecoder(encoding);
    body.on('error', (error) => decoder.destroy(error));
    // Leaving early destroys the decoder; the body's owner destroys the body.
    return body.pipe(decoder);
  } catch (thrown) {
    body.on('error', () => undefined).destroy();
    throw thrown;
  }
}

function bodyOf(body: NonNullable<TransportRequest['body']>): string | Uint8Array | Readable {
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
    // Left early or decoding failed: destroying is what closes the socket.
    if (!response.body.destroyed) response.body.on('error', () => undefined).destroy();
  }
}
