import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../../base/json.ts';
import { errorBody } from '../../wire/errors/error-body.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { FormatName } from '../../wire/format-name.ts';
import type { Media } from '../../wire/prompt-size.ts';
import type { PriceDemands } from '../dispatch/price-demands.ts';
import type { RequestRecord } from '../telemetry/telemetry.ts';
import type { HeldBodies } from './body-memory.ts';
import { Heartbeat, lateError } from './heartbeat.ts';
import { type RequestLabels, readLabels, TAGS_HEADER } from './request-labels.ts';
import type { TickBatch } from './tick-batch.ts';

/** Facts that determine the cost of a request before it is sent. */
export interface RequestSize {
  readonly bytes: number;
  /** Maximum number of output tokens, if the client limits them. */
  readonly output: number | undefined;
  /** Images, files and audio, if there are any. Their bytes are part of `bytes`. */
  readonly media?: Media | undefined;
  /** Features of the request that have other prices; absent if there are none. */
  readonly demands?: PriceDemands | undefined;
}

/** Fields of the request's log line, set while the request is handled. */
export interface LogFields {
  /** The path of its route. */
  route?: string;
  key?: string;
  organization?: string;
  /** The member of a pool that was tried last. */
  member?: string;
  model?: string;
  /** Sums of all attempts, as the ledger counts them. */
  inputTokens?: number;
  cachedTokens?: number;
  outputTokens?: number;
  costUsd?: number;
  /** Of the last attempt that sent something. */
  firstByteMs?: number;
  errorType?: string;
}

/** An id of a client that can be sent back and logged. */
const CLIENT_ID = /^[\w.:/+=@-]{1,128}$/;

/** Milliseconds for which a refused body is still read, so that the client can read the answer. */
const LINGER_MS = 2_000;
/** Up to this size it is cheaper to write head and body as one string than as two buffers. */
const SMALL_BODY = 16 * 1024;

/** Tells reverse proxies not to buffer a stream. */
const STREAM_HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Sent with every answer. No web page can load an answer as a script, an image or a document of another type. */
export const PAGE_GUARD_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const;
const GUARD: readonly string[] = Object.entries(PAGE_GUARD_HEADERS).flat();

/** One request and its response, with the helpers that all routes share. */
export class RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Runs work together with the work of other requests of the same iteration of the event loop. */
  readonly tickBatch: TickBatch;
  /** The bytes that the request holds in memory. */
  readonly held: HeldBodies;
  /** Unique. Written to the ledger and to each log line. */
  readonly id: string;
  /** The client's own `x-request-id`, else `id`. Sent as `x-request-id`. Clients may send the same one twice. */
  readonly publicId: string;
  /** Path without the query, not decoded. */
  readonly path: string;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt = performance.now();
  /** The format of error bodies that the client expects. */
  format: FormatName | undefined;
  /** Fields for the log and the metrics. */
  readonly logFields: LogFields = {};
  /** The record of the request for telemetry; absent: nothing is recorded. */
  record: RequestRecord | undefined;
  /** The user of the key. */
  keyUser: string | undefined;
  /** Requests to upstreams so far. */
  attempts = 0;
  /** Set when a JSON body was read. */
  size: RequestSize | undefined;
  #labels: RequestLabels | undefined;
  #heartbeat: Heartbeat | undefined;
  /** A part of the answer was sent, beside heartbeats. */
  #begun = false;
  readonly #ended: (() => void)[] = [];
  readonly #warnings = new Set<string>();
  /** Headers of the response, as `writeHead` takes them: names and values alternate. */
  readonly #headers: string[];

  constructor(request: IncomingMessage, response: ServerResponse, tickBatch: TickBatch, held: HeldBodies, id: string) {
    this.request = request;
    this.held = held;
    this.response = response;
    this.tickBatch = tickBatch;
    this.id = id;
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    this.path = query < 0 ? url : url.slice(0, query);
    const named = this.header('x-request-id');
    this.publicId = named !== undefined && CLIENT_ID.test(named) ? named : id;
    this.#headers = ['x-request-id', this.publicId, ...GUARD];
  }

  /** User and tags that the client named in the headers and in the body, if `readLabels` has seen it. */
  get labels(): RequestLabels {
    this.#labels ??= readLabels(this.header(TAGS_HEADER), {});
    return this.#labels;
  }

  readLabels(body: JsonObject): void {
    this.#labels = readLabels(this.header(TAGS_HEADER), body);
  }

  /** Calls `ended` when the request was answered or has failed. */
  onEnd(ended: () => void): void {
    this.#ended.push(ended);
  }

  end(): void {
    this.#heartbeat?.stop();
    for (const ended of this.#ended) ended();
  }

  /** Adds headers to the response, also to an error. */
  addHeaders(headers: Readonly<Record<string, string>>): void {
    for (const name in headers) this.#headers.push(name, headers[name] ?? '');
  }

  /** Sends a warning with the answer (RFC 7234, section 5.5: code 299), once for each text. Control characters are removed. */
  warn(text: string): void {
    const plain = text.replace(/[^\x20-\x7e]|["\\]/g, '').slice(0, 1000);
    if (this.#warnings.has(plain)) return;
    this.#warnings.add(plain);
    this.addHeaders({ warning: `299 svc "${plain}"` });
  }

  /** Whether a part of the answer was sent. Heartbeats before it are no part: another upstream may still answer. */
  get answerBegun(): boolean {
    return this.#begun;
  }

  /** Sends signs of life to a streaming client that gets nothing for a time, until the request ends. */
  startHeartbeat(everyMs: number): void {
    this.#heartbeat ??= new Heartbeat(this, everyMs);
  }

  /** Something was sent to the client. */
  touchHeartbeat(): void {
    this.#heartbeat?.touch();
  }

  beat(text: string): void {
    const { response } = this;
    if (response.destroyed || response.writableEnded || response.writableNeedDrain) return;
    if (!response.headersSent) {
      this.writeStreamHead();
      this.#begun = false;
    }
    response.write(text);
  }

  /** Writes the status and headers. No other code does. */
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): ServerResponse {
    this.#begun = true;
    for (const name in headers) this.#headers.push(name, String(headers[name]));
    return this.response.writeHead(status, this.#headers);
  }

  /** Heartbeats may have written it already. */
  writeStreamHead(): ServerResponse {
    this.#begun = true;
    if (this.response.headersSent) return this.response;
    return this.writeHead(200, STREAM_HEAD);
  }

  /** A header as one string. A header that was sent several times counts as missing. */
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
    // Latin-1 maps each byte to one character and back.
    if (body.length <= SMALL_BODY) response.end(body.toString('latin1'), 'latin1');
    else response.end(body);
  }

  /** Sends an error as the response. After the first output, the error is an event of the stream instead. */
  sendError(error: SvcError): void {
    this.logFields.errorType = error.errorType;
    // Heartbeats have written the head of a stream.
    if (this.response.headersSent) return void this.response.end(lateError(error, this.format, this.id));
    const headers: Record<string, string> = {};
    if (error.status === 401) headers['www-authenticate'] = 'Bearer';
    if (error.retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(error.retryAfterMs / 1000));
    const body = errorBody(error, this.format);
    if (this.request.complete) this.sendJson(error.status, body, headers);
    else this.#sendBeforeEnd(error.status, Buffer.from(JSON.stringify(body)), headers);
  }

  /**
   * Answers a request whose body is not fully read. The rest of the body would be parsed as the next request, so
   * the connection is closed. If it closed at once, it would be reset before the client reads the answer.
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
