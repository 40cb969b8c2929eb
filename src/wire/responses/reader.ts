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
import type { Event, FinishReason } from '../event.ts';
import { brokenAnswer, readFinish } from '../finish-reason.ts';
import type { Frame, StreamReader } from '../format.ts';
import { readResponsesUsage } from '../usage.ts';
import { readReasoningItem } from './read-request.ts';

const NOTHING: readonly Event[] = [];

/** The state of one output item. */
interface Item {
  /** Part by content index; 0 for calls and reasoning. */
  readonly parts: Map<number, number>;
  /** The current summary of a reasoning item. */
  summary: string | undefined;
  emitted: boolean;
  done: boolean;
}

/** Converts Responses stream events to events (OpenAI, "Streaming events"; Open Responses for `reasoning_text`). */
export class ResponsesStreamReader implements StreamReader {
  #started = false;
  #over = false;
  #next = 0;
  #calls = 0;
  readonly #items = new Map<string, Item>();
  /** Cache of the last item by its `output_index`: most events are deltas of one item. */
  #lastIndex: number | undefined;
  #lastItem: Item | undefined;

  read(frame: Frame): readonly Event[] {
    if (this.#over) return NOTHING;
    if (frame.data === '[DONE]') return this.end();
    const value = parseJson(frame.data);
    if (!isObject(value)) return this.#fail(invalidEvent(frame.data));
    const events: Event[] = [];
    this.#readEvent(nonEmptyString(value.type) ?? frame.event ?? '', value, events);
    return events;
  }

  end(): readonly Event[] {
    if (this.#over) return NOTHING;
    this.#over = true;
    return [{ type: 'finish', reason: 'closed' }];
  }

  /** Reads a complete answer, or the one in a terminal event. Emits the content that was not streamed. */
  readResponse(response: JsonObject): readonly Event[] {
    const events: Event[] = [];
    this.#start(response, events);
    arrayOrEmpty(response.output).forEach((value, index) => {
      const item = objectOrEmpty(value);
      this.#itemDone({ item, output_index: index }, events);
    });
    const usage = readResponsesUsage(response.usage, response);
    if (usage) events.push({ type: 'usage', usage });
    this.#over = true;
    events.push(this.#finishEvent(response));
    return events;
  }

  #fail(error: SvcError): readonly Event[] {
    this.#over = true;
    return [{ type: 'error', error }];
  }

  #start(response: JsonObject, events: Event[]): void {
    if (this.#started) return;
    this.#started = true;
    const id = nonEmptyString(response.id);
    const created = finiteNumber(response.created_at);
    events.push(defined({ type: 'start' as const, id, model: nonEmptyString(response.model), created }));
  }

  #readEvent(type: string, value: JsonObject, events: Event[]): void {
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        this.#start(objectOrEmpty(value.response), events);
        break;
      case 'response.output_item.added':
        this.#itemAdded(value, events);
        break;
      case 'response.output_text.delta':
        this.#delta('text', value, finiteNumber(value.content_index) ?? 0, events);
        break;
      case 'response.refusal.delta':
        this.#delta('refusal', value, finiteNumber(value.content_index) ?? 0, events);
        break;
      case 'response.reasoning_summary_text.delta':
        this.#reasoning(value, `summary ${finiteNumber(value.summary_index) ?? 0}`, events);
        break;
      case 'response.reasoning_text.delta':
        this.#reasoning(value, `content ${finiteNumber(value.content_index) ?? 0}`, events);
        break;
      case 'response.output_text.annotation.added': {
        const part = this.#part(value, finiteNumber(value.content_index) ?? 0);
        events.push({ type: 'text', part, text: '', annotations: [value.annotation] });
        break;
      }
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#arguments(value, events);
        break;
      case 'response.output_item.done':
        this.#itemDone(value, events);
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        append(events, this.readResponse(withError(objectOrEmpty(value.response), value.error)));
        break;
      case 'error':
        append(events, this.#fail(vendorErrorValue(isObject(value.error) ? value.error : value)));
        break;
      default:
        if (value.error !== undefined && value.error !== null)
          append(events, this.#fail(vendorErrorValue(value.error)));
    }
  }

  #item(value: JsonObject): Item {
    const index = finiteNumber(value.output_index);
    if (index !== undefined && index === this.#lastIndex && this.#lastItem !== undefined) return this.#lastItem;
    const item = this.#findItem(
      String(index ?? nonEmptyString(value.item_id) ?? nonEmptyString(objectOrEmpty(value.item).id) ?? 0),
    );
    if (index !== undefined) {
      this.#lastIndex = index;
      this.#lastItem = item;
    }
    return item;
  }

  #findItem(key: string): Item {
    const present = this.#items.get(key);
    if (present) return present;
    const item: Item = { parts: new Map(), summary: undefined, emitted: false, done: false };
    this.#items.set(key, item);
    return item;
  }

