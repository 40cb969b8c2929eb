import { SerialQueue } from '../../base/concurrency.ts';
import type { Attachment } from '../../chat/attachment.ts';
import {
  type ConversationDraft,
  type History,
  isEmptyDraft,
  type StoredConversation,
} from '../../chat/history/history.ts';
import type { Head, HistoryWriter } from '../../chat/history/history-writer.ts';
import { ChatSession } from '../../chat/session/session.ts';
import type { SessionDeps } from '../../chat/session/session-deps.ts';
import { isRunning, type Patch, type Transcript } from '../../chat/transcript.ts';

export interface ConversationsDeps {
  readonly session: SessionDeps;
  readonly history: History;
  readonly workspace: string;
  /** Called when a conversation was deleted. Surfaces that show it must show another one. */
  readonly onRemove: (id: string) => Promise<void>;
  readonly onError: (what: string, error: unknown) => void;
}

type NameOrPin = Extract<Patch, { type: 'title' | 'pin' }>;

const DRAFT_DELAY_MS = 150;
/** If a file did not change for this long, no other window is writing to it. */
const QUIET_MS = 4000;
const POLL_MS = 1000;
/** Interval at which a window shows that its answer is running, although it writes nothing: a call waits, for example. */
const ALIVE_MS = 1500;

/** A conversation that is open in this window: its session, its file and its draft. */
export class OpenConversation {
  readonly session: ChatSession;
  readonly #history: History;
  readonly #writer: HistoryWriter;
  readonly #subscription: { dispose(): void };
  readonly #queueSubscription: { dispose(): void };
  readonly #onError: (what: string, error: unknown) => void;
  #draft: ConversationDraft = { text: '', attachments: [] };
  #timer: NodeJS.Timeout | undefined;
  readonly #saves = new SerialQueue();
  #alive: NodeJS.Timeout | undefined;
  #reading = false;
  #closed = false;
  readonly #unsent = new Set<ConversationDraft>();
  /** Attachments that are being created for the draft. */
  readonly #attaching = new Set<Promise<readonly Attachment[]>>();
  readonly #sends = new SerialQueue();
  /**
   * Names of items that the user chose for this draft, also if their attachment was declined or removed. Their names in
   * the text do not attach them again.
   */
  answered: ReadonlySet<string> = new Set();
  /** Number of pages that show it, and of actions that hold it open (`Conversations.hold`). */
  users = 0;

  constructor(deps: ConversationsDeps, session: ChatSession, draft: ConversationDraft) {
    const { history, workspace, onError } = deps;
    this.session = session;
    this.#history = history;
    this.#onError = onError;
    this.#draft = draft;
    this.#queueSubscription = session.onQueueChange(() => {
      this.draft = { ...this.#draft, queue: session.queue };
    });
    const head = { id: session.id, createdAt: history.now, workspace };
    this.#writer = history.writer(head, (error) => onError('The conversation could not be saved.', error));
    this.#subscription = session.onPatch((patch) => {
      if (this.#reading) return;
      if (session.running) this.#alive ??= setInterval(() => this.#showAlive(), ALIVE_MS).unref();
      this.#writer.write(patch);
      // Write messages of the user and the end of answers at once. Streamed text may be delayed.
      if (patch.type === 'add' || patch.type === 'end') void this.#writer.flush();
    });
  }

  get draft(): ConversationDraft {
    return this.#draft;
  }

  set draft(draft: ConversationDraft) {
    this.#draft = draft;
    this.#saveDraftLater();
  }

  /**
   * Keeps a message that is completed before it is sent in the draft on disk, so that a crash does not lose it.
   * @returns a function that ends this.
   */
  keepUnsent(message: ConversationDraft): () => void {
    this.#unsent.add(message);
    this.#saveDraftLater();
    return () => {
      this.#unsent.delete(message);
      this.#saveDraftLater();
    };
  }

  /** Waits for attachments of the draft. Resolves with none if a message that was sent meanwhile took them. */
  async attaching(created: Promise<readonly Attachment[]>): Promise<readonly Attachment[]> {
    this.#attaching.add(created);
    try {
      const attachments = await created;
      return this.#attaching.has(created) ? attachments : [];
    } finally {
      this.#attaching.delete(created);
    }
  }

  /** Takes the attachments that are still being created: they belong to the message that is sent now. */
  async takeAttaching(): Promise<readonly Attachment[]> {
    const taken = [...this.#attaching];
    this.#attaching.clear();
    return (await Promise.all(taken)).flat();
  }

  /** Messages are completed and sent in the order in which the user wrote them. */
  inOrder<T>(send: () => Promise<T>): Promise<T> {
    return this.#sends.run(send);
  }

  /** Adds to `answered`. */
  answer(name: string): void {
    this.answered = new Set([...this.answered, name]);
  }

  /** Applies the changes of another window. They must not be written again, because that would revert later changes. */
  catchUp(elsewhere: Transcript): void {
    this.#reading = true;
    this.session.catchUp(elsewhere);
    this.#reading = false;
  }

  /** Resolves when all changes are on disk. */
  kept(): Promise<void> {
    return this.#writer.flush();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.session.dispose();
    clearInterval(this.#alive);
    this.#subscription.dispose();
    this.#queueSubscription.dispose();
    await this.#writer.flush();
    if (this.#timer) await this.#saveDraft();
    // Also a save that has begun.
    await this.#saves.run(() => undefined);
  }

  #showAlive(): void {
    if (this.session.running) return void this.#history.touch(this.session.id);
    clearInterval(this.#alive);
    this.#alive = undefined;
  }

  #saveDraftLater(): void {
    if (!this.#closed) this.#timer ??= setTimeout(() => void this.#saveDraft(), DRAFT_DELAY_MS);
  }

  /** One after the other, so that the last one holds. */
  #saveDraft(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#saves.run(() => this.#writeDraft());
  }

  async #writeDraft(): Promise<void> {
    try {
      await this.#history.keepDraft(this.session.id, [...this.#unsent].reduceRight(withMessage, this.#draft));
    } catch (error) {
      this.#onError('The draft could not be saved.', error);
    }
  }
}

