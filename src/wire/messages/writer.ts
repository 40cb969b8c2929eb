import { defined, quoteJson } from '../../base/json.ts';
import type { AssistantPart } from '../conversation.ts';
import { errorFrame } from '../errors/error-body.ts';
import { answerCutShort } from '../errors/upstream-errors.ts';
import type { Event, FinishReason, ReasoningSignature, Usage } from '../event.ts';
import { type Finish, nativeReason } from '../finish-reason.ts';
import { foldEvents } from '../fold.ts';
import type { AnswerContext, Frame, StreamWriter } from '../format.ts';
import { PLAIN_REASONING, sealText } from '../packed-reasoning.ts';
import { type PartEvent, PartSequence } from '../part-sequence.ts';
import { writeCacheCreation } from '../usage.ts';
import { toolInput } from './tool-input.ts';
import { messagesCitations } from './write-request.ts';

const STOP: Readonly<Record<Exclude<FinishReason, 'closed' | 'other'>, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/**
 * Converts events to Messages stream events: block indexes without gaps, one block at a time, no empty blocks, and an
 * `event:` line in every frame (the SDK skips frames without it).
 */
export class MessagesStreamWriter implements StreamWriter {
  readonly #context: AnswerContext;
  #frames: Frame[] = [];
  #begun = false;
  #over = false;
  #index = -1;
  /**
   * The start of each delta up to its value, cached by kind for each block, because a block has thousands of deltas.
   */
  #deltaHeads = new Map<string, string>();
  #usage: Usage | undefined;
  /** Whether the open block is thinking that still needs a signature. */
  #unsigned = false;
  readonly #sequence = new PartSequence({
    open: (event) => this.#open(event),
    add: (event) => this.#add(event),
    close: () => this.#close(),
  });

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  write(event: Event): readonly Frame[] {
    if (this.#over) return [];
    this.#frames = [];
    switch (event.type) {
      case 'start':
      case 'discard':
        break;
      case 'usage':
        this.#usage = event.usage;
        break;
      case 'finish':
        this.#finish(event);
        break;
      case 'error':
        this.#over = true;
        this.#frames.push(errorFrame(event.error, 'messages'));
        break;
      default:
        this.#sequence.feed(event);
    }
    return this.#frames;
  }

  #push(type: string, members: string): void {
    this.#frames.push({ event: type, data: `{"type":"${type}",${members}}` });
  }

  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const { id, model } = this.#context;
    const usage = { ...writeMessagesUsage(this.#usage ?? probableUsage(this.#context)), output_tokens: 0 };
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    this.#push('message_start', `"message":${JSON.stringify(message)}`);
  }

  #open(event: PartEvent): void {
    this.#begin();
    this.#index++;
    this.#deltaHeads.clear();
    const block = writeBlock(event, this.#context.issuer);
    this.#unsigned = block.type === 'thinking';
    this.#push('content_block_start', `"index":${this.#index},"content_block":${JSON.stringify(block)}`);
  }

  /** Clients return only thinking with a signature. */
  #close(): void {
    if (this.#unsigned) this.#sign(signatureOf(PLAIN_REASONING, this.#context.issuer));
    this.#push('content_block_stop', `"index":${this.#index}`);
  }

  #sign(signature: string): void {
    this.#unsigned = false;
    this.#delta('{"type":"signature_delta","signature":', quoteJson(signature));
  }

  #add(event: PartEvent): void {
    switch (event.type) {
      case 'text':
      case 'refusal':
        if (event.text !== '') this.#delta('{"type":"text_delta","text":', quoteJson(event.text));
        if (event.type === 'text' && event.annotations !== undefined) {
          for (const citation of messagesCitations(event) ?? []) {
            this.#delta('{"type":"citations_delta","citation":', JSON.stringify(citation));
          }
        }
        break;
      case 'reasoning':
        if (event.text !== '') this.#delta('{"type":"thinking_delta","thinking":', quoteJson(event.text));
        break;
      case 'reasoning-seal':
        if (this.#unsigned) this.#sign(signatureOf(event.seal, this.#context.issuer));
        break;
      case 'tool-arguments':
        if (event.json !== '') this.#delta('{"type":"input_json_delta","partial_json":', quoteJson(event.json));
    }
  }

  /** `start`: the delta up to the value of its last member. */
  #delta(start: string, json: string): void {
    let head = this.#deltaHeads.get(start);
    if (head === undefined) {
      head = [`{"type":"content_block_delta","index":${this.#index},"delta":`, start].join('');
      this.#deltaHeads.set(start, head);
    }
    this.#frames.push({ event: 'content_block_delta', data: `${head}${json}}}` });
  }

  #finish(finish: Finish): void {
    this.#over = true;
    if (finish.reason === 'closed') {
      this.#frames.push(errorFrame(answerCutShort(), 'messages'));
      return;
    }
    this.#begin();
    this.#sequence.end();
    const usage = JSON.stringify(writeMessagesUsage(this.#usage ?? probableUsage(this.#context)));
    this.#push('message_delta', `"delta":${JSON.stringify(writeStopReason(finish))},"usage":${usage}`);
    this.#frames.push({ event: 'message_stop', data: '{"type":"message_stop"}' });
  }
}

