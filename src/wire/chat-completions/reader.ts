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
import type { SvcError } from '../errors/svc-error.ts';
import { invalidEvent } from '../errors/upstream-errors.ts';
import { vendorErrorValue } from '../errors/vendor-errors.ts';
import type { Event } from '../event.ts';
import { brokenAnswer, endWithCalls, type Finish, readFinish } from '../finish-reason.ts';
import type { Frame, StreamReader } from '../format.ts';
import { StreamUsage, usageInChunk } from '../usage.ts';
import { ReasoningDetails, readReasoningDetails, reasoningDetailsText } from './reasoning-details.ts';
import { readThoughtSignature, sealOfThought } from './thought-signature.ts';
import { ChatToolCalls } from './tool-calls.ts';

const NOTHING: readonly Event[] = [];

/**
 * Converts Chat Completions chunks to events. Accepts the variants of vendors: calls in one chunk, without index or
 * type, with a late name or a repeated id; reasoning in three different fields; usage with or after the finish, with or
 * without `choices`.
 */
export class ChatStreamReader implements StreamReader {
  #started = false;
  #over = false;
  #next = 0;
  #open: { kind: 'text' | 'reasoning' | 'refusal'; part: number } | undefined;
  #reasoningPart: number | undefined;
  #plainReasoning = false;
  readonly #details = new ReasoningDetails();
  readonly #calls = new ChatToolCalls(() => {
    this.#open = undefined;
    return this.#next++;
  });
  readonly #usage = new StreamUsage('chat-completions');
  #finish: Finish | undefined;

  read(frame: Frame): readonly Event[] {
    if (this.#over) return NOTHING;
    if (frame.data === '[DONE]') return this.complete();
    const chunk = parseJson(frame.data);
    if (!isObject(chunk)) return this.#fail(invalidEvent(frame.data));
    return this.readChunk(chunk);
  }

  readChunk(chunk: JsonObject): readonly Event[] {
    if (chunk.error !== undefined && chunk.error !== null) return this.#fail(vendorErrorValue(chunk.error));
    if (chunk.object === 'error') return this.#fail(vendorErrorValue(chunk));
    const events: Event[] = [];
    if (!this.#started) {
      this.#started = true;
      events.push(
        defined({
          type: 'start' as const,
          id: nonEmptyString(chunk.id),
          model: nonEmptyString(chunk.model),
          created: finiteNumber(chunk.created),
        }),
      );
    }
    const usage = this.#usage.add(usageInChunk(chunk), chunk);
    if (usage) events.push({ type: 'usage', usage });
    const choice = arrayOrEmpty(chunk.choices)[0];
    if (!isObject(choice)) {
      if (usage && this.#finish !== undefined) append(events, this.end());
      return events;
    }
    this.#readDelta(objectOrEmpty(choice.delta ?? choice.message), events);
    if (isObject(choice.logprobs)) this.#addLogprobs(arrayOrEmpty(choice.logprobs.content), events);
    const reason = nonEmptyString(choice.finish_reason);
    if (reason !== undefined) append(events, this.#readFinish(reason, choice.error));
    return events;
  }

  /** An unknown reason without any content means that there is no answer. */
  #readFinish(reason: string, error: unknown): readonly Event[] {
    const finish = readFinish(reason);
    const empty = this.#next === 0 && this.#calls.count === 0;
    if (finish === 'failed' || (finish.reason === 'other' && empty)) return this.#fail(brokenAnswer(reason, error));
    this.#finish = finish;
    return NOTHING;
  }

  /**
   * The provider marked the end of the stream. Some send no finish reason (docs/formats.md); a complete answer is then
   * valid.
   */
  complete(): readonly Event[] {
    if ((this.#next > 0 || this.#calls.count > 0) && this.#calls.whole) this.#finish ??= { reason: 'stop' };
    return this.end();
  }

  end(): readonly Event[] {
    if (this.#over) return NOTHING;
    this.#over = true;
    const events: Event[] = [];
    const nameless = this.#calls.close(events);
    this.#seal(events);
    if (nameless) {
      events.push({ type: 'error', error: nameless });
      return events;
    }
    events.push(endWithCalls(this.#finish ?? { reason: 'closed' }, this.#calls.count > 0, this.#next > 0));
    return events;
  }

  #fail(error: SvcError): readonly Event[] {
    this.#over = true;
    return [{ type: 'error', error }];
  }

  #part(kind: 'text' | 'reasoning' | 'refusal', events: Event[]): number {
    if (this.#open?.kind === kind) return this.#open.part;
    if (this.#open?.kind === 'reasoning') this.#seal(events);
    const part = this.#next++;
    this.#open = { kind, part };
    if (kind === 'reasoning') this.#reasoningPart = part;
    return part;
  }

  #readDelta(delta: JsonObject, events: Event[]): void {
    const details = arrayOrEmpty(delta.reasoning_details);
    if (details.length > 0) this.#details.add(details);
    const plain = nonEmptyString(delta.reasoning_content) ?? nonEmptyString(delta.reasoning);
    if (plain !== undefined) this.#plainReasoning = true;
    // Details repeat the plain text if there is one, possibly in one piece at the end.
    const reasoning = plain ?? (this.#plainReasoning ? '' : reasoningDetailsText(details));
    if (reasoning !== '') events.push({ type: 'reasoning', part: this.#part('reasoning', events), text: reasoning });
    const content = delta.content;
    if (typeof content === 'string') {
      if (content !== '') events.push({ type: 'text', part: this.#part('text', events), text: content });
    } else if (Array.isArray(content)) this.#readContentList(content, events);
    const refusal = nonEmptyString(delta.refusal);
    if (refusal !== undefined) events.push({ type: 'refusal', part: this.#part('refusal', events), text: refusal });
    const thought = readThoughtSignature(delta);
    if (thought !== undefined) {
      this.#open = undefined;
      events.push({ type: 'reasoning-seal', part: this.#next++, seal: sealOfThought(thought, 'message') });
    }
    const annotations = arrayOrEmpty(delta.annotations);
    if (annotations.length > 0) events.push({ type: 'text', part: this.#part('text', events), text: '', annotations });
    const calls = arrayOrEmpty(delta.tool_calls);
    // The form before tools, which some servers still send.
    const older =
      calls.length === 0 && isObject(delta.function_call) ? [{ index: 0, function: delta.function_call }] : [];
    if (calls.length + older.length > 0) {
      if (this.#open?.kind === 'reasoning') this.#seal(events);
      this.#calls.read([...calls, ...older], events);
    }
  }

  /** Adds them to the text that arrived with them, if any. */
  #addLogprobs(logprobs: readonly unknown[], events: Event[]): void {
    if (logprobs.length === 0) return;
    const last = events.findLastIndex((event) => event.type === 'text');
    const text = events[last];
    if (text?.type === 'text') events[last] = { ...text, logprobs };
    else events.push({ type: 'text', part: this.#part('text', events), text: '', logprobs });
  }

  /** Reads Mistral's chunks: `{type:"text"}` and `{type:"thinking", thinking:[{type:"text"}]}`. */
  #readContentList(content: readonly unknown[], events: Event[]): void {
    for (const value of content) {
      const item = objectOrEmpty(value);
      const text = nonEmptyString(item.text);
      if (item.type === 'thinking') {
        const thought = arrayOrEmpty(item.thinking).map((inner) => nonEmptyString(objectOrEmpty(inner).text) ?? '');
        const joined = nonEmptyString(item.thinking) ?? thought.join('');
        if (joined !== '') events.push({ type: 'reasoning', part: this.#part('reasoning', events), text: joined });
      } else if (text !== undefined) events.push({ type: 'text', part: this.#part('text', events), text });
    }
  }

  #seal(events: Event[]): void {
    const details = this.#details.take();
    if (details.length === 0) return;
    // Details without text (encrypted reasoning) still are a separate part.
    this.#reasoningPart ??= this.#next++;
    for (const reasoning of readReasoningDetails(details, undefined)) {
      for (const seal of reasoning.seals) events.push({ type: 'reasoning-seal', part: this.#reasoningPart, seal });
    }
  }
}

/** Converts a complete Chat Completions answer to events. */
export function readChatAnswer(body: JsonObject): readonly Event[] {
  const reader = new ChatStreamReader();
  return [...reader.readChunk(body), ...reader.complete()];
}
