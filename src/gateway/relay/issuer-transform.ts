import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty, parseJson } from '../../base/json.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Usage } from '../../wire/event.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { restoreToolInputs } from '../../wire/messages/tool-input.ts';
import { markIssuer } from '../../wire/packed-reasoning.ts';
import { SseDecoder } from '../../wire/stream/sse.ts';
import { findExceededLimit } from '../http/json-limits.ts';
import type { ResponseTransform, TransformEnd } from './response-transform.ts';

/** The names of the fields with opaque reasoning. The first quote is omitted: it can be after an escape. */
const FIELDS: Readonly<Record<FormatName, readonly Buffer[]>> = {
  'chat-completions': [],
  messages: ['signature"', 'redacted_thinking"'].map((name) => Buffer.from(name)),
  responses: [Buffer.from('encrypted_content"')],
};

/** An object with opaque reasoning, its field and its text. */
type Opaque = readonly [holder: JsonObject, field: string, text: string];

/**
 * Marks the opaque reasoning of an answer that is forwarded in its own format with its issuer. All other bytes are those
 * of the inner transform.
 */
export class IssuerTransform implements ResponseTransform {
  readonly #inner: ResponseTransform;
  readonly #format: FormatName;
  readonly #issuer: string;
  /** The indexes of blocks whose signature has begun (Messages). Its other parts follow it. */
  readonly #begun = new Set<unknown>();

  constructor(inner: ResponseTransform, format: FormatName, issuer: string) {
    this.#inner = inner;
    this.#format = format;
    this.#issuer = issuer;
  }

  get usage(): Usage | undefined {
    return this.#inner.usage;
  }

  get characters(): number {
    return this.#inner.characters;
  }

  get model(): string | undefined {
    return this.#inner.model;
  }

  get unknownReason(): string | undefined {
    return this.#inner.unknownReason;
  }

  get failed(): SvcError | undefined {
    return this.#inner.failed;
  }

  pass(frames: Buffer): Buffer {
    return this.#markFrames(this.#inner.pass(frames));
  }

  firstError(): SvcError | undefined {
    return this.#inner.firstError();
  }

  end(): TransformEnd {
    const end = this.#inner.end();
    return { ...end, bytes: this.#markFrames(end.bytes) };
  }

  fail(error: SvcError): Buffer {
    return this.#inner.fail(error);
  }

  whole(body: Buffer): Buffer {
    return this.#markWhole(this.#inner.whole(body));
  }

  streamAsWhole(body: Buffer): Buffer {
    return this.#markWhole(this.#inner.streamAsWhole?.(body) ?? this.#inner.whole(body));
  }

  wholeAsStream(body: Buffer): Buffer {
    return this.#markFrames(this.#inner.wholeAsStream(body));
  }

  /** Replaces the data of events with opaque reasoning. All other bytes, such as comments, do not change. */
  #markFrames(frames: Buffer): Buffer {
    if (!this.#mayHold(frames)) return frames;
    let text = frames.toString('utf8');
    let at = 0;
    for (const { data } of new SseDecoder().push(frames)) {
      const found = text.indexOf(data, at);
      if (found < 0) continue;
      const marked = this.#markJson(data, (value) => this.#inEvent(value));
      text = text.slice(0, found) + marked + text.slice(found + data.length);
      at = found + marked.length;
    }
    return Buffer.from(text);
  }

  #markWhole(body: Buffer): Buffer {
    if (!this.#mayHold(body)) return body;
    const marked = this.#markJson(body.toString('utf8'), ({ content, output }) => {
      return [...arrayOrEmpty(content), ...arrayOrEmpty(output)].flatMap(opaqueOf);
    });
    return Buffer.from(marked);
  }

  /** Returns the same text if nothing is marked. */
  #markJson(json: string, find: (value: JsonObject) => readonly Opaque[]): string {
    if (findExceededLimit(json) !== undefined) return json;
    const value = parseJson(json);
    const opaque = find(objectOrEmpty(value));
    if (opaque.length === 0) return json;
    restoreToolInputs(value, json);
    for (const [holder, field, text] of opaque) Reflect.set(holder, field, markIssuer(text, this.#issuer));
    return JSON.stringify(value);
  }

  #mayHold(bytes: Buffer): boolean {
    return FIELDS[this.#format].some((name) => bytes.includes(name));
  }

  #inEvent(event: JsonObject): Opaque[] {
    const { index, item, response, content_block: block, delta } = event;
    const started = opaqueOf(block);
    if (started.length > 0) this.#begun.add(index);
    const { type, signature } = objectOrEmpty(delta);
    const signs = type === 'signature_delta' && typeof signature === 'string' && signature !== '';
    const signed: Opaque[] =
      signs && isObject(delta) && !this.#begun.has(index) ? [[delta, 'signature', signature]] : [];
    if (signs) this.#begun.add(index);
    const outputs = arrayOrEmpty(objectOrEmpty(response).output).flatMap(opaqueOf);
    return [...started, ...signed, ...opaqueOf(item), ...outputs];
  }
}

/** The opaque reasoning of a content block of Messages or an item of Responses. */
function opaqueOf(value: unknown): Opaque[] {
  if (!isObject(value)) return [];
  const { type, signature, data, encrypted_content: encrypted } = value;
  if (type === 'thinking' && typeof signature === 'string' && signature !== '')
    return [[value, 'signature', signature]];
  if (type === 'redacted_thinking' && typeof data === 'string' && data !== '') return [[value, 'data', data]];
  const holds = type === 'reasoning' || type === 'compaction';
  return holds && typeof encrypted === 'string' && encrypted !== '' ? [[value, 'encrypted_content', encrypted]] : [];
}
