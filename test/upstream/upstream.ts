import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Wire } from './answers.ts';
import { ClientReads } from './client-reads.ts';
import type { ReceivedRequest } from './received-request.ts';
import { play } from './scenarios.ts';

export type { ReceivedRequest } from './received-request.ts';

export type Responder = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

export interface Upstream {
  /** `http://127.0.0.1:PORT`, without a slash. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Number of open sockets, to detect leaks. */
  readonly sockets: () => Promise<number>;
  /** Resolves with request number `n` (0-based), now or when it comes. */
  request(n: number): Promise<ReceivedRequest>;
  /** Removes the recorded requests, for long runs. Later requests are counted from 0. */
  forget(): void;
  /** Uses `responder` for all later requests; `undefined` returns to the scenarios. */
  respond(responder: Responder | undefined): void;
  close(): Promise<void>;
}

/** Paths at which local servers tell the window of a model. The gateway and the editor ask them before a request. */
const WINDOW_PATHS = /^\/(?:props|api\/(?:ps|show|v[01]\/models|extra\/)|v1\/model(?:$|\?))/;

/**
 * Starts a simulated provider on a free port of 127.0.0.1.
 *
 * @param tellsWindows the responder answers questions about windows too. Else they get 404 and are not recorded.
 */
export async function startUpstream(responder?: Responder, tellsWindows = false): Promise<Upstream> {
  let current = responder;
  const requests: ReceivedRequest[] = [];
  const waiting: { n: number; resolve: (request: ReceivedRequest) => void }[] = [];
  const occurrences = new Map<string, number>();
  const reads = new ClientReads();
  const server = createServer((incoming, response) => {
    // A test that stops a request resets the socket: that is no failure of the server.
    incoming.on('error', () => undefined);
    response.on('error', () => undefined);
    void receive(incoming, response, { occurrences, reads }).then(
      async (request) => {
        if (!tellsWindows && WINDOW_PATHS.test(request.path)) return void response.writeHead(404).end();
        requests.push(request);
        for (const waiter of waiting) if (waiter.n < requests.length) waiter.resolve(requests[waiter.n] ?? request);
        await (current ?? play)(request, response);
      },
      () => undefined,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    sockets: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
    request: (n) => {
      const present = requests[n];
      if (present) return Promise.resolve(present);
      return new Promise((resolve) => waiting.push({ n, resolve }));
    },
    forget: () => {
      requests.length = 0;
    },
    respond: (next) => {
      current = next;
    },
    close: async () => {
      reads[Symbol.dispose]();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function receive(
  incoming: IncomingMessage,
  response: ServerResponse,
  { occurrences, reads }: { readonly occurrences: Map<string, number>; readonly reads: ClientReads },
): Promise<ReceivedRequest> {
  const closed = new Promise<boolean>((resolve) => response.on('close', () => resolve(!response.writableFinished)));
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const path = incoming.url ?? '/';
  const body = jsonObject(bytes);
  const scenario = scenarioOf(incoming, body);
  const occurrence = (occurrences.get(scenario) ?? 0) + 1;
  occurrences.set(scenario, occurrence);
  const wire = wireOf(path.split('?')[0] ?? '');
  return {
    method: incoming.method ?? '',
    path,
    headers: incoming.headers,
    bytes,
    body,
    wire,
    scenario,
    occurrence,
    closed,
    clientHasRead: (bytes) => reads.wait(incoming.socket.remotePort, bytes),
  };
}

function jsonObject(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function scenarioOf(incoming: IncomingMessage, body: Record<string, unknown>): string {
  const header = incoming.headers['x-scenario'];
  if (typeof header === 'string') return header;
  const model = typeof body.model === 'string' ? /scenario:([\w-]+)/.exec(body.model) : null;
  if (model?.[1] !== undefined) return model[1];
  const said = JSON.stringify(body.messages ?? body.input ?? body.prompt ?? '');
  return [...said.matchAll(/\[\[scenario:([\w-]+)\]\]/g)].at(-1)?.[1] ?? 'text';
}

function wireOf(path: string): Wire {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  if (path.endsWith('/messages')) return 'messages';
  if (path.endsWith('/fim/completions')) return 'fim-mistral';
  if (path.endsWith('/infill')) return 'infill';
  return path.endsWith('/api/generate') ? 'ollama' : 'fim-text';
}
