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
import { invalidEvent, namelessCall } from '../errors/upstream-errors.ts';
import { vendorErrorValue } from '../errors/vendor-errors.ts';
import type { Event } from '../event.ts';
import { brokenAnswer, endWithCalls, type Finish, readFinish } from '../finish-reason.ts';
import type { Frame, StreamReader } from '../format.ts';
import { StreamUsage } from '../usage.ts';
import { restoreToolInputs } from './tool-input.ts';

const NOTHING: readonly Event[] = [];

interface Block {
  readonly part: number;
  readonly kind: 'text' | 'reasoning' | 'tool';
  /** The arguments if there is no delta: `{}`, or the input in the block. */
  input: string;
  ended: boolean;
}

/** Converts Messages stream events to events (Anthropic, "Streaming messages"). */
export class MessagesStreamReader implements StreamReader {
  #started = false;
  #id: string | undefined;
  #over = false;
  #next = 0;
  readonly #blocks = new Map<number, Block>();
  readonly #usage = new StreamUsage('messages');
  #finish: Finish | undefined;

  read(frame: Frame): readonly Event[] {
    if (this.#over) return NOTHING;
    if (frame.event === 'ping') return NOTHING;
    const value = parseJson(frame.data);
    if (!isObject(value)) return this.#fail(invalidEvent(frame.data));
    if (value.type === 'content_block_start') restoreToolInputs(value, frame.data);
    return this.readValue(value);
  }

  readValue(value: JsonObject): readonly Event[] {
    const events: Event[] = [];
    this.#readEvent(value, events);
    return events;
  }

  /** The provider marked the end of the stream. The answer is valid even without a finish reason. */
  complete(): readonly Event[] {
    if (this.#blocks.size > 0) this.#finish ??= { reason: 'stop' };
    return this.end();
  }

  end(): readonly Event[] {
    if (this.#over) return NOTHING;
    this.#over = true;
    const called = [...this.#blocks.values()].some(({ kind }) => kind === 'tool');
    return [endWithCalls(this.#finish ?? { reason: 'closed' }, called, this.#next > 0)];
  }

  #fail(error: SvcError): readonly Event[] {
    this.#over = true;
    return [{ type: 'error', error }];
  }

  #readEvent(value: JsonObject, events: Event[]): void {
    switch (value.type) {
      case 'message_start':
        this.#start(objectOrEmpty(value.message), events);
        break;
      case 'content_block_start':
        this.#open(finiteNumber(value.index) ?? this.#blocks.size, objectOrEmpty(value.content_block), events);
        break;
      case 'content_block_delta':
        this.#delta(finiteNumber(value.index) ?? -1, objectOrEmpty(value.delta), events);
        break;
      case 'content_block_stop':
        this.#close(this.#blocks.get(finiteNumber(value.index) ?? -1), events);
        break;
      case 'message_delta':
        this.#messageDelta(objectOrEmpty(value.delta), value.usage, events);
        break;
      case 'message_stop':
        append(events, this.complete());
        break;
      case 'error':
        append(events, this.#fail(vendorErrorValue(value.error)));
        break;
      default:
        if (value.error !== undefined && value.error !== null)
          append(events, this.#fail(vendorErrorValue(value.error)));
    }
  }

  /** Some providers send `message_start` twice, or a second message while the first is open. */
  #start(message: JsonObject, events: Event[]): void {
    const id = nonEmptyString(message.id);
    if (this.#started) {
      if (id === undefined || id !== this.#id) this.#discardOpenCalls(events);
      return this.#count(message.usage, events);
    }
    this.#started = true;
    this.#id = id;
    events.push(defined({ type: 'start' as const, id, model: nonEmptyString(message.model) }));
    this.#count(message.usage, events);
  }

  #discardOpenCalls(events: Event[]): void {
    for (const [index, { kind, ended, part }] of this.#blocks) {
      if (kind !== 'tool' || ended) continue;
      this.#blocks.delete(index);
      events.push({ type: 'discard', call: part });
    }
  }

  #count(value: unknown, events: Event[]): void {
    const usage = isObject(value) ? this.#usage.add(value) : undefined;
    if (usage) events.push({ type: 'usage', usage });
  }

  #open(index: number, block: JsonObject, events: Event[]): void {
    switch (block.type) {
      case 'text': {
        const opened = this.#block(index, 'text');
        const text = nonEmptyString(block.text);
        const annotations = arrayOrEmpty(block.citations);
        if (annotations.length > 0) events.push({ type: 'text', part: opened.part, text: text ?? '', annotations });
        else if (text !== undefined) events.push({ type: 'text', part: opened.part, text });
        break;
      }
      case 'thinking': {
        const { part } = this.#block(index, 'reasoning');
        events.push({ type: 'reasoning', part, text: nonEmptyString(block.thinking) ?? '' });
        const signature = nonEmptyString(block.signature);
        if (signature !== undefined)
          events.push({ type: 'reasoning-seal', part, seal: { vendor: 'messages', signature } });
        break;
      }
      case 'redacted_thinking': {
        const { part } = this.#block(index, 'reasoning');
        events.push({
          type: 'reasoning-seal',
          part,
          seal: { vendor: 'messages', redacted: nonEmptyString(block.data) ?? '' },
        });
        break;
      }
      case 'tool_use': {
        const opened = this.#block(index, 'tool');
        if (isObject(block.input) && Object.keys(block.input).length > 0) opened.input = JSON.stringify(block.input);
        events.push({
          type: 'tool-call',
          part: opened.part,
          id: nonEmptyString(block.id) ?? `toolu_${index}`,
          name: nonEmptyString(block.name) ?? '',
        });
      }
    }
  }

  #block(index: number, kind: Block['kind']): Block {
    const block: Block = { part: this.#next++, kind, input: '{}', ended: false };
    this.#blocks.set(index, block);
    return block;
  }

  #delta(index: number, delta: JsonObject, events: Event[]): void {
    const block = this.#blocks.get(index) ?? this.#unstarted(index, delta, events);
    if (block === undefined) return;
    const { part } = block;
    switch (delta.type) {
      case 'text_delta':
        if (typeof delta.text === 'string' && delta.text !== '') events.push({ type: 'text', part, text: delta.text });
        break;
      case 'thinking_delta':
        if (typeof delta.thinking === 'string' && delta.thinking !== '') {
          events.push({ type: 'reasoning', part, text: delta.thinking });
        }
        break;
      case 'signature_delta':
        if (typeof delta.signature === 'string' && delta.signature !== '') {
          events.push({ type: 'reasoning-seal', part, seal: { vendor: 'messages', signature: delta.signature } });
        }
        break;
      case 'input_json_delta':
        if (typeof delta.partial_json === 'string' && delta.partial_json !== '') {
          block.input = '';
          events.push({ type: 'tool-arguments', part, json: delta.partial_json });
        }
        break;
      case 'citations_delta':
        events.push({ type: 'text', part, text: '', annotations: [delta.citation] });
    }
  }

  /** Some servers send no `content_block_start`. The arguments of a call are lost without its name. */
  #unstarted(index: number, { type }: JsonObject, events: Event[]): Block | undefined {
    switch (type) {
      case 'text_delta':
      case 'citations_delta':
        return this.#block(index, 'text');
      case 'thinking_delta':
      case 'signature_delta':
        return this.#block(index, 'reasoning');
      case 'input_json_delta':
        append(events, this.#fail(namelessCall()));
        return undefined;
      default:
        return undefined;
    }
  }

  #close(block: Block | undefined, events: Event[]): void {
    if (block?.kind !== 'tool') return;
    events.push({ type: 'tool-arguments', part: block.part, json: block.input, last: true });
    // If the block ends twice, the arguments must not be repeated.
    block.input = '';
    block.ended = true;
  }

  #messageDelta(delta: JsonObject, usage: unknown, events: Event[]): void {
    this.#count(usage, events);
    const reason = nonEmptyString(delta.stop_reason);
    if (reason === undefined) return;
    const finish = readFinish(reason);
    if (finish === 'failed' || (finish.reason === 'other' && this.#next === 0)) {
      append(events, this.#fail(brokenAnswer(reason)));
    } else this.#finish = defined({ ...finish, stopSequence: nonEmptyString(delta.stop_sequence) });
  }
}

/** Converts a complete Messages answer to events, in the order of a stream. */
export function readMessagesAnswer(body: JsonObject): readonly Event[] {
  const reader = new MessagesStreamReader();
  const feed = (value: JsonObject): readonly Event[] => reader.readValue(value);
  if (body.type === 'error') return feed(body);
  const events: Event[] = [...feed({ type: 'message_start', message: { ...body, usage: undefined } })];
  arrayOrEmpty(body.content).forEach((block, index) => {
    append(events, feed({ type: 'content_block_start', index, content_block: block }));
    append(events, feed({ type: 'content_block_stop', index }));
  });
  const delta = { stop_reason: body.stop_reason, stop_sequence: body.stop_sequence };
  append(events, feed({ type: 'message_delta', delta, usage: body.usage }));
  append(events, reader.complete());
  return events;
}
