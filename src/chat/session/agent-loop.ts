import { defined } from '../../base/json.ts';
import { outputTokens } from '../../catalog/limits.ts';
import type { Model } from '../../catalog/model.ts';
import type { ModelSetup } from '../../catalog/model-setup.ts';
import { takesMedia } from '../../provider/request/conversation-request.ts';
import type { Conversation } from '../../wire/conversation.ts';
import { refusesMedia } from '../../wire/errors/media-refusal.ts';
import { asSvcError, msg, SvcError } from '../../wire/errors/svc-error.ts';
import { keyWithheld } from '../../wire/errors/upstream-errors.ts';
import type { Attachment } from '../attachment.ts';
import type { AnswerOptions } from '../message-parts.ts';
import { errorCard } from '../page/error-card.ts';
import type { ToolRunner } from '../tools/tool-runner.ts';
import { type ChatTool, LoopWatch, MAX_STEPS, toolForModel } from '../tools/tools.ts';
import type { Ending, Message, ModelLabel, Patch } from '../transcript.ts';
import { PLAN_INSTRUCTIONS } from './answer-options.ts';
import { AnswerWriter, type Call } from './answer-writer.ts';
import { needsCompaction, summaryRequest } from './compaction.ts';
import { namedPaths } from './named-paths.ts';
import type { ConverseChoices, SessionDeps, SessionModel } from './session-deps.ts';
import { type FixedPrompt, fitFixedPrompt, fixedTokens, mostOutput } from './small-window.ts';
import { conversationTurns, sentMessages } from './turns.ts';

/** The part of a session that the agent loop reads and writes. */
export interface ConversationLog {
  /** The visible messages, first to last. */
  readonly messages: readonly Message[];
  readonly leaf: string | undefined;
  /** Ids of the tool calls of all branches. */
  callIds(): ReadonlySet<string>;
  /** Adds a message and returns its id. */
  add(message: Omit<Message, 'id' | 'parent' | 'createdAt'>, parent: string | undefined): string;
  end(message: string, ending: Ending): void;
  patch(patch: Patch): void;
  /** The tools that may be called for the last message. */
  tools(): readonly ChatTool[];
  /** True if the user has sent messages that wait for the next tool boundary. */
  hasQueued(): boolean;
  /** Adds the next waiting message to the conversation. False: none waits. */
  addQueued(): boolean;
}

/** Sends the requests of a conversation: answers, rounds of tool calls, summaries. */
export class AgentLoop {
  readonly #deps: SessionDeps;
  readonly #tools: ToolRunner;
  readonly #log: ConversationLog;
  readonly #session: string;
  /** Models whose server refused images and documents, by reference. */
  readonly #textOnly = new Set<string>();

  /** @param session id of the conversation. */
  constructor(deps: SessionDeps, tools: ToolRunner, log: ConversationLog, session: string) {
    this.#deps = deps;
    this.#session = session;
    this.#tools = tools;
    this.#log = log;
  }

