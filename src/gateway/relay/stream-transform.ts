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
import { answerCutShort, invalidJson } from '../../wire/errors/upstream-errors.ts';
import { vendorError } from '../../wire/errors/vendor-errors.ts';
import type { Usage } from '../../wire/event.ts';
import type { Frame } from '../../wire/format.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { frameText, SseDecoder } from '../../wire/stream/sse.ts';
import { StreamUsage, usageInEvent } from '../../wire/usage.ts';
import { excessIn } from '../http/json-limits.ts';
import { charactersOfAnswer, modelOf, modelOfAnswer } from './answer-facts.ts';
import { bodyTail, mentionsUsage, usageOfAnswer } from './reported-usage.ts';
import type { ResponseTransform, TransformEnd } from './response-transform.ts';
import { countText } from './streamed-text.ts';

const DONE = Buffer.from('data: [DONE]\n\n');
const DONE_MARK = Buffer.from('[DONE]');
const FINISH_REASON = Buffer.from('"finish_reason"');
const TOOL_CALLS = '"tool_calls"';
/** Of it: quotes are all over JSON, and for more than six bytes the search is a slower one. */
const CALLS = Buffer.from('_calls');
const CALLS_AT = TOOL_CALLS.indexOf('_calls');
const SAYS_WHY = /"finish_reason"\s*:\s*"[^"]/;
const NOTHING = Buffer.alloc(0);
/** Characters of a whole answer in which the key of an error stands. */
const ERROR_WITHIN = 200;
/** The last events of each format, and what frames that hold one hold in any case. */
const LAST_EVENTS = { messages: ['message_stop'], responses: lastEvents() } as const;
const LAST_MARKS = { messages: marksOf(LAST_EVENTS.messages), responses: marksOf(LAST_EVENTS.responses) } as const;

export interface StreamTransformOptions {
  readonly format: FormatName;
  readonly provider: string;
  /** The credential is the caller's own. */
  readonly byok: boolean;
  /** For an upstream that answers whole where a stream was asked for. */
  readonly converter: () => ResponseTransform;
}

/**
 * Watches whole frames on their way through. Only frames with usage are parsed; in Chat Completions
 * usage leaves in one last chunk with `choices: []`, wherever the upstream put it (spec 2.2, 4.2).
 */
export class StreamTransform implements ResponseTransform {
  readonly #options: StreamTransformOptions;
  readonly #format: FormatName;
  readonly #usage: StreamUsage;
  #usageOfWhole: Usage | undefined;
  /** A Chat usage chunk that waits for the end. */
  #lastChunk: string | undefined;
  /** The upstream said that its answer is complete. */
  #finished = false;
  #done = false;
  #first: Frame | undefined;
  #seen = false;
  /** The first chunk of a Chat answer as it came, and whether there was a call in any. */
  #opening = '';
  #called = false;
  /** `response.created`'s answer, which a failed one is made from. */
  #answer: JsonObject = {};
  #latest: Buffer = NOTHING;
  /** A whole answer: what is counted of it is read when it is asked for. */
  #whole: Buffer | undefined;
  #characters = 0;
  #model: string | undefined;

  constructor(options: StreamTransformOptions) {
    this.#options = options;
    this.#format = options.format;
    this.#usage = new StreamUsage(options.format);
  }

