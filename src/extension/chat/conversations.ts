import type { ConversationDraft, History, StoredConversation } from '../../chat/history/history.ts';
import type { Head, HistoryWriter } from '../../chat/history/history-writer.ts';
import { ChatSession } from '../../chat/session/session.ts';
import type { SessionDeps } from '../../chat/session/session-deps.ts';
import { isRunning, type Patch, type Transcript } from '../../chat/transcript.ts';

export interface ConversationsDeps {
  readonly session: SessionDeps;
  readonly history: History;
  readonly workspace: string;
  /** One was deleted: what shows it has to show another. */
  readonly onRemove: (id: string) => Promise<void>;
  readonly onError: (what: string, error: unknown) => void;
}

type NameOrPin = Extract<Patch, { type: 'title' | 'pin' }>;

const DRAFT_DELAY_MS = 150;
/** A file that was quiet for this long is streamed into by nobody. */
const QUIET_MS = 4000;
const LOOK_MS = 1000;

/** A conversation that is held in this window: its session, its file, and what is being written. */
export class OpenConversation {
  readonly session: ChatSession;
  readonly #history: History;
  readonly #writer: HistoryWriter;
  readonly #keeping: { dispose(): void };
  readonly #onError: (what: string, error: unknown) => void;
  #draft: ConversationDraft = { text: '', attachments: [] };
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  /** How many pages show it. */
  shown = 0;

  constructor(deps: ConversationsDeps, session: ChatSession, draft: ConversationDraft) {
    const { history, workspace, onError } = deps;
    this.session = session;
    this.#history = history;
    this.#onError = onError;
    this.#draft = draft;
    const head = { id: session.id, createdAt: history.now, workspace };
    this.#writer = history.writer(head, (error) => onError('The conversation could not be kept.', error));
    this.#keeping = session.onPatch((patch) => {
      if (this.#reading) return;
      this.#writer.write(patch);
      // What a person sent and how an answer ended is on disk at once; text that streams may wait a moment.
      if (patch.type === 'add' || patch.type === 'end') void this.#writer.flush();
    });
  }

  get draft(): ConversationDraft {
    return this.#draft;
  }

  set draft(draft: ConversationDraft) {
    this.#draft = draft;
    this.#timer ??= setTimeout(() => void this.#keepDraft(), DRAFT_DELAY_MS);
  }

  /** Shows what another window wrote. It is on disk already: written twice, it would undo what comes next. */
  catchUp(elsewhere: Transcript): void {
    this.#reading = true;
    this.session.catchUp(elsewhere);
    this.#reading = false;
  }

  /** Resolves when all that has happened is on disk. */
  kept(): Promise<void> {
    return this.#writer.flush();
  }

  async close(): Promise<void> {
    this.session.dispose();
    this.#keeping.dispose();
    await this.#writer.flush();
    if (this.#timer) await this.#keepDraft();
  }

  async #keepDraft(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#history.keepDraft(this.session.id, this.#draft);
    } catch (error) {
      this.#onError('The draft could not be kept.', error);
    }
  }
}

/** The conversations that are open in this window. One that nobody shows is closed once it is quiet. */
export class Conversations {
  readonly #deps: ConversationsDeps;
  readonly #open = new Map<string, OpenConversation>();

  constructor(deps: ConversationsDeps) {
    this.#deps = deps;
  }

  dispose(): void {
    for (const each of this.#open.values()) void each.close();
    this.#open.clear();
  }

  get history(): History {
    return this.#deps.history;
  }

  create(): OpenConversation {
    return this.#add(new ChatSession(this.#deps.session), { text: '', attachments: [] });
  }

  /** One that is open, or one from history; a new one when there is none with this id. */
  async open(id: string): Promise<OpenConversation> {
    const already = this.#open.get(id);
    if (already) return already;
    const [stored, draft] = await Promise.all([this.history.load(id), this.history.draft(id)]);
    const raced = this.#open.get(id);
    if (raced) return raced;
    const transcript: Transcript = stored?.transcript ?? { messages: [], title: '', pinned: false };
    const conversation = this.#add(new ChatSession(this.#deps.session, { id, transcript }), draft);
    if (stored) this.#follow(conversation, stored);
    return conversation;
  }

  /** A page shows it no more. An answer that streams goes on to its end. */
  release(conversation: OpenConversation): void {
    conversation.shown -= 1;
    const { session } = conversation;
    if (session.running) void session.quiet.then(() => this.#closeUnshown(conversation));
    else this.#closeUnshown(conversation);
  }

  #closeUnshown(conversation: OpenConversation): void {
    const { session, shown } = conversation;
    if (shown > 0 || session.running || this.#open.get(session.id) !== conversation) return;
    this.#open.delete(session.id);
    void conversation.close();
  }

  async remove(id: string): Promise<void> {
    const open = this.#open.get(id);
    this.#open.delete(id);
    await open?.close();
    await this.#deps.onRemove(id);
    await this.history.remove(id);
  }

  /** Names or pins one, open here or not. */
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
   * Another window may stream into its file right now: then this one reads along. Whoever ended without an ending was
   * killed; that is said once the file is quiet.
   */
  #follow(conversation: OpenConversation, stored: StoredConversation): void {
    const { session } = conversation;
    if (session.running || !isRunning(session.transcript)) return;
    if (this.history.now - stored.changedAt >= QUIET_MS) return session.closeOpenAnswers();
    setTimeout(() => {
      if (this.#open.get(session.id) !== conversation) return;
      void this.history.load(session.id).then((now) => {
        if (!now) return;
        conversation.catchUp(now.transcript);
        this.#follow(conversation, now);
      });
    }, LOOK_MS).unref();
  }

  #add(session: ChatSession, draft: ConversationDraft): OpenConversation {
    const conversation = new OpenConversation(this.#deps, session, draft);
    this.#open.set(session.id, conversation);
    return conversation;
  }
}
