import type * as vscode from 'vscode';
import type { ModelSetup } from '../../catalog/model-setup.ts';
import { type Attachment, attachmentChip, mediaAttachment } from '../../chat/attachment.ts';
import { type FromPage, parseFromPage } from '../../chat/page/from-page.ts';
import { PageFeed } from '../../chat/page/page-feed.ts';
import type { CompletionItem, ContextChip, ModelView, ToPage, TurnSummary } from '../../chat/page/page-messages.ts';
import { isCompact } from '../../chat/page/slash-commands.ts';
import { CARRY_OUT_PLAN } from '../../chat/session/answer-options.ts';
import type { ChatSession, Outgoing } from '../../chat/session/session.ts';
import { type OpenConversation, withMessage } from './conversations.ts';
import { expandMessage, type MessageSources, newMessage } from './outgoing-message.ts';

/** The dependencies of a surface. */
export interface SurfaceHost extends MessageSources {
  readonly model: () => ModelView | null;
  readonly setup: () => ModelSetup;
  readonly trusted: () => boolean;
  /** Whether there are conversations to show. */
  readonly hasHistory: () => Promise<boolean>;
  readonly newId: () => string;
  /** The page sent an unknown message. */
  readonly ignored: () => void;
  /** Shows an error to the user. */
  readonly failed: (error: unknown) => void;
  /** The page could not read a dropped or pasted item. */
  readonly refused: (name: string, why: Extract<FromPage, { type: 'attach-refused' }>['why']) => void;
  /** Keeps the conversation open during the work, also if no surface shows it any longer. */
  readonly hold: <T>(conversation: OpenConversation, work: () => Promise<T>) => Promise<T>;
  /** Shows another conversation in the surface; without an id, a new one. */
  readonly show: (surface: Surface, id?: string) => Promise<void>;
  readonly history: (surface: Surface) => Promise<void>;
  /** Finds completions for `@` and `/` and shows them as they become known. */
  readonly complete: (
    trigger: '@' | '/',
    text: string,
    show: (items: readonly CompletionItem[]) => void,
  ) => Promise<void>;
  readonly attachItem: (item: string) => Promise<readonly Attachment[]>;
  readonly attachUris: (uris: readonly string[]) => Promise<readonly Attachment[]>;
  readonly pickAttachments: () => Promise<readonly Attachment[]>;
  /** What each message carries besides its attachments. */
  readonly contextChips: () => readonly ContextChip[];
  readonly toggleContext: (chip: string) => Promise<void>;
  /** Shows the changes of a call that waits for a decision. */
  readonly viewCall: (session: ChatSession, call: string) => Promise<void>;
  /** Reviews what the answers of a session change, and shows it now and after each change. */
  readonly followChanges: (session: ChatSession, show: (turns: readonly TurnSummary[]) => void) => { dispose(): void };
  readonly turn: (session: ChatSession, message: Extract<FromPage, { type: 'turn' | 'restore' }>) => Promise<void>;
  /** The user answered a call that waits in another window. */
  readonly waitsElsewhere: () => void;
  readonly code: (message: Extract<FromPage, { type: 'code' }>) => Promise<void>;
  readonly copy: (text: string) => Promise<void>;
  readonly openLink: (href: string, shown: string) => Promise<void>;
  /** The paths that are files of the workspace. */
  readonly existingPaths: (paths: readonly string[]) => Promise<readonly string[]>;
  readonly openPath: (path: string) => Promise<void>;
  /** The script of the frame in which diagrams are drawn. */
  readonly diagramScript: () => Promise<string>;
  readonly run: (
    command:
      | 'pick-model'
      | 'choose-tools'
      | 'add-provider'
      | 'add-local'
      | 'add-gateway'
      | 'import-providers'
      | 'open-settings'
      | 'review-origin'
      | 'show-log',
  ) => void;
  /** @param provider id; absent: the user chooses. */
  readonly setKey: (provider: string | undefined) => void;
}

