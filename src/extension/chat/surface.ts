import type * as vscode from 'vscode';
import { type Attachment, attachmentChip, mediaAttachment } from '../../chat/attachment.ts';
import { type FromPage, parseFromPage } from '../../chat/page/from-page.ts';
import { PageFeed } from '../../chat/page/page-feed.ts';
import type { CompletionItem, ModelView, ToPage } from '../../chat/page/page-messages.ts';
import { expandCommand, isCompact, type SlashCommand } from '../../chat/page/slash-commands.ts';
import type { Outgoing } from '../../chat/session/session.ts';
import type { OpenConversation } from './conversations.ts';

/** What a surface needs from the rest of the editor. */
export interface SurfaceHost {
  readonly model: () => ModelView | null;
  readonly trusted: () => boolean;
  readonly newId: () => string;
  /** The page said something that is not one of its messages. */
  readonly ignored: () => void;
  /** Tells the person what could not be done. */
  readonly failed: (error: unknown) => void;
  /** The page could not read what was dropped or pasted. */
  readonly refused: (name: string, why: Extract<FromPage, { type: 'attach-refused' }>['why']) => void;
  /** Puts another conversation into this surface; undefined: a new one. */
  readonly show: (surface: Surface, id?: string) => Promise<void>;
  readonly history: (surface: Surface) => Promise<void>;
  /** Shows what `@` and `/` offer, as it becomes known. */
  readonly complete: (
    trigger: '@' | '/',
    text: string,
    show: (items: readonly CompletionItem[]) => void,
  ) => Promise<void>;
  readonly attachItem: (item: string) => Promise<readonly Attachment[]>;
  readonly attachUris: (uris: readonly string[]) => Promise<readonly Attachment[]>;
  readonly pickAttachments: () => Promise<readonly Attachment[]>;
  /** What a command goes along with when the person attached nothing. */
  readonly commandAttachment: (command: SlashCommand) => Promise<readonly Attachment[]>;
  /** The text of a prompt file, for `/name`. */
  readonly promptFile: (name: string) => Promise<string | undefined>;
  readonly code: (message: Extract<FromPage, { type: 'code' }>) => Promise<void>;
  readonly copy: (text: string) => Promise<void>;
  readonly openLink: (href: string, shown: string) => Promise<void>;
  readonly run: (
    command:
      | 'pick-model'
      | 'choose-tools'
      | 'add-provider'
      | 'set-key'
      | 'open-settings'
      | 'review-origin'
      | 'show-log',
  ) => void;
}

/** The part of a webview that is talked with. */
type Page = Pick<vscode.Webview, 'postMessage' | 'onDidReceiveMessage'>;

/** One page and the conversation that it shows. The page may be thrown away and rebuilt at any time. */
export class Surface {
  readonly #webview: Page;
  readonly #host: SurfaceHost;
  readonly #heard: vscode.Disposable;
  #feed: PageFeed;
  #conversation: OpenConversation;
  #ready = false;
  #focusWanted = false;
  #onTitle: (title: string) => void = () => undefined;
  #named: { dispose(): void } | undefined;

  constructor(webview: Page, host: SurfaceHost, conversation: OpenConversation) {
    this.#webview = webview;
    this.#host = host;
    this.#conversation = conversation;
    conversation.shown += 1;
    this.#feed = this.#follow();
    this.#heard = webview.onDidReceiveMessage((value: unknown) => this.#hear(value));
  }

  /** The conversation lives on. */
  dispose(): void {
    this.#heard.dispose();
    this.#named?.dispose();
    this.#feed.dispose();
  }

  get conversation(): OpenConversation {
    return this.#conversation;
  }

