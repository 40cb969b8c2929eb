import {
  arrayOrEmpty,
  finiteNumber,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOrEmpty,
  parseJson,
} from '../../base/json.ts';
import { errorBody, errorFrame } from '../../wire/errors/error-body.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import { answerCutShort, invalidJson, ofProvider } from '../../wire/errors/upstream-errors.ts';
import { vendorError } from '../../wire/errors/vendor-errors.ts';
import type { Usage } from '../../wire/event.ts';
import { brokenAnswer, isFailure, readFinish } from '../../wire/finish-reason.ts';
import type { Frame } from '../../wire/format.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { frameText, SseDecoder } from '../../wire/stream/sse.ts';
import { StreamUsage, usageInEvent } from '../../wire/usage.ts';
import { findExceededLimit } from '../http/json-limits.ts';
import { countAnswerCharacters, readAnswerModel, readModelName } from './answer-facts.ts';
import { ChatFrames, valueAt } from './chat-frames.ts';
import { bodyTail, mentionsUsage, usageOfAnswer } from './reported-usage.ts';
import type { ResponseTransform, TransformEnd } from './response-transform.ts';
import { countText } from './streamed-text.ts';

/** The member with the reason of the end. Responses has an event for it. */
const REASONS = { 'chat-completions': Buffer.from('"finish_reason"'), messages: Buffer.from('"stop_reason"') } as const;
const FINISH_REASON = REASONS['chat-completions'];
/** The first quote is omitted: the search for more than six bytes is slower. */
const ERROR = Buffer.from('error"');
/** Milliseconds that comments at the start wait for an event, which may be an error that needs its own status. */
const COMMENTS_WAIT_MS = 5000;
/** Empty chunks of more bytes than this are sent. */
const MAX_EMPTY_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);
/** The key of an error is within this number of characters from the start of a whole answer. */
const ERROR_WITHIN = 200;
/** The last events of each format, and bytes that each frame with such an event contains. */
const LAST_EVENTS = { messages: ['message_stop'], responses: lastEvents() } as const;
const LAST_MARKS = {
  messages: createMarks(LAST_EVENTS.messages),
  responses: createMarks(LAST_EVENTS.responses),
} as const;

export interface StreamTransformOptions {
  readonly format: FormatName;
  readonly provider: string;
  /** The credential is the caller's own. */
  readonly byok: boolean;
  /** Chat Completions: the client requested the usage in a chunk of its own. */
  readonly usageChunk?: boolean;
  /** Writes the stream if the upstream sends a whole answer to a request for a stream. */
  readonly converter: () => Required<Pick<ResponseTransform, 'wholeAsStream' | 'streamAsWhole'>>;
}

/** Forwards frames without translation. Only frames with usage and the last ones of Chat Completions are parsed. */
export class StreamTransform implements ResponseTransform {
  readonly #options: StreamTransformOptions;
  readonly #format: FormatName;
  readonly #usage: StreamUsage;
  /** Absent for the other formats. */
  readonly #chat: ChatFrames | undefined;
  #readWholeUsage: Usage | undefined;
  /** The upstream has sent the event that completes an answer. */
  #finished = false;
  #first: Frame | undefined;
  #inspected = false;
  /** Data of the first event. */
  #opening = '';
  /** The response object of `response.created`. `response.failed` repeats it. */
  #answer: JsonObject = {};
  #latest: Buffer = NOTHING;
  /** A whole answer. Its usage and characters are computed on demand. */
  #whole: Buffer | undefined;
  #characters = 0;
  #model: string | undefined;
  #commentsSince: number | undefined;
  /** Chat Completions: chunks before the first output. They wait, so that a fallback can answer after a failure. */
  #empty = NOTHING;
  #hasOutput = false;
  /** The reason of the answer's end, if it is not known. */
  unknownReason: string | undefined;
  failed: SvcError | undefined;

  constructor(options: StreamTransformOptions) {
    this.#options = options;
    this.#format = options.format;
    this.#usage = new StreamUsage(options.format);
    if (options.format === 'chat-completions') this.#chat = new ChatFrames(this.#usage, options.usageChunk === true);
  }

