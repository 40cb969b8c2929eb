import { defined } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import { computePrice } from '../../catalog/price.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Event, FinishReason, Usage } from '../../wire/event.ts';
import { addUsage } from '../../wire/usage.ts';
import { errorCard } from '../page/error-card.ts';
import { type ChatTool, findTool } from '../tools/tools.ts';
import type { AnswerOutcome, Ending, Part, Patch } from '../transcript.ts';

export interface AnswerParts {
  readonly message: string;
  /** Index of its first part in the message. */
  readonly base: number;
  /** Usage of the previous steps. */
  readonly before: Usage | undefined;
  readonly model: Model;
  readonly tools: readonly ChatTool[];
  /** Ids of the earlier calls of the conversation. */
  readonly callIds: ReadonlySet<string>;
  readonly now: () => number;
  readonly providerName?: ((id: string) => string) | undefined;
  readonly patch: (patch: Patch) => void;
}

/** A tool call of an answer. `text`: its arguments as received. */
export interface Call {
  readonly part: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** Writes one answer of a model, event by event, into a message. */
export class AnswerWriter {
  readonly #parts: AnswerParts;
  readonly #calls = new Map<number, { id: string; name: string; text: string }>();
  /** Stream part -> index in the message. Part numbers may have gaps, because some vendor blocks are not shown. */
  readonly #indexes = new Map<string, number>();
  #next: number;
  #hasContent = false;
  #reasoned = false;
  #reasoning: { readonly part: number; readonly since: number } | undefined;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    this.#next = parts.base;
  }

  get calls(): readonly Call[] {
    return [...this.#calls].map(([part, call]) => ({ part, ...call }));
  }

  /** Starts another answer in the same message, after the tools ran. */
  beginStep(): void {
    this.#patch(this.#next, { type: 'step' });
    this.#next += 1;
  }

  /** The request failed and is sent again after `delayMs`. */
  retrying({ errorType }: SvcError, delayMs: number): void {
    const { message, patch, now } = this.#parts;
    patch({ type: 'retry', message, retry: { errorType, at: now() + delayMs } });
  }

  /** Writes an event. Returns the ending if the event ends the answer. */
  take(event: Event): Ending | undefined {
    const { message, patch, now } = this.#parts;
    switch (event.type) {
      case 'text':
      case 'refusal':
      case 'reasoning': {
        const part = this.#partIndex(event.type, event.part);
        if (event.type !== 'reasoning') this.#hasContent ||= event.text.trim() !== '';
        this.#trackReasoning(part, event.type === 'reasoning');
        patch({ type: 'append', message, part, kind: event.type, text: event.text });
        return undefined;
      }
      case 'reasoning-seal':
        this.#reasoned = true;
        patch({ type: 'seal', message, part: this.#partIndex('reasoning', event.part), seal: event.seal });
        return undefined;
      case 'tool-call': {
        const part = this.#partIndex('tool', event.part);
        this.#trackReasoning(part, false);
        this.#beginCall(part, event.id, event.name);
        return undefined;
      }
      case 'tool-arguments': {
        const part = this.#indexes.get(`tool ${event.part}`);
        const call = part === undefined ? undefined : this.#calls.get(part);
        if (part === undefined || call === undefined) return undefined;
        call.text += event.json;
        patch({ type: 'arguments', message, part, text: event.json });
        return undefined;
      }
      case 'usage':
        this.#addUsage(event.usage);
        return undefined;
      case 'finish':
        return this.finish(event.reason);
      case 'error':
        return { type: 'failed', error: errorCard(event.error, now(), this.#parts.providerName) };
      case 'discard':
        this.#discard(event.call);
        return undefined;
      case 'start':
        return undefined;
    }
  }

  finish(reason: FinishReason): Ending {
    // Some servers report `stop` after tool calls.
    const callsTools = this.#calls.size > 0 && reason === 'stop';
    return { type: 'finished', reason: callsTools ? 'tool_calls' : reason, outcome: this.#outcome(reason) };
  }

  /** Call when the stream has ended, for any reason. */
  close(): void {
    this.#trackReasoning(-1, false);
  }

  #outcome(reason: FinishReason): AnswerOutcome {
    if (reason === 'closed' || reason === 'other') return 'interrupted';
    if (reason === 'content_filter') return 'filtered';
    const hasContent = this.#hasContent || this.#calls.size > 0;
    if (!hasContent && this.#reasoned) return 'reasoning-only';
    if (reason === 'length') return 'incomplete';
    return hasContent ? 'complete' : 'empty';
  }

  #beginCall(part: number, given: string, written: string): void {
    const id = this.#uniqueId(given);
    const tool = findTool(this.#parts.tools, written);
    const name = tool?.name ?? written;
    this.#calls.set(part, { id, name, text: '' });
    this.#patch(part, {
      type: 'tool',
      id,
      name,
      origin: tool?.origin ?? '',
      changes: tool?.changes ?? true,
      text: '',
      state: { type: 'receiving' },
    });
  }

  /** Some servers give several calls the same id. A decision about one of them must not apply to another. */
  #uniqueId(given: string): string {
    const own = new Set([...this.#calls.values()].map(({ id }) => id));
    let id = given;
    for (let n = 2; id === '' || own.has(id) || this.#parts.callIds.has(id); n++) id = `${given || 'call'}_${n}`;
    return id;
  }

  #discard(call: number): void {
    const part = this.#indexes.get(`tool ${call}`);
    if (part === undefined || !this.#calls.delete(part)) return;
    this.#parts.patch({ type: 'tool', message: this.#parts.message, part, state: { type: 'stopped' } });
  }

  /** Measures the reasoning time. Reasoning ends when another part begins. */
  #trackReasoning(part: number, reasoning: boolean): void {
    const { message, patch, now } = this.#parts;
    const current = this.#reasoning;
    if (current && current.part !== part) {
      patch({ type: 'reasoned', message, part: current.part, ms: now() - current.since });
      this.#reasoning = undefined;
    }
    if (!reasoning) return;
    this.#reasoned = true;
    this.#reasoning ??= { part, since: now() };
  }

  #addUsage(usage: Usage): void {
    const { message, before, model, patch } = this.#parts;
    if ((usage.reasoning ?? 0) > 0) this.#reasoned = true;
    const total = addUsage(before, usage);
    const price = model.cost && computePrice(model.cost, total);
    const context = usage.input + usage.output;
    patch({ type: 'usage', message, usage: total, context, ...defined({ price }) });
  }

  /** Indexes in a message have no gaps, and parts of different kinds never share one. */
  #partIndex(kind: Part['type'], part: number): number {
    const key = `${kind} ${part}`;
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    this.#indexes.set(key, this.#next);
    this.#next += 1;
    return this.#next - 1;
  }

  #patch(part: number, value: Part): void {
    this.#parts.patch({ type: 'part', message: this.#parts.message, part, value });
  }
}
