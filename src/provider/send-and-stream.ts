import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, parseJson } from '../base/json.ts';
import { withoutByteOrderMark } from '../base/text.ts';
import { asSvcError, msg, SvcError } from '../wire/errors/svc-error.ts';
import {
  answerTooLarge,
  emptyAnswer,
  keyWithheld,
  MAX_ANSWER_BYTES,
  notJson,
  ofProvider,
  webPage,
} from '../wire/errors/upstream-errors.ts';
import { hideAccountProblem, vendorError, vendorErrorValue } from '../wire/errors/vendor-errors.ts';
import type { Event } from '../wire/event.ts';
import type { Frame, StreamReader } from '../wire/format.ts';
import { restoreToolInputs } from '../wire/messages/tool-input.ts';
import { NdjsonDecoder } from '../wire/stream/ndjson.ts';
import { SseDecoder } from '../wire/stream/sse.ts';
import { firstCharacter, isEventStreamType, startsStream } from './answer-start.ts';
import { CredentialFilter } from './credential-filter.ts';
import { cleanError } from './echoed-credentials.ts';
import { DEFAULT_RETRY, type RetryPolicy, retryDelay } from './retry.ts';
import { Deadline } from './time-limits.ts';
import type { Transport, TransportResponse } from './transport/transport.ts';

export interface Retry {
  /** From 1. */
  readonly attempt: number;
  readonly error: SvcError;
  /** Milliseconds until the next attempt. */
  readonly delayMs: number;
}

export interface SendOptions {
  readonly transport: Transport;
  readonly signal: AbortSignal;
  readonly retry?: Partial<RetryPolicy>;
  readonly onRetry?: (retry: Retry) => void;
  /** The credential is the caller's own (default), so that payment and access problems of its account are reported. */
  readonly byok?: boolean;
}

/** One request that is answered with events. */
export interface StreamedRequest {
  /** Provider id. */
  readonly provider: string;
  /** True if the user's credential is withheld from this address. */
  readonly withheld?: boolean;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeout: number | false;
  readonly chunkTimeout?: number | undefined;
  readonly stream: boolean;
  readonly framing: 'sse' | 'ndjson';
  readonly reader: () => StreamReader;
  readonly whole: (body: unknown) => readonly Event[];
  /** A request that can succeed where this one was refused. Asked once, for the first refusal. */
  readonly corrected?: (refusal: SvcError) => StreamedRequest | undefined;
}

const MAX_ERROR_BYTES = 256 * 1024;
/** Milliseconds to wait for the end of a body after the end of its answer, so that the connection can be reused. */
const DRAIN_MS = 250;

/**
 * Sends a request and yields events. Retries as long as no output was yielded. Always ends with one `finish` or
 * one `error`. The socket is closed immediately if the iteration ends early or the signal fires.
 */
export async function* sendAndStream(first: StreamedRequest, options: SendOptions): AsyncGenerator<Event> {
  const policy = { ...DEFAULT_RETRY, ...options.retry };
  let request = first;
  let refusal: SvcError | undefined;
  for (let attempt = 0; ; attempt++) {
    let shown = false;
    let failure: SvcError | undefined;
    // `start` and `usage` wait until the first output, so that a retry does not repeat them.
    const waiting: Event[] = [];
    for await (const event of attemptOnce(request, options)) {
      if (event.type === 'error') failure = cleanError(explain(event.error, request, options), request.headers);
      else if (event.type === 'finish' && event.reason === 'closed' && !shown) failure = emptyAnswer(request.provider);
      else if (!shown && (event.type === 'start' || event.type === 'usage')) waiting.push(event);
      else {
        if (!shown) yield* waiting;
        shown = true;
        yield event;
      }
      if (failure) break;
    }
    if (failure === undefined) return;
    const corrected = shown || request !== first ? undefined : request.corrected?.(failure);
    if (corrected !== undefined) {
      request = corrected;
      refusal = failure;
      continue;
    }
    // The correction changed nothing: the first refusal is about the user's text.
    if (refusal?.upstreamStatus !== undefined && failure.upstreamStatus === refusal.upstreamStatus) failure = refusal;
    const delayMs = shown || options.signal.aborted ? undefined : retryDelay(failure, attempt, policy);
    if (delayMs === undefined) {
      yield { type: 'error', error: failure };
      return;
    }
    options.onRetry?.({ attempt: attempt + 1, error: failure, delayMs });
    try {
      await sleep(delayMs, undefined, { signal: options.signal });
    } catch {
      yield { type: 'error', error: cancelled() };
      return;
    }
  }
}

