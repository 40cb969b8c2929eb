import type { Model } from '../../catalog/model.ts';
import { priceOf } from '../../catalog/price.ts';
import type { Event, FinishReason, Usage } from '../../wire/event.ts';
import { addUsage } from '../../wire/usage.ts';
import { errorCard } from '../page/error-card.ts';
import type { ChatTool } from '../tools/tools.ts';
import type { AnswerOutcome, Ending, Part, Patch } from '../transcript.ts';

export interface AnswerParts {
  readonly message: string;
  /** Ordinal of its first part in the message. */
  readonly base: number;
  /** Usage of the steps before it. */
  readonly before: Usage | undefined;
  readonly model: Model;
  readonly tools: readonly ChatTool[];
  readonly now: () => number;
  readonly patch: (patch: Patch) => void;
}

/** A tool call of an answer. `text`: its arguments as they came. */
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
  /** Where a part of the stream is in the message. A stream skips numbers: some blocks of a vendor say nothing here. */
  readonly #places = new Map<string, number>();
  #next: number;
  #said = false;
  #reasoned = false;
  #reasoning: { readonly part: number; readonly since: number } | undefined;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    this.#next = parts.base;
  }

  get calls(): readonly Call[] {
    return [...this.#calls].map(([part, call]) => ({ part, ...call }));
  }

  /** A further answer in the same message, after its tools ran. */
  beginStep(): void {
    this.#patch(this.#next, { type: 'step' });
    this.#next += 1;
  }

  /** How the answer ended, once it has. */
  take(event: Event): Ending | undefined {
    const { message, patch, now } = this.#parts;
    switch (event.type) {
      case 'text':
      case 'refusal':
      case 'reasoning': {
        const part = this.#place(event.type, event.part);
        if (event.type !== 'reasoning') this.#said ||= event.text.trim() !== '';
        this.#follow(part, event.type === 'reasoning');
        patch({ type: 'append', message, part, kind: event.type, text: event.text });
        return undefined;
      }
      case 'reasoning-seal':
        this.#reasoned = true;
        patch({ type: 'seal', message, part: this.#place('reasoning', event.part), seal: event.seal });
        return undefined;
      case 'tool-call': {
        const part = this.#place('tool', event.part);
        this.#follow(part, false);
        this.#begin(part, event.id, event.name);
        return undefined;
      }
      case 'tool-arguments': {
        const part = this.#places.get(`tool ${event.part}`);
        const call = part === undefined ? undefined : this.#calls.get(part);
        if (part === undefined || call === undefined) return undefined;
        call.text += event.json;
        patch({ type: 'arguments', message, part, text: event.json });
        return undefined;
      }
      case 'usage':
        this.#use(event.usage);
        return undefined;
      case 'finish':
        return this.finish(event.reason);
      case 'error':
        return { type: 'failed', error: errorCard(event.error, now()) };
      case 'start':
        return undefined;
    }
  }

  finish(reason: FinishReason): Ending {
    // Some servers say `stop` after they have asked for tools.
    const asks = this.#calls.size > 0 && reason === 'stop';
    return { type: 'finished', reason: asks ? 'tool_calls' : reason, outcome: this.#outcome(reason) };
  }

  /** The stream is over, however it ended. */
  close(): void {
    this.#follow(-1, false);
  }

  #outcome(reason: FinishReason): AnswerOutcome {
    if (reason === 'closed') return 'interrupted';
    if (reason === 'content_filter') return 'filtered';
    const said = this.#said || this.#calls.size > 0;
    if (!said && this.#reasoned) return 'reasoning-only';
    if (reason === 'length') return 'incomplete';
    return said ? 'complete' : 'empty';
  }

  #begin(part: number, id: string, name: string): void {
    const tool = this.#parts.tools.find((each) => each.name === name);
    this.#calls.set(part, { id, name, text: '' });
    this.#patch(part, {
      type: 'tool',
      id,
      name,
      origin: tool?.origin ?? '',
      changes: tool?.changes ?? true,
      ...(tool?.preview === undefined ? {} : { preview: true as const }),
      text: '',
      state: { type: 'receiving' },
    });
  }

  /** Reasoning ends when another part begins. */
  #follow(part: number, reasoning: boolean): void {
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

  #use(usage: Usage): void {
    const { message, before, model, patch } = this.#parts;
    if ((usage.reasoning ?? 0) > 0) this.#reasoned = true;
    const total = addUsage(before, usage);
    const price = model.cost && priceOf(model.cost, total);
    const context = usage.input + usage.output;
    patch({ type: 'usage', message, usage: total, context, ...(price === undefined ? {} : { price }) });
  }

  /** Parts of a message have no gaps, and one kind never takes another's place. */
  #place(kind: Part['type'], part: number): number {
    const key = `${kind} ${part}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#places.set(key, this.#next);
    this.#next += 1;
    return this.#next - 1;
  }

  #patch(part: number, value: Part): void {
    this.#parts.patch({ type: 'part', message: this.#parts.message, part, value });
  }
}
