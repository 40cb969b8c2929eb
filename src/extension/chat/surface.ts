import { setTimeout } from 'node:timers/promises';
import type * as vscode from 'vscode';
import type { ModelSetup } from '../../catalog/model-setup.ts';
import { type Attachment, attachmentChip } from '../../chat/attachment.ts';
import type { TurnSummary } from '../../chat/message-parts.ts';
import { CARRY_OUT_PLAN } from '../../chat/session/answer-options.ts';
import type { ChatSession } from '../../chat/session/session.ts';
import { type FromPage, parseFromPage } from '../../protocol/chat/from-page.ts';
import { PageFeed } from '../../protocol/chat/page-feed.ts';
import type { ContextChip, ModelView, ToPage } from '../../protocol/chat/page-messages.ts';
import { type Conversations, type OpenConversation, withMessage } from './conversations.ts';
import type {
  AnswerTopic,
  AttachTopic,
  CallTopic,
  ChangeTopic,
  CommandTopic,
  ComposerTopic,
  ContextTopic,
  MentionTopic,
  TopicPage,
} from './surface-topic.ts';

/** Each topic handles its own messages of the page. */
export interface SurfaceTopics {
  readonly composer: ComposerTopic;
  readonly attachments: AttachTopic;
  readonly mentions: MentionTopic;
  /** The content of each message besides its attachments. */
  readonly context: ContextTopic & { readonly chips: readonly ContextChip[] };
  readonly calls: CallTopic;
  readonly changes: ChangeTopic & {
    /** Reviews the changes of a session's answers, and shows them now and after each change. */
    follow(session: ChatSession, show: (turns: readonly TurnSummary[]) => void): { dispose(): void };
  };
  readonly answers: AnswerTopic;
  readonly commands: CommandTopic;
}

/** The chat that surfaces belong to. */
export interface SurfaceOwner {
  readonly conversations: Conversations;
  readonly topics: SurfaceTopics;
  readonly model: () => ModelView | null;
  readonly setup: () => ModelSetup;
  readonly trusted: () => boolean;
  /** Shows the conversation that was left with a draft before its first message, or else an empty one. */
  readonly startNew: (surface: Surface) => Promise<void>;
  /** Lets the user choose a conversation. */
  readonly showHistory: (surface: Surface) => Promise<void>;
  /** The page of the surface got the focus. */
  readonly focused: (surface: Surface) => void;
  /** A key of the user has moved the focus from the page of the surface to another part of VS Code. */
  readonly left: (surface: Surface) => void;
  /** Opens a list. The next keys after it belong to the surface from which the user opened it, if it was one. */
  readonly listed: (open: () => Promise<unknown>) => Promise<unknown>;
  /** The page sent an unknown message. */
  readonly ignored: () => void;
  /** Shows an error to the user. */
  readonly failed: (error: unknown) => void;
}

/** Text that the user types before a page is ready. */
export interface EarlyText {
  /** Called when the page is ready. Resolves when it may have the focus. False: that is elsewhere and stays there. */
  handOver(): Promise<boolean>;
  /** Ends it, and returns what was typed. */
  take(): string;
}

/** Messages that open a list, and are handled when it is closed: then the next keys belong to the page again. */
const OPENS_LIST: ReadonlySet<FromPage['type']> = new Set([
  'attach',
  'pick-model',
  'review-origin',
  'set-key',
  'show-history',
]);

/** The part of a webview that is used to communicate. */
const TAKES_FOCUS_WITHIN_MS = 2_000;

type Page = Pick<vscode.Webview, 'postMessage' | 'onDidReceiveMessage'>;

/** A page and its conversation. VS Code may destroy and recreate the page at any time. */
export class Surface implements TopicPage {
  readonly #webview: Page;
  readonly #owner: SurfaceOwner;
  readonly #subscription: vscode.Disposable;
  #feed: PageFeed;
  #conversation: OpenConversation;
  #ready = false;
  #visible = true;
  #focusWanted = false;
  #focusTaken: PromiseWithResolvers<true> | undefined;
  #early: EarlyText | undefined;
  #onTitle: (title: string) => void = () => undefined;
  #titleSubscription: { dispose(): void } | undefined;
  #queueSubscription: { dispose(): void } | undefined;
  #turnSubscription: { dispose(): void } | undefined;
  #turns: readonly TurnSummary[] = [];

