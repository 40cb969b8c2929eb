import { outputTokens } from '../../catalog/limits.ts';
import type { Model } from '../../catalog/model.ts';
import type { Conversation } from '../../wire/conversation.ts';
import { asSvcError, msg, SvcError } from '../../wire/errors/svc-error.ts';
import { errorCard } from '../page/error-card.ts';
import type { ToolRunner } from '../tools/tool-runner.ts';
import { LoopWatch, MAX_STEPS, toolForModel } from '../tools/tools.ts';
import type { Ending, Message, ModelLabel, Patch } from '../transcript.ts';
import { AnswerWriter } from './answer-writer.ts';
import { needsCompaction, summaryRequest } from './compaction.ts';
import type { SessionDeps, SessionModel } from './session-deps.ts';
import { conversationTurns } from './turns.ts';

/** The part of a session that the agent loop reads and writes. */
export interface ConversationLog {
  /** The visible messages, first to last. */
  readonly messages: readonly Message[];
  readonly leaf: string | undefined;
  /** Adds a message and returns its id. */
  add(message: Omit<Message, 'id' | 'parent' | 'createdAt'>, parent: string | undefined): string;
  end(message: string, ending: Ending): void;
  patch(patch: Patch): void;
}

/** Sends the requests of a conversation: answers, rounds of tool calls, summaries. */
export class AgentLoop {
  readonly #deps: SessionDeps;
  readonly #tools: ToolRunner;
  readonly #log: ConversationLog;

  constructor(deps: SessionDeps, tools: ToolRunner, log: ConversationLog) {
    this.#deps = deps;
    this.#tools = tools;
    this.#log = log;
  }

  /** Sends requests until the model has answered. Runs its tools, and summarizes the history if necessary. */
  async answer(signal: AbortSignal, compacted = false): Promise<void> {
    const chosen = this.#deps.model();
    if (!chosen) {
      const id = this.#log.add({ role: 'assistant', parts: [] }, this.#log.leaf);
      this.#log.end(id, failed(noModel(), this.#deps.now()));
      return;
    }
    const watch = new LoopWatch();
    let fresh = compacted;
    for (;;) {
      if (!fresh && needsCompaction(this.#log.messages, chosen.model, this.#output(chosen.model))) {
        const last = this.#log.messages.at(-1);
        if (!(await this.summarize(chosen, last?.role === 'user' ? last.id : undefined, signal))) return;
      }
      fresh = true;
      const id = this.#log.add({ role: 'assistant', parts: [], model: chosen.label }, this.#log.leaf);
      const ending = await this.#steps(id, chosen, watch, signal);
      this.#log.end(id, ending ?? { type: 'finished', reason: 'tool_calls', outcome: 'complete' });
      if (ending) return;
      fresh = false;
    }
  }

  /** Sends requests and runs tools in turn. Undefined: the history must be compacted before the next step. */
  async #steps(id: string, chosen: SessionModel, watch: LoopWatch, signal: AbortSignal): Promise<Ending | undefined> {
    const { model, label } = chosen;
    for (let step = 0; ; step++) {
      if (step > 0 && needsCompaction(this.#log.messages, model, this.#output(model))) return undefined;
      const conversation = this.#conversation(model);
      const writer = this.#writer(id, model);
      if (step > 0) writer.beginStep();
      const ending = await this.#stream(writer, model, conversation, label, signal);
      if (writer.calls.length === 0 || ending.type !== 'finished' || ending.reason !== 'tool_calls') return ending;
      const looping = watch.repeats(writer.calls);
      if (looping !== undefined) return { type: 'repeating', tool: looping };
      await this.#tools.run(id, writer.calls, signal);
      if (signal.aborted) return { type: 'stopped' };
      if (watch.isLong) return { type: 'paused', steps: MAX_STEPS };
    }
  }

  #writer(id: string, model: Model): AnswerWriter {
    const message = this.#log.messages.find((message) => message.id === id);
    return new AnswerWriter({
      message: id,
      base: message?.parts.length ?? 0,
      before: message?.usage,
      model,
      tools: this.#deps.tools?.() ?? [],
      now: this.#deps.now,
      patch: (patch) => this.#log.patch(patch),
    });
  }

  async #stream(
    writer: AnswerWriter,
    model: Model,
    conversation: Conversation,
    label: ModelLabel,
    signal: AbortSignal,
  ): Promise<Ending> {
    const choices = label.variant === undefined ? {} : { variant: label.variant };
    try {
      for await (const event of this.#deps.converse(model, conversation, signal, choices)) {
        const ending = writer.take(event);
        if (ending) return signal.aborted ? { type: 'stopped' } : ending;
      }
      return signal.aborted ? { type: 'stopped' } : writer.finish('closed');
    } catch (thrown) {
      return signal.aborted ? { type: 'stopped' } : failed(asSvcError(thrown), this.#deps.now());
    } finally {
      writer.close();
    }
  }

  /** @param keeps this message is not summarized. @returns true on success. A failure is shown on the summary. */
  async summarize({ model, label }: SessionModel, keeps: string | undefined, signal: AbortSignal): Promise<boolean> {
    const covered = this.#log.messages.filter(({ id }) => id !== keeps);
    if (covered.length === 0) return true;
    const request = summaryRequest(covered, model, this.#output(model));
    const parent = this.#log.leaf;
    const id = this.#log.add(
      { role: 'summary', parts: [], model: label, ...(keeps === undefined ? {} : { keeps }) },
      parent,
    );
    const ending = await this.#stream(this.#writer(id, model), model, request, label, signal);
    this.#log.end(id, ending);
    return ending.type === 'finished' && ending.outcome === 'complete';
  }

  #conversation(model: Model): Conversation {
    const instructions = this.#deps.instructions?.() ?? '';
    const tools = model.toolCall ? (this.#deps.tools?.() ?? []) : [];
    return {
      model: model.id,
      system: instructions === '' ? [] : [{ type: 'text', text: instructions }],
      turns: conversationTurns(this.#log.messages, model.provider),
      tools: tools.map(toolForModel),
      sampling: {},
      stream: true,
    };
  }

  #output(model: Model): number {
    return outputTokens(model, this.#deps.outputCap);
  }
}

function failed(error: SvcError, now: number): Ending {
  return { type: 'failed', error: errorCard(error, now) };
}

function noModel(): SvcError {
  return new SvcError({
    errorType: 'configuration_error',
    message: msg('No model is set up yet.'),
    action: msg('Add a provider, or set a key, then send again.'),
  });
}
