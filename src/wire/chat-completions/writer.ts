import { append, defined, quoteJson } from '../../base/json.ts';
import type { TextPart } from '../conversation.ts';
import { errorFrame } from '../errors/error-body.ts';
import { answerCutShort } from '../errors/upstream-errors.ts';
import type { Event, Usage } from '../event.ts';
import { type Finish, nativeReason } from '../finish-reason.ts';
import { foldEvents } from '../fold.ts';
import type { AnswerContext, Frame, StreamWriter } from '../format.ts';
import { writeChatUsage } from '../usage.ts';
import { writeClientDetail, writeReasoningDetails } from './reasoning-details.ts';
import { thoughtOfSeal, writeThoughtSignature } from './thought-signature.ts';
import { writeCalls } from './write-request.ts';

const NOTHING: readonly Frame[] = [];
/** A chunk after the members of its delta. */
const DELTA_END = '},"finish_reason":null}]}';

/**
 * Converts events to chunks in the order of OpenAI's streams: role, deltas, finish, `[DONE]`. The usage is in the chunk
 * with the finish reason, or after it in a chunk with `choices: []` if the client requested that.
 */
export class ChatStreamWriter implements StreamWriter {
  readonly #head: string;
  /** The common start of every chunk with a delta. */
  readonly #deltaHead: string;
  readonly #usageChunk: boolean;
  readonly #issuer: string | undefined;
  /** Gemini's signature for the next tool call. */
  #thought: string | undefined;
  #begun = false;
  #over = false;
  #usage: Usage | undefined;
  readonly #wholeCalls: boolean;
  /** The tool call of each part. */
  readonly #calls = new Map<number, StreamedCall>();
  /** Reasoning text without a signature so far. The signature must be written together with its text. */
  readonly #reasoning = new Map<number, string>();

  constructor(context: AnswerContext) {
    const { id, created, model } = context;
    this.#usageChunk = context.usageChunk === true;
    this.#wholeCalls = context.wholeCalls === true;
    this.#issuer = context.issuer;
    this.#head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
    this.#deltaHead = [this.#head, ',"choices":[{"index":0,"delta":'].join('');
  }

