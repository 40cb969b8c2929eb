import type { Event } from './event.ts';

export type PartEvent = Extract<Event, { readonly part: number }>;

/** What a format whose parts never overlap needs to hear (Responses' items, Messages' blocks). */
export interface PartSink {
  /** A part begins with this event. */
  open(event: PartEvent): void;
  /** An event of the open part, its first one included. */
  add(event: PartEvent): void;
  /** The open part is over. */
  close(): void;
}

/**
 * Puts events in an order in which one part ends before the next begins. Text and reasoning end when
 * another part begins; a tool call ends when its upstream says so (`last`) or with the answer, and
 * what belongs to later parts waits that long: arguments that look whole may still go on.
 */
export class PartSequence {
  readonly #sink: PartSink;
  #open: PartEvent | undefined;
  #waiting: PartEvent[] = [];
  readonly #closed = new Set<number>();

  constructor(sink: PartSink) {
    this.#sink = sink;
  }

  feed(event: PartEvent): void {
    const open = this.#open;
    if (open !== undefined && open.part !== event.part) {
      if (open.type === 'tool-call' || open.type === 'tool-arguments') {
        this.#waiting.push(event);
        return;
      }
      this.#close();
    }
    if (this.#open === undefined) {
      if (this.#closed.has(event.part)) return;
      this.#open = event;
      this.#sink.open(event);
    }
    this.#sink.add(event);
    if (event.type === 'tool-arguments' && event.last) {
      this.#close();
      this.#resume();
    }
  }

  /** Everything that waited, then the end of the last part. */
  end(): void {
    this.#close();
    while (this.#waiting.length > 0) {
      this.#resume();
      this.#close();
    }
  }

  #resume(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const event of waiting) this.feed(event);
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.#closed.add(this.#open.part);
    this.#open = undefined;
    this.#sink.close();
  }
}