  /** Tells the title of what is shown, now and whenever it changes; empty: none yet. */
  onTitle(tell: (title: string) => void): void {
    this.#onTitle = tell;
    tell(this.#conversation.session.transcript.title);
  }

  /** Shows another conversation; whoever calls releases the one before. */
  change(conversation: OpenConversation): void {
    this.#feed.dispose();
    this.#conversation = conversation;
    conversation.shown += 1;
    this.#feed = this.#follow();
    this.#onTitle(conversation.session.transcript.title);
    this.#postAll();
  }

  postModel(): void {
    this.#post({ type: 'model', model: this.#host.model() });
    this.#post({ type: 'workspace', trusted: this.#host.trusted() });
  }

  /** Now, or as soon as the page is there to hear of it. */
  focusInput(): void {
    if (this.#ready) this.#post({ type: 'focus' });
    else this.#focusWanted = true;
  }

  attach(attachments: readonly Attachment[]): void {
    if (attachments.length === 0) return;
    const { draft } = this.#conversation;
    const known = new Set(attachments.map(keyOf));
    const kept = draft.attachments.filter((each) => !known.has(keyOf(each)));
    this.#conversation.draft = { ...draft, attachments: [...kept, ...attachments] };
    this.#postAttachments();
    this.focusInput();
  }

  /** Sends for the person: a command of the editor. */
  async send(text: string, attachments: readonly Attachment[]): Promise<void> {
    await this.#conversation.session.send(await this.#outgoing(text, attachments));
  }

  #follow(): PageFeed {
    const { session } = this.#conversation;
    this.#named?.dispose();
    this.#named = session.onPatch((patch) => patch.type === 'title' && this.#onTitle(patch.title));
    return new PageFeed(session, (message) => this.#post(message));
  }

  #hear(value: unknown): void {
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
        this.#ready = true;
        this.#postAll();
        if (this.#focusWanted) this.focusInput();
        this.#focusWanted = false;
        return;
      case 'resync':
        return this.#feed.snapshot();
      case 'send':
        return this.#send(message.text);
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
        return session.decide(message.call, message.decision);
      case 'preview':
        return session.preview(message.call);
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
        this.#conversation.draft = {
          ...draft,
          attachments: draft.attachments.filter(({ id }) => id !== message.attachment),
        };
        return this.#postAttachments();
      case 'attach':
        return this.attach(await this.#host.pickAttachments());
      case 'attach-item':
        return this.attach(await this.#host.attachItem(message.item));
      case 'attach-uris':
        return this.attach(await this.#host.attachUris(message.uris));
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
      case 'pick-model':
      case 'choose-tools':
      case 'add-provider':
      case 'set-key':
      case 'open-settings':
      case 'review-origin':
      case 'show-log':
        return this.#host.run(message.type);
    }
  }

  /** The page has emptied its input: what can't be sent is given back. */
  async #send(text: string): Promise<void> {
    const conversation = this.#conversation;
    const { session, draft } = conversation;
    const compacts = isCompact(text) && !session.running;
    conversation.draft = { text: '', attachments: compacts ? draft.attachments : [] };
    this.#postAttachments();
    if (compacts) return session.compact();
    try {
      const outgoing = await this.#outgoing(text, draft.attachments);
      if (!session.running) return await session.send(outgoing);
    } catch (error) {
      this.#host.failed(error);
    }
    const { draft: since } = conversation;
    const texts = [text, since.text].filter(Boolean);
    conversation.draft = { text: texts.join('\n'), attachments: [...draft.attachments, ...since.attachments] };
    if (conversation === this.#conversation) this.#postDraft();
  }

  async #edit(message: string, text: string): Promise<void> {
    const { session } = this.#conversation;
    const edited = session.transcript.messages.find(({ id }) => id === message);
    await session.edit(message, await this.#outgoing(text, edited?.attachments ?? []));
  }

  /** Commands are worded out, and bring along what they are about. */
  async #outgoing(text: string, attachments: readonly Attachment[]): Promise<Outgoing> {
    const { command, text: expanded } = expandCommand(text);
    if (command) {
      const along = attachments.length > 0 ? attachments : await this.#host.commandAttachment(command);
      return { text: expanded, attachments: along };
    }
    const name = /^\/([\w.-]+)(?:\s|$)/.exec(text)?.[1];
    const prompt = name === undefined ? undefined : await this.#host.promptFile(name);
    if (prompt === undefined) return { text, attachments };
    return { text: [prompt, text.slice((name?.length ?? 0) + 1).trim()].filter(Boolean).join('\n\n'), attachments };
  }

  #postAll(): void {
    this.postModel();
    this.#postDraft();
    this.#feed.snapshot();
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

/** The same thing attached twice is attached once, as it is now. */
function keyOf({ kind, label, detail, id }: Attachment): string {
  return kind === 'image' || kind === 'pdf' ? id : `${kind} ${detail ?? label}`;
}
