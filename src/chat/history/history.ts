import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { replaceFile } from '../../base/replace-file.ts';
import type { Attachment } from '../attachment.ts';
import type { QueuedMessage } from '../session/session.ts';
import { applyPatch, branchTo, EMPTY_TRANSCRIPT, messageText, type Patch, type Transcript } from '../transcript.ts';
import { type Head, HistoryWriter, headLine, stepLine } from './history-writer.ts';
import { attachmentsSchema, optionsSchema, patchSchema } from './transcript-schema.ts';

const ENDING = '.jsonl';

const headSchema = z.object({
  type: z.literal('head'),
  version: z.literal(1),
  id: z.string(),
  /** Unix milliseconds. */
  createdAt: z.number(),
  workspace: z.string(),
});
const queued = z.object({
  id: z.string(),
  text: z.string(),
  prompt: z.string().exactOptional(),
  attachments: attachmentsSchema.exactOptional(),
  options: optionsSchema.exactOptional(),
}) satisfies z.ZodType<QueuedMessage>;
const draftSchema = z.object({
  text: z.string(),
  attachments: attachmentsSchema,
  queue: z.array(queued).exactOptional(),
}) satisfies z.ZodType<ConversationDraft>;

export interface StoredConversation extends Head {
  readonly transcript: Transcript;
  /** Unix milliseconds. */
  readonly changedAt: number;
}

/** The entry of a conversation in the list. */
export interface ListedConversation extends Head {
  readonly title: string;
  readonly pinned: boolean;
  /** Unix milliseconds. */
  readonly changedAt: number;
  /** The title and the visible text in lower case, for searching. */
  readonly words: string;
}

export interface ConversationDraft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Messages that wait for the end of an answer. */
  readonly queue?: readonly QueuedMessage[];
}

/** Whether the input has nothing that could be sent. */
export function isEmptyDraft({ text, attachments }: ConversationDraft): boolean {
  return text === '' && attachments.length === 0;
}

/**
 * Conversations on disk: one append-only file each, with one JSON value per line, first the head, then the patches.
 * An incomplete or unknown line is skipped. Two windows may append to one file, because patches contain message ids.
 */
export class History {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #listed = new Map<string, { readonly stamp: string; readonly listed: ListedConversation | undefined }>();

