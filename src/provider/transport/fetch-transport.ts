import { ReadableStream as NodeStream } from 'node:stream/web';
import { disconnectError, networkError } from './network-failure.ts';
import { sameOrigin } from './redirect.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** Uses a `fetch` function. In the editor this is VS Code's, which uses the user's proxy and certificates. */
export function fetchTransport(fetch: typeof globalThis.fetch): Transport {
  return sameOrigin({ send: (request) => send(fetch, request) });
}

async function send(fetch: typeof globalThis.fetch, request: TransportRequest): Promise<TransportResponse> {
  const { method, url, headers, body, signal } = request;
  signal.throwIfAborted();
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: { ...headers },
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : bodyInit(body)),
    });
  } catch (thrown) {
    signal.throwIfAborted();
    throw networkError(thrown, url);
  }
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    body: readBody(response, signal),
  };
}

function bodyInit(body: NonNullable<TransportRequest['body']>): RequestInit {
  if (typeof body === 'string') return { body };
  if (body instanceof Uint8Array) return { body: new Uint8Array(body) };
  const init: RequestInit & { duplex: 'half' } = { body: NodeStream.from(body) as ReadableStream, duplex: 'half' };
  return init;
}

async function* readBody(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  let done = false;
  try {
    for (;;) {
      const read = await reader.read();
      if (read.done) break;
      yield read.value;
    }
    done = true;
  } catch (thrown) {
    done = true;
    signal.throwIfAborted();
    throw disconnectError(thrown);
  } finally {
    // If the iteration ends early, `cancel` closes the socket. If `cancel` fails, the socket is closed already.
    if (!done) await reader.cancel().catch(() => undefined);
  }
}
