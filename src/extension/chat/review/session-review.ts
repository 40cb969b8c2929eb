import type * as vscode from 'vscode';
import { SerialQueue } from '../../../base/concurrency.ts';
import type { Checkpoints } from '../../../chat/checkpoints/checkpoints.ts';
import type { RecordedChange } from '../../../chat/checkpoints/recorded-changes.ts';
import type { ChangedFileCounts, TurnSummary } from '../../../chat/message-parts.ts';
import { changedFiles, turnState, undoneCalls } from '../../../chat/review/changed-files.ts';
import type { ChatSession } from '../../../chat/session/session.ts';
import { textChange } from '../../../chat/tools/file-change.ts';
import { decodeContent } from '../tools/file-text.ts';
import { workspaceFile } from '../tools/workspace-path.ts';
import type { PendingReviews, ReviewOwner } from './pending-reviews.ts';

/** A file whose changes are pending in the editor. */
interface ReviewedFile {
  /** Id of the first pending change. */
  readonly first: string;
  readonly uri: vscode.Uri;
  ids: readonly string[];
}

/** Keeps the review in the editor and the summaries of the answers as the changes of a session are. */
export class SessionReview {
  readonly session: ChatSession;
  readonly #reviews: PendingReviews;
  readonly #files: Map<string, ReviewedFile>;
  readonly #listeners = new Set<(turns: readonly TurnSummary[]) => void>();
  readonly #running = new Set<string>();
  readonly #following: readonly { dispose(): void }[];
  readonly #updates = new SerialQueue();

  /** @param before the review of the same conversation, from before it was closed and opened again. */
  constructor(session: ChatSession, reviews: PendingReviews, before?: SessionReview) {
    if (before) before.#end();
    this.session = session;
    this.#reviews = reviews;
    this.#files = before ? before.#files : new Map();
    this.#following = [
      session.onPatch((patch) => {
        // Another window may have made the changes of the answer.
        if (patch.type === 'end') this.#update();
        if (patch.type !== 'tool') return;
        this.#setRunning(
          `${patch.message} ${patch.part}`,
          patch.state.type === 'running' && changesFiles(session, patch),
        );
      }),
      ...(session.checkpoints ? [session.checkpoints.onChange(() => this.#update())] : []),
    ];
  }

  /** Calls the listener with the summaries, now and on each change. */
  listen(listener: (turns: readonly TurnSummary[]) => void): { dispose(): void } {
    this.#listeners.add(listener);
    this.#update();
    return { dispose: () => this.#listeners.delete(listener) };
  }

  #end(): void {
    for (const each of this.#following) each.dispose();
    for (const key of this.#running) this.#setRunning(key, false);
  }

  /** While a call changes files, edits in the editor are not those of the user. */
  #setRunning(key: string, running: boolean): void {
    if (this.#running.has(key) === running) return;
    if (running) this.#running.add(key);
    else this.#running.delete(key);
    this.#reviews.setWriting(running);
  }

  #update(): void {
    const { checkpoints } = this.session;
    if (!checkpoints) return;
    const update = async () => {
      const changes = await checkpoints.changes();
      await this.#updateReviews(checkpoints, changes);
      const turns = await summaries(checkpoints, changes);
      for (const listener of this.#listeners) listener(turns);
    };
    // A conversation that was deleted has no changes.
    this.#updates.run(update).catch(() => undefined);
  }

  async #updateReviews(checkpoints: Checkpoints, changes: readonly RecordedChange[]): Promise<void> {
    const pending = new Set<string>();
    for (const file of changedFiles(changes.filter(({ state }) => state === 'applied'))) {
      // A deleted file has no editor.
      if (file.changes.at(-1)?.after == null) continue;
      const { uri } = await workspaceFile(file.path);
      const key = uri.toString();
      const [{ id: first }] = file.changes;
      const ids = file.changes.map(({ id }) => id);
      pending.add(key);
      const known = this.#files.get(key);
      if (known?.first === first && this.#reviews.has(uri)) {
        known.ids = ids;
        continue;
      }
      const entry: ReviewedFile = { first, uri, ids };
      this.#files.set(key, entry);
      this.#reviews.remove(uri);
      const { before } = await checkpoints.contents(first);
      this.#reviews.add(uri, await decodeContent(uri, before), this.#owner(entry));
    }
    for (const [key, { uri }] of this.#files) {
      if (pending.has(key)) continue;
      this.#files.delete(key);
      this.#reviews.remove(uri);
    }
  }

  #owner(entry: ReviewedFile): ReviewOwner {
    return {
      settled: async (rejected) => {
        const { checkpoints } = this.session;
        if (!checkpoints) return;
        const undo = () => checkpoints.undo(entry.ids);
        const outcomes = rejected ? await this.#reviews.whileWriting(undo) : [];
        const undone = outcomes.length > 0 && outcomes.every(({ result }) => result !== 'conflict');
        if (!undone) await checkpoints.keep(entry.ids);
      },
    };
  }
}

function changesFiles(session: ChatSession, { message, part }: { message: string; part: number }): boolean {
  const found = session.transcript.messages.findLast(({ id }) => id === message)?.parts[part];
  return found?.type === 'tool' && found.action?.type === 'changes';
}

async function summaries(
  checkpoints: Checkpoints,
  changes: readonly RecordedChange[],
): Promise<readonly TurnSummary[]> {
  const turns: TurnSummary[] = [];
  for (const [message, all] of Map.groupBy(changes, (change) => change.message)) {
    const state = turnState(all);
    const changed = changedFiles(state === 'undone' ? all : all.filter((change) => change.state !== 'undone'));
    const files: ChangedFileCounts[] = [];
    for (const { path, changes: own } of changed) {
      const first = await checkpoints.contents(own[0].id);
      const last = await checkpoints.contents((own.at(-1) ?? own[0]).id);
      const { uri } = await workspaceFile(path);
      const [before, after] = [await decodeContent(uri, first.before), await decodeContent(uri, last.after)];
      const { added, removed } = textChange(path, before, after).change;
      files.push({ path, added, removed });
    }
    turns.push({
      message,
      files,
      state,
      calls: [...new Set(all.map(({ call }) => call))],
      undone: undoneCalls(all),
    });
  }
  return turns;
}