  /** The usage of a whole answer is read on demand, after the client has its answer. */
  get usage(): Usage | undefined {
    if (this.#whole === undefined) return this.#usage.total;
    this.#readWholeUsage ??= usageOfAnswer(this.#format, this.#whole, bodyTail(this.#whole));
    return this.#readWholeUsage;
  }

  get characters(): number {
    return this.#whole === undefined ? this.#characters : countAnswerCharacters(this.#format, this.#whole);
  }

  /** The model that is named in the chunk with the usage, else in the first chunk. */
  get model(): string | undefined {
    if (this.#whole !== undefined) return readAnswerModel(this.#whole);
    return this.#chat?.model ?? this.#model ?? readModelName(objectOrEmpty(parseJson(this.#opening)));
  }

  /** Takes whole frames. Returns the bytes for the client. */
  pass(received: Buffer): Buffer {
    if (!this.#inspected) this.#inspectFirst(received);
    if (!this.#inspected && this.#waitsWithComments()) return NOTHING;
    const passed = this.#format === 'responses' ? received : this.#beforeError(received);
    if (this.#waitsForOutput(passed)) return NOTHING;
    const frames = this.#empty.length === 0 ? passed : Buffer.concat([this.#empty, passed]);
    this.#empty = NOTHING;
    this.#latest = frames;
    this.#characters += countText(frames);
    if (!this.#finished) this.#finished = this.#finishes(frames);
    if (this.#chat) return this.#chat.pass(frames, this.#finished, this.#opening);
    if (mentionsUsage(frames)) for (const frame of new SseDecoder().push(frames)) this.#noteUsage(frame);
    return frames;
  }

  /** Later comments keep the connections of clients and proxies open while the model thinks. */
  #waitsWithComments(): boolean {
    const now = performance.now();
    this.#commentsSince ??= now;
    return now - this.#commentsSince < COMMENTS_WAIT_MS;
  }

  /** Whether the frames up to now have no output: many servers send a chunk with the role first. */
  #waitsForOutput(frames: Buffer): boolean {
    if (this.#chat === undefined || this.#hasOutput) return false;
    const wait =
      this.#empty.length + frames.length <= MAX_EMPTY_BYTES && new SseDecoder().push(frames).every(isEmptyChunk);
    if (wait) this.#empty = Buffer.concat([this.#empty, frames]);
    else this.#hasOutput = true;
    return !this.#hasOutput;
  }

  /**
   * Chat Completions has no event for an error within an answer. Servers send `error` in a chunk, some go on after it.
   * A finish reason of an answer that broke off is an error too, also in Messages; so is one that is not known
   * if the answer has no output.
   */
  #beforeError(frames: Buffer): Buffer {
    const broken = this.#brokenReason(frames) !== undefined || (this.#chat && this.unknownReason && !this.#hasOutput);
    if (!(this.#chat && frames.includes(ERROR)) && !broken) return frames;
    const all = new SseDecoder().push(frames);
    let output = this.#hasOutput;
    for (const [at, frame] of all.entries()) {
      output ||= this.#chat === undefined || hasOutput(objectOrEmpty(parseJson(frame.data)));
      this.failed = this.#errorOf(frame, output);
      if (this.failed !== undefined) return Buffer.from(all.slice(0, at).map(frameText).join(''));
    }
    return frames;
  }

  #errorOf({ data }: Frame, output: boolean): SvcError | undefined {
    if (this.#chat && data.includes('"error"') && holdsError(parseJson(data))) return this.#vendorError(data);
    const reason = this.#brokenReason(Buffer.from(data)) ?? (output ? undefined : this.unknownReason);
    return reason === undefined ? undefined : ofProvider(brokenAnswer(reason), this.#options.provider);
  }

  /** The reason of the answer's end, if it broke off. Notes one that is not known. */
  #brokenReason(bytes: Buffer): string | undefined {
    if (this.#format === 'responses') return undefined;
    const member = REASONS[this.#format];
    for (let at = bytes.indexOf(member); at >= 0; at = bytes.indexOf(member, at + 1)) {
      const start = valueAt(bytes, at + member.length);
      if (bytes[start] !== 0x22) continue;
      const reason = bytes.toString('latin1', start + 1, Math.max(start + 1, bytes.indexOf(0x22, start + 1)));
      if (isFailure(reason)) return reason;
      const finish = readFinish(reason);
      if (finish !== 'failed' && finish.reason === 'other') this.unknownReason = finish.native;
    }
    return undefined;
  }

  /** The error in the first frame, if it is one. Then nothing was sent to the client. */
  firstError(): SvcError | undefined {
    const data = this.#first && parseJson(this.#first.data);
    this.#first = undefined;
    if (!isObject(data)) return undefined;
    const failed = isObject(data.error) || typeof data.error === 'string' || data.type === 'error';
    return failed ? this.#vendorError(JSON.stringify(data)) : undefined;
  }

  end(): TransformEnd {
    if (this.#chat?.done) return { bytes: NOTHING };
    if (!this.#finished && this.#chat !== undefined && this.#empty.length > 0) {
      // Nothing but empty chunks came, so nothing was sent.
      return { bytes: NOTHING, error: answerCutShort({ provider: this.#options.provider }) };
    }
    if (!this.#finished) {
      const error = answerCutShort({ provider: this.#options.provider });
      return { bytes: this.fail(error), error };
    }
    return { bytes: this.#chat?.end(this.#opening) ?? NOTHING };
  }

  /** The last bytes of a stream that ends with an error. */
  fail(error: SvcError): Buffer {
    if (this.#format !== 'responses') {
      return Buffer.from((this.#chat?.takeHeld() ?? '') + frameText(errorFrame(error, this.#format)));
    }
    const number = this.#lastNumber() + 1;
    const fields = objectOrEmpty(errorBody(error, 'responses').error);
    const { code, message, param } = fields;
    const first = { type: 'error', sequence_number: number, code, message, param, error: fields };
    const response = { ...this.#answer, status: 'failed', error: { code, message } };
    const failed = { type: 'response.failed', sequence_number: number + 1, response };
    return Buffer.from(
      frameText({ event: first.type, data: JSON.stringify(first) }) +
        frameText({ event: failed.type, data: JSON.stringify(failed) }),
    );
  }

  whole(body: Buffer): Buffer {
    this.#whole = body;
    const tail = bodyTail(body);
    // Some upstreams answer 200 with an error as the body. Its key is near the start.
    const start = tail.length === body.length ? tail : body.toString('latin1', 0, ERROR_WITHIN);
    const errorAt = start.indexOf('"error"');
    if (errorAt >= 0 && errorAt < ERROR_WITHIN) {
      const text = body.toString('utf8');
      const value = parseJson(text);
      if (isObject(value) && value.error !== undefined && value.error !== null) throw this.#vendorError(text);
    }
    if (!endsLikeJson(tail)) throw invalidJson();
    const reason = this.#brokenReason(body);
    if (reason !== undefined) throw brokenAnswer(reason);
    const { unknownReason } = this;
    if (this.#chat && unknownReason !== undefined && !hasOutput(objectOrEmpty(parseJson(body.toString('utf8'))))) {
      throw brokenAnswer(unknownReason);
    }
    return body;
  }

  streamAsWhole(body: Buffer): Buffer {
    return this.whole(this.#options.converter().streamAsWhole(body));
  }

  wholeAsStream(body: Buffer): Buffer {
    this.whole(body);
    return this.#options.converter().wholeAsStream(body);
  }

  #inspectFirst(frames: Buffer): void {
    const [first] = new SseDecoder().push(frames);
    // Only comments so far.
    if (first === undefined) return;
    this.#inspected = true;
    this.#first = first;
    this.#opening = first.data;
    // An object that exceeds the limits can't be serialised again.
    if (this.#format !== 'responses' || findExceededLimit(first.data) !== undefined) return;
    this.#answer = objectOrEmpty(objectOrEmpty(parseJson(first.data)).response);
  }

  #finishes(frames: Buffer): boolean {
    if (this.#format !== 'chat-completions') {
      const ends: readonly string[] = LAST_EVENTS[this.#format];
      if (!LAST_MARKS[this.#format].some((mark) => frames.includes(mark))) return false;
      // The text of an answer may contain these names too, so the events are parsed.
      return new SseDecoder()
        .push(frames)
        .some(({ event = '', data }) => ends.includes(nonEmptyString(objectOrEmpty(parseJson(data)).type) ?? event));
    }
    // Chunks after the one with the reason have `null`, such as those with results of a filter.
    for (let at = frames.indexOf(FINISH_REASON); at >= 0; at = frames.indexOf(FINISH_REASON, at + 1)) {
      if (frames[valueAt(frames, at + FINISH_REASON.length)] === 0x22) return true;
    }
    return false;
  }

  #vendorError(bodyText: string): SvcError {
    const { provider, byok } = this.#options;
    return vendorError({ provider, status: 200, bodyText, byok });
  }

  #noteUsage(frame: Frame): void {
    const data = objectOrEmpty(parseJson(frame.data));
    const usage = usageInEvent(this.#format, data);
    if (!isObject(usage)) return;
    this.#usage.add(usage, this.#format === 'responses' ? objectOrEmpty(data.response) : data);
    this.#model = readModelName(data) ?? this.#model;
  }

  #lastNumber(): number {
    const last = new SseDecoder().push(this.#latest).at(-1);
    return finiteNumber(objectOrEmpty(parseJson(last?.data ?? '')).sequence_number) ?? 0;
  }
}

/** A chunk that has neither output nor usage or a reason of the end. */
function isEmptyChunk({ data }: Frame): boolean {
  const chunk = parseJson(data);
  if (!isObject(chunk) || isObject(chunk.usage) || holdsError(chunk)) return false;
  const choices = arrayOrEmpty(chunk.choices).map(objectOrEmpty);
  return choices.length > 0 && !hasOutput(chunk) && choices.every(({ finish_reason: reason }) => !reason);
}

/** Whether a chunk or a whole answer has text, reasoning, calls or anything else but a role. */
function hasOutput({ choices }: JsonObject): boolean {
  return arrayOrEmpty(choices).some((choice) => {
    const { delta, message, text } = objectOrEmpty(choice);
    const parts = Object.entries(objectOrEmpty(delta ?? message));
    return Boolean(text) || parts.some(([name, value]) => name !== 'role' && Boolean(value) && !isEmptyList(value));
  });
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Some servers send `"error": null` with every chunk. */
function holdsError(value: unknown): boolean {
  return isObject(value) && (isObject(value.error) || nonEmptyString(value.error) !== undefined);
}

function lastEvents(): readonly string[] {
  return ['completed', 'incomplete', 'failed'].map((name) => `response.${name}`);
}

function createMarks(names: readonly string[]): readonly Buffer[] {
  return names.map((name) => Buffer.from(name));
}

function endsLikeJson(tail: string): boolean {
  let at = tail.length - 1;
  while (at >= 0 && tail.charCodeAt(at) <= 0x20) at -= 1;
  return tail.charCodeAt(at) === 0x7d;
}
