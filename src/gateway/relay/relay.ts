import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { firstCharacter, isEventStreamType, startsStream } from '../../provider/answer-start.ts';
import { CredentialFilter } from '../../provider/credential-filter.ts';
import { cleanError, errorsWithoutCredentials, withoutCredentials } from '../../provider/echoed-credentials.ts';
import { TimeLimits } from '../../provider/time-limits.ts';
import { contentDecoder, isEncoded } from '../../provider/transport/content-decoder.ts';
import { disconnectError, networkError } from '../../provider/transport/network-failure.ts';
import { singleHeader } from '../../provider/transport/single-header.ts';
import { asSvcError, type SvcError } from '../../wire/errors/svc-error.ts';
import {
  answerTooLarge,
  emptyAnswer,
  MAX_ANSWER_BYTES,
  notJson,
  ofProvider,
  webPage,
} from '../../wire/errors/upstream-errors.ts';
import { vendorError } from '../../wire/errors/vendor-errors.ts';
import { FrameSplitter } from '../../wire/stream/frame-splitter.ts';
import { clientGone } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RelayedAnswer, RelayRequest } from './relay-request.ts';
import { countText } from './streamed-text.ts';

const MAX_ERROR_BODY = 1024 * 1024;

/** The part of `RelayedAnswer` that the relay knows. The sender counts the bytes of the request. */
type Relayed = Omit<RelayedAnswer, 'sent' | 'estimate'>;

/**
 * Sends one request and forwards its answer. Rejects with an `SvcError` if it fails before anything was sent
 * to the client, so that the caller can try the next upstream. After that it always resolves.
 */
export function relay(dispatcher: Dispatcher, context: RequestContext, request: RelayRequest): Promise<Relayed> {
  return new Promise((resolve, reject) => {
    if (context.response.destroyed) {
      reject(clientGone());
      return;
    }
    const handler = new RelayHandler(context, request, resolve, reject);
    const { target, body } = request;
    const { origin, path, headers } = target;
    dispatcher.dispatch({ origin, path, method: 'POST', headers, body }, handler);
  });
}

/** As `relay`, for a body that is in memory. */
export async function relayBody(
  dispatcher: Dispatcher,
  context: RequestContext,
  request: RelayRequest & { readonly body: Buffer },
): Promise<RelayedAnswer> {
  return { ...(await relay(dispatcher, context, request)), sent: request.body.length };
}

class RelayHandler implements Dispatcher.DispatchHandler {
  readonly #context: RequestContext;
  readonly #request: RelayRequest;
  readonly #resolve: (outcome: Relayed) => void;
  readonly #reject: (error: SvcError) => void;
  readonly #sentAt = performance.now();
  readonly #limits: TimeLimits;
  readonly #filter: CredentialFilter;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #contentType = '';
  #firstByteMs = 0;
  #received = 0;
  #closed = false;
  /** True while the upstream is paused because the client reads too slowly. */
  #paused = false;
  #headers: IncomingHttpHeaders = {};
  /** Chunks of the decoded body of an error or of an answer that is not streamed. */
  readonly #collected: Buffer[] = [];
  /** Bytes in `#collected`. */
  #held = 0;
  #cutter: FrameSplitter | undefined;
  /** Chunks of a stream that arrived in this iteration of the event loop and are not processed yet. */
  #gathered: Buffer[] = [];
  #decoder: Transform | undefined;
  /** The connection failed while earlier bytes are still being decoded. */
  #broken: SvcError | undefined;
  #ended = false;
  /** The body has begun with a character other than white space. */
  #begun = false;