/** Names the provider. A refusal for lack of the withheld key is reported as such. */
function explain(error: SvcError, { provider, withheld }: StreamedRequest, { byok = true }: SendOptions): SvcError {
  const refused = error.upstreamStatus === 401 || error.upstreamStatus === 403;
  if (withheld && refused) return ofProvider(keyWithheld(provider), provider);
  return ofProvider(byok ? error : hideAccountProblem(error), provider);
}

/** One attempt. Ends with `finish` or `error`; never throws. */
async function* attemptOnce(request: StreamedRequest, options: SendOptions): AsyncGenerator<Event> {
  const deadline = new Deadline(options.signal, request);
  const { url, headers, body } = request;
  let drained: Promise<void> | undefined;
  const reader = request.reader();
  try {
    const accept = request.stream && request.framing === 'sse' ? 'text/event-stream' : 'application/json';
    const sent = { method: 'POST' as const, url, headers: { accept, ...headers }, body, signal: deadline.signal };
    const response = await options.transport.send(sent);
    if (response.status < 200 || response.status >= 300) {
      yield { type: 'error', error: await readFailure(response, request) };
      return;
    }
    const bytes = withoutCredentials(response.body, headers);
    const first = await firstBytes(bytes, deadline);
    if (!isStream(request, response, first)) {
      yield* request.whole(await wholeBody(first, bytes, response, deadline));
      return;
    }
    deadline.limits.expectEvent();
    for await (const event of streamEvents(request, reader, first, bytes, deadline)) {
      if (event.type === 'finish' || event.type === 'error') drained = drain(bytes, deadline);
      yield event;
      if (drained) return;
    }
  } catch (thrown) {
    yield* afterFailure(reader, thrown, options.signal);
  } finally {
    if (drained) void drained;
    else {
      deadline.abort();
      deadline.dispose();
    }
  }
}

/** The events after the connection failed or stalled. An answer that had its finish reason is complete. */
function afterFailure(reader: StreamReader, thrown: unknown, signal: AbortSignal): readonly Event[] {
  if (signal.aborted) return [{ type: 'error', error: cancelled() }];
  const rest = reader.end();
  const last = rest.at(-1);
  if (last?.type === 'finish' && last.reason !== 'closed') return rest;
  return [{ type: 'error', error: asSvcError(thrown) }];
}

type Bytes = AsyncIterator<Uint8Array>;

/** Removes credentials of the request from the answer, so that no page, history or gateway client receives them. */
async function* withoutCredentials(
  body: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
): AsyncGenerator<Uint8Array> {
  const filter = new CredentialFilter(headers);
  for await (const { buffer, byteOffset, byteLength } of body) {
    const passed = filter.push(Buffer.from(buffer, byteOffset, byteLength));
    if (passed.length > 0) yield passed;
  }
  const rest = filter.end();
  if (rest !== undefined) yield rest;
}

/** The first bytes with other characters than white space. Some servers send white space while they compute. */
async function firstBytes(bytes: Bytes, deadline: Deadline): Promise<Uint8Array | undefined> {
  for (;;) {
    const read = await bytes.next();
    if (read.done) return undefined;
    if (firstCharacter(read.value) !== '') return read.value;
    if (read.value.byteLength > 0) deadline.limits.expectPiece();
  }
}

