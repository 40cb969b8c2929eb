import { append, defined, objectOrEmpty, quoteJson } from '../../base/json.ts';
import { errorBody } from '../errors/error-body.ts';
import type { SvcError } from '../errors/svc-error.ts';
import { answerCutShort } from '../errors/upstream-errors.ts';
import type { Event, ReasoningSignature, Usage } from '../event.ts';
import { type Finish, nativeReason } from '../finish-reason.ts';
import type { AnswerContext, Frame, StreamWriter } from '../format.ts';
import { PLAIN_REASONING, sealText } from '../packed-reasoning.ts';
import { type PartEvent, PartSequence } from '../part-sequence.ts';
import { writeCacheCreation } from '../usage.ts';
import { DELTAS, doneItem, emptyItem, INDEXES, type Item, itemPart, type OpenItem, openItem } from './item.ts';
import { responsesAnnotations, writeResponsesRequest } from './write-request.ts';

/**
 * Converts events to Responses stream events in OpenAI's order: one item at a time, with an `added` and a `done` event
 * around its deltas, all indexes, and sequence numbers from 0. Complete answers use the same writer.
 */
export class ResponsesStreamWriter implements StreamWriter {
  readonly #context: AnswerContext;
  readonly #output: Item[] = [];
  #frames: Frame[] = [];
  #sequenceNumber = 0;
  #begun = false;
  #over = false;
  #usage: Usage | undefined;
  #open: OpenItem | undefined;
  /** The finished response, for a complete answer. */
  result: Item | undefined;
  readonly #sequence = new PartSequence({
    open: (event) => this.#openItem(event),
    add: (event) => this.#add(event),
    close: () => this.#closeItem(),
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
        if (event.reason === 'closed') this.#fail(answerCutShort());
        else this.#finish(event);
        break;
      case 'error':
        this.#fail(event.error);
        break;
      default:
        this.#sequence.feed(event);
    }
    return this.#frames;
  }

  #push(type: string, members: string): void {
    const data = `{"type":"${type}","sequence_number":${this.#sequenceNumber++},${members}}`;
    this.#frames.push({ event: type, data });
  }

  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const response = `"response":${JSON.stringify(this.#response('in_progress'))}`;
    this.#push('response.created', response);
    this.#push('response.in_progress', response);
  }

  /** `"item_id":…,"output_index":…`, with the index inside the item if it has parts. */
  #at(index?: 'content_index' | 'summary_index'): string {
    const inner = index === undefined ? '' : `,"${index}":0`;
    return `"item_id":${JSON.stringify(this.#open?.id)},"output_index":${this.#output.length}${inner}`;
  }

  #openItem(event: PartEvent): void {
    this.#begin();
    const open = openItem(event, `${this.#context.id.replace(/^resp_/, '')}_${this.#output.length}`);
    this.#open = open;
    const item = JSON.stringify({ ...open.head, ...emptyItem(open) });
    this.#push('response.output_item.added', `"output_index":${this.#output.length},"item":${item}`);
    if (open.kind === 'reasoning') {
      const part = '"part":{"type":"summary_text","text":""}';
      this.#push('response.reasoning_summary_part.added', `${this.#at('summary_index')},${part}`);
    } else if (open.kind !== 'call' && open.kind !== 'custom') {
      this.#push(
        'response.content_part.added',
        `${this.#at('content_index')},"part":${JSON.stringify(itemPart(open, ''))}`,
      );
    }
  }

  #add(event: PartEvent): void {
    const open = this.#open;
    if (open === undefined) return;
    switch (event.type) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        if (event.type === 'text' && event.logprobs !== undefined)
          this.#deltaWithLogprobs(open, event.text, event.logprobs);
        else if (event.text !== '') this.#delta(open, event.text);
        if (event.type === 'text' && event.annotations !== undefined) this.#annotate(open, responsesAnnotations(event));
        break;
      case 'tool-arguments':
        if (event.json !== '') this.#delta(open, event.json);
        break;
      case 'reasoning-seal':
        open.encrypted ??= encryptedContent(event.seal, this.#context.issuer);
    }
  }

  #annotate(open: OpenItem, annotations: readonly unknown[]): void {
    for (const annotation of annotations) {
      const members = { annotation_index: open.annotations.length, annotation };
      open.annotations.push(annotation);
      const json = JSON.stringify(members).slice(1, -1);
      this.#push('response.output_text.annotation.added', `${this.#at('content_index')},${json}`);
    }
  }

  #delta(open: OpenItem, delta: string): void {
    open.text.push(delta);
    const { event, start, end } = DELTAS[open.kind];
    open.deltaMiddle ??= [',', this.#at(INDEXES[open.kind]), ',"delta":'].join('');
    this.#frames.push({ event, data: start + this.#sequenceNumber++ + open.deltaMiddle + quoteJson(delta) + end });
  }

  #deltaWithLogprobs(open: OpenItem, delta: string, logprobs: readonly unknown[]): void {
    open.text.push(delta);
    append(open.logprobs, logprobs);
    const members = `"delta":${quoteJson(delta)},"logprobs":${JSON.stringify(logprobs)}`;
    this.#push('response.output_text.delta', `${this.#at('content_index')},${members}`);
  }

  #closeItem(): void {
    const open = this.#open;
    if (open === undefined) return;
    if (open.kind === 'call' && open.text.length === 0) this.#delta(open, '{}');
    // Clients return only reasoning with encrypted content.
    if (open.kind === 'reasoning') open.encrypted ??= encryptedContent(PLAIN_REASONING, this.#context.issuer);
    const text = open.text.join('');
    const json = JSON.stringify(text);
    if (open.kind === 'call') {
      const name = JSON.stringify(open.head.name);
      this.#push('response.function_call_arguments.done', `${this.#at()},"name":${name},"arguments":${json}`);
    } else if (open.kind === 'custom') {
      this.#push('response.custom_tool_call_input.done', `${this.#at()},"input":${json}`);
    } else if (open.kind === 'reasoning') {
      this.#push('response.reasoning_summary_text.done', `${this.#at('summary_index')},"text":${json}`);
      const part = JSON.stringify({ type: 'summary_text', text });
      this.#push('response.reasoning_summary_part.done', `${this.#at('summary_index')},"part":${part}`);
    } else {
      const at = this.#at('content_index');
      if (open.kind === 'refusal') this.#push('response.refusal.done', `${at},"refusal":${json}`);
      else this.#push('response.output_text.done', `${at},"text":${json},"logprobs":${JSON.stringify(open.logprobs)}`);
      this.#push('response.content_part.done', `${at},"part":${JSON.stringify(itemPart(open, text))}`);
    }
    const item = doneItem(open, text);
    const itemJson = JSON.stringify(item);
    this.#push('response.output_item.done', `"output_index":${this.#output.length},"item":${itemJson}`);
    this.#context.keepItem?.(open.id, itemJson);
    this.#output.push(item);
    this.#open = undefined;
  }

  #finish(finish: Finish): void {
    this.#over = true;
    this.#begin();
    this.#sequence.end();
    const reason = incompleteReason(finish);
    const cut = reason !== undefined;
    const details = cut ? { reason } : null;
    this.result = { ...this.#response(cut ? 'incomplete' : 'completed'), incomplete_details: details };
    this.#push(cut ? 'response.incomplete' : 'response.completed', `"response":${JSON.stringify(this.result)}`);
  }

  #fail(error: SvcError): void {
    this.#over = true;
    this.#begin();
    const body = errorBody(error, 'responses');
    const said = objectOrEmpty(body.error);
    const { code, message, param } = said;
    this.#push(
      'error',
      JSON.stringify({ code, message, param, error: said, error_type: error.errorType }).slice(1, -1),
    );
    const response = { ...this.#response('failed'), error: { code: failureCode(error), message } };
    this.#push('response.failed', `"response":${JSON.stringify(response)}`);
  }

  #response(status: string): Item {
    const { id, created, model, request } = this.#context;
    return {
      id,
      object: 'response',
      created_at: created,
      status,
      background: false,
      error: null,
      incomplete_details: null,
      ...echo(request),
      model,
      output: [...this.#output],
      previous_response_id: null,
      store: false,
      usage: status === 'in_progress' || !this.#usage ? null : writeResponsesUsage(this.#usage),
    };
  }
}