  constructor(
    context: RequestContext,
    request: RelayRequest,
    resolve: (outcome: Relayed) => void,
    reject: (error: SvcError) => void,
  ) {
    this.#context = context;
    this.#request = request;
    this.#filter = new CredentialFilter(request.target.headers);
    this.#resolve = resolve;
    this.#reject = reject;
    context.response.once('close', this.#clientClosed);
    this.#limits = new TimeLimits(request.model.endpoint, (error) => this.#fail(error));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#closed) controller.abort(new Error('The client disconnected.'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#contentType = singleHeader(headers['content-type']) ?? '';
    if (status === 200 && isEventStreamType(this.#contentType)) this.#cutter = new FrameSplitter();
    const encoding = singleHeader(headers['content-encoding']);
    if (isEncoded(encoding)) this.#decode(encoding);
  }

  /** Decodes an answer that is compressed although compression was not requested: a transform can't read it. */
  #decode(encoding: string): void {
    let decoder: Transform;
    try {
      decoder = contentDecoder(encoding, this.#request.model.provider);
    } catch (thrown) {
      return this.#fail(asSvcError(thrown));
    }
    this.#decoder = decoder;
    decoder.on('data', (chunk: Buffer) => this.#receive(chunk));
    decoder.on('end', () => (this.#broken ? this.#fail(this.#broken) : this.#end()));
    decoder.on('error', (thrown) => this.#fail(this.#broken ?? disconnectError(thrown)));
    decoder.on('drain', () => this.#resume());
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#closed) return;
    this.#received += chunk.length;
    if (this.#firstByteMs === 0) this.#firstByteMs = performance.now() - this.#sentAt;
    this.#expectMore();
    if (this.#decoder === undefined) this.#receive(chunk);
    else if (!this.#decoder.write(chunk)) this.#pause();
  }

  #receive(chunk: Buffer): void {
    if (this.#closed) return;
    if (this.#cutter === undefined && !this.#startsStream(chunk)) return this.#collect(chunk);
    // A fast upstream sends many frames in one iteration of the event loop. They are processed and sent together.
    if (this.#gathered.push(chunk) === 1) process.nextTick(this.#passGathered);
  }

  readonly #passGathered = (): void => {
    const gathered = this.#gathered;
    if (gathered.length === 0 || this.#closed) return;
    this.#gathered = [];
    const frames = this.#cut(gathered.length === 1 && gathered[0] ? gathered[0] : Buffer.concat(gathered));
    if (this.#closed) return;
    if (frames) this.#passFrames(frames);
    else this.#expectMore();
  };

  #cut(bytes: Buffer): Buffer | undefined {
    const cutter = this.#cutter;
    if (cutter === undefined) return undefined;
    const before = cutter.held;
    const frames = cutter.push(bytes);
    try {
      this.#context.held.add(cutter.held - before);
    } catch (thrown) {
      this.#fail(asSvcError(thrown));
    }
    return frames;
  }

  #startsStream(chunk: Buffer): boolean {
    if (!this.#request.stream || this.#status !== 200 || this.#begun) return false;
    const start = firstCharacter(chunk);
    this.#begun = start !== '';
    if (!startsStream(start)) return false;
    this.#cutter = new FrameSplitter();
    return true;
  }

  #passFrames(frames: Buffer): void {
    const { response } = this.#context;
    const { transform } = this.#request;
    let passed: Buffer;
    try {
      passed = transform.pass(this.#withoutCredentials(frames));
    } catch (thrown) {
      return this.#fail(asSvcError(thrown));
    }
    if (!response.headersSent) {
      // An error before any output can still be sent with its own HTTP status.
      const early = transform.firstError();
      if (early) return this.#fail(early);
      if (passed.length > 0) this.#context.writeStreamHead();
    }
    if (passed.length > 0 && !response.write(passed)) {
      this.#pause();
      this.#decoder?.pause();
      response.once('drain', () => this.#resume());
    }
    this.#expectMore(frames);
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    // The time that a slow client needs does not count as silence of the upstream.
    this.#limits.stop();
    this.#controller?.pause();
  }

  #resume(): void {
    if (!this.#paused || this.#closed || this.#context.response.writableNeedDrain) return;
    // A few compressed bytes can become many. The client must drain before more of them are decoded.
    this.#decoder?.resume();
    if (this.#decoder?.writableNeedDrain) return;
    this.#paused = false;
    this.#expectMore();
    this.#controller?.resume();
  }

  #expectMore(frames?: Buffer): void {
    if (this.#paused || this.#closed || this.#ended) return;
    if (this.#cutter) this.#limits.expectEvent(frames);
    else this.#limits.expectPiece();
  }

  #collect(chunk: Buffer): void {
    const most = this.#status === 200 ? MAX_ANSWER_BYTES : MAX_ERROR_BODY;
    this.#held += chunk.length;
    if (this.#held > most && this.#status === 200) return this.#fail(answerTooLarge());
    if (this.#held > most) return;
    try {
      this.#context.held.add(chunk.length);
    } catch (thrown) {
      return this.#fail(asSvcError(thrown));
    }
    this.#collected.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#closed) return;
    if (this.#decoder) return void this.#decoder.end();
    if (this.#cutter) return this.#end();
    this.#limits.stop();
    this.#context.turn.later(() => this.#end());
  }

  #end(): void {
    this.#passGathered();
    if (this.#closed) return;
    this.#ended = true;
    this.#limits.stop();
    try {
      if (this.#cutter) return this.#endStream(this.#cutter);
      const body = this.#collected.length === 1 ? this.#collected[0] : Buffer.concat(this.#collected);
      this.#endWhole(body ?? Buffer.alloc(0));
    } catch (thrown) {
      // Timers and sockets call this. An exception caused by a provider's data must not end the process.
      this.#fail(asSvcError(thrown));
    }
  }

  #endStream(cutter: FrameSplitter): void {
    const { response } = this.#context;
    const { transform } = this.#request;
    const rest = cutter.rest();
    if (rest) this.#passFrames(Buffer.concat([rest, BLANK_LINE]));
    if (this.#closed) return;
    const { bytes, error } = transform.end();
    if (!response.headersSent) {
      const early =
        transform.firstError() ?? error ?? (bytes.length === 0 ? emptyAnswer(this.#request.model.provider) : undefined);
      if (early) return this.#fail(early);
      this.#context.writeStreamHead();
    }
    response.end(bytes);
    this.#finish(error === undefined ? 'complete' : 'failed', error);
  }

  /** Removes possible credentials from errors and certain credentials from everything else. */
  #withoutCredentials(bytes: Buffer): Buffer {
    return errorsWithoutCredentials(this.#filter.push(bytes), this.#request.target.headers);
  }

  #endWhole(received: Buffer): void {
    const body = errorsWithoutCredentials(this.#filter.whole(received), this.#request.target.headers);
    const { model, byok, transform, stream, anyBody } = this.#request;
    if (this.#status < 200 || this.#status >= 300) {
      const header = (name: string) => singleHeader(this.#headers[name]);
      const bodyText = withoutCredentials(body.toString('utf8'), this.#request.target.headers);
      return this.#fail(vendorError({ provider: model.provider, status: this.#status, header, bodyText, byok }));
    }
    if (anyBody !== true) {
      const start = firstCharacter(body);
      if (start === '<') return this.#fail(webPage(this.#contentType));
      if (start !== '{') return this.#fail(notJson(this.#contentType, body.toString('utf8', 0, 100)));
    }
    try {
      if (stream) {
        const passed = transform.wholeAsStream(body);
        this.#context.writeStreamHead().end(passed);
      } else {
        const declared = anyBody === true ? withoutCredentials(this.#contentType, this.#request.target.headers) : '';
        const type = declared === '' ? 'application/json' : declared;
        this.#context.sendBytes(200, transform.whole(body), { 'content-type': type });
      }
    } catch (thrown) {
      return this.#fail(asSvcError(thrown));
    }
    this.#finish('complete');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#closed) return;
    this.#broken = this.#status === 0 ? networkError(error, this.#request.target.origin) : disconnectError(error);
    if (this.#decoder) this.#decoder.end();
    else this.#fail(this.#broken);
  }

  /** Before any output, rejects. After output, sends the error to the client in the client's format. */
  #fail(failure: SvcError): void {
    this.#passGathered();
    if (this.#closed) return;
    const error = cleanError(ofProvider(failure, this.#request.model.provider), this.#request.target.headers);
    const { response } = this.#context;
    if (!response.headersSent) {
      this.#close();
      this.#controller?.abort(error);
      this.#reject(error);
      return;
    }
    try {
      response.end(this.#request.transform.fail(error));
    } catch {
      // If the transform can't write the error in the client's format, the connection is closed.
      response.destroy();
    }
    this.#finish('failed', error);
    this.#controller?.abort(error);
  }

  readonly #clientClosed = (): void => {
    if (this.#closed) return;
    // `#finish` comes first because `abort` calls back synchronously.
    this.#finish('client-gone');
    this.#controller?.abort(new Error('The client disconnected.'));
  };

  #finish(outcome: Relayed['outcome'], error?: SvcError): void {
    this.#close();
    const { transform } = this.#request;
    const unsent = outcome === 'complete' ? 0 : this.#unsentCharacters();
    const { usage, model: answeredBy } = transform;
    const characters = unsent + (outcome !== 'complete' || !usage?.output ? transform.characters : 0);
    const [firstByteMs, received] = [this.#firstByteMs, this.#received];
    this.#resolve({ usage, characters, answeredBy, outcome, error, firstByteMs, received });
  }

  /** Received characters that were not sent to the client; for an answer that is not streamed, all of them. */
  #unsentCharacters(): number {
    const cutter = this.#cutter;
    if (cutter === undefined) return this.#held;
    const gathered = Buffer.concat(this.#gathered);
    this.#gathered = [];
    const frames = cutter.push(gathered);
    const rest = cutter.rest();
    try {
      // These frames may contain the usage.
      if (frames !== undefined) this.#request.transform.pass(frames);
    } catch {
      // The failure that ended the stream is the one that is reported.
    }
    return rest === undefined ? 0 : countText(rest);
  }

  #close(): void {
    this.#closed = true;
    this.#limits.stop();
    this.#decoder?.destroy();
    this.#context.response.off('close', this.#clientClosed);
  }
}

const BLANK_LINE = Buffer.from('\n\n');
