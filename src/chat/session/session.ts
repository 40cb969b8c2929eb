import { Emitter } from '../../base/emitter.ts';
import { defined } from '../../base/json.ts';
import { answerText, foldStream } from '../../wire/fold.ts';
import type { Attachment } from '../attachment.ts';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { AnswerOptions } from '../message-parts.ts';
import { ToolRunner } from '../tools/tool-runner.ts';
import type { ChatTool, PreparedCall, ToolDecision } from '../tools/tools.ts';
import {
  applyPatch,
  branchTo,
  EMPTY_TRANSCRIPT,
  type Ending,
  isOpen,
  type Message,
  messageText,
  newestLeaf,
  type Part,
  type Patch,
  type ToolState,
  type Transcript,
} from '../transcript.ts';
import { AgentLoop, type ConversationLog, noModel } from './agent-loop.ts';
import { toolsFor } from './answer-options.ts';
import type { SessionDeps } from './session-deps.ts';
import { titleFrom, titleInAnswer, titleRequest } from './title.ts';

type ToolPart = Extract<Part, { type: 'tool' }>;

/** A message from the user. */
export interface Outgoing {
  /** The text as typed, which is shown. */
  readonly text: string;
  /** The text for the model if it differs: an expanded slash command or prompt file. */
  readonly prompt?: string;
  readonly attachments?: readonly Attachment[];
  readonly options?: AnswerOptions;
}

/** A message that waits until the running answer reaches its next tool boundary or its end. */
export interface QueuedMessage extends Outgoing {
  readonly id: string;
}

/** Owns a conversation. Front ends show a snapshot and apply the patches. */
export class ChatSession {
  readonly id: string;
  readonly #deps: SessionDeps;
  readonly #patched = new Emitter<[patch: Patch, seq: number]>();
  readonly onPatch = this.#patched.event;
  readonly #queueChanged = new Emitter<[]>();
  readonly onQueueChange = this.#queueChanged.event;
  readonly #tools: ToolRunner;
  /** The changes of files by tools. */
  readonly checkpoints: Checkpoints | undefined;
  readonly #agentLoop: AgentLoop;
  #transcript: Transcript;
  #seq = 0;
  #running: AbortController | undefined;
  #idle: Promise<void> = Promise.resolve();
  #queue: readonly QueuedMessage[];

