import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { isEventStreamType, singleHeader } from '../../provider/answer-start.ts';
import { cleanError } from '../../provider/echoed-credentials.ts';
import { versionedAlternative } from '../../provider/request/url.ts';
import { TimeLimits } from '../../provider/time-limits.ts';
import { contentDecoder, isEncoded } from '../../provider/transport/content-decoder.ts';
import { disconnectError, networkError } from '../../provider/transport/network-failure.ts';
import { asSvcError, SvcError } from '../../wire/errors/svc-error.ts';
import { answerTooLarge, excessiveAnswer, MAX_ANSWER_BYTES, ofProvider } from '../../wire/errors/upstream-errors.ts';
import type { Frame } from '../../wire/format.ts';
import { NdjsonDecoder } from '../../wire/stream/ndjson.ts';
import { frameText } from '../../wire/stream/sse.ts';
import { clientGone } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import { ClientAnswer } from './client-answer.ts';
import { ReceivedBody } from './received-body.ts';
import type { RelayedAnswer, RelayRequest } from './relay-request.ts';
import { countText } from './streamed-text.ts';

const MAX_ERROR_BODY = 1024 * 1024;
const BLANK_LINE = Buffer.from('\n\n');

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
    const { target, body, attempt } = request;
    const { origin, path } = target;
    const headers = attempt?.headers ? { ...target.headers, ...attempt.headers } : target.headers;
    dispatcher.dispatch({ origin, path, method: 'POST', headers, body }, handler);
  });
}

/**
 * As `relay`, for a body that is in memory. If there is nothing at an address without a path, it is sent to the one below
 * `/v1`, as from the editor (url.ts).
 */
export async function relayBody(
  dispatcher: Dispatcher,
  context: RequestContext,
  request: RelayRequest & { readonly body: Buffer },
): Promise<RelayedAnswer> {
  const sent = request.body.length;
  try {
    return { ...(await relay(dispatcher, context, request)), sent };
  } catch (thrown) {
    const { target, model } = request;
    const other = isNothingThere(thrown) ? versionedAlternative(model.endpoint, target.path) : undefined;
    if (other === undefined) throw thrown;
    const { pathname, search } = new URL(other.url);
    const moved = { ...request, target: { ...target, path: pathname + search } };
    const answer = await relay(dispatcher, context, moved).catch((again: unknown) => {
      throw isNothingThere(again) ? thrown : again;
    });
    other.worked();
    return { ...answer, sent };
  }
}

function isNothingThere(thrown: unknown): boolean {
  return thrown instanceof SvcError && (thrown.upstreamStatus === 404 || thrown.upstreamStatus === 405);
}

/**
 * The connection to the upstream: its callbacks, time limits, flow control and end. `ReceivedBody` collects the
 * bytes that arrive, `ClientAnswer` writes those for the client.
 */
class RelayHandler implements Dispatcher.DispatchHandler {
  readonly #context: RequestContext;
  readonly #request: RelayRequest;
  readonly #resolve: (outcome: Relayed) => void;
  readonly #reject: (error: SvcError) => void;
  readonly #limits: TimeLimits;
  readonly #body: ReceivedBody;
  readonly #answer: ClientAnswer;
  readonly #sentAt = performance.now();
  #firstByteMs = 0;
  #received = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  /** The content type is that of a stream. */
  #declaresStream = false;
  #decoder: Transform | undefined;
  /** Absent: the answer is not a stream of JSON lines. */
  #lines: NdjsonDecoder | undefined;
  /** True while the upstream is paused because the client reads too slowly. */
  #paused = false;
  /** The connection failed while earlier bytes are still being decoded. */
  #broken: SvcError | undefined;
  /** The upstream has sent everything. */
  #ended = false;
  /** The result is reported. */
  #closed = false;

