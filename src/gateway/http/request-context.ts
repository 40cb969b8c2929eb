import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorBody } from '../../wire/errors/error-body.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { FormatName } from '../../wire/format-name.ts';
import type { HeldBodies } from './body-memory.ts';
import type { TickBatch } from './tick-batch.ts';

/** What becomes known of a request on its way. */
export interface LogFields {
  /** The path of its route. */
  route?: string;
  key?: string;
  organization?: string;
  model?: string;
  errorType?: string;
}

/** Milliseconds that a refused body is still read for, so that its sender gets to the answer. */
const LINGER_MS = 2_000;
/** Up to this size an answer is cheaper as one text with its head than as a second buffer. */
const SMALL_BODY = 16 * 1024;

/** Proxies in front must not gather a stream up. */
const STREAM_HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** On every answer: no page may load it as a script, an image or a document of another type. */
export const PAGE_GUARD_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const;
const GUARD: readonly string[] = Object.entries(PAGE_GUARD_HEADERS).flat();

/** One request and its answer, with what every route needs of them. */
export class RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Where work waits for the rest of what was read with it. */
  readonly turn: TickBatch;
  /** What it holds in memory. */
  readonly held: HeldBodies;
  /** On every answer as `x-request-id` and in every log line. */
  readonly id: string;
  /** Path without the query, as it came. */
  readonly path: string;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt = performance.now();
  /** Whose error shape the client reads. */
  format: FormatName | undefined;
  /** What the log and the metrics say of it. */
  readonly facts: LogFields = {};
  /** On every answer, besides its own: names and values by turns, as they are written in one go. */
  readonly #headers: string[];

  constructor(request: IncomingMessage, response: ServerResponse, turn: TickBatch, held: HeldBodies, id: string) {
    this.request = request;
    this.held = held;
    this.response = response;
    this.turn = turn;
    this.id = id;
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    this.path = query < 0 ? url : url.slice(0, query);
    this.#headers = ['x-request-id', this.id, ...GUARD];
  }

  /** Headers that the answer gets whatever it will be. */
  addHeaders(headers: Readonly<Record<string, string>>): void {
    for (const name in headers) this.#headers.push(name, headers[name] ?? '');
  }

  /** The head of the answer; the only place that writes one. */
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): ServerResponse {
    for (const name in headers) this.#headers.push(name, String(headers[name]));
    return this.response.writeHead(status, this.#headers);
  }

  writeStreamHead(): ServerResponse {
    return this.writeHead(200, STREAM_HEAD);
  }

  /** A header as one string; several of one name are no header of ours. */
  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  get query(): URLSearchParams {
    const url = this.request.url ?? '/';
    const at = url.indexOf('?');
    return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  }

  sendJson(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.sendBytes(status, Buffer.from(JSON.stringify(value)), { 'content-type': 'application/json', ...headers });
  }

  sendBytes(status: number, body: Buffer, headers: Readonly<Record<string, string>>): void {
    if (this.response.headersSent || this.response.destroyed) return;
    const response = this.writeHead(status, { ...headers, 'content-length': body.length });
    // Each byte is one character of Latin-1 and comes out as it went in.
    if (body.length <= SMALL_BODY) response.end(body.toString('latin1'), 'latin1');
    else response.end(body);
  }

  /** An error before any output. After output, the route's own format says it in the stream. */
  sendError(error: SvcError): void {
    this.facts.errorType = error.errorType;
    const headers: Record<string, string> = {};
    if (error.status === 401) headers['www-authenticate'] = 'Bearer';
    if (error.retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(error.retryAfterMs / 1000));
    const body = errorBody(error, this.format);
    if (this.request.complete) this.sendJson(error.status, body, headers);
    else this.#sendBeforeEnd(error.status, Buffer.from(JSON.stringify(body)), headers);
  }

  /**
   * An answer to a request that is still being sent. The rest of it would be taken for the next request, so
   * the connection ends; closed at once it would be reset, and the client would not see the answer.
   */
  #sendBeforeEnd(status: number, body: Buffer, headers: Record<string, string>): void {
    const { request, response } = this;
    if (response.headersSent || response.destroyed) return;
    this.writeHead(status, {
      'content-type': 'application/json',
      ...headers,
      connection: 'close',
      'content-length': body.length,
    });
    response.write(body);
    const end = () => {
      clearTimeout(timer);
      response.end();
    };
    const timer = setTimeout(end, LINGER_MS);
    request.on('data', () => undefined);
    request.once('end', end).once('close', end).resume();
  }
}
