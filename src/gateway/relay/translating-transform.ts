import { isObject, parseJson } from '../../base/json.ts';
import { asSvcError, type SvcError } from '../../wire/errors/svc-error.ts';
import { answerCutShort, answerRestarted, excessiveAnswer, invalidJson } from '../../wire/errors/upstream-errors.ts';
import { hideAccountProblem } from '../../wire/errors/vendor-errors.ts';
import type { Event, Usage } from '../../wire/event.ts';
import type { AnswerContext, Format, StreamReader, StreamWriter } from '../../wire/format.ts';
import { restoreToolInputs } from '../../wire/messages/tool-input.ts';
import { LineFrames, SseDecoder } from '../../wire/stream/sse.ts';
import { findExceededLimit } from '../http/json-limits.ts';
import { countCharacters } from './answer-facts.ts';
import type { ResponseTransform, TransformEnd } from './response-transform.ts';

/** Some formats repeat the text at the end, so it is kept in memory. This limits the bytes of a stream. */
const MAX_STREAM = 256 * 1024 * 1024;

interface TranslatedStream {
  readonly decoder: SseDecoder;
  readonly frames: LineFrames;
  readonly reader: StreamReader;
  readonly writer: StreamWriter;
}

/** Translates an answer from one format to another, event by event and synchronously. */
export class TranslatingTransform implements ResponseTransform {
  readonly #upstream: Format;
  readonly #client: Format;
  readonly #context: AnswerContext;
  readonly #byok: boolean;
  /** Created with the first frame. A whole answer does not need it. */
  #stream: TranslatedStream | undefined;
  #usage: Usage | undefined;
  #characters = 0;
  #model: string | undefined;
  unknownReason: string | undefined;
  #early: SvcError | undefined;
  #shown = false;
  #over = false;
  #failure: SvcError | undefined;
  /** Bytes of a stream. */
  #received = 0;

  /** @param byok the credential is the caller's own, so that problems of its account are reported. */
  constructor(upstream: Format, client: Format, context: AnswerContext, byok: boolean) {
    this.#upstream = upstream;
    this.#client = client;
    this.#context = context;
    this.#byok = byok;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  get characters(): number {
    return this.#characters;
  }

  get model(): string | undefined {
    return this.#model;
  }

  pass(frames: Buffer): Buffer {
    const { decoder, reader } = this.#open();
    this.#received += frames.length;
    if (this.#received > MAX_STREAM) throw excessiveAnswer(`a stream of more than ${MAX_STREAM} bytes`);
    let text = '';
    for (const frame of decoder.push(frames)) {
      refuseExcess(frame.data);
      text += this.#text(reader.read(frame));
    }
    return Buffer.from(text);
  }

  firstError(): SvcError | undefined {
    return this.#early;
  }

  end(): TransformEnd {
    const { decoder, reader } = this.#open();
    const frames = decoder.end().flatMap((frame) => reader.read(frame));
    const bytes = this.#write([...frames, ...reader.end()]);
    return this.#failure === undefined ? { bytes } : { bytes, error: this.#failure };
  }

  fail(error: SvcError): Buffer {
    return this.#write([{ type: 'error', error }]);
  }

  whole(body: Buffer): Buffer {
    return this.#wholeOf(this.#read(body));
  }

  streamAsWhole(body: Buffer): Buffer {
    const decoder = new SseDecoder();
    const reader = this.#upstream.streamReader();
    const frames = [...decoder.push(body), ...decoder.end()];
    for (const { data } of frames) refuseExcess(data);
    const events = [...frames.flatMap((frame) => reader.read(frame)), ...reader.end()];
    for (const event of events) {
      if (event.type === 'error') throw this.#reported(event.error);
      if (event.type === 'discard') throw answerRestarted();
      if (event.type === 'finish' && event.reason === 'closed') throw answerCutShort();
    }
    return this.#wholeOf(events);
  }

  #wholeOf(events: readonly Event[]): Buffer {
    for (const event of events) this.#note(event);
    try {
      return Buffer.from(JSON.stringify(this.#client.writeAnswer(this.#context, events)));
    } catch (thrown) {
      throw asSvcError(thrown);
    }
  }

  wholeAsStream(body: Buffer): Buffer {
    return this.#write(this.#read(body));
  }

  #read(body: Buffer): readonly Event[] {
    const json = body.toString('utf8');
    refuseExcess(json);
    const value = parseJson(json);
    if (!isObject(value)) throw invalidJson();
    restoreToolInputs(value, json);
    const events = this.#upstream.readAnswer(value);
    for (const event of events) {
      if (event.type === 'usage') this.#usage = event.usage;
      if (event.type === 'error') throw this.#reported(event.error);
    }
    return events;
  }

  #reported(error: SvcError): SvcError {
    return this.#byok ? error : hideAccountProblem(error);
  }

  /** The event as the client may see it. */
  #visible(event: Event): Event {
    // The client has already received the beginning of the call.
    if (event.type === 'discard') return { type: 'error', error: answerRestarted() };
    return event.type === 'error' ? { type: 'error', error: this.#reported(event.error) } : event;
  }

  #note(event: Event): void {
    if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type === 'finish') this.unknownReason = event.native;
    else if (event.type === 'start') this.#model = event.model ?? this.#model;
    else this.#characters += countCharacters(event);
  }

  #write(events: readonly Event[]): Buffer {
    return Buffer.from(this.#text(events));
  }

  #open(): TranslatedStream {
    this.#stream ??= {
      decoder: new SseDecoder(),
      frames: new LineFrames(),
      reader: this.#upstream.streamReader(),
      writer: this.#client.streamWriter(this.#context),
    };
    return this.#stream;
  }

  #text(events: readonly Event[]): string {
    const { writer, frames } = this.#open();
    let text = '';
    for (const each of events) {
      if (this.#over) break;
      const event = this.#visible(each);
      this.#note(event);
      if (event.type === 'error') {
        if (!this.#shown) this.#early = event.error;
        this.#failure = event.error;
        this.#over = true;
      } else if (event.type === 'finish' && event.reason === 'closed') this.#failure = answerCutShort();
      if (event.type !== 'start' && event.type !== 'usage') this.#shown = true;
      for (const frame of writer.write(event)) text += frames.text(frame);
    }
    return text;
  }
}

/** @throws SvcError for JSON that would block all other requests. */
function refuseExcess(json: string): void {
  const excess = findExceededLimit(json);
  if (excess !== undefined) throw excessiveAnswer(excess);
}
