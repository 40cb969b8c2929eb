import { join } from 'node:path';
import { SerialQueue } from '../../base/concurrency.ts';
import { Emitter } from '../../base/emitter.ts';
import { defined } from '../../base/json.ts';
import type { FileChange } from '../message-parts.ts';
import { textChange } from '../tools/file-change.ts';
import { ContentStore } from './content-store.ts';
import type { Files } from './files.ts';
import { Journal, type JournalFile } from './journal.ts';
import { hasEffect, type RecordedChange, recordedChanges } from './recorded-changes.ts';
import { planRevert, type RevertedFile, type RevertOutcome } from './revert-plan.ts';

export interface CheckpointsDeps {
  /** Absolute; of one conversation. It is created on the first write. */
  readonly folder: string;
  readonly files: Files;
  readonly newId: () => string;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Maximum size of all contents in bytes. Contents of the oldest changes are removed. */
  readonly limit?: number;
  /** How long to wait for a stopped change to end. */
  readonly stopMs?: number;
}

/** Where changes belong. */
export interface ChangeSource {
  readonly message: string;
  readonly call: string;
}

const LIMIT = 200 * 1024 * 1024;
const STOP_MS = 5000;

/** The changes that tools made in one conversation, and the way back. */
export class Checkpoints {
  readonly #deps: CheckpointsDeps;
  readonly #contents: ContentStore;
  readonly #journal: Journal;
  readonly #changed = new Emitter<[]>();
  readonly #running = new Set<string>();
  /** Fires when changes were made, undone, redone or kept. */
  readonly onChange = this.#changed.event;
  readonly #queue = new SerialQueue();

  constructor(deps: CheckpointsDeps) {
    this.#deps = deps;
    this.#contents = new ContentStore(join(deps.folder, 'contents'));
    this.#journal = new Journal(join(deps.folder, 'journal.jsonl'));
  }

  /**
   * Keeps the contents of the files, applies the changes, and records the result. Rejects without applying if the
   * contents can't be kept: a change that can't be undone is not made. Rejects also if the signal fires before the
   * contents are kept, or if the change does not end soon after it. Its later effects are still recorded.
   */
  async record<T>(
    source: ChangeSource,
    changes: readonly FileChange[],
    apply: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.#queue.run(() => this.#record(source, changes.map(asJournalFile), apply, signal));
  }

  /** The changes by tools, oldest first. @param message only those of this answer. */
  async changes(message?: string): Promise<readonly RecordedChange[]> {
    const all = await this.#all();
    return all.filter((change) => !isUndo(change) && (message === undefined || change.message === message));
  }

