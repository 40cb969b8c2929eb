import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { joinPatches, type Patch } from '../transcript.ts';

/** How long received text may wait for the disk. */
const DELAY_MS = 200;
/** What was said to a model is nobody else's on a shared machine. */
const OWN = 0o600;
const LINE_END = 0x0a;

/** What the first line of a conversation's file says of it. */
export interface Head {
  readonly id: string;
  readonly createdAt: number;
  /** Where it was held; empty: no workspace. */
  readonly workspace: string;
}

export function headLine({ id, createdAt, workspace }: Head): string {
  return `${JSON.stringify({ type: 'head', version: 1, id, createdAt, workspace })}\n`;
}

export function stepLine(patch: Patch): string {
  return `${JSON.stringify(patch)}\n`;
}

/** Appends the steps of one conversation to its file, in order; text that streams is gathered for a moment. */
export class HistoryWriter {
  readonly #file: string;
  readonly #head: Head;
  readonly #onError: (error: unknown) => void;
  #waiting: Patch[] = [];
  #timer: NodeJS.Timeout | undefined;
  #begun = false;
  /** Whether the head still has to be written: a disk that is full may have taken a part of it. */
  #headOwed = false;
  #writing: Promise<void> = Promise.resolve();

  /** @param file absolute; its folder is made when something is first written. */
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
      const lead = Buffer.from(await this.#lead());
      const lines = steps.map((step) => Buffer.from(stepLine(step)));
      const { written, error } = await append(this.#file, Buffer.concat([lead, ...lines]));
      if (written >= lead.length - 1) this.#headOwed = false;
      if (error === undefined) this.#begun = true;
      else this.#keep(steps.slice(countWhole(lines, written - lead.length)), error);
    } catch (error) {
      this.#keep(steps, error);
    }
  }

  /** Steps that are not in the file go first when the next one is written. */
  #keep(steps: readonly Patch[], error: unknown): void {
    this.#waiting = [...steps, ...this.#waiting];
    this.#begun = false;
    this.#onError(error);
  }

  /** What must stand before the next line: the head in a new file, an end for a line that broke off. */
  async #lead(): Promise<string> {
    if (this.#begun) return '';
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    const last = await lastByte(this.#file);
    if (last === undefined) this.#headOwed = true;
    const gap = last === undefined || last === LINE_END ? '' : '\n';
    return this.#headOwed ? gap + headLine(this.#head) : gap;
  }
}

interface Appended {
  readonly written: number;
  /** Why it is not all: a disk that fills up takes the beginning. */
  readonly error?: unknown;
}

async function append(file: string, bytes: Buffer): Promise<Appended> {
  let written = 0;
  try {
    const handle = await open(file, 'a', OWN);
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

/** How many of the lines are read back from their first `written` bytes: the last one needs no line end. */
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
