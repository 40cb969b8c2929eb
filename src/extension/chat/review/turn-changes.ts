import * as vscode from 'vscode';
import type { Checkpoints } from '../../../chat/checkpoints/checkpoints.ts';
import type { RecordedChange } from '../../../chat/checkpoints/recorded-changes.ts';
import type { RevertOutcome } from '../../../chat/checkpoints/revert-plan.ts';
import type { TurnSummary } from '../../../chat/message-parts.ts';
import { type ChangedFile, changedFiles } from '../../../chat/review/changed-files.ts';
import type { ChatSession } from '../../../chat/session/session.ts';
import type { FromPageOf } from '../../../protocol/chat/from-page.ts';
import { ask, showWarning } from '../../foreign-text.ts';
import type { KeptTexts } from '../../kept-texts.ts';
import type { ChangeTopic, TopicPage } from '../surface-topic.ts';
import { decodeContent } from '../tools/file-text.ts';
import { workspaceFile } from '../tools/workspace-path.ts';
import { type ComparedFile, viewFiles } from './compared-files.ts';
import type { PendingReviews } from './pending-reviews.ts';
import { SessionReview } from './session-review.ts';

/** An action on the changes of an answer, or of one call of it. */
type TurnAction = FromPageOf<'turn'>;

/** The changes that tools made: their summary for each answer, their review in the editor, and the way back. */
export class TurnChanges implements ChangeTopic {
  readonly #reviews: PendingReviews;
  readonly #texts: KeptTexts;
  readonly #sessions = new Map<string, SessionReview>();

  constructor(reviews: PendingReviews, texts: KeptTexts) {
    this.#reviews = reviews;
    this.#texts = texts;
  }

  /**
   * Reviews the changes of a session in the editor, and shows their summaries now and after each change. The review
   * goes on when no page shows the conversation.
   */
  follow(session: ChatSession, show: (turns: readonly TurnSummary[]) => void): { dispose(): void } {
    const known = this.#sessions.get(session.id);
    const followed = known?.session === session ? known : new SessionReview(session, this.#reviews, known);
    this.#sessions.set(session.id, followed);
    return followed.listen(show);
  }

  handle(message: FromPageOf<'turn' | 'restore'>, { conversation: { session } }: TopicPage): Promise<void> {
    return message.type === 'restore' ? this.#restore(session, message.message) : this.#act(session, message);
  }

  #act(session: ChatSession, turn: TurnAction): Promise<void> {
    switch (turn.action) {
      case 'review':
        return this.#view(session, turn);
      case 'keep':
        return this.#keep(session, turn);
      case 'undo':
        return this.#undo(session, turn);
      case 'redo':
        return this.#redo(session, turn);
    }
  }

  /** Compares the files before and after an answer, or one of them, in one editor. */
  async #view({ checkpoints }: ChatSession, { message, path }: TurnAction): Promise<void> {
    if (!checkpoints) return;
    const changes = (await checkpoints.changes(message)).filter(({ state }) => state !== 'undone');
    const files: ComparedFile[] = [];
    const reviewed = changedFiles(changes).filter((file) => path === undefined || file.path === path);
    for (const file of reviewed) files.push(await this.#compared(checkpoints, file));
    if (files.length > 0) await viewFiles(vscode.l10n.t('Changes of the answer'), files);
  }

  async #keep({ checkpoints }: ChatSession, target: TurnAction): Promise<void> {
    const ids = await targetIds(checkpoints, target, ({ state }) => state === 'applied');
    await checkpoints?.keep(ids);
  }

  async #undo({ checkpoints }: ChatSession, target: TurnAction): Promise<void> {
    const ids = await targetIds(checkpoints, target, ({ state }) => state !== 'undone');
    if (checkpoints) await this.#revert((force) => checkpoints.undo(ids, force));
  }

  async #redo({ checkpoints }: ChatSession, target: TurnAction): Promise<void> {
    const ids = await targetIds(checkpoints, target, ({ state }) => state === 'undone');
    if (checkpoints) await this.#revert((force) => checkpoints.redo(ids, force));
  }

  /** Takes back all changes since a message of the user. */
  async #restore(session: ChatSession, message: string): Promise<void> {
    const { checkpoints } = session;
    const sent = session.transcript.messages.find(({ id }) => id === message);
    if (checkpoints && sent) await this.#revert((force) => checkpoints.restoreTo(sent.createdAt, force));
  }

  /** Asks before edits that the user made since are lost. */
  async #revert(revert: (force: boolean) => Promise<readonly RevertOutcome[]>): Promise<void> {
    const outcomes = await this.#reviews.whileWriting(() => revert(false));
    const names = (result: RevertOutcome['result']) => [
      ...new Set(outcomes.flatMap((each) => (each.result === result ? [each.path] : []))),
    ];
    const lost = names('lost');
    if (lost.length > 0) {
      const text = vscode.l10n.t('The earlier content of {0} is no longer kept.', lost.join(', '));
      void showWarning(text);
    }
    const conflicts = names('conflict');
    if (conflicts.length === 0) return;
    const discard = vscode.l10n.t('Discard My Edits');
    const question = vscode.l10n.t('You edited the same lines since. Discard your edits, too?');
    const answer = await ask(question, { detail: conflicts.join('\n') }, discard);
    if (answer === discard) await this.#reviews.whileWriting(() => revert(true));
  }

  async #compared(checkpoints: Checkpoints, { path, firstPath, changes }: ChangedFile): Promise<ComparedFile> {
    const last = changes.at(-1) ?? changes[0];
    const { uri } = await workspaceFile(path);
    const before = await checkpoints.contents(changes[0].id);
    const old = (await workspaceFile(firstPath)).uri;
    return [
      uri,
      changes[0].before === null ? undefined : this.#texts.keep(old, await decodeContent(uri, before.before)),
      last.after === null ? undefined : uri,
    ];
  }
}

async function targetIds(
  checkpoints: Checkpoints | undefined,
  { message, call }: TurnAction,
  matches: (change: RecordedChange) => boolean,
): Promise<readonly string[]> {
  const changes = (await checkpoints?.changes(message)) ?? [];
  return changes.filter((each) => matches(each) && (call === undefined || each.call === call)).map(({ id }) => id);
}