  /** Sends requests until the model has answered. Runs its tools, and summarizes the history if necessary. */
  async answer(signal: AbortSignal, compacted = false): Promise<void> {
    let chosen = this.#chosenModel();
    if (!chosen) {
      const id = this.#log.add({ role: 'assistant', parts: [] }, this.#log.leaf);
      this.#log.end(id, failed(noModel(this.#deps.setup?.()), this.#deps.now()));
      return;
    }
    // The server may have been changed since, so a new attachment is tried again.
    const last = this.#log.messages.findLast(({ role }) => role === 'user');
    if (last?.attachments?.some(({ media }) => media !== undefined)) this.#textOnly.clear();
    let watch = new LoopWatch();
    let fresh = compacted;
    for (;;) {
      if (!fresh && (await this.#isFull(this.#current(chosen)))) {
        const last = this.#log.messages.at(-1);
        if (!(await this.summarize(chosen, last?.role === 'user' ? last.id : undefined, signal))) return;
      }
      fresh = true;
      const id = this.#log.add({ role: 'assistant', parts: [], model: chosen.label }, this.#log.leaf);
      const ending = await this.#steps(id, chosen, watch, signal);
      this.#log.end(id, ending ?? { type: 'finished', reason: 'tool_calls', outcome: 'complete' });
      const goesOn = ending === undefined || (ending.type === 'finished' && ending.outcome === 'complete');
      const asked = goesOn && this.#log.addQueued();
      if (ending && !asked) return;
      if (asked) {
        watch = new LoopWatch();
        chosen = this.#chosenModel() ?? chosen;
      }
      fresh = false;
    }
  }

  /**
   * Sends requests and runs tools in turn. Undefined: the history must be compacted, or a message of the user added,
   * before the next step.
   */
  async #steps(id: string, chosen: SessionModel, watch: LoopWatch, signal: AbortSignal): Promise<Ending | undefined> {
    for (let step = 0; ; step++) {
      const model = this.#current(chosen);
      if (step > 0 && (await this.#isFull(model))) return undefined;
      const writer = this.#writer(id, model);
      if (step > 0) writer.beginStep();
      const { ending, calls } = await this.#step(id, writer, { ...chosen, model }, signal);
      if (calls.length === 0 || ending.type !== 'finished' || ending.reason !== 'tool_calls') return ending;
      const looping = watch.repeats(calls);
      if (looping !== undefined) return { type: 'repeating', tool: looping };
      await this.#tools.run(id, calls, signal, mostOutput(model.limit.context, calls.length));
      watch.answered(this.#answersTo(id, calls));
      if (signal.aborted) return { type: 'stopped' };
      if (this.#log.hasQueued()) return undefined;
      if (watch.isLong) return { type: 'paused', steps: MAX_STEPS };
    }
  }

  #answersTo(id: string, calls: readonly Call[]): readonly string[] {
    const parts = this.#log.messages.find((message) => message.id === id)?.parts ?? [];
    return calls.map(({ part }) => {
      const called = parts[part];
      return called?.type === 'tool' && called.state.type === 'done' ? called.state.output : '';
    });
  }

  /** Sends one request, and once more without images and documents if the server refuses them. */
  async #step(id: string, writer: AnswerWriter, { model, label }: SessionModel, signal: AbortSignal) {
    const conversation = await this.#conversation(id, model);
    const first = await this.#stream(writer, model, conversation, label, signal);
    const hasMedia = conversation.turns.some(({ parts }) =>
      parts.some(({ type }) => type === 'image' || type === 'file'),
    );
    if (!first.refusesMedia || !hasMedia) return { ending: first.ending, calls: writer.calls };
    this.#textOnly.add(model.ref);
    const next = this.#writer(id, model);
    const { ending } = await this.#stream(next, model, await this.#conversation(id, model), label, signal);
    return { ending, calls: next.calls };
  }

  #writer(id: string, model: Model): AnswerWriter {
    const message = this.#log.messages.find((message) => message.id === id);
    return new AnswerWriter({
      message: id,
      base: message?.parts.length ?? 0,
      before: message?.usage,
      model,
      tools: this.#log.tools(),
      callIds: this.#log.callIds(),
      now: this.#deps.now,
      providerName: this.#deps.providerName,
      patch: (patch) => this.#log.patch(patch),
    });
  }

  async #stream(
    writer: AnswerWriter,
    model: Model,
    conversation: Conversation,
    label: ModelLabel,
    signal: AbortSignal,
  ): Promise<{ readonly ending: Ending; readonly refusesMedia?: boolean }> {
    const choices: ConverseChoices = {
      session: this.#session,
      ...defined({ variant: label.variant }),
      onRetry: ({ error, delayMs }) => writer.retrying(error, delayMs),
    };
    try {
      for await (const event of this.#deps.converse(model, conversation, signal, choices)) {
        const ending = writer.take(event);
        if (!ending) continue;
        if (signal.aborted) return { ending: { type: 'stopped' } };
        return { ending, refusesMedia: event.type === 'error' && refusesMedia(event.error) };
      }
      return { ending: signal.aborted ? { type: 'stopped' } : writer.finish('closed') };
    } catch (thrown) {
      if (signal.aborted) return { ending: { type: 'stopped' } };
      const error = asSvcError(thrown);
      return { ending: failed(error, this.#deps.now()), refusesMedia: refusesMedia(error) };
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
    const id = this.#log.add({ role: 'summary', parts: [], model: label, ...defined({ keeps }) }, parent);
    const { ending } = await this.#stream(this.#writer(id, model), model, request, label, signal);
    this.#log.end(id, ending);
    return ending.type === 'finished' && ending.outcome === 'complete';
  }

  /** The options of the message that is being answered. */
  #options(): AnswerOptions | undefined {
    return this.#log.messages.findLast(({ role, auto }) => role === 'user' && !auto)?.options;
  }

  #chosenModel(): SessionModel | undefined {
    return this.#deps.model(this.#options()?.model);
  }

  /** @param id of the answer, which gets a note about attachments that are left out. */
  async #conversation(id: string, model: Model): Promise<Conversation> {
    const { instructions, tools, omitted } = await this.#fixedPrompt(model);
    const takes = (attachment: Attachment) => this.#takes(model, attachment);
    this.#noteOmitted(id, model, takes, omitted);
    return {
      model: model.id,
      system: instructions === '' ? [] : [{ type: 'text', text: instructions }],
      turns: conversationTurns(this.#log.messages, model.provider, takes),
      tools,
      sampling: {},
      stream: true,
    };
  }

  /** Instructions and tools, as far as the window has room for them. */
  async #fixedPrompt(model: Model): Promise<FixedPrompt> {
    const base = (await this.#deps.instructions?.(namedPaths(this.#log.messages))) ?? '';
    const plan = this.#options()?.plan ? PLAN_INSTRUCTIONS : '';
    const tools = model.toolCall ? this.#log.tools() : [];
    const fitted = fitFixedPrompt(model.limit.context, base, tools.map(toolForModel), plan);
    return { ...fitted, instructions: [fitted.instructions, plan].filter(Boolean).join('\n\n') };
  }

  /** The model with the window that its server told last. */
  #current({ model }: SessionModel): Model {
    const now = this.#deps.model(model.ref)?.model;
    return now?.ref === model.ref ? now : model;
  }