  /** Of a whole answer it is read when it is asked for: the client has its answer by then. */
  get usage(): Usage | undefined {
    if (this.#whole === undefined) return this.#usage.total;
    this.#usageOfWhole ??= usageOfAnswer(this.#format, this.#whole, bodyTail(this.#whole));
    return this.#usageOfWhole;
  }

  get characters(): number {
    return this.#whole === undefined ? this.#characters : charactersOfAnswer(this.#format, this.#whole);
  }

  /** Beside the usage, where it is said last, else at the start. */
  get model(): string | undefined {
    if (this.#whole !== undefined) return modelOfAnswer(this.#whole);
    return this.#model ?? modelOf(objectOrEmpty(parseJson(this.#opening)));
  }

  /** The bytes to send on for whole frames that came. */
  pass(frames: Buffer): Buffer {
    if (!this.#seen) this.#look(frames);
    this.#latest = frames;
    this.#characters += countText(frames);
    if (!this.#finished) this.#finished = this.#finishes(frames);
    if (this.#format === 'chat-completions') return this.#passChat(frames);
    if (mentionsUsage(frames)) for (const frame of new SseDecoder().push(frames)) this.#noteUsage(frame);
    return frames;
  }

  /** The first frame as an error, when it is one: then nothing was said yet. */
  firstError(): SvcError | undefined {
    const data = this.#first && parseJson(this.#first.data);
    this.#first = undefined;
    if (!isObject(data)) return undefined;
    const failed = isObject(data.error) || typeof data.error === 'string' || data.type === 'error';
    return failed ? this.#vendorError(JSON.stringify(data)) : undefined;
  }

  end(): TransformEnd {
    if (this.#done) return { bytes: NOTHING };
    if (!this.#finished) {
      const error = answerCutShort({ provider: this.#options.provider });
      return { bytes: this.fail(error), error };
    }
    if (this.#format !== 'chat-completions') return { bytes: NOTHING };
    return { bytes: Buffer.concat([this.#usageChunk(), DONE]) };
  }

  /** The error as the last thing of the stream. */
  fail(error: SvcError): Buffer {
    if (this.#format !== 'responses') return Buffer.from(frameText(errorFrame(error, this.#format)));
    const number = this.#lastNumber() + 1;
    const said = objectOrEmpty(errorBody(error, 'responses').error);
    const { code, message, param } = said;
    const first = { type: 'error', sequence_number: number, code, message, param, error: said };
    const response = { ...this.#answer, status: 'failed', error: { code, message } };
    const failed = { type: 'response.failed', sequence_number: number + 1, response };
    return Buffer.from(
      frameText({ event: first.type, data: JSON.stringify(first) }) +
        frameText({ event: failed.type, data: JSON.stringify(failed) }),
    );
  }

  whole(body: Buffer): Buffer {
    const tail = bodyTail(body);
    // Some upstreams answer 200 with an error for a body; its key stands near the start.
    const start = tail.length === body.length ? tail : body.toString('latin1', 0, ERROR_WITHIN);
    const errorAt = start.indexOf('"error"');
    if (errorAt >= 0 && errorAt < ERROR_WITHIN) {
      const text = body.toString('utf8');
      const value = parseJson(text);
      if (isObject(value) && value.error !== undefined && value.error !== null) throw this.#vendorError(text);
    }
    if (!endsLikeJson(tail)) throw invalidJson();
    this.#whole = body;
    return body;
  }

  wholeAsStream(body: Buffer): Buffer {
    this.whole(body);
    return this.#options.converter().wholeAsStream(body);
  }

  #look(frames: Buffer): void {
    const [first] = new SseDecoder().push(frames);
    // Comments come before the first event.
    if (first === undefined) return;
    this.#seen = true;
    this.#first = first;
    this.#opening = first.data;
    // What is nested more deeply than can be written is not repeated.
    if (this.#format !== 'responses' || excessIn(first.data) !== undefined) return;
    this.#answer = objectOrEmpty(objectOrEmpty(parseJson(first.data)).response);
  }

  #finishes(frames: Buffer): boolean {
    if (this.#format !== 'chat-completions') {
      const ends: readonly string[] = LAST_EVENTS[this.#format];
      if (!LAST_MARKS[this.#format].some((mark) => frames.includes(mark))) return false;
      // A model that writes about these formats writes their names too.
      return new SseDecoder()
        .push(frames)
        .some(({ event = '', data }) => ends.includes(nonEmptyString(objectOrEmpty(parseJson(data)).type) ?? event));
    }
    const at = frames.lastIndexOf(FINISH_REASON);
    return at >= 0 && frames[valueAt(frames, at + FINISH_REASON.length)] === 0x22;
  }

  #vendorError(bodyText: string): SvcError {
    const { provider, byok } = this.#options;
    return vendorError({ provider, status: 200, bodyText, byok });
  }

  #passChat(frames: Buffer): Buffer {
    if (!this.#called) this.#called = holdsCall(frames);
    if (!mentionsUsage(frames) && !frames.includes(DONE_MARK)) return frames;
    const out: string[] = [];
    let why = this.#finished;
    for (const frame of new SseDecoder().push(frames)) {
      if (frame.data === '[DONE]') {
        this.#done = true;
        out.push(why ? '' : this.#unsaidEnding(), this.#usageChunk().toString('utf8'), 'data: [DONE]\n\n');
      } else {
        why ||= SAYS_WHY.test(frame.data);
        out.push(this.#chatFrame(frame));
      }
    }
    return Buffer.from(out.join(''));
  }

  /** Spec 2.2: an answer says why it ended. Some servers send `[DONE]` without it; clients throw then. */
  #unsaidEnding(): string {
    const opening = parseJson(this.#opening);
    if (!isObject(opening)) return '';
    const { usage: _, ...head } = opening;
    const choice = { index: 0, delta: {}, finish_reason: this.#called ? 'tool_calls' : 'stop' };
    return frameText({ data: JSON.stringify({ ...head, choices: [choice] }) });
  }

  #chatFrame(frame: Frame): string {
    const chunk = frame.data.includes('"usage"') ? parseJson(frame.data) : undefined;
    if (!isObject(chunk) || !isObject(chunk.usage)) return frameText(frame);
    this.#usage.add(chunk.usage);
    this.#model = modelOf(chunk) ?? this.#model;
    const { usage, ...rest } = chunk;
    this.#lastChunk = JSON.stringify({ ...rest, choices: [], usage });
    return arrayOrEmpty(chunk.choices).length === 0 ? '' : frameText({ data: JSON.stringify(rest) });
  }

  #usageChunk(): Buffer {
    const chunk = this.#lastChunk;
    this.#lastChunk = undefined;
    return chunk === undefined ? NOTHING : Buffer.from(`data: ${chunk}\n\n`);
  }

  #noteUsage(frame: Frame): void {
    const data = objectOrEmpty(parseJson(frame.data));
    const usage = usageInEvent(this.#format, data);
    if (!isObject(usage)) return;
    this.#usage.add(usage);
    this.#model = modelOf(data) ?? this.#model;
  }

  #lastNumber(): number {
    const last = new SseDecoder().push(this.#latest).at(-1);
    return finiteNumber(objectOrEmpty(parseJson(last?.data ?? '')).sequence_number) ?? 0;
  }
}

/** Where the value of a member begins. @param at index behind its name. */
function valueAt(frames: Buffer, at: number): number {
  let index = at;
  while (frames[index] === 0x3a || frames[index] === 0x20) index += 1;
  return index;
}

/** Some servers send `"tool_calls": null` or an empty list with every piece of text. */
function holdsCall(frames: Buffer): boolean {
  for (let found = frames.indexOf(CALLS); found >= 0; found = frames.indexOf(CALLS, found + 1)) {
    const end = found - CALLS_AT + TOOL_CALLS.length;
    if (frames.toString('latin1', Math.max(0, found - CALLS_AT), end) !== TOOL_CALLS) continue;
    const value = valueAt(frames, end);
    if (frames[value] === 0x5b && frames[valueAt(frames, value + 1)] === 0x7b) return true;
  }
  return false;
}

function lastEvents(): readonly string[] {
  return ['completed', 'incomplete', 'failed'].map((name) => `response.${name}`);
}

function marksOf(names: readonly string[]): readonly Buffer[] {
  return names.map((name) => Buffer.from(name));
}

function endsLikeJson(tail: string): boolean {
  let at = tail.length - 1;
  while (at >= 0 && tail.charCodeAt(at) <= 0x20) at -= 1;
  return tail.charCodeAt(at) === 0x7d;
}