  #part(value: JsonObject, content: number): number {
    return this.#itemPart(this.#item(value), content);
  }

  #itemPart(item: Item, content: number): number {
    const present = item.parts.get(content);
    if (present !== undefined) return present;
    const part = this.#next++;
    item.parts.set(content, part);
    return part;
  }

  #delta(type: 'text' | 'refusal', value: JsonObject, content: number, events: Event[]): void {
    const text = nonEmptyString(value.delta);
    if (text === undefined) return;
    const item = this.#item(value);
    item.emitted = true;
    const part = this.#itemPart(item, content);
    if (type === 'text' && Array.isArray(value.logprobs) && value.logprobs.length > 0) {
      events.push({ type, part, text, logprobs: value.logprobs });
    } else events.push({ type, part, text });
  }

  #reasoning(value: JsonObject, summary: string, events: Event[]): void {
    const text = nonEmptyString(value.delta);
    if (text === undefined) return;
    const item = this.#item(value);
    const gap = item.summary !== undefined && item.summary !== summary ? '\n\n' : '';
    item.summary = summary;
    item.emitted = true;
    events.push({ type: 'reasoning', part: this.#itemPart(item, 0), text: gap === '' ? text : gap + text });
  }

  #arguments(value: JsonObject, events: Event[]): void {
    const json = nonEmptyString(value.delta);
    if (json === undefined) return;
    const item = this.#item(value);
    item.emitted = true;
    events.push({ type: 'tool-arguments', part: this.#itemPart(item, 0), json });
  }

  #itemAdded(value: JsonObject, events: Event[]): void {
    const item = objectOrEmpty(value.item);
    if (isCall(item)) this.#call(value, item, events);
  }

  #call(value: JsonObject, item: JsonObject, events: Event[]): number {
    const known = this.#item(value).parts.get(0);
    if (known !== undefined) return known;
    const part = this.#part(value, 0);
    this.#calls++;
    const id = nonEmptyString(item.call_id) ?? nonEmptyString(item.id) ?? `call_${part}`;
    const custom = item.type === 'custom_tool_call' ? (true as const) : undefined;
    const namespace = nonEmptyString(item.namespace);
    events.push(
      defined({ type: 'tool-call' as const, part, id, name: nonEmptyString(item.name) ?? '', namespace, custom }),
    );
    return part;
  }

  /** Ends an item. Content that was already emitted by deltas is not repeated. */
  #itemDone(value: JsonObject, events: Event[]): void {
    const known = this.#item(value);
    if (known.done) return;
    known.done = true;
    const item = objectOrEmpty(value.item);
    switch (item.type) {
      case 'function_call':
      case 'custom_tool_call': {
        const part = this.#call(value, item, events);
        const json = known.emitted ? '' : (nonEmptyString(item.input ?? item.arguments) ?? '');
        events.push({ type: 'tool-arguments', part, json, last: true });
        break;
      }
      case 'reasoning': {
        const whole = readReasoningItem(item);
        const part = this.#part(value, 0);
        if (!known.emitted && whole.text !== '') events.push({ type: 'reasoning', part, text: whole.text });
        for (const seal of whole.seals) events.push({ type: 'reasoning-seal', part, seal });
        break;
      }
      case 'message':
        if (!known.emitted) this.#message(value, item, events);
    }
  }

  #message(value: JsonObject, item: JsonObject, events: Event[]): void {
    arrayOrEmpty(item.content).forEach((content, index) => {
      const part = objectOrEmpty(content);
      const refusal = nonEmptyString(part.refusal);
      const text = nonEmptyString(part.text);
      const annotations = arrayOrEmpty(part.annotations);
      if (refusal !== undefined) events.push({ type: 'refusal', part: this.#part(value, index), text: refusal });
      else if (text !== undefined) {
        const logprobs = arrayOrEmpty(part.logprobs);
        events.push(
          defined({
            type: 'text' as const,
            part: this.#part(value, index),
            text,
            annotations: annotations.length > 0 ? annotations : undefined,
            logprobs: logprobs.length > 0 ? logprobs : undefined,
          }),
        );
      }
    });
  }

  #finishEvent(response: JsonObject): Event {
    if (isObject(response.error)) return { type: 'error', error: vendorErrorValue(response.error) };
    if (response.status === 'failed' || response.status === 'cancelled') {
      return { type: 'error', error: brokenAnswer(response.status) };
    }
    if (response.status === 'incomplete') {
      const reason = nonEmptyString(objectOrEmpty(response.incomplete_details).reason);
      const finish = reason === undefined ? { reason: 'length' as const } : readFinish(reason);
      if (finish === 'failed') return { type: 'error', error: brokenAnswer(reason ?? '') };
      // An incomplete answer is never complete, whatever reason it has.
      const complete = finish.reason === 'stop' || finish.reason === 'tool_calls';
      return { type: 'finish', ...(complete ? { reason: 'other', ...defined({ native: reason }) } : finish) };
    }
    // The status does not show tool calls; the output does.
    const reason: FinishReason = this.#calls > 0 ? 'tool_calls' : 'stop';
    return { type: 'finish', reason };
  }
}

/** Some servers have the error beside the answer (openai/codex#24973). */
function withError(response: JsonObject, error: unknown): JsonObject {
  return isObject(error) && !isObject(response.error) ? { ...response, error } : response;
}

function isCall(item: JsonObject): boolean {
  return item.type === 'function_call' || item.type === 'custom_tool_call';
}

/** Converts a complete Responses answer to events. */
export function readResponsesAnswer(body: JsonObject): readonly Event[] {
  return new ResponsesStreamReader().readResponse(body);
}
