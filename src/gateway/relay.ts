import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { disconnectError, networkError } from '../provider/network-failure.ts';
import { asGatewayError, GatewayError } from '../wire/errors.ts';
import type { Usage } from '../wire/event.ts';
import { vendorError } from '../wire/vendor-errors.ts';
import type { AnswerTap } from './answer-tap.ts';
import type { Exchange } from './exchange.ts';
import { FrameCutter } from './frame-cutter.ts';

/** One upstream request and what its answer goes through. */
export interface RelayRequest {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly tap: AnswerTap;
  readonly provider: string;
  /** The credential is the caller's own (spec 5.5). */
  readonly byok: boolean;
  /** Milliseconds until the first byte of the body; false: no limit. */
  readonly timeout: number | false;
  /** Milliseconds between pieces of a stream. */
  readonly chunkTimeout?: number;
}

export interface RelayOutcome {
  readonly usage: Usage | undefined;
  /** How it ended after the head was sent. */
  readonly ended: 'complete' | 'client-gone' | 'failed';
  readonly error?: GatewayError;
  /** Milliseconds from the request to the first byte of its body. */
  readonly firstByteMs: number;
}

const MAX_ERROR_BODY = 1024 * 1024;

/**
 * Passes one request through. Rejects with a `GatewayError` while nothing was sent to the client (the
 * caller may go to the next upstream); after that it resolves, whatever happens.
 */
export function relay(exchange: Exchange, request: RelayRequest): Promise<RelayOutcome> {
  return new Promise((resolve, reject) => {
    const handler = new RelayHandler(exchange, request, resolve, reject);
    const { origin, path, headers, body } = request;
    request.dispatcher.dispatch({ origin, path, method: 'POST', headers, body }, handler);
  });
}

class RelayHandler implements Dispatcher.DispatchHandler {
  readonly #exchange: Exchange;
  readonly #request: RelayRequest;
  readonly #resolve: (outcome: RelayOutcome) => void;
  readonly #reject: (error: GatewayError) => void;
  readonly #sentAt = performance.now();
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #status = 0;
  #contentType = '';
  #encoding: string | undefined;
  #firstByteMs = 0;
  #settled = false;
  /** The body of an error or of a whole answer. */
  #collected: Buffer[] = [];
  #collectedLength = 0;
  #cutter: FrameCutter | undefined;

  constructor(
    exchange: Exchange,
    request: RelayRequest,
    resolve: (outcome: RelayOutcome) => void,
    reject: (error: GatewayError) => void,
  ) {
    this.#exchange = exchange;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    exchange.response.once('close', this.#clientClosed);
    if (request.timeout !== false) this.#limit(request.timeout, 'before its first byte');
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('The client went away.'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#contentType = headers['content-type'] ?? '';
    this.#encoding = headers['content-encoding'];
    this.#headers = headers;
    if (this.#streaming) {
      this.#cutter = new FrameCutter();
    }
  }
  #headers: IncomingHttpHeaders = {};

  get #streaming(): boolean {
    return this.#status === 200 && this.#contentType.startsWith('text/event-stream') && this.#encoding === undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    if (this.#firstByteMs === 0) {
      this.#firstByteMs = performance.now() - this.#sentAt;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    if (!this.#cutter) return this.#collect(controller, chunk);
    if (this.#request.chunkTimeout !== undefined) this.#limit(this.#request.chunkTimeout, 'between two events');
    const frames = this.#cutter.push(chunk);
    if (frames) this.#passFrames(controller, frames);
  }

  #passFrames(controller: Dispatcher.DispatchController, frames: Buffer): void {
    const { response } = this.#exchange;
    const { tap } = this.#request;
    const passed = tap.pass(frames);
    if (!response.headersSent) {
      // An error that comes first is still an error with a status of its own.
      const early = tap.firstError();
      if (early) return this.#fail(early);
      response.writeHead(200, STREAM_HEAD);
    }
    if (passed.length > 0 && !response.write(passed)) {
      controller.pause();
      response.once('drain', () => controller.resume());
    }
  }

