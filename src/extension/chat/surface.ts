import type * as vscode from 'vscode';
import type { ModelSetup } from '../../catalog/model-setup.ts';
import { type Attachment, attachmentChip, mediaAttachment } from '../../chat/attachment.ts';
import { type FromPage, parseFromPage } from '../../chat/page/from-page.ts';
import { PageFeed } from '../../chat/page/page-feed.ts';
import type { CompletionItem, ModelView, ToPage } from '../../chat/page/page-messages.ts';
import { expandCommand, isCompact, type SlashCommand } from '../../chat/page/slash-commands.ts';
import type { Outgoing } from '../../chat/session/session.ts';
import type { OpenConversation } from './conversations.ts';

/** The dependencies of a surface. */
export interface SurfaceHost {
  readonly model: () => ModelView | null;
  readonly setup: () => ModelSetup;
  readonly trusted: () => boolean;
  readonly newId: () => string;
  /** The page sent an unknown message. */
  readonly ignored: () => void;
  /** Shows an error to the user. */
  readonly failed: (error: unknown) => void;
  /** The page could not read a dropped or pasted item. */
  readonly refused: (name: string, why: Extract<FromPage, { type: 'attach-refused' }>['why']) => void;
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
  /** The default attachments of a slash command. */
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
  #onTitle: (title: string) => void = () => undefined;
  #titleSubscription: { dispose(): void } | undefined;

  constructor(webview: Page, host: SurfaceHost, conversation: OpenConversation) {
    this.#webview = webview;
    this.#host = host;
    this.#conversation = conversation;
    conversation.shown += 1;
    this.#feed = this.#createFeed();
    this.#subscription = webview.onDidReceiveMessage((value: unknown) => this.#receive(value));
  }

  /** Does not dispose the conversation. */
  dispose(): void {
    this.#subscription.dispose();
    this.#titleSubscription?.dispose();
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
    conversation.shown += 1;
    this.#feed = this.#createFeed();
    this.#onTitle(conversation.session.transcript.title);
    this.#postAll();
  }

  postModel(): void {
    this.#post({ type: 'model', model: this.#host.model(), setup: this.#host.setup() });
    this.#post({ type: 'workspace', trusted: this.#host.trusted() });
  }

  /** Focuses the input now, or as soon as the page is ready. */
  focusInput(): void {
    if (this.#ready) this.#post({ type: 'focus' });
    else this.#focusWanted = true;
  }

  attach(attachments: readonly Attachment[]): void {
    if (attachments.length === 0) return;
    const { draft } = this.#conversation;
    const known = new Set(attachments.map(attachmentKey));
    const kept = draft.attachments.filter((each) => !known.has(attachmentKey(each)));
    this.#conversation.draft = { ...draft, attachments: [...kept, ...attachments] };
    this.#postAttachments();
    this.focusInput();
  }

  /** Sends a message for a command of the editor. */
  async send(text: string, attachments: readonly Attachment[]): Promise<void> {
    await this.#conversation.session.send(await this.#outgoing(text, attachments));
  }

  #createFeed(): PageFeed {
    const { session } = this.#conversation;
    this.#titleSubscription?.dispose();
    this.#titleSubscription = session.onPatch((patch) => patch.type === 'title' && this.#onTitle(patch.title));
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

  /** Expands slash commands and prompt files, and adds their default attachments. */
  async #outgoing(text: string, attachments: readonly Attachment[]): Promise<Outgoing> {
    const { command, text: expanded } = expandCommand(text);
    if (command) {
      const sent = attachments.length > 0 ? attachments : await this.#host.commandAttachment(command);
      return { text: expanded, attachments: sent };
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

/** Attachments with the same key replace each other. */
function attachmentKey({ kind, label, detail, id }: Attachment): string {
  return kind === 'image' || kind === 'pdf' ? id : `${kind} ${detail ?? label}`;
}
