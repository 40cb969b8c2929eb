import { isObject, type JsonObject, objectOrEmpty, parseJson } from '../../base/json.ts';
import { errorBody } from '../../wire/errors/error-body.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import { vendorError } from '../../wire/errors/vendor-errors.ts';
import type { Usage } from '../../wire/event.ts';
import { frameText, SseDecoder } from '../../wire/stream/sse.ts';
import { readChatUsage, readResponsesUsage } from '../../wire/usage.ts';
import { readModelName } from './answer-facts.ts';
import { mentionsUsage } from './reported-usage.ts';
import type { ResponseTransform, TransformEnd } from './response-transform.ts';
import { countText } from './streamed-text.ts';

const NOTHING = Buffer.alloc(0);
const USAGE = Buffer.from('"usage"');

/** For answers that are not conversations (embeddings, transcripts): forwards the bytes and reads the usage. */
export class WholeBodyTransform implements ResponseTransform {
  readonly #provider: string;
  readonly #byok: boolean;
  #usage: Usage | undefined;
  #characters = 0;
  #model: string | undefined;
  #body: Buffer | undefined;

  constructor(provider: string, byok: boolean) {
    this.#provider = provider;
    this.#byok = byok;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Characters of streamed text only. The format of a whole body depends on the route. */
  get characters(): number {
    return this.#characters;
  }

  get model(): string | undefined {
    return this.#model;
  }

  /** The whole answer, if it was not streamed. */
  get body(): Buffer | undefined {
    return this.#body;
  }

  pass(frames: Buffer): Buffer {
    this.#characters += countText(frames);
    if (!mentionsUsage(frames)) return frames;
    for (const { data } of new SseDecoder().push(frames)) this.#note(objectOrEmpty(parseJson(data)));
    return frames;
  }

  firstError(): SvcError | undefined {
    return undefined;
  }

  end(): TransformEnd {
    return { bytes: NOTHING };
  }

  fail(error: SvcError): Buffer {
    return Buffer.from(frameText({ data: JSON.stringify(errorBody(error)) }));
  }

  whole(body: Buffer): Buffer {
    this.#body = body;
    if (!body.includes(USAGE) && !body.subarray(0, 200).includes('"error"')) return body;
    const value = objectOrEmpty(parseJson(body.toString('utf8')));
    if (isObject(value.error)) {
      const bodyText = JSON.stringify(value);
      throw vendorError({ provider: this.#provider, status: 200, bodyText, byok: this.#byok });
    }
    this.#note(value);
    return body;
  }

  wholeAsStream(body: Buffer): Buffer {
    return this.whole(body);
  }

  #note(value: JsonObject): void {
    // Embeddings report usage as Chat Completions does, transcripts as Responses does.
    this.#usage = readChatUsage(value.usage) ?? readResponsesUsage(value.usage) ?? this.#usage;
    this.#model = readModelName(value) ?? this.#model;
  }
}
