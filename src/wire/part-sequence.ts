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
  /** By part, in the order in which they began. Those before `#next` have been written. */
  #waiting: PartEvent[][] = [];
  #next = 0;
  readonly #waitingByPart = new Map<number, PartEvent[]>();
  readonly #closed = new Set<number>();

  constructor(sink: PartSink) {
    this.#sink = sink;
  }

  feed(event: PartEvent): void {
    if (this.#closed.has(event.part)) return;
    if (this.#open !== undefined && this.#open.part !== event.part) {
      if (isCall(this.#open)) return this.#wait(event);
      this.#close();
    }
    this.#add(event);
    if (this.#open === undefined) this.#resume();
  }

  /** Everything that waited, then the end of the last part. */
  end(): void {
    this.#close();
    while (this.#next < this.#waiting.length) {
      this.#resume();
      this.#close();
    }
  }

  #wait(event: PartEvent): void {
    const waiting = this.#waitingByPart.get(event.part);
    if (waiting !== undefined) {
      waiting.push(event);
      return;
    }
    const events = [event];
    this.#waitingByPart.set(event.part, events);
    this.#waiting.push(events);
  }

  /** Writes the parts that waited, up to a call that may go on. */
  #resume(): void {
    while (this.#next < this.#waiting.length && (this.#open === undefined || !isCall(this.#open))) {
      this.#close();
      const events = this.#waiting[this.#next] ?? [];
      this.#next += 1;
      for (const event of events) {
        this.#waitingByPart.delete(event.part);
        this.#add(event);
      }
    }
    if (this.#next < this.#waiting.length) return;
    this.#waiting = [];
    this.#next = 0;
  }

  /** An event of the open part, or of one that begins now. */
  #add(event: PartEvent): void {
    if (this.#closed.has(event.part)) return;
    if (this.#open === undefined) {
      this.#open = event;
      this.#sink.open(event);
    }
    this.#sink.add(event);
    if (event.type === 'tool-arguments' && event.last) this.#close();
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.#closed.add(this.#open.part);
    this.#open = undefined;
    this.#sink.close();
  }
}

function isCall(event: PartEvent): boolean {
  return event.type === 'tool-call' || event.type === 'tool-arguments';
}
