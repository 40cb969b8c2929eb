import { errorFrame } from '../wire/error-body.ts';
import type { GatewayError } from '../wire/errors.ts';
import type { Usage } from '../wire/event.ts';
import type { FormatName, Frame } from '../wire/format.ts';
import { isObject, listOf, objectOf, parseJson } from '../wire/json.ts';
import { frameText, SseDecoder } from '../wire/sse.ts';
import { vendorError } from '../wire/vendor-errors.ts';
import type { AnswerTap } from './answer-tap.ts';
import { mentionsUsage, readUsage, usageOfAnswer } from './usage-tap.ts';

const DONE = Buffer.from('data: [DONE]\n\n');
const NOTHING = Buffer.alloc(0);

/**
 * Watches whole frames on their way through. Only frames with usage are parsed; in Chat Completions
 * usage leaves in one last chunk with `choices: []`, wherever the upstream put it (spec 2.2, 4.2).
 */
export class StreamTap implements AnswerTap {
  readonly #format: FormatName;
  readonly #provider: string;
  readonly #byok: boolean;
  #usage: Usage | undefined;
  /** A Chat usage chunk that waits for the end. */
  #lastChunk: string | undefined;
  #done = false;
  #first: Frame | undefined;
  #seen = false;

  constructor(format: FormatName, provider: string, byok: boolean) {
    this.#format = format;
    this.#provider = provider;
    this.#byok = byok;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** The bytes to send on for whole frames that came. */
  pass(frames: Buffer): Buffer {
    if (!this.#seen) {
      this.#seen = true;
      this.#first = new SseDecoder().push(frames)[0];
    }
    if (this.#format === 'chat-completions') return this.#passChat(frames);
    if (mentionsUsage(frames)) for (const frame of new SseDecoder().push(frames)) this.#noteUsage(frame);
    return frames;
  }

  /** The first frame as an error, when it is one: then nothing was said yet. */
  firstError(): GatewayError | undefined {
    const data = this.#first && parseJson(this.#first.data);
    this.#first = undefined;
    if (!isObject(data)) return undefined;
    const failed = isObject(data.error) || typeof data.error === 'string' || data.type === 'error';
    return failed ? this.#vendorError(JSON.stringify(data)) : undefined;
  }

  /** What the format's end still lacks. */
  end(): Buffer {
    if (this.#format !== 'chat-completions' || this.#done) return NOTHING;
    return Buffer.concat([this.#usageChunk(), DONE]);
  }

  /** The error as the last thing of the stream. */
  fail(error: GatewayError): Buffer {
    if (this.#format !== 'responses') return Buffer.from(frameText(errorFrame(error, this.#format)));
    const data = JSON.stringify({ type: 'error', code: error.errorType, message: error.message, param: null });
    return Buffer.from(frameText({ event: 'error', data }));
  }

  whole(body: Buffer): Buffer {
    // Some upstreams answer 200 with an error for a body; its key stands near the start.
    if (body.subarray(0, 200).includes('"error"')) {
      const value = parseJson(body.toString('utf8'));
      if (isObject(value) && value.error !== undefined && value.error !== null)
        throw this.#vendorError(body.toString('utf8'));
    }
    this.#usage = usageOfAnswer(this.#format, body);
    return body;
  }

  #vendorError(bodyText: string): GatewayError {
    return vendorError({ provider: this.#provider, status: 200, bodyText, byok: this.#byok });
  }

  #passChat(frames: Buffer): Buffer {
    const done = frames.lastIndexOf(DONE_MARK) >= 0;
    if (!done && !mentionsUsage(frames)) return frames;
    const out: string[] = [];
    for (const frame of new SseDecoder().push(frames)) {
      if (frame.data === '[DONE]') {
        this.#done = true;
        out.push(this.#usageChunk().toString('utf8'), 'data: [DONE]\n\n');
      } else out.push(this.#chatFrame(frame));
    }
    return Buffer.from(out.join(''));
  }

  #chatFrame(frame: Frame): string {
    const chunk = frame.data.includes('"usage"') ? parseJson(frame.data) : undefined;
    if (!isObject(chunk) || !isObject(chunk.usage)) return frameText(frame);
    this.#usage = readUsage('chat-completions', chunk.usage) ?? this.#usage;
    const { usage, ...rest } = chunk;
    this.#lastChunk = JSON.stringify({ ...rest, choices: [], usage });
    return listOf(chunk.choices).length === 0 ? '' : frameText({ data: JSON.stringify(rest) });
  }

  #usageChunk(): Buffer {
    const chunk = this.#lastChunk;
    this.#lastChunk = undefined;
    return chunk === undefined ? NOTHING : Buffer.from(`data: ${chunk}\n\n`);
  }

  #noteUsage(frame: Frame): void {
    const data = objectOf(parseJson(frame.data));
    const holder = data.usage ?? objectOf(data.message).usage ?? objectOf(data.response).usage;
    if (!isObject(holder)) return;
    const usage = readUsage(this.#format, holder);
    if (usage) this.#usage = mergeUsage(this.#usage, usage);
  }
}

const DONE_MARK = Buffer.from('[DONE]');

/** Messages says the input at the start and the output at the end; a later 0 is no news. */
function mergeUsage(before: Usage | undefined, now: Usage): Usage {
  if (before === undefined) return now;
  return { ...before, ...now, input: Math.max(before.input, now.input), output: Math.max(before.output, now.output) };
}
