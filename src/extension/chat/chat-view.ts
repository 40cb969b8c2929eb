import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import { defined } from '../../base/json.ts';
import { outputTokens, usableTokens } from '../../catalog/limits.ts';
import type { ModelSetup } from '../../catalog/model-setup.ts';
import type { Attachment } from '../../chat/attachment.ts';
import { isEmptyDraft } from '../../chat/history/history.ts';
import type { ModelView } from '../../protocol/chat/page-messages.ts';
import { asSvcError } from '../../wire/errors/svc-error.ts';
import { errorText } from '../error-text.ts';
import { showError } from '../foreign-text.ts';
import { workspaceId } from '../models/editor-models.ts';
import { MOVES_FOCUS } from '../moves-focus.ts';
import { webviewHtml, webviewOptions } from '../pages/page-html.ts';
import { ChatParts } from './chat-parts.ts';
import type { ChatViewDeps } from './chat-view-deps.ts';
import { CHAT_PANEL, CHAT_VISIBLE, type ChatCommand, revealChat } from './contributions.ts';
import type { Conversations, OpenConversation } from './conversations.ts';
import { EarlyInput } from './early-input.ts';
import { editorCommands } from './editing/editor-commands.ts';
import { exportConversation, importConversation, pickConversation } from './history-picker.ts';
import { reviewCommands } from './review/review-commands.ts';
import { Surface, type SurfaceOwner, type SurfaceTopics } from './surface.ts';
import { managePermissions } from './tools/manage-permissions.ts';
import { chooseTools } from './tools/tool-picker.ts';

const LAST = 'svc.chat.conversation';
/** Memento key of the ids of the conversations that were left with a draft before their first message, the last one first. */
const UNSENT = 'svc.chat.unsent';
const MAX_UNSENT = 20;

/** Commands that end when the user has closed a list, and leave the focus where it was. */
const LISTS: ReadonlySet<ChatCommand> = new Set([
  'svc.chat.history',
  'svc.chat.chooseTools',
  'svc.chat.managePermissions',
  'svc.chat.export',
  'svc.chat.import',
]);

