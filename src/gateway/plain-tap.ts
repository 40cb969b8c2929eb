import { errorBody } from '../wire/error-body.ts';
import type { GatewayError } from '../wire/errors.ts';
import type { Usage } from '../wire/event.ts';
import { isObject, objectOf, parseJson } from '../wire/json.ts';
import { frameText } from '../wire/sse.ts';
import { vendorError } from '../wire/vendor-errors.ts';
import type { AnswerTap, TapEnd } from './answer-tap.ts';
import { readUsage } from './usage-tap.ts';

const NOTHING = Buffer.alloc(0);

/** For answers that are no conversation (embeddings, transcripts): bytes pass, only their usage is read. */
export class PlainTap implements AnswerTap {
  readonly #provider: string;
  readonly #byok: boolean;
  #usage: Usage | undefined;

  constructor(provider: string, byok: boolean) {
    this.#provider = provider;
    this.#byok = byok;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  pass(frames: Buffer): Buffer {
    return frames;
  }

  firstError(): GatewayError | undefined {
    return undefined;
  }

  end(): TapEnd {
    return { bytes: NOTHING };
  }

  fail(error: GatewayError): Buffer {
    return Buffer.from(frameText({ data: JSON.stringify(errorBody(error)) }));
  }

  whole(body: Buffer): Buffer {
    const tail = body.subarray(Math.max(0, body.length - 1000));
    const head = body.subarray(0, 200);
    if (!tail.includes('"usage"') && !head.includes('"usage"') && !head.includes('"error"')) return body;
    const value = objectOf(parseJson(body.toString('utf8')));
    if (isObject(value.error)) {
      const bodyText = JSON.stringify(value);
      throw vendorError({ provider: this.#provider, status: 200, bodyText, byok: this.#byok });
    }
    const usage = objectOf(value.usage);
    this.#usage = readUsage('chat-completions', usage) ?? readUsage('responses', usage);
    return body;
  }

  wholeAsStream(body: Buffer): Buffer {
    return this.whole(body);
  }
}
