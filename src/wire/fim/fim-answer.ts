import {
  append,
  arrayOrEmpty,
  defined,
  finiteNumber,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOrEmpty,
  parseJson,
} from '../../base/json.ts';
import { errorFrame } from '../errors/error-body.ts';
import { msg, SvcError } from '../errors/svc-error.ts';
import { answerCutShort, invalidEvent } from '../errors/upstream-errors.ts';
import { vendorErrorValue } from '../errors/vendor-errors.ts';
import type { Event, Usage } from '../event.ts';
import { brokenAnswer, type Finish, nativeReason, readFinish } from '../finish-reason.ts';
import { answerText, foldEvents } from '../fold.ts';
import type { AnswerContext, Frame, StreamReader, StreamWriter } from '../format.ts';
import { readFimUsage, writeChatUsage } from '../usage.ts';

const NOTHING: readonly Event[] = [];
const NO_FRAMES: readonly Frame[] = [];

/**
 * Converts a streamed code completion of any dialect to events: `delta.content` (Mistral, svc), `text` (Mercury,
 * DeepSeek, OpenAI-compatible), `message.content` (Mistral, not streamed), `content` (llama.cpp), `response` (Ollama).
 */
export class FimReader implements StreamReader {
  #started = false;
  #over = false;
  #finish: Finish | undefined;