  #collect(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#collectedLength += chunk.length;
    if (this.#status !== 200 && this.#collectedLength > MAX_ERROR_BODY) {
      controller.abort(new Error('The error body is too large.'));
      return;
    }
    this.#collected.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    if (this.#cutter) return this.#endStream(this.#cutter);
    const body = this.#collected.length === 1 ? this.#collected[0] : Buffer.concat(this.#collected);
    this.#endWhole(body ?? Buffer.alloc(0));
  }

  #endStream(cutter: FrameCutter): void {
    const { response } = this.#exchange;
    const { tap } = this.#request;
    const rest = cutter.rest();
    if (rest) {
      const passed = tap.pass(Buffer.concat([rest, Buffer.from('\n\n')]));
      if (!response.headersSent) response.writeHead(200, STREAM_HEAD);
      response.write(passed);
    }
    if (!response.headersSent) return this.#fail(emptyAnswer(this.#request.provider));
    response.end(tap.end());
    this.#finish({ usage: tap.usage, ended: 'complete', firstByteMs: this.#firstByteMs });
  }

  #endWhole(body: Buffer): void {
    const { provider, byok, tap } = this.#request;
    if (this.#status >= 400 || this.#status < 200 || this.#status >= 300) {
      const header = (name: string) => single(this.#headers[name]);
      return this.#fail(vendorError({ provider, status: this.#status, header, bodyText: body.toString('utf8'), byok }));
    }
    if (this.#encoding === undefined && !looksLikeJson(body)) return this.#fail(notJson(provider, this.#contentType));
    let passed: Buffer;
    try {
      passed = this.#encoding === undefined ? tap.whole(body) : body;
    } catch (thrown) {
      return this.#fail(asGatewayError(thrown));
    }
    const head: Record<string, string> = { 'content-type': this.#contentType || 'application/json' };
    if (this.#encoding !== undefined) head['content-encoding'] = this.#encoding;
    this.#exchange.sendBytes(200, passed, head);
    this.#finish({ usage: tap.usage, ended: 'complete', firstByteMs: this.#firstByteMs });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#settled) return;
    const failure = this.#status === 0 ? networkError(error, this.#request.origin) : disconnectError(error);
    this.#fail(failure);
  }

  /** Before output the caller is told; after it the client is, in its own format. */
  #fail(error: GatewayError): void {
    if (this.#settled) return;
    const { response } = this.#exchange;
    if (!response.headersSent) {
      this.#settle();
      this.#controller?.abort(error);
      this.#reject(error);
      return;
    }
    response.end(this.#request.tap.fail(error));
    this.#controller?.abort(error);
    this.#finish({ usage: this.#request.tap.usage, ended: 'failed', error, firstByteMs: this.#firstByteMs });
  }

  readonly #clientClosed = (): void => {
    if (this.#settled) return;
    this.#controller?.abort(new Error('The client went away.'));
    this.#finish({ usage: this.#request.tap.usage, ended: 'client-gone', firstByteMs: this.#firstByteMs });
  };

  #limit(milliseconds: number, where: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(timedOut(this.#request.provider, milliseconds, where)), milliseconds);
  }

  #finish(outcome: RelayOutcome): void {
    this.#settle();
    this.#resolve(outcome);
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#exchange.response.off('close', this.#clientClosed);
  }
}

/** Proxies in front must not gather a stream up. */
export const STREAM_HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function looksLikeJson(body: Buffer): boolean {
  for (const byte of body) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
    return byte === 0x7b;
  }
  return false;
}

function emptyAnswer(provider: string): GatewayError {
  return new GatewayError({
    status: 503,
    errorType: 'upstream_invalid_response',
    message: `${provider} closed the stream without an event.`,
    retryable: true,
    provider,
  });
}

function notJson(provider: string, contentType: string): GatewayError {
  return new GatewayError({
    status: 503,
    errorType: 'upstream_invalid_response',
    message: `${provider} answered with ${contentType || 'no content type'} instead of JSON.`,
    action: 'Check the base URL of this provider.',
    provider,
  });
}

function timedOut(provider: string, milliseconds: number, where: string): GatewayError {
  return new GatewayError({
    status: 503,
    errorType: 'upstream_timeout',
    message: `${provider} was silent for ${milliseconds} ms ${where}.`,
    retryable: true,
    provider,
  });
}