/** The signature of a thinking block. */
function signatureOf(seal: ReasoningSignature, issuer: string | undefined): string {
  return sealText(seal, seal.vendor === 'messages' && 'signature' in seal ? seal.signature : undefined, issuer);
}

/** A block of reasoning without text: clients return its data, but some drop thinking without a text. */
function redactedBlock(seal: ReasoningSignature, issuer: string | undefined): Record<string, unknown> {
  const native = seal.vendor === 'messages' && 'redacted' in seal ? seal.redacted : undefined;
  return { type: 'redacted_thinking', data: sealText(seal, native, issuer) };
}

/** Anthropic itself sends thinking with a signature and an empty text (`display: "omitted"`). */
function isSigned(seal: ReasoningSignature): boolean {
  return seal.vendor === 'messages' && 'signature' in seal;
}

function writeBlock(event: PartEvent, issuer: string | undefined): Record<string, unknown> {
  switch (event.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: '' };
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'reasoning-seal':
      return isSigned(event.seal)
        ? { type: 'thinking', thinking: '', signature: '' }
        : redactedBlock(event.seal, issuer);
    case 'tool-call':
      return { type: 'tool_use', id: event.id, name: event.name, input: {} };
    case 'tool-arguments':
      return { type: 'tool_use', id: `toolu_${event.part}`, name: '', input: {} };
  }
}

function writeStopReason({ reason, stopSequence, native }: Finish): Record<string, unknown> {
  if (reason === 'other' || reason === 'closed') return { stop_reason: nativeReason(native), stop_sequence: null };
  if (reason === 'stop' && stopSequence !== undefined) {
    return { stop_reason: 'stop_sequence', stop_sequence: stopSequence };
  }
  return { stop_reason: STOP[reason], stop_sequence: null };
}

/** Agents show how full the window is, and summarize the conversation in time, by the last input that they were told. */
function probableUsage({ inputTokens = 0 }: AnswerContext): Usage {
  return { input: inputTokens, output: 0 };
}

/** `Usage` counts cached tokens as input; Anthropic's usage does not. */
function writeMessagesUsage(usage: Usage): Record<string, unknown> {
  return defined({
    input_tokens: Math.max(0, usage.input - (usage.cacheRead ?? 0) - (usage.cacheWrite ?? 0)),
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
    cache_creation: writeCacheCreation(usage),
    cache_read_input_tokens: usage.cacheRead ?? 0,
    output_tokens: usage.output,
    output_tokens_details: usage.reasoning === undefined ? undefined : { thinking_tokens: usage.reasoning },
  });
}

/** @throws SvcError for an `error` event, and for an incomplete answer. */
export function writeMessagesAnswer(context: AnswerContext, events: readonly Event[]): Record<string, unknown> {
  const answer = foldEvents(events);
  if (answer.error) throw answer.error;
  if (answer.finish === undefined || answer.finish === 'closed') throw answerCutShort();
  return {
    id: context.id,
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: answer.parts.flatMap((part) => writePart(part, context.issuer)),
    ...writeStopReason({ ...answer, reason: answer.finish }),
    usage: writeMessagesUsage(answer.usage ?? probableUsage(context)),
  };
}

function writePart(part: AssistantPart, issuer: string | undefined): Record<string, unknown>[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [defined({ type: 'text', text: part.text, citations: messagesCitations(part) })];
    case 'refusal':
      return [{ type: 'text', text: part.text }];
    case 'tool-call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: toolInput(part.arguments) }];
    case 'reasoning': {
      const seal = part.seals.find(isSigned) ?? part.seals[0];
      if (part.text !== '' || (seal !== undefined && isSigned(seal))) {
        return [{ type: 'thinking', thinking: part.text, signature: signatureOf(seal ?? PLAIN_REASONING, issuer) }];
      }
      return part.seals.map((each) => redactedBlock(each, issuer));
    }
  }
}