  /** @param stored a conversation from history; without it, a new one is created. */
  constructor(
    deps: SessionDeps,
    stored?: { readonly id: string; readonly transcript: Transcript; readonly queue?: readonly QueuedMessage[] },
  ) {
    this.#deps = deps;
    this.#queue = stored?.queue ?? [];
    this.id = stored?.id ?? deps.newId();
    this.#transcript = stored?.transcript ?? EMPTY_TRANSCRIPT;
    this.checkpoints = deps.checkpoints?.(this.id);
    this.#tools = new ToolRunner({
      tools: () => this.#offeredTools(),
      ...defined({ rules: deps.rules, checkpoints: this.checkpoints }),
      patch: (patch) => this.#patch(patch),
      now: deps.now,
    });
    this.#agentLoop = new AgentLoop(deps, this.#tools, this.#log(), this.id);
  }

  dispose(): void {
    this.stop();
    this.#patched.dispose();
    this.#queueChanged.dispose();
  }

  get transcript(): Transcript {
    return this.#transcript;
  }

  /** The visible messages, first to last. */
  get messages(): readonly Message[] {
    return branchTo(this.#transcript);
  }

  /** Number of the last patch. */
  get seq(): number {
    return this.#seq;
  }

  get running(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when no request is running. */
  get quiet(): Promise<void> {
    return this.#idle;
  }

  /**
   * Marks answers that a crash left open as interrupted. Only for a conversation from history to which no other window
   * is streaming. Of a call that was changing files, the checkpoints show whether the change was made.
   */
  async closeOpenAnswers(): Promise<void> {
    const open = this.#transcript.messages.filter(({ role, ending }) => role !== 'user' && ending === undefined);
    const made = this.checkpoints && open.length > 0 ? await changedCalls(this.checkpoints) : undefined;
    for (const { id } of open) this.#end(id, { type: 'finished', reason: 'closed', outcome: 'interrupted' }, made);
  }

  /** Applies changes by another window: the rest of answers that are open here, and later messages. */
  catchUp(elsewhere: Transcript): void {
    if (this.running) return;
    for (const theirs of elsewhere.messages) {
      const ours = this.#find(theirs.id);
      if (!ours) this.#patch({ type: 'add', message: theirs });
      else if (ours.ending === undefined && ours.role !== 'user') this.#applyOther(ours, theirs);
    }
    const waiting = this.#queue.filter(({ id }) => !this.#find(id));
    if (waiting.length < this.#queue.length) this.#setQueue(waiting);
  }

  #applyOther(ours: Message, theirs: Message): void {
    const message = ours.id;
    theirs.parts.forEach((value, part) => {
      if (JSON.stringify(value) !== JSON.stringify(ours.parts[part]))
        this.#patch({ type: 'part', message, part, value });
    });
    if (theirs.ending) this.#end(message, theirs.ending);
  }

  /** The messages that wait, first to last. */
  get queue(): readonly QueuedMessage[] {
    return this.#queue;
  }

  /**
   * Adds the user's message and streams the answer. Resolves when the answer has ended; never rejects. While an answer
   * is running, the message waits in the queue.
   */
  async send(outgoing: Outgoing): Promise<void> {
    if (this.running) return this.#setQueue([...this.#queue, { ...outgoing, id: this.#deps.newId() }]);
    await this.#run(async (signal) => {
      this.#addUser(outgoing, this.#transcript.leaf);
      await this.#agentLoop.answer(signal);
    });
    await this.#nameByModel();
  }

  /** After the first answer, if the user wants it. A failure leaves the title from the first message. */
  async #nameByModel(): Promise<void> {
    const [first, answer, ...more] = this.messages;
    if (!this.#deps.namedByModel?.() || more.length > 0 || answer?.ending?.type !== 'finished') return;
    if (!first || this.#transcript.title !== titleFrom(messageText(first), first.attachments)) return;
    await this.generateTitle().catch(() => undefined);
  }

  /** Takes a message out of the queue. */
  takeQueued(id: string): QueuedMessage | undefined {
    const taken = this.#queue.find((message) => message.id === id);
    if (taken) this.#setQueue(this.#queue.filter((message) => message !== taken));
    return taken;
  }

  /** Sends a message of the queue at once. Stops the running answer; its text is kept. */
  async sendNow(id: string): Promise<void> {
    const message = this.takeQueued(id);
    if (!message) return;
    this.stop();
    await this.quiet;
    await this.send(message);
  }

  /** Sends another version of a message. The old one is kept as a branch. */
  async edit(id: string, outgoing: Outgoing): Promise<void> {
    const edited = this.#find(id);
    if (edited?.role !== 'user') return;
    const { title } = this.#transcript;
    const titled = title === titleFrom(messageText(edited), edited.attachments);
    await this.#run(async (signal) => {
      this.#addUser(outgoing, edited.parent);
      if (edited.parent === undefined && titled) this.rename(titleFrom(outgoing.text, outgoing.attachments));
      await this.#agentLoop.answer(signal);
    });
  }

  /** Generates another version of an answer, by default the last one. The old one is kept as a branch. */
  async regenerate(id?: string): Promise<void> {
    const answered = id === undefined ? this.messages.findLast(({ role }) => role !== 'user') : this.#find(id);
    const from = answered?.role === 'user' ? answered.id : (answered?.parent ?? this.#transcript.leaf);
    if (from === undefined) return;
    await this.#run(async (signal) => {
      this.#patch({ type: 'select', leaf: from });
      await this.#agentLoop.answer(signal);
    });
  }

  /** Continues an incomplete answer. After a pause, the model needs no request to continue. */
  async continue(): Promise<void> {
    await this.#run(async (signal) => {
      if (this.messages.at(-1)?.ending?.type === 'paused') return this.#agentLoop.answer(signal);
      this.#add({ role: 'user', parts: [], auto: true }, this.#transcript.leaf);
      await this.#agentLoop.answer(signal);
    });
  }

  /** Summarizes the history at the user's request. */
  async compact(): Promise<void> {
    await this.#run(async (signal) => {
      const chosen = this.#deps.model();
      if (chosen) await this.#agentLoop.summarize(chosen, undefined, signal);
    });
  }

  /** Compacts the history, then retries: for a conversation that is too long for the provider. */
  async compactAndRetry(): Promise<void> {
    await this.#run(async (signal) => {
      const chosen = this.#deps.model();
      const question = this.messages.findLast(({ role, auto }) => role === 'user' && !auto);
      if (!chosen || !question) return;
      this.#patch({ type: 'select', leaf: question.id });
      if (await this.#agentLoop.summarize(chosen, question.id, signal)) await this.#agentLoop.answer(signal, true);
    });
  }

  /** Shows another version of a message. */
  select(id: string): void {
    if (this.running || !this.#find(id)) return;
    this.#patch({ type: 'select', leaf: newestLeaf(this.#transcript, id) });
  }

  /** Decides about a tool call. False: the call does not wait here. */
  decide(call: string, decision: ToolDecision): boolean {
    return this.#tools.decide(call, decision);
  }

  /** The rules of the user for this conversation. */
  get rules(): readonly string[] {
    return this.#tools.conversationRules;
  }

  set rules(rules: readonly string[]) {
    this.#tools.conversationRules = rules;
  }

  /** A call that waits for a decision, with the whole texts of its changes. */
  waitingCall(call: string): PreparedCall | undefined {
    return this.#tools.waiting(call);
  }

  rename(title: string): void {
    this.#patch({ type: 'title', title: title.trim() });
  }

  /**
   * Lets the model name the conversation.
   *
   * @throws SvcError if no model is set up or the request fails.
   */
  async generateTitle(): Promise<void> {
    const chosen = this.#deps.model();
    if (!chosen) throw noModel(this.#deps.setup?.());
    const request = titleRequest(this.messages, chosen.model);
    const answer = await foldStream(this.#deps.converse(chosen.model, request, new AbortController().signal, {}));
    if (answer.error) throw answer.error;
    const title = titleInAnswer(answerText(answer));
    if (title !== '') this.rename(title);
  }

  pin(pinned: boolean): void {
    this.#patch({ type: 'pin', pinned });
  }

  /** Stops the running answer. The received text is kept. */
  stop(): void {
    this.#running?.abort();
  }

  async #run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#running) return;
    const running = new AbortController();
    const quiet = Promise.withResolvers<void>();
    this.#running = running;
    this.#idle = quiet.promise;
    try {
      await work(running.signal);
    } finally {
      this.#running = undefined;
      quiet.resolve();
    }
  }

  #log(): ConversationLog {
    const messages = () => this.messages;
    const leaf = () => this.#transcript.leaf;
    return {
      get messages() {
        return messages();
      },
      get leaf() {
        return leaf();
      },
      callIds: () => callIds(this.#transcript),
      add: (message, parent) => this.#add(message, parent),
      end: (message, ending) => this.#end(message, ending),
      patch: (patch) => this.#patch(patch),
      tools: () => this.#offeredTools(),
      hasQueued: () => this.#queue.length > 0,
      addQueued: () => this.#addQueued(),
    };
  }

  /** The message that is being answered decides which tools may be called. */
  #offeredTools(): readonly ChatTool[] {
    const question = this.messages.findLast(({ role, auto }) => role === 'user' && !auto);
    return toolsFor(this.#deps.tools?.() ?? [], question?.options);
  }

  #addQueued(): boolean {
    const [next, ...rest] = this.#queue;
    if (!next) return false;
    this.#addUser(next, this.#transcript.leaf);
    this.#setQueue(rest);
    return true;
  }

  #setQueue(queue: readonly QueuedMessage[]): void {
    this.#queue = queue;
    this.#queueChanged.fire();
  }

  /** A message that waited keeps its id, so that another window recognizes it. */
  #addUser(outgoing: Outgoing & { readonly id?: string }, parent: string | undefined): void {
    const { id, text, prompt, attachments = [], options } = outgoing;
    const message = {
      role: 'user' as const,
      parts: text === '' ? [] : [{ type: 'text' as const, text }],
      ...(prompt === undefined || prompt === text ? {} : { prompt }),
      ...defined({ options }),
    };
    this.#add(attachments.length === 0 ? message : { ...message, attachments }, parent, id);
    if (this.#transcript.title === '') this.rename(titleFrom(text, attachments));
  }

  #add(
    message: Omit<Message, 'id' | 'parent' | 'createdAt'>,
    parent: string | undefined,
    id = this.#deps.newId(),
  ): string {
    const createdAt = this.#deps.now();
    const whole: Message = { ...message, id, createdAt, ...defined({ parent }) };
    this.#patch({ type: 'add', message: whole });
    return id;
  }

  /**
   * Ends a message. Marks tool calls without a result as stopped, so that they do not appear to be waiting.
   *
   * @param made the calls that changed files, if it is known from checkpoints.
   */
  #end(message: string, ending: Ending, made?: ReadonlySet<string>): void {
    this.#find(message)?.parts.forEach((value, part) => {
      if (value.type !== 'tool' || !isOpen(value.state)) return;
      this.#patch({ type: 'tool', message, part, state: interruptedState(value, made) });
    });
    this.#patch({ type: 'end', message, ending });
  }

  #find(id: string): Message | undefined {
    return this.#transcript.messages.find((message) => message.id === id);
  }

  #patch(patch: Patch): void {
    this.#transcript = applyPatch(this.#transcript, patch);
    this.#seq += 1;
    this.#patched.fire(patch, this.#seq);
  }
}

function callIds({ messages }: Transcript): ReadonlySet<string> {
  return new Set(messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part.id] : []))));
}

/** The calls whose changes of files were made. */
async function changedCalls(checkpoints: Checkpoints): Promise<ReadonlySet<string>> {
  await checkpoints.settle();
  return new Set((await checkpoints.changes()).map(({ call }) => call));
}

function interruptedState({ id, action, state }: ToolPart, made: ReadonlySet<string> | undefined): ToolState {
  if (state.type !== 'running') return { type: 'stopped', unstarted: true };
  if (made === undefined || action?.type !== 'changes') return { type: 'stopped' };
  if (!made.has(id)) return { type: 'stopped', unstarted: true };
  return { type: 'done', output: 'The window was closed while this call ran. The change was made.' };
}