/** A draft with a message before it. */
export function withMessage(draft: ConversationDraft, { text, attachments }: ConversationDraft): ConversationDraft {
  return {
    ...draft,
    text: [text, draft.text].filter(Boolean).join('\n'),
    attachments: [...attachments, ...draft.attachments],
  };
}

/** The conversations that are open in this window. One that nobody uses is closed when its answer has ended. */
export class Conversations {
  readonly #deps: ConversationsDeps;
  readonly #open = new Map<string, OpenConversation>();
  readonly #closing = new Map<string, Promise<void>>();

  constructor(deps: ConversationsDeps) {
    this.#deps = deps;
  }

  /** Resolves when the changes of all conversations are on disk. */
  async dispose(): Promise<void> {
    const closing = [...this.#open.values()].map((each) => each.close());
    this.#open.clear();
    await Promise.all([...closing, ...this.#closing.values()]);
  }

  get history(): History {
    return this.#deps.history;
  }

  create(): OpenConversation {
    return this.#add(new ChatSession(this.#deps.session), { text: '', attachments: [] });
  }

  /** Returns the open conversation with this id, or loads it from history, or creates it. */
  async open(id: string): Promise<OpenConversation> {
    const already = this.#open.get(id);
    if (already) return already;
    await this.#closing.get(id);
    const [stored, draft] = await Promise.all([this.history.load(id), this.history.draft(id)]);
    const raced = this.#open.get(id);
    if (raced) return raced;
    const transcript: Transcript = stored?.transcript ?? { messages: [], title: '', pinned: false };
    const conversation = this.#add(
      new ChatSession(this.#deps.session, { id, transcript, queue: draft.queue ?? [] }),
      draft,
    );
    if (stored) this.#pollFile(conversation, stored);
    return conversation;
  }

  /** Whether nothing shows the conversation, and it has a draft but no message. */
  async isUnsent(id: string): Promise<boolean> {
    if (this.#open.has(id)) return false;
    await this.#closing.get(id);
    const [stored, draft] = await Promise.all([this.history.load(id), this.history.draft(id)]);
    return !stored && !isEmptyDraft(draft);
  }

  /** Keeps the conversation open during the work, also if no page shows it any longer. */
  async hold<T>(conversation: OpenConversation, work: () => Promise<T>): Promise<T> {
    conversation.users += 1;
    try {
      return await work();
    } finally {
      this.release(conversation);
    }
  }

  /** One of `users` has ended. A running answer continues. */
  release(conversation: OpenConversation): void {
    conversation.users -= 1;
    const { session } = conversation;
    if (session.running) void session.quiet.then(() => this.#closeUnused(conversation));
    else this.#closeUnused(conversation);
  }

  #closeUnused(conversation: OpenConversation): void {
    const { session, users } = conversation;
    if (users > 0 || session.running || this.#open.get(session.id) !== conversation) return;
    this.#open.delete(session.id);
    const closing = conversation.close().finally(() => this.#closing.delete(session.id));
    this.#closing.set(session.id, closing);
  }

  async remove(id: string): Promise<void> {
    const open = this.#open.get(id);
    this.#open.delete(id);
    await open?.close();
    await this.#deps.onRemove(id);
    await this.history.remove(id);
  }

  /** Renames or pins a conversation, whether it is open or not. */
  async amend(head: Head, patch: NameOrPin): Promise<void> {
    const open = this.#open.get(head.id);
    if (!open) return this.history.append(head, patch);
    if (patch.type === 'pin') open.session.pin(patch.pinned);
    else open.session.rename(patch.title);
    await open.kept();
  }

  find(id: string): OpenConversation | undefined {
    return this.#open.get(id);
  }

  /**
   * Another window may be streaming an answer into the file: then read its changes. If the file stops changing without an
   * end of the answer, the other window was killed, and the answer is marked as interrupted.
   */
  #pollFile(conversation: OpenConversation, stored: StoredConversation): void {
    const { session } = conversation;
    if (session.running || !isRunning(session.transcript)) return;
    if (this.history.now - stored.changedAt >= QUIET_MS) {
      void session
        .closeOpenAnswers()
        .catch((error: unknown) => this.#deps.onError('An answer could not be closed.', error));
      return;
    }
    setTimeout(() => {
      if (this.#open.get(session.id) !== conversation) return;
      void this.history.load(session.id).then((now) => {
        if (!now) return;
        conversation.catchUp(now.transcript);
        this.#pollFile(conversation, now);
      });
    }, POLL_MS).unref();
  }

  #add(session: ChatSession, draft: ConversationDraft): OpenConversation {
    const conversation = new OpenConversation(this.#deps, session, draft);
    this.#open.set(session.id, conversation);
    return conversation;
  }
}