/** The chat: its conversations and the surfaces that show them (side bar, editor tabs, separate windows). */
export class ChatView implements SurfaceOwner, vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #deps: ChatViewDeps;
  readonly #parts: ChatParts;
  readonly #surfaces = new Set<Surface>();
  readonly #commands: Readonly<Record<ChatCommand, (args: readonly unknown[]) => Promise<unknown>>>;
  readonly #disposables = new DisposableStore();
  #side: { readonly view: vscode.WebviewView; readonly surface: Surface } | undefined;
  #sideReady: PromiseWithResolvers<Surface> = Promise.withResolvers();
  /** For the text that is typed until the side bar has a page. */
  #early: EarlyInput | undefined;
  /** The surface that has the focus, or had it last, unless the user was in another part of VS Code since then. */
  #lastFocused: Surface | undefined;
  /** Lists that are open. */
  #lists = 0;
  #reportedNotSaved = false;

  /** @param early for the text that is typed until the side bar, which is about to be shown, has a page. */
  constructor(deps: ChatViewDeps, early?: EarlyInput) {
    this.#deps = deps;
    this.#early = early;
    this.#parts = new ChatParts(deps, {
      removed: (id) => this.#handleRemoved(id),
      notSaved: (what, error) => this.#reportNotSaved(what, error),
      failed: (error) => this.failed(error),
    });
    this.#commands = this.#ownCommands();
    const postModels = () => {
      for (const surface of this.#surfaces) surface.postModel();
    };
    const left = () => {
      this.#lastFocused = undefined;
    };
    this.#disposables.add(
      this.#parts,
      this.#parts.context.onDidChange(() => {
        for (const surface of this.#surfaces) surface.postContext();
      }),
      deps.onModelChange(postModels),
      vscode.workspace.onDidGrantWorkspaceTrust(postModels),
      vscode.window.onDidChangeActiveTextEditor(left),
      vscode.window.onDidChangeActiveTerminal(left),
      vscode.window.tabGroups.onDidChangeTabs(({ changed }) => changed.some(({ isActive }) => isActive) && left()),
      // VS Code changes selections too, when it changes the text.
      vscode.window.onDidChangeTextEditorSelection(({ kind }) => {
        const { Keyboard, Mouse } = vscode.TextEditorSelectionChangeKind;
        if (kind === Keyboard || kind === Mouse) left();
        if (kind === Mouse) this.#early?.leave();
      }),
    );
  }

  get conversations(): Conversations {
    return this.#parts.conversations;
  }

  get topics(): SurfaceTopics {
    return this.#parts.topics;
  }

  /** Runs a chat command. */
  async run(name: ChatCommand, args: readonly unknown[]): Promise<unknown> {
    const command = () => this.#commands[name](args);
    return LISTS.has(name) ? this.listed(command) : command();
  }

  focused(surface: Surface): void {
    this.#lastFocused = surface;
  }

  left(surface: Surface): void {
    // A list that a key has opened has the focus until it is closed.
    if (this.#lists === 0 && this.#lastFocused === surface) this.#lastFocused = undefined;
  }

  /**
   * Opens a list. Afterwards, the input has the focus again if the user was in the chat before: VS Code focuses the
   * editors, because it does not know which element of a webview had the focus.
   */
  async listed(open: () => Promise<unknown>): Promise<unknown> {
    this.#lists += 1;
    try {
      const result = await open();
      // A message of the page may run a command that opens the list.
      if (this.#lists === 1 && result !== MOVES_FOCUS) this.#lastFocused?.focusInput();
      return result;
    } finally {
      this.#lists -= 1;
    }
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const surface of this.#surfaces) surface.dispose();
  }

  /** Ends the work of all conversations. Resolves when they and their drafts are on disk. */
  async close(): Promise<void> {
    for (const surface of this.#surfaces) surface.dispose();
    await this.conversations.dispose();
  }

  /**
   * Called by VS Code when the view is shown for the first time, and again after each move.
   * @param byUser the user may type at once.
   */
  async resolveWebviewView(view: vscode.WebviewView, byUser: boolean): Promise<void> {
    if (byUser) this.#early ??= new EarlyInput();
    try {
      const last = this.#deps.drafts.get<string>(LAST);
      const conversation = last === undefined ? this.conversations.create() : await this.conversations.open(last);
      this.#side = { view, surface: this.#place(view.webview, conversation) };
    } catch (thrown) {
      this.#endEarly();
      throw thrown;
    }
    const { surface } = this.#side;
    void this.#keepShown(surface.conversation);
    if (this.#early) this.#takeOver(this.#side, this.#early);
    this.#sideReady.resolve(surface);
    const noteVisible = () => void this.#deps.drafts.update(CHAT_VISIBLE, view.visible);
    noteVisible();
    view.onDidChangeVisibility(() => {
      noteVisible();
      this.#changeVisibility(surface, view.visible);
    });
    view.onDidDispose(() => {
      if (this.#side?.surface === surface) {
        this.#side = undefined;
        this.#sideReady = Promise.withResolvers();
      }
      this.#drop(surface);
    });
    this.#write(view.webview);
  }

  /** Restores a tab that was open when VS Code was closed. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const id = typeof state === 'object' && state !== null && 'session' in state ? state.session : undefined;
    const conversation = typeof id === 'string' ? await this.conversations.open(id) : this.conversations.create();
    this.#showPanel(panel, conversation);
  }

  #ownCommands(): Readonly<Record<ChatCommand, (args: readonly unknown[]) => Promise<unknown>>> {
    const current = () => this.#side?.surface.conversation.session;
    return {
      'svc.chat.open': () => this.#focused(),
      'svc.chat.new': () => this.#showNew(),
      'svc.chat.history': () => this.#pick(() => this.#revealed()),
      'svc.chat.openInEditor': () => this.#openPanel(false),
      'svc.chat.openInWindow': () => this.#openPanel(true),
      'svc.chat.chooseTools': () => chooseTools(this.#parts.toolPlaces),
      'svc.chat.managePermissions': () => managePermissions(this.#parts.rules, current()),
      'svc.chat.compact': async () => current()?.compact(),
      'svc.chat.stop': async () => current()?.stop(),
      'svc.chat.export': async () => {
        const session = current();
        if (session) await exportConversation(session);
      },
      'svc.chat.import': async () => {
        const id = await importConversation(this.conversations, this.#deps.newId, workspaceId());
        if (id !== undefined) await this.show(await this.#focused(), id);
      },
      'svc.proposal.apply': ([uri]) => this.#parts.proposals.act(uri, 'accept'),
      'svc.proposal.applyHunks': ([uri]) => this.#parts.proposals.act(uri, 'hunks'),
      'svc.proposal.discard': ([uri]) => this.#parts.proposals.act(uri, 'reject'),
      ...reviewCommands(this.#parts.reviews),
      ...editorCommands({
        attach: this.#parts.attach,
        reviews: this.#parts.reviews,
        progress: this.#parts.changeProgress,
        converse: this.#deps.converse,
        model: this.#deps.model,
        newId: this.#deps.newId,
        compose: async (attachments) => (await this.#focused()).attach(attachments),
        begin: (text, attachments) => this.#begin(text, attachments),
      }),
    };
  }

  ignored(): void {
    this.#deps.log.warn('The panel sent an unknown message, which was ignored.');
  }

  failed(error: unknown): void {
    this.#deps.log.error('The panel failed.', String(error));
    void showError(errorText(asSvcError(error)));
  }

  trusted(): boolean {
    return vscode.workspace.isTrusted;
  }

  setup(): ModelSetup {
    return this.#deps.setup();
  }

  model(): ModelView | null {
    const chosen = this.#deps.model();
    if (!chosen) return null;
    const { model, label } = chosen;
    const usable = usableTokens(model, outputTokens(model, this.#deps.outputCap));
    return {
      ...label,
      ...defined({ usable }),
      images: model.modalities.input.includes('image'),
      pdf: model.attachment || model.modalities.input.includes('pdf'),
      tools: model.toolCall,
      reasoning: model.reasoning,
    };
  }

  showHistory(surface: Surface): Promise<void> {
    return this.#pick(() => surface);
  }

  /** @param place called after the choice: revealing a view moves the focus after a delay, which would close the list. */
  async #pick(place: () => Surface | Promise<Surface>): Promise<void> {
    const id = await pickConversation(this.conversations, workspaceId());
    if (id !== undefined) await this.show(await place(), id);
  }

  /**
   * Shows a new conversation. One without messages is new already and keeps its draft: the user may have begun to type.
   */
  async #showNew(): Promise<void> {
    // The first message may be sent while the view is being shown.
    const before = this.#side?.surface.conversation;
    const wasNew = before !== undefined && isNew(before);
    const surface = await this.#revealed();
    const shown = surface.conversation;
    if (shown === before ? wasNew : isNew(shown)) surface.focusInput();
    else await this.startNew(surface);
  }

  /** Shows the conversation that was left last with a draft before its first message, or else an empty one. */
  async startNew(surface: Surface): Promise<void> {
    for (const id of this.#unsent()) {
      if (await this.conversations.isUnsent(id)) return this.show(surface, id);
    }
    await this.show(surface);
  }

  #unsent(): readonly string[] {
    return [this.#deps.drafts.get<string | readonly string[]>(UNSENT, [])].flat();
  }

  /** Shows a conversation in a surface. @param id absent: a new conversation. */
  async show(surface: Surface, id?: string, focus = true): Promise<void> {
    const before = surface.conversation;
    const changes = before.session.id !== id;
    if (changes) {
      surface.change(id === undefined ? this.conversations.create() : await this.conversations.open(id));
      this.#leave(before);
    }
    if (focus) {
      // Not after the choice is stored: the user may have moved the focus by then.
      this.focused(surface);
      surface.focusInput();
    }
    if (changes && this.#side?.surface === surface) await this.#keepShown(surface.conversation);
  }

  /** The side bar shows it again in the next window, also the first one of a folder, which nobody has chosen. */
  async #keepShown({ session }: OpenConversation): Promise<void> {
    await this.#deps.drafts.update(LAST, session.id);
  }

  /** Shows the error only once: a full disk usually causes many, and unsaved patches are written later. */
  #reportNotSaved(what: string, error: unknown): void {
    this.#deps.log.error(what, String(error));
    if (this.#reportedNotSaved) return;
    this.#reportedNotSaved = true;
    const reason = error instanceof Error ? error.message : String(error);
    void showError(vscode.l10n.t('The conversation can’t be written to the disk: {0}', reason));
  }

  /** A conversation was deleted: each surface that shows it starts a new one. */
  async #handleRemoved(id: string): Promise<void> {
    for (const surface of this.#surfaces) {
      if (surface.conversation.session.id === id) await this.show(surface, undefined, false);
    }
  }

  async #begin(text: string, attachments: readonly Attachment[]): Promise<void> {
    const surface = await this.#focused();
    if (surface.conversation.session.messages.length > 0) await this.show(surface);
    await this.#parts.composer.send(surface.conversation, text, attachments);
  }

  /** Shows the side bar and focuses its input. */
  async #focused(): Promise<Surface> {
    const surface = await this.#revealed();
    surface.focusInput();
    return surface;
  }

  /** Shows the side bar without focusing its input, because its conversation is about to change. */
  async #revealed(): Promise<Surface> {
    if (!this.#side) this.#early ??= new EarlyInput();
    try {
      await revealChat(this.#early !== undefined && !this.#early.left);
    } catch (thrown) {
      this.#endEarly();
      throw thrown;
    }
    return this.#sideReady.promise;
  }

  #endEarly(): string {
    const text = this.#early?.take() ?? '';
    this.#early = undefined;
    return text;
  }

  /** Puts the text that the user types until the page is ready into its input, which then has the focus. */
  #takeOver(
    { view, surface }: { readonly view: vscode.WebviewView; readonly surface: Surface },
    early: EarlyInput,
  ): void {
    surface.takeOver({
      handOver: async () => {
        await early.paused();
        const stays = () => !early.left && view.visible;
        // After a click on the icon, VS Code may have given the focus to the page.
        if (stays() && this.#lastFocused !== surface && !(await surface.takeFocus())) {
          await early.paused();
          if (stays()) await revealChat().catch((error: unknown) => this.failed(error));
        }
        return stays();
      },
      // A view that replaces this one may have taken it.
      take: () => (this.#early === early ? this.#endEarly() : ''),
    });
  }

  #changeVisibility(surface: Surface, visible: boolean): void {
    if (!visible && this.#lastFocused === surface) this.#lastFocused = undefined;
    surface.changeVisibility(visible);
  }

  /** Moves the side bar's conversation to a tab or a separate window. */
  async #openPanel(window: boolean): Promise<void> {
    const moved = this.#side?.surface.conversation ?? this.conversations.create();
    const column = vscode.ViewColumn.Active;
    const panel = vscode.window.createWebviewPanel(CHAT_PANEL, vscode.l10n.t('Chat'), column, {
      ...webviewOptions(this.#deps.extension),
      retainContextWhenHidden: true,
    });
    this.#showPanel(panel, moved);
    // Do not focus the side bar: the tab has the focus.
    if (this.#side) await this.show(this.#side.surface, undefined, false);
    if (window) await vscode.commands.executeCommand('workbench.action.moveEditorToNewWindow');
  }

  #showPanel(panel: vscode.WebviewPanel, conversation: OpenConversation): void {
    panel.iconPath = vscode.Uri.joinPath(this.#deps.extension, 'media', 'svc.svg');
    const surface = this.#place(panel.webview, conversation);
    surface.onTitle((title) => {
      panel.title = title || vscode.l10n.t('Chat');
    });
    panel.onDidChangeViewState(() => {
      this.#changeVisibility(surface, panel.visible);
    });
    panel.onDidDispose(() => this.#drop(surface));
    this.#write(panel.webview);
  }

  #place(webview: vscode.Webview, conversation: OpenConversation): Surface {
    webview.options = webviewOptions(this.#deps.extension);
    const surface = new Surface(webview, this, conversation);
    this.#surfaces.add(surface);
    return surface;
  }

  #drop(surface: Surface): void {
    this.#surfaces.delete(surface);
    if (this.#lastFocused === surface) this.#lastFocused = undefined;
    surface.dispose();
    this.#leave(surface.conversation);
  }

  #leave(conversation: OpenConversation): void {
    if (isNew(conversation) && !isEmptyDraft(conversation.draft)) {
      const { id } = conversation.session;
      const ids = [id, ...this.#unsent().filter((each) => each !== id)];
      void this.#deps.drafts.update(UNSENT, ids.slice(0, MAX_UNSENT));
    }
    this.conversations.release(conversation);
  }

  #write(webview: vscode.Webview): void {
    webview.html = webviewHtml(webview, this.#deps.extension, {
      script: 'chat',
      title: vscode.l10n.t('Svc Chat'),
      styles: ['codicon.css', 'chat.css'],
      field: vscode.l10n.t('Message'),
    });
  }
}

function isNew({ session }: OpenConversation): boolean {
  return session.messages.length === 0;
}
