import type { Event } from './event.ts';

export type PartEvent = Extract<Event, { readonly part: number }>;

/**
 * Receives the parts of an answer one after another, for formats without overlapping parts (items of Responses, blocks
 * of Messages).
 */
export interface PartSink {
  /** Starts a part with its first event. */
  open(event: PartEvent): void;
  /** An event of the open part, including its first one. */
  add(event: PartEvent): void;
  /** Ends the open part. */
  close(): void;
}

/**
 * Reorders events so that each part ends before the next one starts. Text and reasoning end when another part starts. A
 * tool call ends when its upstream reports it (`last`) or with the answer, because arguments that look complete may
 * continue. Events of later parts wait until then.
 */
export class PartSequence {
  readonly #sink: PartSink;
  #open: PartEvent | undefined;
  /** Waiting events of each part, in order of first appearance. The parts before `#next` are written. */
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

  /** Writes all waiting parts and ends the last one. */
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

  /** Writes the waiting parts up to a call that may continue. */
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

  /** Adds an event of the open part, or opens its part. */
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
