import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import { outputTokens, usableTokens } from '../../catalog/limits.ts';
import type { ModelSetup } from '../../catalog/model-setup.ts';
import type { Attachment } from '../../chat/attachment.ts';
import { Checkpoints } from '../../chat/checkpoints/checkpoints.ts';
import { History } from '../../chat/history/history.ts';
import type { ModelView } from '../../chat/page/page-messages.ts';
import type { SessionDeps } from '../../chat/session/session-deps.ts';
import { OWN_ORIGIN } from '../../chat/tools/define-tool.ts';
import type { ChatTool } from '../../chat/tools/tools.ts';
import { asSvcError } from '../../wire/errors/svc-error.ts';
import { errorText } from '../error-text.ts';
import { showError, showInformation, showWarning } from '../foreign-text.ts';
import { workspaceId } from '../models/editor-models.ts';
import { readDiagramScript, webviewHtml, webviewOptions } from '../pages/page-html.ts';
import { Attach, refused } from './attachments/attach.ts';
import { pickAttachments } from './attachments/attach-picker.ts';
import { Complete } from './attachments/mention-completions.ts';
import { ConversationContext } from './context/conversation-context.ts';
import { fillPrompt } from './context/prompt-files.ts';
import { CHAT_PANEL, type ChatCommand, revealChat } from './contributions.ts';
import { Conversations, type OpenConversation } from './conversations.ts';
import type { EarlyInput } from './early-input.ts';
import { ChangeProgress } from './editing/change-progress.ts';
import { codeBlockAction } from './editing/code-block-actions.ts';
import { editorCommands } from './editing/editor-commands.ts';
import { Proposals } from './editing/proposals.ts';
import { viewCall } from './editing/view-call.ts';
import { exportConversation, importConversation, pickConversation } from './history-picker.ts';
import { existingPaths, openLink, openPath } from './links.ts';
import { BeforeTexts } from './review/before-texts.ts';
import { PendingReviews } from './review/pending-reviews.ts';
import { reviewCommands } from './review/review-commands.ts';
import { TurnChanges } from './review/turn-changes.ts';
import { Surface, type SurfaceHost } from './surface.ts';
import { CommandTerminals } from './tools/command-terminals.ts';
import { EditorFiles } from './tools/editor-files.ts';
import { managePermissions } from './tools/manage-permissions.ts';
import type { ToolPlaces } from './tools/own-tools.ts';
import { StoredRules } from './tools/stored-rules.ts';
import { chooseTools, chosenTools } from './tools/tool-picker.ts';

const WEB_TOOL = 'fetch_web_page';

export interface ChatViewDeps extends SessionDeps {
  /** Whether requests go only to this machine and the user’s networks. */
  readonly localOnly: () => boolean;
  readonly extension: vscode.Uri;
  /** Stores the conversation in the side bar. */
  readonly drafts: vscode.Memento;
  /** Folder for conversations. */
  readonly storage: vscode.Uri;
  readonly log: vscode.LogOutputChannel;
  readonly onModelChange: vscode.Event<void>;
  readonly setup: () => ModelSetup;
}

const LAST = 'svc.chat.conversation';

const namedByModel = () => vscode.workspace.getConfiguration('svc.chat').get('generateTitles', false);

/** The only commands that cards and the composer can run. */
const COMMANDS = {
  'pick-model': 'svc.model.pick',
  'choose-tools': 'svc.chat.chooseTools',
  'add-provider': 'svc.provider.add',
  'add-local': 'svc.provider.addLocal',
  'add-gateway': 'svc.provider.addGateway',
  'import-providers': 'svc.provider.import',
  'open-settings': 'svc.config.open',
  'review-origin': 'svc.origin.review',
  'show-log': 'svc.log.show',
} as const;