  read(frame: Frame): readonly Event[] {
    if (this.#over) return NOTHING;
    if (frame.data === '[DONE]') return this.#complete();
    const chunk = parseJson(frame.data);
    if (isObject(chunk)) return this.readChunk(chunk);
    return this.#fail(invalidEvent(frame.data));
  }

  readChunk(chunk: JsonObject): readonly Event[] {
    if (chunk.error !== undefined && chunk.error !== null) return this.#fail(vendorErrorValue(chunk.error));
    const events: Event[] = [];
    if (!this.#started) {
      this.#started = true;
      const id = nonEmptyString(chunk.id);
      const model = nonEmptyString(chunk.model);
      events.push(defined({ type: 'start' as const, id, model, created: finiteNumber(chunk.created) }));
    }
    const choice = objectOrEmpty(arrayOrEmpty(chunk.choices)[0]);
    const text = fimText(chunk, choice);
    if (text !== undefined) events.push({ type: 'text', part: 0, text });
    const usage = readFimUsage(chunk);
    if (usage) events.push({ type: 'usage', usage });
    const finish = fimFinish(chunk, choice);
    if (finish === 'failed') {
      append(events, this.#fail(brokenAnswer(finishReason(chunk, choice) ?? '', choice.error)));
      return events;
    }
    this.#finish = finish ?? this.#finish;
    return events;
  }

  end(): readonly Event[] {
    if (this.#over) return NOTHING;
    this.#over = true;
    return [{ type: 'finish', ...(this.#finish ?? { reason: 'closed' as const }) }];
  }

  /** The provider marked the end of the stream. Some send no finish reason. */
  #complete(): readonly Event[] {
    if (this.#started) this.#finish ??= { reason: 'stop' };
    return this.end();
  }

  #fail(error: SvcError): readonly Event[] {
    this.#over = true;
    return [{ type: 'error', error }];
  }
}

function fimText(chunk: JsonObject, choice: JsonObject): string | undefined {
  return (
    contentText(objectOrEmpty(choice.delta).content) ??
    nonEmptyString(choice.text) ??
    contentText(objectOrEmpty(choice.message).content) ??
    nonEmptyString(chunk.content) ??
    nonEmptyString(chunk.response)
  );
}

function contentText(content: unknown): string | undefined {
  if (!Array.isArray(content)) return nonEmptyString(content);
  return nonEmptyString(content.map((part) => nonEmptyString(objectOrEmpty(part).text) ?? '').join(''));
}

function finishReason(chunk: JsonObject, choice: JsonObject): string | undefined {
  return nonEmptyString(choice.finish_reason) ?? nonEmptyString(chunk.done_reason) ?? nonEmptyString(chunk.stop_type);
}

function fimFinish(chunk: JsonObject, choice: JsonObject): Finish | 'failed' | undefined {
  const reason = finishReason(chunk, choice);
  // Older llama.cpp reports the reason in flags. `stop_type: "none"` is in the frames before the last one.
  if (chunk.stopped_limit === true) return { reason: 'length' };
  if (reason !== undefined && reason !== 'none') return readFinish(reason);
  return chunk.stop === true || chunk.done === true ? { reason: 'stop' } : undefined;
}

/** Converts a complete answer of any dialect. llama.cpp returns several candidates as a list; the first one is used. */
export function readFimAnswer(body: unknown): readonly Event[] {
  const answer = Array.isArray(body) ? body[0] : body;
  if (!isObject(answer)) {
    const message = msg('The provider’s answer is not a completion.');
    return [{ type: 'error', error: new SvcError({ errorType: 'upstream_invalid_response', message }) }];
  }
  const reader = new FimReader();
  const events = [...reader.readChunk(answer), ...reader.end()];
  const known = ['choices', 'content', 'response'].some((field) => answer[field] !== undefined);
  // A complete body is a complete answer, even if the vendor sends no finish reason.
  return known ? events.map((event) => (isClosed(event) ? { type: 'finish', reason: 'stop' } : event)) : events;
}

function isClosed(event: Event): boolean {
  return event.type === 'finish' && event.reason === 'closed';
}

/** The subject of an answer: code between two texts, or an edit. */
export type CompletionObject = 'fim' | 'edit';

interface CompletionContext extends Pick<AnswerContext, 'id' | 'model' | 'created'> {
  readonly object?: CompletionObject;
}

/** The svc dialect of a streamed completion: `delta.content` and `text`, usage in the last chunk, `[DONE]`. */
export class FimStreamWriter implements StreamWriter {
  readonly #head: string;
  #over = false;
  #usage: Usage | undefined;

  constructor({ id, created, model, object = 'fim' }: CompletionContext) {
    this.#head = JSON.stringify({ id, object: `${object}.completion.chunk`, created, model }).slice(0, -1);
  }

  write(event: Event): readonly Frame[] {
    if (this.#over) return NO_FRAMES;
    if (event.type === 'text') return [this.#chunk(JSON.stringify(event.text), 'null')];
    if (event.type === 'usage') this.#usage = event.usage;
    if (event.type === 'error') {
      this.#over = true;
      return [errorFrame(event.error, 'chat-completions')];
    }
    return event.type === 'finish' ? this.#finish(event) : NO_FRAMES;
  }

  #chunk(text: string, finish: string, usage = ''): Frame {
    const choice = `{"index":0,"delta":{"content":${text}},"text":${text},"finish_reason":${finish}}`;
    return { data: `${this.#head},"choices":[${choice}]${usage}}` };
  }

  #finish({ reason, native }: Finish): readonly Frame[] {
    this.#over = true;
    if (reason === 'closed') return [errorFrame(answerCutShort(), 'chat-completions')];
    const usage = this.#usage ? `,"usage":${JSON.stringify(writeChatUsage(this.#usage))}` : '';
    return [
      this.#chunk('""', JSON.stringify(reason === 'other' ? nativeReason(native) : reason), usage),
      { data: '[DONE]' },
    ];
  }
}

/** @throws SvcError for an `error` event, and for an incomplete answer. */
export function writeFimAnswer(context: CompletionContext, events: readonly Event[]): Record<string, unknown> {
  const answer = foldEvents(events);
  if (answer.error) throw answer.error;
  if (answer.finish === undefined || answer.finish === 'closed') throw answerCutShort();
  const text = answerText(answer);
  return defined({
    id: context.id,
    object: `${context.object ?? 'fim'}.completion`,
    created: context.created,
    model: context.model,
    choices: [{ index: 0, text, message: { role: 'assistant', content: text }, finish_reason: answer.finish }],
    usage: answer.usage && writeChatUsage(answer.usage),
  });
}
