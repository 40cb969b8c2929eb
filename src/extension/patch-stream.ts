import type { Patch } from '../chat/transcript.ts';

/** A person sees at most one change a frame; more messages than that only cost time. */
const FRAME_MS = 16;

/**
 * Gathers the steps of a conversation and hands them on once a frame, neighbouring appends to one part
 * joined: a fast stream is a few messages a second, not thousands.
 */
export class PatchStream {
  readonly #deliver: (patches: readonly Patch[], seq: number) => void;
  #waiting: Patch[] = [];
  #seq = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (patches: readonly Patch[], seq: number) => void) {
    this.#deliver = deliver;
  }

  dispose(): void {
    this.reset();
  }

  push(patch: Patch, seq: number): void {
    this.#seq = seq;
    const last = this.#waiting.at(-1);
    const joined = last && join(last, patch);
    if (joined) this.#waiting[this.#waiting.length - 1] = joined;
    else this.#waiting.push(patch);
    this.#timer ??= setTimeout(() => this.flush(), FRAME_MS);
  }

  flush(): void {
    const patches = this.#waiting;
    this.reset();
    if (patches.length > 0) this.#deliver(patches, this.#seq);
  }

  /** Forgets what waits: a snapshot that holds it all is about to be sent. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
  }
}

function join(last: Patch, next: Patch): Patch | undefined {
  if (last.type !== 'append' || next.type !== 'append') return undefined;
  if (last.message !== next.message || last.part !== next.part) return undefined;
  return { ...last, text: last.text + next.text };
}
