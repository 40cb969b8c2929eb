import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import { Checkpoints } from '../../chat/checkpoints/checkpoints.ts';
import { History } from '../../chat/history/history.ts';
import { OWN_ORIGIN } from '../../chat/tools/define-tool.ts';
import type { ChatTool } from '../../chat/tools/tools.ts';
import { KeptTexts } from '../kept-texts.ts';
import { workspaceId } from '../models/editor-models.ts';
import { AnswerActions } from './answer-actions.ts';
import { Attach } from './attachments/attach.ts';
import { AttachActions } from './attachments/attach-actions.ts';
import { Mentions } from './attachments/mentions.ts';
import type { ChatViewDeps } from './chat-view-deps.ts';
import { Composer } from './composer.ts';
import { ConversationContext } from './context/conversation-context.ts';
import { fillPrompt } from './context/prompt-files.ts';
import { Conversations } from './conversations.ts';
import { ChangeProgress } from './editing/change-progress.ts';
import { Proposals } from './editing/proposals.ts';
import { WaitingCalls } from './editing/waiting-calls.ts';
import { PageCommands } from './page-commands.ts';
import { PendingReviews } from './review/pending-reviews.ts';
import { TurnChanges } from './review/turn-changes.ts';
import type { SurfaceTopics } from './surface.ts';
import { CommandTerminals } from './tools/command-terminals.ts';
import { EditorFiles } from './tools/editor-files.ts';
import type { ToolPlaces } from './tools/own-tools.ts';
import { StoredRules } from './tools/stored-rules.ts';
import { chosenTools } from './tools/tool-picker.ts';

const WEB_TOOL = 'fetch_web_page';

/** The parts tell their owner. */
export interface ChatPartsEvents {
  /** A conversation was deleted. */
  readonly removed: (id: string) => Promise<void>;
  /** A conversation or draft could not be written. */
  readonly notSaved: (what: string, error: unknown) => void;
  /** An action of the user failed. */
  readonly failed: (error: unknown) => void;
}

const namedByModel = () => vscode.workspace.getConfiguration('svc.chat').get('generateTitles', false);

/** The parts that all surfaces of the chat share. */
export class ChatParts implements vscode.Disposable {
  readonly conversations: Conversations;
  readonly attach: Attach;
  readonly composer: Composer;
  readonly context: ConversationContext;
  readonly proposals = new Proposals();
  readonly reviews: PendingReviews;
  readonly changeProgress = new ChangeProgress();
  readonly rules: StoredRules;
  readonly toolPlaces: ToolPlaces;
  readonly topics: SurfaceTopics;
  readonly #disposables = new DisposableStore();

  constructor(deps: ChatViewDeps, { removed, notSaved, failed }: ChatPartsEvents) {
    const { newId, now, drafts, extension } = deps;
    const texts = new KeptTexts('svc-before');
    const terminals = new CommandTerminals();
    this.reviews = new PendingReviews(texts);
    this.rules = new StoredRules(failed, drafts);
    this.toolPlaces = { proposals: this.proposals, terminals, fetched: deps.fetched };
    this.context = new ConversationContext({
      memory: drafts,
      newId,
      hasTools: () => deps.model()?.model.toolCall ?? false,
    });
    const history = new History(vscode.Uri.joinPath(deps.storage, 'conversations').fsPath);
    const files = new EditorFiles();
    this.conversations = new Conversations({
      session: {
        ...deps,
        namedByModel,
        rules: this.rules,
        tools: () => this.#tools(deps.localOnly()),
        instructions: (paths) => this.context.instructions(paths),
        checkpoints: (id) => new Checkpoints({ folder: history.changesFolder(id), files, newId, now }),
      },
      history,
      workspace: workspaceId(),
      onRemove: removed,
      onError: notSaved,
    });
    this.attach = new Attach(newId);
    const attachments = new AttachActions(this.attach, newId);
    const mentions = new Mentions(this.attach, deps.excluded);
    const { conversations, context } = this;
    this.composer = new Composer({ conversations, failed, sources: { attachments, mentions, context, fillPrompt } });
    this.topics = {
      composer: this.composer,
      attachments,
      mentions,
      context,
      calls: new WaitingCalls(this.proposals),
      changes: new TurnChanges(this.reviews, texts),
      answers: new AnswerActions(this.toolPlaces, extension),
      commands: new PageCommands(),
    };
    this.#disposables.add(this.proposals, texts, this.reviews, this.changeProgress, terminals, mentions, context);
  }

  dispose(): void {
    this.#disposables.dispose();
    void this.conversations.dispose();
  }

  /** With `localOnly`, no web page is fetched. */
  #tools(localOnly: boolean): readonly ChatTool[] {
    const tools = chosenTools(this.toolPlaces);
    return localOnly ? tools.filter(({ name, origin }) => origin !== OWN_ORIGIN || name !== WEB_TOOL) : tools;
  }
}
