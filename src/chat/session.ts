import type { Model } from '../catalog/model.ts';
import type { Conversation, Turn } from '../wire/conversation.ts';
import { asGatewayError, GatewayError } from '../wire/errors.ts';
import type { Event } from '../wire/event.ts';
import { errorCard } from './error-card.ts';
import { applyPatch, type Ending, type Message, type ModelLabel, type Patch } from './transcript.ts';

/** Sends a conversation to a model and streams its answer. */
export type Converse = (model: Model, conversation: Conversation, signal: AbortSignal) => AsyncIterable<Event>;

export interface SessionParts {
  readonly converse: Converse;
  /** The model that the next message goes to; undefined when none is set up. */
  readonly model: () => { readonly model: Model; readonly label: ModelLabel } | undefined;
  readonly newId: () => string;
  readonly now: () => number;
}

/** A conversation: its owner in the host. The page shows a snapshot and follows the patches. */
export class ChatSession {
  readonly id: string;
  readonly #parts: SessionParts;
  readonly #listeners = new Set<(patch: Patch, seq: number) => void>();
  #messages: readonly Message[] = [];
  #seq = 0;
  #running: AbortController | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.id = parts.newId();
  }

  dispose(): void {
    this.stop();
    this.#listeners.clear();
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Number of the last patch; a page that has it is up to date. */
  get seq(): number {
    return this.#seq;
  }

  get running(): boolean {
    return this.#running !== undefined;
  }

  onPatch(listener: (patch: Patch, seq: number) => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  /** Adds the person's message and streams the answer. Resolves when the answer has ended; never rejects. */
  async send(text: string): Promise<void> {
    if (this.#running) return;
    this.#patch({ type: 'add', message: this.#message('user', [{ type: 'text', text }]) });
    await this.#answer();
  }

  /** Asks again for the last message of the person. */
  async retry(): Promise<void> {
    if (this.#running || this.#messages.length === 0) return;
    await this.#answer();
  }

  /** Stops the answer that streams; what was received stays. */
  stop(): void {
    this.#running?.abort();
  }

  async #answer(): Promise<void> {
    const chosen = this.#parts.model();
    const turns = this.#turns();
    const answer = this.#message('assistant', [], chosen?.label);
    this.#patch({ type: 'add', message: answer });
    const running = new AbortController();
    this.#running = running;
    const ending = chosen ? await this.#stream(answer.id, chosen.model, turns, running.signal) : failed(noModel());
    this.#running = undefined;
    this.#patch({ type: 'end', message: answer.id, ending });
  }

  async #stream(id: string, model: Model, turns: readonly Turn[], signal: AbortSignal): Promise<Ending> {
    const conversation: Conversation = { model: model.id, system: [], turns, tools: [], sampling: {}, stream: true };
    try {
      for await (const event of this.#parts.converse(model, conversation, signal)) {
        const ending = this.#take(id, event);
        if (ending) return signal.aborted ? { type: 'stopped' } : ending;
      }
      return signal.aborted ? { type: 'stopped' } : { type: 'finished', reason: 'closed' };
    } catch (thrown) {
      return signal.aborted ? { type: 'stopped' } : failed(asGatewayError(thrown));
    }
  }

  #take(id: string, event: Event): Ending | undefined {
    switch (event.type) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        this.#patch({ type: 'append', message: id, part: event.part, kind: event.type, text: event.text });
        return undefined;
      case 'usage':
        this.#patch({ type: 'usage', message: id, usage: event.usage });
        return undefined;
      case 'finish':
        return { type: 'finished', reason: event.reason };
      case 'error':
        return failed(event.error);
      case 'start':
      case 'reasoning-seal':
      case 'tool-call':
      case 'tool-arguments':
        return undefined;
    }
  }

  #turns(): Turn[] {
    const turns: Turn[] = [];
    for (const message of this.#messages) {
      const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
      if (text === '') continue;
      turns.push({ role: message.role, parts: [{ type: 'text', text }] });
    }
    return turns;
  }

  #message(role: Message['role'], parts: Message['parts'], model?: ModelLabel): Message {
    const parent = this.#messages.at(-1)?.id;
    return {
      id: this.#parts.newId(),
      ...(parent === undefined ? {} : { parent }),
      role,
      parts,
      createdAt: this.#parts.now(),
      ...(model === undefined ? {} : { model }),
    };
  }

  #patch(patch: Patch): void {
    this.#messages = applyPatch(this.#messages, patch);
    this.#seq += 1;
    for (const listener of this.#listeners) listener(patch, this.#seq);
  }
}

function failed(error: GatewayError): Ending {
  return { type: 'failed', error: errorCard(error) };
}

function noModel(): GatewayError {
  return new GatewayError({
    status: 400,
    errorType: 'configuration_error',
    message: 'No model is set up yet.',
    action: 'Add a provider, or set a key, then send again.',
  });
}