  async #isFull(model: Model): Promise<boolean> {
    if (model.limit.context <= 0 && model.limit.input === undefined) return false;
    const { instructions, tools } = await this.#fixedPrompt(model);
    return needsCompaction(this.#log.messages, model, this.#output(model), fixedTokens(instructions, tools));
  }

  #takes(model: Model, { kind, media }: Attachment): boolean {
    if (media === undefined) return true;
    return !this.#textOnly.has(model.ref) && takesMedia(model, kind === 'pdf' ? 'file' : 'image');
  }

  /** States once for each model which attachments, instructions and tools it does not get. */
  #noteOmitted(id: string, model: Model, takes: (attachment: Attachment) => boolean, others: readonly string[]): void {
    const messages = this.#log.messages;
    const noted = new Set(
      messages.flatMap((message) => (message.model?.ref === model.ref ? (message.omitted ?? []) : [])),
    );
    const omitted = sentMessages(messages).flatMap(({ attachments = [] }) =>
      attachments.filter((each) => !takes(each)).map(({ label }) => label),
    );
    const labels = [...new Set([...omitted, ...others])].filter((label) => !noted.has(label));
    if (labels.length > 0) this.#log.patch({ type: 'omitted', message: id, labels });
  }

  #output(model: Model): number {
    return outputTokens(model, this.#deps.outputCap);
  }
}

function failed(error: SvcError, now: number): Ending {
  return { type: 'failed', error: errorCard(error, now) };
}

/** Why there is no model. */
export function noModel(setup: ModelSetup | undefined): SvcError {
  if (setup?.kind === 'withheld') return keyWithheld(setup.provider.name);
  if (setup?.kind === 'unlisted') {
    return new SvcError({
      errorType: 'configuration_error',
      message: msg('{0} lists no models: {1}', setup.provider.name, setup.reason),
      action: msg('Correct the provider’s address or key, then send again.'),
      provider: setup.provider.id,
    });
  }
  return new SvcError({
    errorType: 'configuration_error',
    message: msg('No model is set up yet.'),
    action: msg('Add a provider, or set a key, then send again.'),
  });
}