  /** The contents before and after a change. Undefined: the file does not exist, or the content is no longer kept. */
  async contents(
    id: string,
  ): Promise<{ readonly before: Uint8Array | undefined; readonly after: Uint8Array | undefined }> {
    const change = (await this.#all()).find((one) => one.id === id);
    const read = (hash: string | null | undefined) => (hash ? this.#contents.get(hash) : undefined);
    return { before: await read(change?.before), after: await read(change?.after) };
  }

  /** Takes back changes. @param force overwrites later changes of the user. Without it, they are a conflict. */
  undo(ids: readonly string[], force = false): Promise<readonly RevertOutcome[]> {
    return this.#queue.run(async () => {
      const applied = (await this.#all()).filter(({ id, state }) => ids.includes(id) && state !== 'undone');
      return this.#revert(applied, 'undo', force);
    });
  }

  /** Makes undone changes again. @param ids absent: those of the last undo. */
  redo(ids?: readonly string[], force = false): Promise<readonly RevertOutcome[]> {
    return this.#queue.run(async () => {
      const undos = (await this.#all()).filter(
        (change) => isUndo(change) && change.call === 'undo' && change.state !== 'undone',
      );
      const last = undos.at(-1)?.entry;
      const wanted = undos.filter(({ entry, reverts }) =>
        ids === undefined ? entry === last : reverts?.some((id) => ids.includes(id)),
      );
      return this.#revert(wanted, 'redo', force);
    });
  }

  /** Takes back all changes since a time (Unix milliseconds), for example that of a message. */
  async restoreTo(time: number, force = false): Promise<readonly RevertOutcome[]> {
    const later = (await this.changes()).filter(({ at, state }) => at >= time && state !== 'undone');
    return this.undo(
      later.map(({ id }) => id),
      force,
    );
  }

  /** Marks changes as accepted. They can still be undone. */
  keep(ids: readonly string[]): Promise<void> {
    return this.#queue.run(async () => {
      await this.#journal.append({ type: 'keep', ids: [...ids] });
      this.#changed.fire();
    });
  }

  /** Completes the record of changes that a crash interrupted, from the files as they are. */
  settle(): Promise<void> {
    return this.#queue.run(() => this.#settle());
  }

  async #settle(): Promise<void> {
    const lines = await this.#journal.lines();
    const ended = new Set(lines.flatMap((line) => (line.type === 'end' ? line.id : [])));
    for (const line of lines) {
      if (line.type === 'begin' && !ended.has(line.id) && !this.#running.has(line.id))
        await this.#end(line.id, line.files);
    }
  }

  async #record<T>(
    { message, call }: ChangeSource,
    files: readonly UnreadFile[],
    apply: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const id = this.#deps.newId();
    const read: JournalFile[] = [];
    for (const file of files) read.push({ ...file, before: await this.#keepContent(file.path) });
    signal?.throwIfAborted();
    await this.#journal.append({ type: 'begin', id, at: this.#deps.now(), message, call, files: read });
    this.#running.add(id);
    let applies = true;
    const applied = apply().finally(() => {
      applies = false;
    });
    try {
      return await endSoonAfter(signal, applied, this.#deps.stopMs ?? STOP_MS);
    } finally {
      this.#running.delete(id);
      const givenUp = applies;
      // If this fails, the change is made all the same. `settle` records it later.
      const after = await this.#end(id, read).catch(() => undefined);
      if (givenUp && after) this.#endLater(applied, id, read, after);
      await this.#prune().catch(() => undefined);
      this.#changed.fire();
    }
  }

  /** Records the contents of the files as they are now. Returns their hashes. */
  async #end(id: string, files: readonly JournalFile[]): Promise<readonly (string | null)[]> {
    const after: (string | null)[] = [];
    for (const { path, newPath } of files) after.push(await this.#keepContent(newPath ?? path));
    await this.#journal.append({ type: 'end', id, after });
    return after;
  }

  /**
   * Records the effects of a change after the wait for it was given up. The first record of a file that was changed by then
   * stays, because the user may have edited the file since.
   *
   * @param first the contents when the wait was given up.
   */
  #endLater(
    applied: Promise<unknown>,
    id: string,
    files: readonly JournalFile[],
    first: readonly (string | null)[],
  ): void {
    const record = async () => {
      const after: (string | null)[] = [];
      for (const [index, file] of files.entries()) {
        const known = first[index] ?? null;
        const isMade = hasEffect({ ...file, after: known });
        after.push(isMade ? known : await this.#keepContent(file.newPath ?? file.path));
      }
      await this.#journal.append({ type: 'end', id, after });
      this.#changed.fire();
    };
    const enqueue = () => this.#queue.run(record).catch(() => undefined);
    void applied.then(enqueue, enqueue);
  }

  async #keepContent(path: string): Promise<string | null> {
    const content = await this.#deps.files.read(path);
    return content === undefined ? null : this.#contents.put(content);
  }

  async #revert(changes: readonly RecordedChange[], call: string, force: boolean): Promise<readonly RevertOutcome[]> {
    const { files } = this.#deps;
    await this.#settle();
    const all = await this.#all();
    const plan = await planRevert(changes, {
      read: (path) => files.read(path),
      content: (hash) => this.#contents.get(hash),
      all,
      force,
    });
    if (plan.files.length > 0) {
      await this.#record({ message: '', call }, plan.files.map(revertedAsFile), () => files.apply(plan.operations));
    }
    return plan.outcomes;
  }

  async #all(): Promise<readonly RecordedChange[]> {
    return recordedChanges(await this.#journal.lines());
  }

  /** Removes contents of the oldest changes if all contents together are too large. */
  async #prune(): Promise<void> {
    let excess = (await this.#contents.size()) - (this.#deps.limit ?? LIMIT);
    if (excess <= 0) return;
    const changes = await this.#all();
    const users = new Map<string, RecordedChange>();
    for (const change of changes) for (const hash of [change.before, change.after]) if (hash) users.set(hash, change);
    // In the order of their last use.
    for (const [hash, { entry }] of [...users].sort((a, b) => changes.indexOf(a[1]) - changes.indexOf(b[1]))) {
      if (excess <= 0 || entry === changes.at(-1)?.entry) return;
      excess -= await this.#contents.remove(hash);
    }
  }
}

/** Resolves or rejects as the work does. Rejects some time after the signal fires, because work may ignore it. */
function endSoonAfter<T>(signal: AbortSignal | undefined, work: Promise<T>, ms: number): Promise<T> {
  if (!signal) return work;
  const givenUp = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    timer = setTimeout(() => givenUp.reject(signal.reason), ms);
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  return Promise.race([work, givenUp.promise]).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}

type UnreadFile = Omit<JournalFile, 'before'>;

function isUndo({ reverts }: RecordedChange): boolean {
  return reverts !== undefined;
}

function asJournalFile({ kind, path, newPath, added, removed }: FileChange): UnreadFile {
  return { kind, path, ...defined({ newPath }), added, removed };
}

function revertedAsFile({ path, newPath, before, after, reverts }: RevertedFile): UnreadFile {
  const text = (content: Uint8Array | undefined) => content && Buffer.from(content).toString('utf8');
  const { change } = textChange(path, text(before), text(after));
  const { kind, added, removed } = change;
  return {
    ...asJournalFile({ ...change, kind: newPath === undefined ? kind : 'rename' }),
    ...defined({ newPath }),
    added,
    removed,
    reverts: [...reverts],
  };
}