  constructor(
    context: RequestContext,
    request: RelayRequest,
    resolve: (outcome: Relayed) => void,
    reject: (error: SvcError) => void,
  ) {
    this.#context = context;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#body = new ReceivedBody(context.held);
    this.#answer = new ClientAnswer(context, request);
    context.response.once('close', this.#clientClosed);
    request.attempt?.race?.onLost(() => this.#lose());
    this.#limits = new TimeLimits(request.model.endpoint, (error) => this.#fail(error));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#closed) controller.abort(new Error('The client went away.'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    // Some servers always stream. Then the answer is collected, unless any body is forwarded.
    this.#declaresStream = isEventStreamType(singleHeader(headers['content-type']) ?? '');
    if (this.#request.anyBody === true && status === 200 && this.#declaresStream) this.#body.startStream();
    if (this.#request.framing === 'ndjson' && this.#request.stream && status === 200) this.#lines = new NdjsonDecoder();
    const encoding = singleHeader(headers['content-encoding']);
    if (isEncoded(encoding)) this.#decode(encoding);
  }

  /** Decodes an answer that is compressed although compression was not requested: a transform can't read it. */
  #decode(encoding: string): void {
    let decoder: Transform;
    try {
      decoder = contentDecoder(encoding, this.#request.model.provider);
    } catch (thrown) {
      return this.#fail(ofAnswer(thrown));
    }
    this.#decoder = decoder;
    decoder.on('data', (chunk: Buffer) => this.#receiveLines(chunk));
    decoder.on('end', () => (this.#broken ? this.#fail(this.#broken) : this.#end()));
    decoder.on('error', (thrown) => this.#fail(this.#broken ?? disconnectError(thrown)));
    decoder.on('drain', () => this.#resume());
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#closed) return;
    this.#received += chunk.length;
    if (this.#firstByteMs === 0) this.#firstByteMs = performance.now() - this.#sentAt;
    this.#expectMore();
    if (this.#decoder === undefined) this.#receiveLines(chunk);
    else if (!this.#decoder.write(chunk)) this.#pause();
  }

  /** Lines of JSON become server-sent events, so that all that follows has one kind of stream. */
  #receiveLines(chunk: Buffer): void {
    if (this.#lines === undefined) return this.#receive(chunk);
    try {
      this.#receiveFrames(this.#lines.push(chunk));
    } catch (thrown) {
      this.#fail(ofAnswer(thrown));
    }
  }

  #receiveFrames(frames: readonly Frame[]): void {
    if (frames.length > 0) this.#receive(Buffer.from(frames.map(frameText).join('')));
  }

  #receive(chunk: Buffer): void {
    if (this.#closed) return;
    if (this.#request.stream && this.#status === 200) this.#body.detectStream(chunk, this.#declaresStream);
    if (!this.#body.isStream) return this.#collect(chunk);
    // A fast upstream sends many frames in one turn of the event loop. They are processed and sent together.
    if (this.#body.gather(chunk)) process.nextTick(this.#passGathered);
  }

  #collect(chunk: Buffer): void {
    try {
      const fits = this.#body.collect(chunk, this.#status === 200 ? MAX_ANSWER_BYTES : MAX_ERROR_BODY);
      // A long error is cut off.
      if (!fits && this.#status === 200) this.#fail(answerTooLarge());
    } catch (thrown) {
      this.#fail(ofAnswer(thrown));
    }
  }

  readonly #passGathered = (): void => {
    if (this.#closed || !this.#body.hasGathered) return;
    let frames: Buffer | undefined;
    try {
      frames = this.#body.takeFrames();
    } catch (thrown) {
      return this.#fail(ofAnswer(thrown));
    }
    if (frames) this.#passFrames(frames);
    else this.#expectMore();
  };

  #passFrames(frames: Buffer): void {
    let accepted: boolean;
    try {
      accepted = this.#answer.writeFrames(frames);
    } catch (thrown) {
      return this.#fail(ofAnswer(thrown));
    }
    if (!accepted) {
      this.#pause();
      this.#decoder?.pause();
      this.#context.response.once('drain', () => this.#resume());
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
    if (this.#body.isStream) this.#limits.expectEvent(frames);
    else this.#limits.expectPiece();
  }

  onResponseEnd(): void {
    if (this.#closed) return;
    if (this.#decoder) return void this.#decoder.end();
    if (this.#body.isStream) return this.#end();
    this.#limits.stop();
    this.#context.tickBatch.later(() => this.#end());
  }

  #end(): void {
    this.#receiveFrames(this.#lines?.end() ?? []);
    this.#passGathered();
    if (this.#closed) return;
    this.#ended = true;
    this.#limits.stop();
    if (this.#declaresStream && this.#request.stream && this.#status === 200) this.#body.endDetection();
    try {
      if (this.#body.isStream) return this.#endStream();
      this.#answer.sendWhole(this.#status, this.#headers, this.#body.whole());
      this.#finish('complete');
    } catch (thrown) {
      // Timers and sockets call this. An exception caused by a provider's data must not end the process.
      this.#fail(ofAnswer(thrown));
    }
  }

  #endStream(): void {
    const rest = this.#body.takeRest();
    if (rest) this.#passFrames(Buffer.concat([rest, BLANK_LINE]));
    if (this.#closed) return;
    const error = this.#answer.endStream();
    this.#finish(error === undefined ? 'complete' : 'failed', error);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#closed) return;
    // Without a controller, the connection did not exist yet.
    const sent = this.#controller !== undefined;
    this.#broken =
      this.#status === 0 ? networkError(error, this.#request.target.origin).with({ sent }) : disconnectError(error);
    if (this.#decoder) this.#decoder.end();
    else this.#fail(this.#broken);
  }

  /** Before any output, rejects. After output, sends the error to the client in the client's format. */
  #fail(failure: SvcError): void {
    this.#passGathered();
    if (this.#closed) return;
    const error = cleanError(ofProvider(failure, this.#request.model.provider), this.#request.target.headers);
    if (!this.#context.answerBegun) {
      this.#close();
      this.#controller?.abort(error);
      const { usage } = this.#request.transform;
      this.#reject(usage === undefined ? error : error.with({ usage }));
      return;
    }
    this.#answer.endWithError(error);
    this.#finish('failed', error);
    this.#controller?.abort(error);
  }

  readonly #clientClosed = (): void => {
    if (this.#closed) return;
    // `#finish` comes first because `abort` calls back synchronously.
    this.#finish('client-gone');
    this.#controller?.abort(new Error('The client went away.'));
  };

  /** Another upstream answers the same request. */
  #lose(): void {
    if (this.#closed) return;
    this.#close();
    const error = new SvcError({ errorType: 'client_disconnect', message: 'Another upstream answered first.' });
    this.#reject(error);
    this.#controller?.abort(error);
  }

  #finish(outcome: Relayed['outcome'], error?: SvcError): void {
    this.#close();
    const { transform } = this.#request;
    const unsent = outcome === 'complete' ? 0 : this.#unsentCharacters();
    const { usage, model: answeredBy, unknownReason } = transform;
    const characters = unsent + (outcome !== 'complete' || !usage?.output ? transform.characters : 0);
    const [firstByteMs, received] = [this.#firstByteMs, this.#received];
    this.#resolve({ usage, characters, answeredBy, unknownReason, outcome, error, firstByteMs, received });
  }

  /** Received characters that were not sent to the client; for an answer that is not streamed, all of them. */
  #unsentCharacters(): number {
    if (!this.#body.isStream) return this.#body.length;
    const frames = this.#body.takeLastFrames();
    const rest = this.#body.takeRest();
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

/** An exception caused by a provider's data. The engine's own words for an excess mean nothing to a client. */
function ofAnswer(thrown: unknown): SvcError {
  return thrown instanceof RangeError ? excessiveAnswer('more than the gateway can process') : asSvcError(thrown);
}
