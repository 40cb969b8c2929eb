import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Oracle } from './oracle.ts';

/** One request as the server saw it; times are milliseconds on its clock. */
export interface Seen {
  readonly arrivedAt: number;
  readonly bytes: number;
  readonly offset: number;
  firstAt?: number;
  endedAt?: number;
  /** The client disconnected before the end. */
  abortedAt?: number;
  /** Counted as if cancelling it saved no tokens. */
  tokens: number;
  tokensSent: number;
  readonly body: Record<string, unknown>;
}

export interface OracleServerOptions {
  readonly oracle: Oracle;
  /** Milliseconds to the first byte. */
  firstMs: number;
  charactersASecond: number;
  /** Set to answer with this status instead. */
  refuse?: { readonly status: number; readonly body: unknown };
}

export interface OracleServer {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** May be changed while it runs. */
  readonly options: OracleServerOptions;
  close(): Promise<void>;
}

const PIECE = 16;

/**
 * The oracle over HTTP, on a free port of 127.0.0.1. `POST …/fim/completions` and `…/completions`
 * answer as Mistral does (`delta.content`), or with `text` where the path has `/text/`.
 */
export async function startOracle(options: OracleServerOptions): Promise<OracleServer> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void answer(request, response, options, seen).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, options, close: () => close(server) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: OracleServerOptions,
  seen: Seen[],
): Promise<void> {
  const text = await bodyOf(request);
  const body: unknown = JSON.parse(text);
  if (typeof body !== 'object' || body === null) throw new Error('No object was sent.');
  const fimRequest = new Map<string, unknown>(Object.entries(body));
  const field = (name: string): string => `${fimRequest.get(name) ?? ''}`;
  const stop = fimRequest.get('stop');
  const result = options.oracle.answer(
    field('prompt'),
    field('suffix'),
    Number(fimRequest.get('max_tokens')),
    Array.isArray(stop) ? stop.map(String) : [],
  );
  const entry: Seen = {
    arrivedAt: performance.now(),
    bytes: Buffer.byteLength(text),
    offset: result.offset,
    tokens: Math.ceil(result.text.length / 4),
    tokensSent: 0,
    body: Object.fromEntries(fimRequest),
  };
  seen.push(entry);
  response.on('close', () => {
    if (!response.writableEnded) entry.abortedAt = performance.now();
  });
  await wait(options.firstMs);
  if (options.refuse !== undefined) {
    entry.tokens = 0;
    response.writeHead(options.refuse.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(options.refuse.body));
    return;
  }
  await stream(request.url?.includes('/text/') === true, response, result.text, entry, options.charactersASecond);
}

async function stream(
  asText: boolean,
  response: ServerResponse,
  text: string,
  entry: Seen,
  charactersASecond: number,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (choice: object, usage?: object): void => {
    response.write(
      `data: ${JSON.stringify({ id: 'o', object: 'fim.completion.chunk', choices: [choice], ...usage })}\n\n`,
    );
  };
  entry.firstAt = performance.now();
  for (let at = 0; at < text.length; at += PIECE) {
    if (response.destroyed) return;
    const piece = text.slice(at, at + PIECE);
    entry.tokensSent += Math.ceil(piece.length / 4);
    send({ index: 0, ...(asText ? { text: piece } : { delta: { content: piece } }), finish_reason: null });
    await wait((PIECE / charactersASecond) * 1_000);
  }
  const usage = { prompt_tokens: 1, completion_tokens: entry.tokens, total_tokens: entry.tokens + 1 };
  send({ index: 0, ...(asText ? { text: '' } : { delta: {} }), finish_reason: 'stop' }, { usage });
  response.end('data: [DONE]\n\n');
  entry.endedAt = performance.now();
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