/** The part of a webview that is used to communicate. */
type Page = Pick<vscode.Webview, 'postMessage' | 'onDidReceiveMessage'>;

/** A page and its conversation. VS Code may destroy and recreate the page at any time. */
export class Surface {
  readonly #webview: Page;
  readonly #host: SurfaceHost;
  readonly #subscription: vscode.Disposable;
  #feed: PageFeed;
  #conversation: OpenConversation;
  #ready = false;
  #focusWanted = false;
  /** Gives the text that the user typed before the page was ready. */
  #early: (() => Promise<string>) | undefined;
  #onTitle: (title: string) => void = () => undefined;
  #titleSubscription: { dispose(): void } | undefined;
  #queueSubscription: { dispose(): void } | undefined;
  #turnSubscription: { dispose(): void } | undefined;
  #turns: readonly TurnSummary[] = [];

  constructor(webview: Page, host: SurfaceHost, conversation: OpenConversation) {
    this.#webview = webview;
    this.#host = host;
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
    this.#post({ type: 'model', model: this.#host.model(), setup: this.#host.setup() });
    void this.#host.hasHistory().then((history) => {
      this.#post({ type: 'workspace', trusted: this.#host.trusted(), history });
    });
  }

  postContext(): void {
    this.#post({ type: 'context', chips: this.#host.contextChips() });
  }

  /** Focuses the input now, or as soon as the page is ready. */
  focusInput(): void {
    if (this.#ready) this.#post({ type: 'focus' });
    else this.#focusWanted = true;
  }

  /**
   * As `focusInput`, with a text that the user types until the page is ready.
   *
   * @param early called once, when the page is ready and before it gets the draft. The page puts the draft before all
   * that is typed there meanwhile.
   */
  async takeOver(early: () => Promise<string>): Promise<void> {
    this.#early = early;
    if (this.#ready) {
      await this.#addEarly();
      this.#postDraft();
    }
    this.focusInput();
  }

  async #addEarly(): Promise<void> {
    const text = await this.#early?.();
    this.#early = undefined;
    if (text) this.#conversation.draft = withMessage(this.#conversation.draft, { text, attachments: [] });
  }

  /** VS Code ends a page that is hidden, and loads it again. What is sent to the new one before it is ready is lost. */
  pageEnded(): void {
    this.#ready = false;
  }

  attach(attachments: readonly Attachment[], conversation = this.#conversation): void {
    if (attachments.length === 0) return;
    const { draft } = conversation;
    const known = new Set(attachments.map(attachmentKey));
    const kept = draft.attachments.filter((each) => !known.has(attachmentKey(each)));
    conversation.draft = { ...draft, attachments: [...kept, ...attachments] };
    if (conversation !== this.#conversation) return;
    this.#postAttachments();
    this.focusInput();
  }

  /** The user may send the message or open another conversation before the attachments are there. */
  async #attachLater(created: Promise<readonly Attachment[]>): Promise<void> {
    const conversation = this.#conversation;
    await this.#host.hold(conversation, async () => this.attach(await conversation.attaching(created), conversation));
  }

  /** Sends a message for a command of the editor. */
  async send(text: string, attachments: readonly Attachment[]): Promise<void> {
    const conversation = this.#conversation;
    await this.#host.hold(conversation, async () => {
      const outgoing = await expandMessage(this.#host, text, attachments);
      if (outgoing) await conversation.session.send(outgoing);
    });
  }

  #createFeed(): PageFeed {
    const { session } = this.#conversation;
    this.#titleSubscription?.dispose();
    this.#titleSubscription = session.onPatch((patch) => patch.type === 'title' && this.#onTitle(patch.title));
    this.#queueSubscription?.dispose();
    this.#queueSubscription = session.onQueueChange(() => this.#postQueue());
    this.#turns = [];
    this.#turnSubscription?.dispose();
    this.#turnSubscription = this.#host.followChanges(session, (turns) => {
      this.#turns = turns;
      this.#postTurns();
    });
    return new PageFeed(session, (message) => this.#post(message));
  }

  #receive(value: unknown): void {
    const message = parseFromPage(value);
    if (!message) {
      this.#host.ignored();
      return;
    }
    this.#handle(message).catch((error: unknown) => this.#host.failed(error));
  }

  async #handle(message: FromPage): Promise<void> {
    const { session } = this.#conversation;
    switch (message.type) {
      case 'ready':
        if (this.#early) await this.#addEarly();
        this.#ready = true;
        this.#postAll();
        if (this.#focusWanted) this.focusInput();
        this.#focusWanted = false;
        return;
      case 'resync':
        return this.#feed.snapshot();
      case 'send':
        return this.#send(message);
      case 'carry-out-plan':
        return session.send({ text: CARRY_OUT_PLAN });
      case 'edit':
        return this.#edit(message.message, message.text);
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
      case 'decide':
        if (!session.decide(message.call, message.decision) && !session.running) this.#host.waitsElsewhere();
        return;
      case 'preview':
        if (!session.waitingCall(message.call) && !session.running) return this.#host.waitsElsewhere();
        return this.#host.viewCall(session, message.call);
      case 'turn':
      case 'restore':
        return this.#host.turn(session, message);
      case 'queue-remove':
        return void session.takeQueued(message.message);
      case 'queue-edit':
        return this.#editQueued(message.message);
      case 'queue-send':
        return session.sendNow(message.message);
      case 'new-conversation':
        return this.#host.show(this);
      case 'show-history':
        return this.#host.history(this);
      default:
        return this.#handleDraft(message);
    }
  }

  async #handleDraft(message: FromPage): Promise<void> {
    const { draft } = this.#conversation;
    switch (message.type) {
      case 'draft':
        this.#conversation.draft = { ...draft, text: message.text };
        return;
      case 'detach':
        for (const each of draft.attachments) if (each.id === message.attachment) this.#answer(each.label);
        this.#conversation.draft = {
          ...draft,
          attachments: draft.attachments.filter(({ id }) => id !== message.attachment),
        };
        return this.#postAttachments();
      case 'attach':
        return this.#attachLater(this.#host.pickAttachments());
      case 'attach-item':
        this.#answer(message.name);
        return this.#attachLater(this.#host.attachItem(message.item));
      case 'toggle-context':
        return this.#host.toggleContext(message.chip);
      case 'attach-uris':
        return this.#attachLater(this.#host.attachUris(message.uris));
      case 'attach-media': {
        const { name, mediaType, base64, preview } = message;
        const attachment = mediaAttachment(this.#host.newId(), name, mediaType, base64);
        if (attachment) this.attach([preview === undefined ? attachment : { ...attachment, preview }]);
        return;
      }
      case 'attach-refused':
        return this.#host.refused(message.name, message.why);
      case 'complete': {
        const { query, trigger, text } = message;
        return this.#host.complete(trigger, text, (items) => this.#post({ type: 'completions', query, items }));
      }
      case 'code':
        return this.#host.code(message);
      case 'copy':
        return this.#host.copy(message.text);
      case 'open-link':
        return this.#host.openLink(message.href, message.shown);
      case 'check-paths': {
        const { paths } = message;
        return this.#post({ type: 'paths', paths, found: await this.#host.existingPaths(paths) });
      }
      case 'open-path':
        return this.#host.openPath(message.path);
      case 'load-diagram-script':
        return this.#post({ type: 'diagram-script', text: await this.#host.diagramScript() });
      case 'pick-model':
      case 'choose-tools':
      case 'add-provider':
      case 'add-local':
      case 'add-gateway':
      case 'import-providers':
      case 'open-settings':
      case 'review-origin':
      case 'show-log':
        return this.#host.run(message.type);
      case 'set-key':
        return this.#host.setKey(message.provider);
    }
  }

  /** The page has cleared its input, so a message that cannot be sent is put back into the draft. */
  async #send(sending: Extract<FromPage, { type: 'send' }>): Promise<void> {
    const { text } = sending;
    const conversation = this.#conversation;
    const { session, draft } = conversation;
    const compacts = isCompact(text) && !session.running;
    conversation.draft = { ...draft, text: '', attachments: compacts ? draft.attachments : [] };
    this.#postAttachments();
    if (compacts) return session.compact();
    await this.#host.hold(conversation, async () => {
      const { answer } = await this.#sendInOrder(conversation, sending, draft.attachments);
      await answer;
    });
  }

  /** Resolves when the message is sent, with the promise of its answer, or is put back into the draft. */
  async #sendInOrder(
    conversation: OpenConversation,
    sending: Extract<FromPage, { type: 'send' }>,
    attachments: readonly Attachment[],
  ): Promise<{ readonly answer?: Promise<void> }> {
    const { text } = sending;
    const { answered } = conversation;
    conversation.answered = new Set();
    const message = { text, attachments };
    const sent = conversation.keepUnsent(message);
    const attaching = conversation.takeAttaching();
    // Its failure is handled when it is its turn.
    attaching.catch(() => undefined);
    return conversation.inOrder(async () => {
      const outgoing = await this.#complete(sending, attachments, attaching, answered);
      const answer = outgoing && conversation.session.send(outgoing);
      if (!answer) conversation.draft = withMessage(conversation.draft, message);
      sent();
      if (!answer && conversation === this.#conversation) this.#postDraft();
      return answer === undefined ? {} : { answer };
    });
  }

  /** Undefined: the message cannot be sent. */
  async #complete(
    sending: Extract<FromPage, { type: 'send' }>,
    attachments: readonly Attachment[],
    attaching: Promise<readonly Attachment[]>,
    answered: ReadonlySet<string>,
  ): Promise<Outgoing | undefined> {
    try {
      return await newMessage(this.#host, sending, [...attachments, ...(await attaching)], answered);
    } catch (error) {
      this.#host.failed(error);
      return undefined;
    }
  }

  #answer(name: string): void {
    this.#conversation.answered = new Set([...this.#conversation.answered, name]);
  }

  /** Puts a waiting message back into the input, before what is there. */
  #editQueued(id: string): void {
    const conversation = this.#conversation;
    const message = conversation.session.takeQueued(id);
    if (!message) return;
    const { text, attachments = [] } = message;
    conversation.draft = withMessage(conversation.draft, { text, attachments });
    this.#postDraft();
    this.focusInput();
  }

  /** An edit that cannot be sent becomes a draft, as the page has closed its box. */
  async #edit(message: string, text: string): Promise<void> {
    const conversation = this.#conversation;
    const { session } = conversation;
    const edited = session.transcript.messages.find(({ id }) => id === message);
    await this.#host.hold(conversation, async () => {
      const outgoing = await expandMessage(this.#host, text, edited?.attachments ?? [], edited?.options);
      if (outgoing && !session.running) return session.edit(message, outgoing);
      conversation.draft = withMessage(conversation.draft, { text, attachments: [] });
      if (conversation === this.#conversation) this.#postDraft();
    });
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
    this.#post({ type: 'turns', turns: this.#turns });
  }

  #postQueue(): void {
    const messages = this.#conversation.session.queue.map(({ id, text, attachments = [] }) => ({
      id,
      text,
      attachments: attachments.map(attachmentChip),
    }));
    this.#post({ type: 'queue', messages });
  }

  #postDraft(): void {
    const { text, attachments } = this.#conversation.draft;
    this.#post({ type: 'draft', text, attachments: attachments.map(attachmentChip) });
  }

  #postAttachments(): void {
    this.#post({ type: 'draft', attachments: this.#conversation.draft.attachments.map(attachmentChip) });
  }

  #post(message: ToPage): void {
    void this.#webview.postMessage(message);
  }
}

/** Attachments with the same key replace each other. */
function attachmentKey({ kind, label, detail, id }: Attachment): string {
  return kind === 'image' || kind === 'pdf' ? id : `${kind} ${detail ?? label}`;
}
