import { appendFile, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../config/replace-file.ts';
import { parseJson } from '../wire/json.ts';
import type { Attachment } from './attachment.ts';
import { applyPatch, EMPTY, joinPatches, type Patch, pathOf, type Transcript, textOf } from './transcript.ts';
import { attachmentsSchema, patchSchema } from './transcript-schema.ts';

const ENDING = '.jsonl';
/** How long received text may wait for the disk. */
const DELAY_MS = 200;

const headSchema = z.object({
  type: z.literal('head'),
  version: z.literal(1),
  id: z.string(),
  /** Unix milliseconds. */
  createdAt: z.number(),
  workspace: z.string(),
});
/** What was said to a model is nobody else's on a shared machine. */
const OWN = 0o600;
const draftSchema = z.object({ text: z.string(), attachments: attachmentsSchema });

export interface Head {
  readonly id: string;
  readonly createdAt: number;
  /** Where it was held; empty: no workspace. */
  readonly workspace: string;
}

export interface Stored extends Head {
  readonly transcript: Transcript;
  /** Unix milliseconds. */
  readonly changedAt: number;
}

/** What a list shows of a conversation. */
export interface Listed extends Head {
  readonly title: string;
  readonly pinned: boolean;
  /** Unix milliseconds. */
  readonly changedAt: number;
  /** Its title and all that is shown, in lower case, to be searched. */
  readonly words: string;
}

export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/**
 * Conversations on disk: one append-only file each, a JSON value a line, the head and then the steps. A line that is
 * torn or unknown is left out and nothing else; two windows may append to one file, since steps name their messages.
 */
export class History {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #listed = new Map<string, { readonly stamp: string; readonly listed: Listed | undefined }>();

  /** @param folder absolute; made when something is first kept. */
  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Every conversation that holds a message, pinned first, then the latest. Unreadable files are left out. */
  async list(): Promise<readonly Listed[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const all: Listed[] = [];
    // One after another: a conversation may hold megabytes of pictures, its entry does not.
    for (const name of names.filter((each) => each.endsWith(ENDING))) {
      const listed = await this.#entry(name.slice(0, -ENDING.length));
      if (listed) all.push(listed);
    }
    return all.sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.changedAt - a.changedAt);
  }

  /** Those whose title or shown text holds every word of `query`. */
  async search(query: string): Promise<readonly Listed[]> {
    const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
    return (await this.list()).filter(({ words }) => wanted.every((word) => words.includes(word)));
  }

  async load(id: string): Promise<Stored | undefined> {
    const file = this.#file(id);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }));
    const bytes = await readFile(file).catch(() => undefined);
    return bytes && readConversation(bytes.toString('utf8'), id, mtimeMs);
  }

  /** As it was read, until its file changes. */
  async #entry(id: string): Promise<Listed | undefined> {
    const { mtimeMs, size } = await stat(this.#file(id)).catch(() => ({ mtimeMs: 0, size: 0 }));
    const stamp = `${mtimeMs}/${size}`;
    const known = this.#listed.get(id);
    if (known?.stamp === stamp) return known.listed;
    const stored = await this.load(id);
    const listed = stored && entryOf(stored);
    this.#listed.set(id, { stamp, listed });
    return listed;
  }

  /** Keeps the steps of a conversation from now on. */
  writer(head: Head, onError: (error: unknown) => void): HistoryWriter {
    return new HistoryWriter(this.#folder, this.#file(head.id), head, onError);
  }

  /** Adds a step to a conversation of which nobody here has a writer. Rejects where the disk can't be written to. */
  async append(head: Head, patch: Patch): Promise<void> {
    const failed = Promise.withResolvers<never>();
    const writer = this.writer(head, failed.reject);
    writer.write(patch);
    await Promise.race([writer.flush(), failed.promise]);
  }

  /** Keeps a whole conversation under a new id (import, copies). */
  async keep(head: Head, transcript: Transcript): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const { messages, leaf, title, pinned } = transcript;
    const steps: Patch[] = messages.map((message) => ({ type: 'add', message }));
    steps.push({ type: 'title', title }, { type: 'pin', pinned });
    if (leaf !== undefined) steps.push({ type: 'select', leaf });
    await replaceFile(this.#file(head.id), [headLine(head), ...steps.map(line)].join(''));
  }

  async remove(id: string): Promise<void> {
    this.#listed.delete(id);
    await rm(this.#file(id), { force: true });
    await rm(this.#draftFile(id), { force: true });
  }

  async draft(id: string): Promise<Draft> {
    const bytes = await readFile(this.#draftFile(id)).catch(() => undefined);
    const parsed = draftSchema.safeParse(bytes && parseJson(bytes.toString('utf8')));
    return parsed.success ? parsed.data : { text: '', attachments: [] };
  }

  async keepDraft(id: string, draft: Draft): Promise<void> {
    if (draft.text === '' && draft.attachments.length === 0) {
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

/** Appends the steps of one conversation to its file, in order; text that streams is gathered for a moment. */
export class HistoryWriter {
  readonly #folder: string;
  readonly #file: string;
  readonly #head: Head;
  readonly #onError: (error: unknown) => void;
  #waiting: Patch[] = [];
  #timer: NodeJS.Timeout | undefined;
  #begun = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string, file: string, head: Head, onError: (error: unknown) => void) {
    this.#folder = folder;
    this.#file = file;
    this.#head = head;
    this.#onError = onError;
  }

  write(patch: Patch): void {
    const last = this.#waiting.at(-1);
    const joined = last && joinPatches(last, patch);
    if (joined) this.#waiting[this.#waiting.length - 1] = joined;
    else this.#waiting.push(patch);
    this.#timer ??= setTimeout(() => void this.flush(), DELAY_MS);
  }

  /** Resolves when everything written so far is in the file. Never rejects: `onError` is told. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeWaiting());
    return this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    const steps = this.#waiting;
    if (steps.length === 0) return;
    this.#waiting = [];
    try {
      await this.#append(steps);
    } catch (error) {
      // They go first when the next step is written.
      this.#waiting = [...steps, ...this.#waiting];
      this.#begun = false;
      this.#onError(error);
    }
  }

  async #append(steps: readonly Patch[]): Promise<void> {
    let lines = steps.map(line).join('');
    if (!this.#begun) {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const last = await lastByte(this.#file);
      if (last === undefined) lines = headLine(this.#head) + lines;
      // The line that a crash tore must not swallow the next one.
      else if (last !== 0x0a) lines = `\n${lines}`;
      this.#begun = true;
    }
    await appendFile(this.#file, lines, { mode: OWN });
  }
}

function entryOf({ transcript, id, createdAt, workspace, changedAt }: Stored): Listed {
  const { title, pinned } = transcript;
  const words = `${title}\n${pathOf(transcript).map(textOf).join('\n')}`.toLowerCase();
  return { id, createdAt, workspace, changedAt, title, pinned, words };
}

async function lastByte(file: string): Promise<number | undefined> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    if (size === 0) return undefined;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0];
  } finally {
    await handle.close();
  }
}

function readConversation(text: string, id: string, changedAt: number): Stored | undefined {
  let head: Head | undefined;
  let transcript = EMPTY;
  for (const row of text.split('\n')) {
    const value = row === '' ? undefined : parseJson(row);
    if (value === undefined) continue;
    const patch = patchSchema.safeParse(value);
    if (patch.success) transcript = applyPatch(transcript, patch.data);
    else head ??= headSchema.safeParse(value).data;
  }
  if (transcript.messages.length === 0) return undefined;
  // The head itself may be what was torn.
  const { createdAt = changedAt, workspace = '' } = head ?? {};
  return { id, createdAt, workspace, transcript, changedAt };
}

function line(patch: Patch): string {
  return `${JSON.stringify(patch)}\n`;
}

function headLine({ id, createdAt, workspace }: Head): string {
  return `${JSON.stringify({ type: 'head', version: 1, id, createdAt, workspace })}\n`;
}

/** Ids are ours, but those in an imported or restored state are somebody's. */
function safeName(id: string): string {
  return id.replaceAll(/[^\w-]/g, '_').slice(0, 100);
}