  write(event: Event): readonly Frame[] {
    if (this.#over) return NOTHING;
    switch (event.type) {
      case 'start':
      case 'discard':
        return NOTHING;
      case 'text': {
        const content = event.text === '' ? '' : `"content":${quoteJson(event.text)}`;
        const annotations = event.annotations ? `"annotations":${JSON.stringify(event.annotations)}` : '';
        const delta = content && annotations ? `${content},${annotations}` : content || annotations;
        if (event.logprobs !== undefined)
          return this.#delta(delta || '"content":""', '""', endWithLogprobs(event.logprobs));
        return delta === '' ? NOTHING : this.#delta(delta);
      }
      case 'refusal':
        return this.#delta(`"refusal":${quoteJson(event.text)}`);
      case 'reasoning':
        this.#reasoning.set(event.part, (this.#reasoning.get(event.part) ?? '') + event.text);
        return this.#delta(`"reasoning_content":${quoteJson(event.text)}`);
      case 'reasoning-seal': {
        const thought = thoughtOfSeal(event.seal);
        if (thought?.place === 'call') this.#thought = thought.signature;
        if (thought?.place === 'message')
          return this.#delta(JSON.stringify(writeThoughtSignature(thought.signature)).slice(1, -1));
        if (thought !== undefined) return NOTHING;
        const details = writeClientDetail(event.seal, this.#reasoning.get(event.part) ?? '', this.#issuer);
        this.#reasoning.delete(event.part);
        return this.#delta(`"reasoning_details":${JSON.stringify(details)}`);
      }
      case 'tool-call': {
        const { id, name, custom = false } = event;
        const call = { index: this.#calls.size, id, name, custom, thought: this.#thought, empty: true, held: '' };
        this.#thought = undefined;
        this.#calls.set(event.part, call);
        return this.#wholeCalls ? NOTHING : this.#delta(callDelta(call), 'null');
      }
      case 'tool-arguments': {
        const call = this.#calls.get(event.part);
        if (call === undefined || event.json === '') return NOTHING;
        call.empty = false;
        if (this.#wholeCalls) {
          call.held += event.json;
          return NOTHING;
        }
        return this.#delta(argumentsDelta(call, event.json));
      }
      case 'usage':
        this.#usage = event.usage;
        return NOTHING;
      case 'finish':
        return this.#finish(event);
      case 'error':
        this.#over = true;
        return [errorFrame(event.error, 'chat-completions')];
    }
  }

  #delta(delta: string, firstContent = '""', end = DELTA_END): readonly Frame[] {
    const frame = { data: `${this.#deltaHead}{${delta}${end}` };
    if (this.#begun) return [frame];
    this.#begun = true;
    return [this.#chunk(`{"role":"assistant","content":${firstContent}}`, 'null'), frame];
  }

  #chunk(delta: string, finish: string, usage = ''): Frame {
    return { data: `${this.#deltaHead}${delta},"finish_reason":${finish}}]${usage}}` };
  }

  #missingArguments(): readonly Frame[] {
    const empty = [...this.#calls.values()].filter((call) => call.empty && !call.custom);
    return empty.map((call) => this.#chunk(`{${argumentsDelta(call, '{}')}}`, 'null'));
  }

  #heldCalls(): readonly Frame[] {
    return [...this.#calls.values()].flatMap((call) => {
      if (call.empty && !call.custom) call.held = '{}';
      return this.#delta(callDelta(call), 'null');
    });
  }

  #finish({ reason, native }: Finish): readonly Frame[] {
    this.#over = true;
    if (reason === 'closed') return [errorFrame(answerCutShort(), 'chat-completions')];
    const frames: Frame[] = [];
    if (this.#wholeCalls) append(frames, this.#heldCalls());
    else append(frames, this.#missingArguments());
    if (!this.#begun) frames.push(this.#chunk('{"role":"assistant","content":""}', 'null'));
    const usage = this.#usage ? `,"usage":${JSON.stringify(writeChatUsage(this.#usage))}` : '';
    frames.push(
      this.#chunk(
        '{}',
        JSON.stringify(reason === 'other' ? nativeReason(native) : reason),
        this.#usageChunk ? '' : usage,
      ),
    );
    if (this.#usageChunk && usage !== '') frames.push({ data: `${this.#head},"choices":[]${usage}}` });
    frames.push({ data: '[DONE]' });
    return frames;
  }
}

function endWithLogprobs(logprobs: readonly unknown[]): string {
  return `},"logprobs":${JSON.stringify({ content: logprobs, refusal: null })},"finish_reason":null}]}`;
}

interface StreamedCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly custom: boolean;
  readonly thought: string | undefined;
  /** It has no arguments yet. */
  empty: boolean;
  /** The arguments of a call that is sent whole. */
  held: string;
}

function callDelta({ index, id, name, custom, thought, held }: StreamedCall): string {
  const signed = thought === undefined ? {} : writeThoughtSignature(thought);
  const call = custom
    ? { index, id, type: 'custom', custom: { name, input: held }, ...signed }
    : { index, id, type: 'function', function: { name, arguments: held }, ...signed };
  return `"tool_calls":[${JSON.stringify(call)}]`;
}

function argumentsDelta(call: StreamedCall, text: string): string {
  const member = call.custom ? '"custom":{"input"' : '"function":{"arguments"';
  return `"tool_calls":[{"index":${call.index},${member}:${quoteJson(text)}}}]`;
}

/** @throws SvcError for an `error` event, and for an incomplete answer. */
export function writeChatAnswer(context: AnswerContext, events: readonly Event[]): Record<string, unknown> {
  const answer = foldEvents(events);
  if (answer.error) throw answer.error;
  if (answer.finish === undefined || answer.finish === 'closed') throw answerCutShort();
  const texts = answer.parts.filter((part) => part.type === 'text');
  const refusals = answer.parts.filter((part) => part.type === 'refusal');
  const { calls, reasoning, signed } = writeCalls(answer.parts);
  const details = writeReasoningDetails(reasoning, context.issuer, writeClientDetail);
  const finish_reason = answer.finish === 'other' ? nativeReason(answer.native) : answer.finish;
  const annotations = texts.flatMap((part) => part.annotations ?? []);
  const content = texts.map((part) => part.text).join('');
  const message = defined({
    role: 'assistant',
    content: content !== '' ? content : calls.length > 0 || refusals.length > 0 ? null : '',
    refusal: refusals.length > 0 ? refusals.map((part) => part.text).join('') : null,
    reasoning_content: reasoning.map((part) => part.text).join('') || undefined,
    reasoning_details: details.length > 0 ? details : undefined,
    annotations: annotations.length > 0 ? annotations : undefined,
    tool_calls: calls.length > 0 ? calls : undefined,
    ...signed,
  });
  return defined({
    id: context.id,
    object: 'chat.completion',
    created: context.created,
    model: context.model,
    choices: [{ index: 0, message, logprobs: writeLogprobs(texts), finish_reason }],
    usage: answer.usage && writeChatUsage(answer.usage),
  });
}

function writeLogprobs(texts: readonly TextPart[]): unknown {
  const content = texts.flatMap(({ logprobs }) => logprobs ?? []);
  return content.length > 0 ? { content, refusal: null } : null;
}