/** The chat: its conversations and the surfaces that show them (side bar, editor tabs, separate windows). */
export class ChatView implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #deps: ChatViewDeps;
  readonly #conversations: Conversations;
  readonly #proposals = new Proposals();
  readonly #texts = new BeforeTexts();
  readonly #reviews = new PendingReviews(this.#texts);
  readonly #turns = new TurnChanges(this.#reviews, this.#texts);
  readonly #changeProgress = new ChangeProgress();
  readonly #terminals = new CommandTerminals();
  readonly #rules: StoredRules;
  readonly #attach: Attach;
  readonly #complete: Complete;
  readonly #context: ConversationContext;
  readonly #host: SurfaceHost;
  readonly #surfaces = new Set<Surface>();
  readonly #commands: Readonly<Record<ChatCommand, (args: readonly unknown[]) => Promise<unknown>>>;
  readonly #disposables = new DisposableStore();
  #side: { readonly view: vscode.WebviewView; readonly surface: Surface } | undefined;
  #sideReady: PromiseWithResolvers<Surface> = Promise.withResolvers();
  #reportedNotSaved = false;

  constructor(deps: ChatViewDeps) {
    this.#deps = deps;
    this.#rules = new StoredRules((error) => this.#host.failed(error), deps.drafts);
    const history = new History(vscode.Uri.joinPath(deps.storage, 'conversations').fsPath);
    const files = new EditorFiles();
    const { newId, now } = deps;
    this.#conversations = new Conversations({
      session: {
        ...deps,
        ...{ namedByModel, rules: this.#rules, tools: () => this.#tools() },
        instructions: (paths) => this.#context.instructions(paths),
        checkpoints: (id) => new Checkpoints({ folder: history.changesFolder(id), files, newId, now }),
      },
      history,
      workspace: workspaceId(),
      onRemove: (id) => this.#handleRemoved(id),
      onError: (what, error) => this.#reportNotSaved(what, error),
    });
    this.#attach = new Attach(deps.newId);
    this.#complete = new Complete(this.#attach);
    this.#context = new ConversationContext({
      memory: deps.drafts,
      newId: deps.newId,
      hasTools: () => deps.model()?.model.toolCall ?? false,
    });
    this.#host = this.#surfaceHost();
    const postModels = () => {
      for (const surface of this.#surfaces) surface.postModel();
    };
    this.#commands = this.#ownCommands();
    this.#disposables.add(
      this.#proposals,
      this.#texts,
      this.#reviews,
      this.#changeProgress,
      this.#terminals,
      this.#complete,
      this.#context,
      this.#context.onDidChange(() => {
        for (const surface of this.#surfaces) surface.postContext();
      }),
      deps.onModelChange(postModels),
      vscode.workspace.onDidGrantWorkspaceTrust(postModels),
    );
  }

  /** While `localOnly` is set, no page is fetched. */
  #tools(): readonly ChatTool[] {
    const tools = chosenTools(this.#toolPlaces());
    return this.#deps.localOnly()
      ? tools.filter(({ name, origin }) => origin !== OWN_ORIGIN || name !== WEB_TOOL)
      : tools;
  }

  /** Runs a chat command. */
  run(name: ChatCommand, args: readonly unknown[]): Promise<unknown> {
    return this.#commands[name](args);
  }

  /** Focuses the input of the side bar, which is shown or about to be. @param early its text goes into the input. */
  async focusInput(early?: EarlyInput): Promise<void> {
    const surface = await this.#sideReady.promise;
    if (early === undefined) return surface.focusInput();
    await surface.takeOver(async () => {
      await early.paused();
      await revealChat();
      return early.take();
    });
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const surface of this.#surfaces) surface.dispose();
    void this.#conversations.dispose();
  }

  /** Called by VS Code when the view is shown for the first time, and again after each move. */
  async resolveWebviewView(view: vscode.WebviewView): Promise<void> {
    const last = this.#deps.drafts.get<string>(LAST);
    const conversation = last === undefined ? this.#conversations.create() : await this.#conversations.open(last);
    const surface = this.#place(view.webview, conversation);
    this.#side = { view, surface };
    this.#sideReady.resolve(surface);
    view.onDidChangeVisibility(() => {
      if (!view.visible) surface.pageEnded();
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
    const conversation = typeof id === 'string' ? await this.#conversations.open(id) : this.#conversations.create();
    this.#showPanel(panel, conversation);
  }

  #ownCommands(): Readonly<Record<ChatCommand, (args: readonly unknown[]) => Promise<unknown>>> {
    const current = () => this.#side?.surface.conversation.session;
    return {
      'svc.chat.new': () => this.#showNew(),
      'svc.chat.history': () => this.#pick(() => this.#revealed()),
      'svc.chat.openInEditor': () => this.#openPanel(false),
      'svc.chat.openInWindow': () => this.#openPanel(true),
      'svc.chat.chooseTools': () => chooseTools(this.#toolPlaces()),
      'svc.chat.managePermissions': () => managePermissions(this.#rules, current()),
      'svc.chat.compact': async () => current()?.compact(),
      'svc.chat.stop': async () => current()?.stop(),
      'svc.chat.export': async () => {
        const session = current();
        if (session) await exportConversation(session);
      },
      'svc.chat.import': async () => {
        const id = await importConversation(this.#conversations, this.#deps.newId, workspaceId());
        if (id !== undefined) await this.#show(await this.#focused(), id);
      },
      'svc.proposal.apply': ([uri]) => this.#proposals.act(uri, 'accept'),
      'svc.proposal.applyHunks': ([uri]) => this.#proposals.act(uri, 'hunks'),
      'svc.proposal.discard': ([uri]) => this.#proposals.act(uri, 'reject'),
      ...reviewCommands(this.#reviews),
      ...editorCommands({
        ...{ attach: this.#attach, reviews: this.#reviews, progress: this.#changeProgress },
        ...{ converse: this.#deps.converse, model: this.#deps.model, newId: this.#deps.newId },
        compose: async (attachments) => (await this.#focused()).attach(attachments),
        begin: (text, attachments) => this.#begin(text, attachments),
      }),
    };
  }

  #surfaceHost(): SurfaceHost {
    return {
      model: () => this.#modelView(),
      setup: this.#deps.setup,
      trusted: () => vscode.workspace.isTrusted,
      hasHistory: () => this.#conversations.history.any(),
      newId: this.#deps.newId,
      ignored: () => this.#deps.log.warn('The panel sent an unknown message, which was ignored.'),
      failed: (error) => {
        this.#deps.log.error('The panel failed.', String(error));
        void showError(errorText(asSvcError(error)));
      },
      refused,
      hold: (conversation, work) => this.#conversations.hold(conversation, work),
      show: (surface, id) => this.#show(surface, id),
      history: (surface) => this.#pick(() => surface),
      complete: (trigger, text, show) => this.#complete.items(trigger, text, show),
      mentioned: (text, mention, answered) => this.#complete.mentioned(text, mention, answered),
      attachItem: (item) => this.#complete.attachments(item),
      attachUris: (uris) => this.#attach.dropped(uris),
      pickAttachments: () => pickAttachments(this.#attach),
      commandAttachment: async ({ attaches }) => {
        if (attaches === 'diff') return this.#attach.diff();
        return attaches === 'selection' ? this.#attach.selection() : [];
      },
      promptFile: fillPrompt,
      unknownCommand: (name) => {
        const text = vscode.l10n.t('There is no command /{0}. To send it as text, write a blank before it.', name);
        void showWarning(text);
      },
      contextChips: () => this.#context.chips,
      contextAttachments: () => this.#context.attachments(),
      toggleContext: (chip) => this.#context.toggle(chip),
      viewCall: (session, call) => viewCall(session, call, this.#proposals),
      followChanges: (session, show) => this.#turns.follow(session, show),
      turn: (session, message) =>
        message.type === 'restore'
          ? this.#turns.restore(session, message.message)
          : this.#turns.act(session, message.action, message),
      waitsElsewhere: () => {
        const text = vscode.l10n.t('This call waits in another window. Answer it there.');
        void showInformation(text);
      },
      code: (message) => codeBlockAction(message, this.#toolPlaces()),
      copy: async (text) => vscode.env.clipboard.writeText(text),
      openLink,
      existingPaths,
      openPath,
      diagramScript: () => readDiagramScript(this.#deps.extension),
      setKey: (provider) => void vscode.commands.executeCommand('svc.key.set', provider),
      run: (command) => void vscode.commands.executeCommand(COMMANDS[command]),
    };
  }

  #toolPlaces(): ToolPlaces {
    return { proposals: this.#proposals, terminals: this.#terminals };
  }

  #modelView(): ModelView | null {
    const chosen = this.#deps.model();
    if (!chosen) return null;
    const { model, label } = chosen;
    const usable = usableTokens(model, outputTokens(model, this.#deps.outputCap));
    return {
      ...label,
      ...(usable === undefined ? {} : { usable }),
      images: model.modalities.input.includes('image'),
      pdf: model.attachment || model.modalities.input.includes('pdf'),
      tools: model.toolCall,
      reasoning: model.reasoning,
    };
  }

  /** @param place called after the choice: revealing a view moves the focus after a delay, which would close the list. */
  async #pick(place: () => Surface | Promise<Surface>): Promise<void> {
    const id = await pickConversation(this.#conversations, workspaceId());
    if (id !== undefined) await this.#show(await place(), id);
  }

  /**
   * Shows a new conversation. One without messages is new already and keeps its draft: the user may have begun to type.
   */
  async #showNew(): Promise<void> {
    const isNew = ({ session }: OpenConversation) => session.messages.length === 0;
    // The first message may be sent while the view is being shown.
    const before = this.#side?.surface.conversation;
    const wasNew = before !== undefined && isNew(before);
    const surface = await this.#revealed();
    const shown = surface.conversation;
    if (shown === before ? wasNew : isNew(shown)) surface.focusInput();
    else await this.#show(surface);
  }

  /** Shows a conversation in a surface. @param id absent: a new conversation. */
  async #show(surface: Surface, id?: string, focus = true): Promise<void> {
    const before = surface.conversation;
    if (before.session.id !== id) {
      const next = id === undefined ? this.#conversations.create() : await this.#conversations.open(id);
      surface.change(next);
      this.#conversations.release(before);
      if (this.#side?.surface === surface) await this.#deps.drafts.update(LAST, next.session.id);
    }
    if (focus) surface.focusInput();
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
      if (surface.conversation.session.id === id) await this.#show(surface, undefined, false);
    }
  }

  async #begin(text: string, attachments: readonly Attachment[]): Promise<void> {
    const surface = await this.#focused();
    if (surface.conversation.session.messages.length > 0) await this.#show(surface);
    await surface.send(text, attachments);
  }

  /** Shows the side bar and focuses its input. */
  async #focused(): Promise<Surface> {
    const surface = await this.#revealed();
    surface.focusInput();
    return surface;
  }

  /** Shows the side bar without focusing its input, because its conversation is about to change. */
  async #revealed(): Promise<Surface> {
    await revealChat();
    return this.#sideReady.promise;
  }

  /** Moves the side bar's conversation to a tab or a separate window. */
  async #openPanel(window: boolean): Promise<void> {
    const moved = this.#side?.surface.conversation ?? this.#conversations.create();
    const column = vscode.ViewColumn.Active;
    const panel = vscode.window.createWebviewPanel(CHAT_PANEL, vscode.l10n.t('Chat'), column, {
      ...webviewOptions(this.#deps.extension),
      enableFindWidget: true,
    });
    this.#showPanel(panel, moved);
    // Do not focus the side bar: the tab has the focus.
    if (this.#side) await this.#show(this.#side.surface, undefined, false);
    if (window) await vscode.commands.executeCommand('workbench.action.moveEditorToNewWindow');
  }

  #showPanel(panel: vscode.WebviewPanel, conversation: OpenConversation): void {
    panel.iconPath = vscode.Uri.joinPath(this.#deps.extension, 'media', 'svc.svg');
    const surface = this.#place(panel.webview, conversation);
    surface.onTitle((title) => {
      panel.title = title || vscode.l10n.t('Chat');
    });
    panel.onDidChangeViewState(() => {
      if (!panel.visible) surface.pageEnded();
    });
    panel.onDidDispose(() => this.#drop(surface));
    this.#write(panel.webview);
  }

  #place(webview: vscode.Webview, conversation: OpenConversation): Surface {
    webview.options = webviewOptions(this.#deps.extension);
    const surface = new Surface(webview, this.#host, conversation);
    this.#surfaces.add(surface);
    return surface;
  }

  #drop(surface: Surface): void {
    this.#surfaces.delete(surface);
    surface.dispose();
    this.#conversations.release(surface.conversation);
  }

  #write(webview: vscode.Webview): void {
    webview.html = webviewHtml(webview, this.#deps.extension, {
      script: 'chat',
      title: vscode.l10n.t('Svc Chat'),
      styles: ['codicon.css', 'chat.css'],
    });
  }
}