/** Checks the start of the body because servers send wrong content types for streams and for whole answers. */
function isStream(request: StreamedRequest, response: TransportResponse, first: Uint8Array | undefined): boolean {
  const type = response.header('content-type') ?? '';
  const start = first === undefined ? '' : firstCharacter(first);
  if (start === '<') throw webPage(type);
  if (isEventStreamType(type)) return true;
  // The stream reader reports an answer without any byte.
  return request.stream && (request.framing === 'ndjson' || first === undefined || startsStream(start));
}

async function* streamEvents(
  request: StreamedRequest,
  reader: StreamReader,
  first: Uint8Array | undefined,
  bytes: Bytes,
  deadline: Deadline,
): AsyncGenerator<Event> {
  const decoder = request.framing === 'sse' ? new SseDecoder() : new NdjsonDecoder();
  let chunk = first;
  while (chunk !== undefined) {
    const frames: readonly Frame[] = decoder.push(chunk);
    for (const frame of frames) {
      if (frame.event !== 'ping') deadline.limits.eventCame();
      yield* reader.read(frame);
    }
    const read = await bytes.next();
    chunk = read.done ? undefined : read.value;
  }
  for (const frame of decoder.end()) yield* reader.read(frame);
  yield* reader.end();
}

/** Reads the rest of a body after the end of its answer, so that the connection can be reused. */
async function drain(bytes: Bytes, deadline: Deadline): Promise<void> {
  deadline.limits.stop();
  const timer = setTimeout(() => deadline.abort(), DRAIN_MS);
  try {
    while (!(await bytes.next()).done);
  } catch {
    // The answer is complete, so a failure of the connection is ignored.
  } finally {
    clearTimeout(timer);
    deadline.dispose();
  }
}

/** The error as the vendor reports it. `explain` hides problems of an account that is not the caller's. */
async function readFailure(response: TransportResponse, request: StreamedRequest): Promise<SvcError> {
  let bodyText = '';
  try {
    bodyText = await textUpTo(response.body, MAX_ERROR_BYTES);
  } catch (thrown) {
    // If the body of the error is cut off, the status is enough. A timeout is reported instead.
    const error = asSvcError(thrown);
    if (error.errorType === 'upstream_timeout') return error;
  }
  const { status, header } = response;
  return vendorError({ provider: request.provider, status, header, bodyText, byok: true });
}

/** The text of a body, cut off after a number of bytes. */
export async function textUpTo(body: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of body) {
    chunks.push(bytes);
    size += bytes.byteLength;
    if (size >= most) break;
  }
  return Buffer.concat(chunks).subarray(0, most).toString('utf8');
}

/** Reads a whole body. The time limit for the first byte also applies between two chunks, so that a stall ends. */
async function wholeBody(
  first: Uint8Array | undefined,
  bytes: Bytes,
  response: TransportResponse,
  deadline: Deadline,
): Promise<unknown> {
  deadline.limits.expectPiece();
  const chunks: Uint8Array[] = first ? [first] : [];
  let size = first?.byteLength ?? 0;
  for (let read = await bytes.next(); !read.done; read = await bytes.next()) {
    deadline.limits.expectPiece();
    chunks.push(read.value);
    size += read.value.byteLength;
    if (size > MAX_ANSWER_BYTES) throw answerTooLarge();
  }
  const text = withoutByteOrderMark(Buffer.concat(chunks).toString('utf8'));
  const value = parseJson(text);
  if (value === undefined) throw notJson(response.header('content-type') ?? '', text);
  restoreToolInputs(value, text);
  if (isObject(value) && value.error !== undefined && value.error !== null) throw vendorErrorValue(value.error);
  return value;
}

function cancelled(): SvcError {
  return new SvcError({ errorType: 'client_disconnect', message: msg('Cancelled.') });
}