/** Undefined if the vendor's own reasoning has none. */
function encryptedContent(seal: ReasoningSignature, issuer: string | undefined): string | undefined {
  if (seal.vendor === 'responses' && seal.encrypted === undefined) return undefined;
  return sealText(seal, seal.vendor === 'responses' ? seal.encrypted : undefined, issuer);
}

/** The fields of the request that a Responses answer repeats. */
function echo(request: AnswerContext['request']): Item {
  const said = writeResponsesRequest({ ...request, turns: [] });
  return {
    instructions: said.instructions ?? null,
    max_output_tokens: request.maxTokens ?? null,
    metadata: said.metadata ?? {},
    parallel_tool_calls: request.parallelToolCalls ?? true,
    reasoning: { effort: null, summary: null, ...objectOrEmpty(said.reasoning) },
    temperature: said.temperature ?? null,
    text: said.text ?? { format: { type: 'text' } },
    tool_choice: said.tool_choice ?? 'auto',
    tools: said.tools ?? [],
    top_p: said.top_p ?? null,
    truncation: 'disabled',
    user: request.user ?? null,
  };
}

/** OpenAI's error codes of a failed response. */
function failureCode(error: SvcError): string {
  return error.errorType === 'rate_limit_exceeded' ? 'rate_limit_exceeded' : 'server_error';
}

export function writeResponsesUsage(usage: Usage): Item {
  return {
    input_tokens: usage.input,
    input_tokens_details: defined({
      cached_tokens: usage.cacheRead ?? 0,
      cache_write_tokens: usage.cacheWrite,
      cache_creation: writeCacheCreation(usage),
    }),
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: usage.input + usage.output,
  };
}

/** @throws SvcError for an `error` event, and for an incomplete answer. */
export function writeResponsesAnswer(context: AnswerContext, events: readonly Event[]): Record<string, unknown> {
  const writer = new ResponsesStreamWriter(context);
  for (const event of events) {
    if (event.type === 'error') throw event.error;
    writer.write(event);
  }
  if (writer.result === undefined) throw answerCutShort();
  return writer.result;
}

/** The reason in `incomplete_details`; undefined for a complete answer. */
function incompleteReason({ reason, native }: Finish): string | undefined {
  if (reason === 'length') return 'max_output_tokens';
  if (reason === 'content_filter') return 'content_filter';
  return reason === 'other' ? nativeReason(native) : undefined;
}
