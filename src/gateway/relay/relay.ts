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

/** What the relay knows of an answer; its request's bytes are counted by who sends them. */
type Relayed = Omit<RelayedAnswer, 'sent' | 'estimate'>;

/**
 * Passes one request through. Rejects with a `SvcError` while nothing was sent to the client (the
 * caller may go to the next upstream); after that it resolves, whatever happens.
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
  #settled = false;
  /** The client reads more slowly than the upstream writes. */
  #paused = false;
  #headers: IncomingHttpHeaders = {};
  /** The body of an error or of a whole answer, decoded, and its bytes. */
  readonly #collected: Buffer[] = [];
  #held = 0;
  #cutter: FrameSplitter | undefined;
  /** What came of a stream since it was last looked at, within this turn of the event loop. */
  #gathered: Buffer[] = [];
  #decoder: Transform | undefined;
  /** The connection broke; what had come before is still being undone. */
  #broken: SvcError | undefined;
  #ended = false;
  /** More than white space came of the body. */
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
    if (this.#settled) controller.abort(new Error('The client went away.'));
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

  /** An upstream that compresses unasked; the client may not read it, and neither can a tap. */
  #decode(encoding: string): void {
    let decoder: Transform;
    try {
      decoder = contentDecoder(encoding, this.#request.model.provider);
    } catch (thrown) {
      return this.#fail(asSvcError(thrown));
    }
    this.#decoder = decoder;
    decoder.on('data', (chunk: Buffer) => this.#take(chunk));
    decoder.on('end', () => (this.#broken ? this.#fail(this.#broken) : this.#end()));
    decoder.on('error', (thrown) => this.#fail(this.#broken ?? disconnectError(thrown)));
    decoder.on('drain', () => this.#resume());
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#received += chunk.length;
    if (this.#firstByteMs === 0) this.#firstByteMs = performance.now() - this.#sentAt;
    this.#expectMore();
    if (this.#decoder === undefined) this.#take(chunk);
    else if (!this.#decoder.write(chunk)) this.#pause();
  }

  #take(chunk: Buffer): void {
    if (this.#settled) return;
    if (this.#cutter === undefined && !this.#startsStream(chunk)) return this.#collect(chunk);
    // One read of the upstream's socket has many frames when they come fast: they are looked at and sent together.
    if (this.#gathered.push(chunk) === 1) process.nextTick(this.#passGathered);
  }

  readonly #passGathered = (): void => {
    const gathered = this.#gathered;
    if (gathered.length === 0 || this.#settled) return;
    this.#gathered = [];
    const frames = this.#cut(gathered.length === 1 && gathered[0] ? gathered[0] : Buffer.concat(gathered));
    if (this.#settled) return;
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
      // An error that comes first is still an error with a status of its own.
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
    // A slow reader is no silence of the upstream.
    this.#limits.stop();
    this.#controller?.pause();
  }

  #resume(): void {
    if (!this.#paused || this.#settled || this.#context.response.writableNeedDrain) return;
    // A few bytes that are compressed may be many for the client: it drains before more of them is undone.
    this.#decoder?.resume();
    if (this.#decoder?.writableNeedDrain) return;
    this.#paused = false;
    this.#expectMore();
    this.#controller?.resume();
  }

  #expectMore(frames?: Buffer): void {
    if (this.#paused || this.#settled || this.#ended) return;
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
    if (this.#settled) return;
    if (this.#decoder) return void this.#decoder.end();
    if (this.#cutter) return this.#end();
    this.#limits.stop();
    this.#context.turn.later(() => this.#end());
  }

  #end(): void {
    this.#passGathered();
    if (this.#settled) return;
    this.#ended = true;
    this.#limits.stop();
    try {
      if (this.#cutter) return this.#endStream(this.#cutter);
      const body = this.#collected.length === 1 ? this.#collected[0] : Buffer.concat(this.#collected);
      this.#endWhole(body ?? Buffer.alloc(0));
    } catch (thrown) {
      // Called by timers and sockets: what a provider sent must not end the process.
      this.#fail(asSvcError(thrown));
    }
  }

  #endStream(cutter: FrameSplitter): void {
    const { response } = this.#context;
    const { transform } = this.#request;
    const rest = cutter.rest();
    if (rest) this.#passFrames(Buffer.concat([rest, BLANK_LINE]));
    if (this.#settled) return;
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

  /** Errors are cleaned of all that may be a credential, the rest of what certainly is one. */
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
        const said = withoutCredentials(this.#contentType, this.#request.target.headers);
        const type = anyBody === true && said !== '' ? said : 'application/json';
        this.#context.sendBytes(200, transform.whole(body), { 'content-type': type });
      }
    } catch (thrown) {
      return this.#fail(asSvcError(thrown));
    }
    this.#finish('complete');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#settled) return;
    this.#broken = this.#status === 0 ? networkError(error, this.#request.target.origin) : disconnectError(error);
    if (this.#decoder) this.#decoder.end();
    else this.#fail(this.#broken);
  }

  /** Before output the caller is told; after it the client is, in its own format. */
  #fail(failure: SvcError): void {
    this.#passGathered();
    if (this.#settled) return;
    const error = cleanError(ofProvider(failure, this.#request.model.provider), this.#request.target.headers);
    const { response } = this.#context;
    if (!response.headersSent) {
      this.#settle();
      this.#controller?.abort(error);
      this.#reject(error);
      return;
    }
    try {
      response.end(this.#request.transform.fail(error));
    } catch {
      // What the provider sent can't be written in the client's format: the answer breaks off.
      response.destroy();
    }
    this.#finish('failed', error);
    this.#controller?.abort(error);
  }

  readonly #clientClosed = (): void => {
    if (this.#settled) return;
    // Settled first: aborting calls back at once.
    this.#finish('client-gone');
    this.#controller?.abort(new Error('The client went away.'));
  };

  #finish(outcome: Relayed['outcome'], error?: SvcError): void {
    this.#settle();
    const { transform } = this.#request;
    const unsent = outcome === 'complete' ? 0 : this.#unsentCharacters();
    const { usage, model: answeredBy } = transform;
    const characters = unsent + (outcome !== 'complete' || !usage?.output ? transform.characters : 0);
    const [firstByteMs, received] = [this.#firstByteMs, this.#received];
    this.#resolve({ usage, characters, answeredBy, outcome, error, firstByteMs, received });
  }

  /** What came and was not passed on when a stream broke off; of an answer that is not streamed, all of it. */
  #unsentCharacters(): number {
    const cutter = this.#cutter;
    if (cutter === undefined) return this.#held;
    const gathered = Buffer.concat(this.#gathered);
    this.#gathered = [];
    const frames = cutter.push(gathered);
    const rest = cutter.rest();
    try {
      // Its usage may be among it.
      if (frames !== undefined) this.#request.transform.pass(frames);
    } catch {
      // The failure that ended the stream is the one that is told.
    }
    return rest === undefined ? 0 : countText(rest);
  }

  #settle(): void {
    this.#settled = true;
    this.#limits.stop();
    this.#decoder?.destroy();
    this.#context.response.off('close', this.#clientClosed);
  }
}

const BLANK_LINE = Buffer.from('\n\n');
