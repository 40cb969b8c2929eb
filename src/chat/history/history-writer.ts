import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SerialQueue } from '../../base/concurrency.ts';
import { joinPatches, type Patch } from '../transcript.ts';

/** Maximum delay before received text is written to disk. */
const DELAY_MS = 200;
/** Other users of the machine must not read conversations. */
const OWNER_ONLY = 0o600;
const LINE_END = 0x0a;

/** The first line of a conversation file. */
export interface Head {
  readonly id: string;
  readonly createdAt: number;
  /** The workspace of the conversation; empty: none. */
  readonly workspace: string;
}

export function headLine({ id, createdAt, workspace }: Head): string {
  return `${JSON.stringify({ type: 'head', version: 1, id, createdAt, workspace })}\n`;
}

export function stepLine(patch: Patch): string {
  return `${JSON.stringify(patch)}\n`;
}

/** Appends the patches of one conversation to its file, in order. Streamed text is collected for a short time. */
export class HistoryWriter {
  readonly #file: string;
  readonly #head: Head;
  readonly #onError: (error: unknown) => void;
  #waiting: Patch[] = [];
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  /** True if the head must be written (again): on a full disk, only a part of it may have been written. */
  #headMissing = false;
  readonly #writes = new SerialQueue();

  /** @param file absolute. Its folder is created on the first write. */
  constructor(file: string, head: Head, onError: (error: unknown) => void) {
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

  /** Resolves when everything so far is in the file. Never rejects: errors are passed to `onError`. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#writes.run(() => this.#writeWaiting());
  }

  async #writeWaiting(): Promise<void> {
    const steps = this.#waiting;
    if (steps.length === 0) return;
    this.#waiting = [];
    try {
      const lead = Buffer.from(await this.#leadingText());
      const lines = steps.map((step) => Buffer.from(stepLine(step)));
      const { written, error } = await append(this.#file, Buffer.concat([lead, ...lines]));
      if (written >= lead.length - 1) this.#headMissing = false;
      if (error === undefined) this.#started = true;
      else this.#keep(steps.slice(countWhole(lines, written - lead.length)), error);
    } catch (error) {
      this.#keep(steps, error);
    }
  }

  /** Keeps patches that were not written, to write them before the next one. */
  #keep(steps: readonly Patch[], error: unknown): void {
    this.#waiting = [...steps, ...this.#waiting];
    this.#started = false;
    this.#onError(error);
  }

  /** The text before the next line: the head in a new file, a line end after an incomplete line. */
  async #leadingText(): Promise<string> {
    if (this.#started) return '';
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    const last = await lastByte(this.#file);
    if (last === undefined) this.#headMissing = true;
    const gap = last === undefined || last === LINE_END ? '' : '\n';
    return this.#headMissing ? gap + headLine(this.#head) : gap;
  }
}

interface Appended {
  readonly written: number;
  /** The error after which the rest was not written, for example a full disk. */
  readonly error?: unknown;
}

async function append(file: string, bytes: Buffer): Promise<Appended> {
  let written = 0;
  try {
    const handle = await open(file, 'a', OWNER_ONLY);
    try {
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
    } finally {
      await handle.close();
    }
    return { written };
  } catch (error) {
    return { written, error };
  }
}

/** The number of lines that are complete in the first `written` bytes. The last one needs no line end. */
function countWhole(lines: readonly Buffer[], written: number): number {
  let end = 0;
  let count = 0;
  for (const line of lines) {
    end += line.length;
    if (end - 1 > written) break;
    count += 1;
  }
  return count;
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