  constructor(webview: Page, owner: SurfaceOwner, conversation: OpenConversation) {
    this.#webview = webview;
    this.#owner = owner;
    this.#conversation = conversation;
    conversation.users += 1;
    this.#feed = this.#createFeed();
    this.#subscription = webview.onDidReceiveMessage((value: unknown) => this.#receive(value));
  }

  /** Does not dispose the conversation. */
  dispose(): void {
    this.#subscription.dispose();
    this.#titleSubscription?.dispose();
    this.#queueSubscription?.dispose();
    this.#turnSubscription?.dispose();
    this.#feed.dispose();
    this.#takeEarly();
  }

  get conversation(): OpenConversation {
    return this.#conversation;
  }

  /** Calls the listener with the title of the conversation, now and on each change. Empty: no title yet. */
  onTitle(listener: (title: string) => void): void {
    this.#onTitle = listener;
    listener(this.#conversation.session.transcript.title);
  }

  /** Shows another conversation. The caller must release the previous one. */
  change(conversation: OpenConversation): void {
    this.#feed.dispose();
    this.#conversation = conversation;
    conversation.users += 1;
    this.#feed = this.#createFeed();
    this.#onTitle(conversation.session.transcript.title);
    this.#postAll();
  }

  postModel(): void {
    this.post({ type: 'model', model: this.#owner.model(), setup: this.#owner.setup() });
    void this.#owner.conversations.history.any().then((history) => {
      this.post({ type: 'workspace', trusted: this.#owner.trusted(), history });
    });
  }

  postContext(): void {
    this.post({ type: 'context', chips: this.#owner.topics.context.chips });
  }

  /** Focuses the input now, or as soon as the page is ready and visible. */
  focusInput(): void {
    if (this.#ready && this.#visible) this.post({ type: 'focus' });
    else this.#focusWanted = true;
  }

  /**
   * As `focusInput`, with a text that the user types until the page is ready, unless the user has left.
   *
   * @param early ended when the page is ready and before it gets the draft, or with the surface. The page puts the draft
   * before all that is typed there meanwhile.
   */
  takeOver(early: EarlyText): void {
    this.#early = early;
  }

  /**
   * Lets the page take the focus, which then moves at once. VS Code would give it to a frame around the page first, in
   * which keys are lost. False if the browser does not let it.
   */
  takeFocus(): Promise<boolean> {
    this.#focusTaken = Promise.withResolvers();
    this.post({ type: 'focus' });
    return Promise.race([this.#focusTaken.promise, setTimeout(TAKES_FOCUS_WITHIN_MS, false)]);
  }

  async #handOver(early: EarlyText): Promise<void> {
    this.#focusWanted = await early.handOver();
    this.#takeEarly();
  }

  /** Once, also if VS Code loads the page again while the text is handed over. */
  #takeEarly(): void {
    const text = this.#early?.take();
    this.#early = undefined;
    if (text) this.#conversation.draft = withMessage(this.#conversation.draft, { text, attachments: [] });
  }

  /** VS Code keeps a page that is hidden. When it is shown again, its input gets the focus, whatever had it before. */
  changeVisibility(visible: boolean): void {
    this.#visible = visible;
    if (!visible) this.post({ type: 'hidden' });
    else if (this.#ready) this.#focusIfWanted();
  }

  #focusIfWanted(): void {
    if (this.#focusWanted) this.focusInput();
    this.#focusWanted = false;
  }

  attach(attachments: readonly Attachment[], conversation = this.#conversation): void {
    if (attachments.length === 0) return;
    const { draft } = conversation;
    const known = new Set(attachments.map(attachmentKey));
    const kept = draft.attachments.filter((each) => !known.has(attachmentKey(each)));
    conversation.draft = { ...draft, attachments: [...kept, ...attachments] };
    if (conversation !== this.#conversation) return;
    this.showAttachments();
    // The user may be elsewhere by then.
    if (this.#visible) this.focusInput();
  }

  /** The user may send the message or open another conversation before the attachments are there. */
  async attachLater(created: Promise<readonly Attachment[]>): Promise<void> {
    const conversation = this.#conversation;
    await this.#owner.conversations.hold(conversation, async () =>
      this.attach(await conversation.attaching(created), conversation),
    );
  }

  #createFeed(): PageFeed {
    const { session } = this.#conversation;
    this.#titleSubscription?.dispose();
    this.#titleSubscription = session.onPatch((patch) => patch.type === 'title' && this.#onTitle(patch.title));
    this.#queueSubscription?.dispose();
    this.#queueSubscription = session.onQueueChange(() => this.#postQueue());
    this.#turns = [];
    this.#turnSubscription?.dispose();
    this.#turnSubscription = this.#owner.topics.changes.follow(session, (turns) => {
      this.#turns = turns;
      this.#postTurns();
    });
    return new PageFeed(session, (message) => this.post(message));
  }

  #receive(value: unknown): void {
    const message = parseFromPage(value);
    if (!message) {
      this.#owner.ignored();
      return;
    }
    const opensList = OPENS_LIST.has(message.type);
    if (opensList) this.#owner.focused(this);
    const handle = () => this.#handle(message);
    (opensList ? this.#owner.listed(handle) : handle()).catch((error: unknown) => this.#owner.failed(error));
  }

  async #handle(message: FromPage): Promise<unknown> {
    const { session } = this.#conversation;
    const { topics } = this.#owner;
    switch (message.type) {
      case 'ready':
        return this.#start();
      case 'resync':
        return this.#feed.snapshot();
      case 'focused':
        this.#focusTaken?.resolve(true);
        return this.#owner.focused(this);
      case 'left':
        return this.#owner.left(this);
      case 'carry-out-plan':
        return session.send({ text: CARRY_OUT_PLAN });
      case 'regenerate':
        return session.regenerate(message.message);
      case 'continue':
        return session.continue();
      case 'compact':
        return session.compact();
      case 'compact-retry':
        return session.compactAndRetry();
      case 'stop':
        return session.stop();
      case 'select':
        return session.select(message.message);
      case 'queue-remove':
        return void session.takeQueued(message.message);
      case 'queue-send':
        return session.sendNow(message.message);
      case 'new-conversation':
        return this.#owner.startNew(this);
      case 'show-history':
        return this.#owner.showHistory(this);
      case 'draft':
      case 'detach':
      case 'send':
      case 'edit':
      case 'queue-edit':
        return topics.composer.handle(message, this);
      case 'attach':
      case 'attach-uris':
      case 'attach-media':
      case 'attach-refused':
        return topics.attachments.handle(message, this);
      case 'complete':
      case 'attach-item':
        return topics.mentions.handle(message, this);
      case 'toggle-context':
        return topics.context.handle(message, this);
      case 'decide':
      case 'preview':
        return topics.calls.handle(message, this);
      case 'turn':
      case 'restore':
        return topics.changes.handle(message, this);
      case 'code':
      case 'copy':
      case 'open-link':
      case 'check-paths':
      case 'open-path':
      case 'load-diagram-script':
        return topics.answers.handle(message, this);
      case 'pick-model':
      case 'choose-tools':
      case 'add-provider':
      case 'add-local':
      case 'add-gateway':
      case 'import-providers':
      case 'open-settings':
      case 'review-origin':
      case 'show-log':
      case 'set-key':
        return topics.commands.handle(message, this);
      default:
        return message satisfies never;
    }
  }

  /** The page is loaded. */
  async #start(): Promise<void> {
    if (this.#early) await this.#handOver(this.#early);
    this.#ready = true;
    this.#postAll();
    if (this.#visible) this.#focusIfWanted();
  }

  #postAll(): void {
    this.postModel();
    this.#postDraft();
    this.#feed.snapshot();
    this.#postQueue();
    this.postContext();
    this.#postTurns();
  }

  #postTurns(): void {
    this.post({ type: 'turns', turns: this.#turns });
  }

  #postQueue(): void {
    const messages = this.#conversation.session.queue.map(({ id, text, attachments = [] }) => ({
      id,
      text,
      attachments: attachments.map(attachmentChip),
    }));
    this.post({ type: 'queue', messages });
  }

  #postDraft(): void {
    const { text, attachments } = this.#conversation.draft;
    this.post({ type: 'draft', text, attachments: attachments.map(attachmentChip) });
  }

  showDraft(conversation: OpenConversation): void {
    if (conversation === this.#conversation) this.#postDraft();
  }

  showAttachments(): void {
    this.post({ type: 'draft', attachments: this.#conversation.draft.attachments.map(attachmentChip) });
  }

  post(message: ToPage): void {
    void this.#webview.postMessage(message);
  }
}

/** Attachments with the same key replace each other. */
function attachmentKey({ kind, label, detail, id }: Attachment): string {
  return kind === 'image' || kind === 'pdf' ? id : `${kind} ${detail ?? label}`;
}