  /** @param folder absolute. It is created on the first write. */
  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
  }

  /** All conversations with a message, pinned ones first, then by time. Unreadable files are skipped. */
  async list(): Promise<readonly ListedConversation[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const all: ListedConversation[] = [];
    // One at a time to limit memory: a conversation may contain megabytes of images.
    for (const name of names.filter((each) => each.endsWith(ENDING))) {
      const listed = await this.#entry(name.slice(0, -ENDING.length));
      if (listed) all.push(listed);
    }
    return all.sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.changedAt - a.changedAt);
  }

  /** Whether a conversation was ever written. */
  async any(): Promise<boolean> {
    return (await readdir(this.#folder).catch(() => [])).some((name) => name.endsWith(ENDING));
  }

  /** The conversations whose title or visible text contains every word of `query`. */
  async search(query: string): Promise<readonly ListedConversation[]> {
    const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
    return (await this.list()).filter(({ words }) => wanted.every((word) => words.includes(word)));
  }

  async load(id: string): Promise<StoredConversation | undefined> {
    const file = this.#file(id);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }));
    const bytes = await readFile(file).catch(() => undefined);
    return bytes && readConversation(bytes.toString('utf8'), id, mtimeMs);
  }

  /** The entry of a conversation, cached until its file changes. */
  async #entry(id: string): Promise<ListedConversation | undefined> {
    const { mtimeMs, size } = await stat(this.#file(id)).catch(() => ({ mtimeMs: 0, size: 0 }));
    const stamp = `${mtimeMs}/${size}`;
    const known = this.#listed.get(id);
    if (known?.stamp === stamp) return known.listed;
    const stored = await this.load(id);
    const listed = stored && ownEntry(stored);
    this.#listed.set(id, { stamp, listed });
    return listed;
  }

  /** Creates a writer for the patches of a conversation. */
  writer(head: Head, onError: (error: unknown) => void): HistoryWriter {
    return new HistoryWriter(this.#file(head.id), head, onError);
  }

  /** Marks the file as changed now: other windows see that its answer is still running. */
  async touch(id: string): Promise<void> {
    const now = new Date();
    // The file may not be written yet.
    await utimes(this.#file(id), now, now).catch(() => undefined);
  }

  /** Adds a patch to a conversation that has no writer in this window. Rejects if writing fails. */
  async append(head: Head, patch: Patch): Promise<void> {
    const failed = Promise.withResolvers<never>();
    const writer = this.writer(head, failed.reject);
    writer.write(patch);
    await Promise.race([writer.flush(), failed.promise]);
  }

  /** Writes a whole conversation under a new id (import, copies). */
  async keep(head: Head, transcript: Transcript): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const { messages, leaf, title, pinned } = transcript;
    const steps: Patch[] = messages.map((message) => ({ type: 'add', message }));
    steps.push({ type: 'title', title }, { type: 'pin', pinned });
    if (leaf !== undefined) steps.push({ type: 'select', leaf });
    await replaceFile(this.#file(head.id), [headLine(head), ...steps.map(stepLine)].join(''));
  }

  async remove(id: string): Promise<void> {
    this.#listed.delete(id);
    await rm(this.#file(id), { force: true });
    await rm(this.#draftFile(id), { force: true });
    await rm(this.changesFolder(id), { recursive: true, force: true });
  }

  /** The folder for the checkpoints of a conversation. */
  changesFolder(id: string): string {
    return join(this.#folder, `${safeName(id)}.changes`);
  }

  async draft(id: string): Promise<ConversationDraft> {
    const bytes = await readFile(this.#draftFile(id)).catch(() => undefined);
    const parsed = draftSchema.safeParse(bytes && parseJson(bytes.toString('utf8')));
    return parsed.success ? parsed.data : { text: '', attachments: [] };
  }

  async keepDraft(id: string, draft: ConversationDraft): Promise<void> {
    if (isEmptyDraft(draft) && !draft.queue?.length) {
      await rm(this.#draftFile(id), { force: true });
      return;
    }
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await replaceFile(this.#draftFile(id), JSON.stringify(draft));
  }

  get now(): number {
    return this.#now();
  }

  #file(id: string): string {
    return join(this.#folder, `${safeName(id)}${ENDING}`);
  }

  #draftFile(id: string): string {
    return join(this.#folder, `${safeName(id)}.draft.json`);
  }
}

function ownEntry({ transcript, id, createdAt, workspace, changedAt }: StoredConversation): ListedConversation {
  const { title, pinned } = transcript;
  const words = `${title}\n${branchTo(transcript).map(messageText).join('\n')}`.toLowerCase();
  return { id, createdAt, workspace, changedAt, title, pinned, words };
}

function readConversation(text: string, id: string, changedAt: number): StoredConversation | undefined {
  let head: Head | undefined;
  let transcript = EMPTY_TRANSCRIPT;
  for (const row of text.split('\n')) {
    const value = row === '' ? undefined : parseJson(row);
    if (value === undefined) continue;
    const patch = patchSchema.safeParse(value);
    if (patch.success) transcript = applyPatch(transcript, patch.data);
    else head ??= headSchema.safeParse(value).data;
  }
  if (transcript.messages.length === 0) return undefined;
  // The head itself may be incomplete.
  const { createdAt = changedAt, workspace = '' } = head ?? {};
  return { id, createdAt, workspace, transcript, changedAt };
}

/** Ids in imported or restored state are not trusted. */
function safeName(id: string): string {
  return id.replaceAll(/[^\w-]/g, '_').slice(0, 100);
}
