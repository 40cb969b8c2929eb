import type { Event } from '../event.ts';

/** Cuts text at the first stop sequence, also if it arrives in pieces. */
export class StopSequences {
  readonly #stops: readonly string[];
  /** The end of the text so far, if it may be the start of a stop sequence. */
  #waiting = '';

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '');
  }

  /** Returns the text that can be passed on. `stopped`: a stop sequence followed. */
  push(piece: string): { readonly text: string; readonly stopped: boolean } {
    const text = this.#waiting + piece;
    let cut = -1;
    for (const stop of this.#stops) {
      const at = text.indexOf(stop);
      if (at >= 0 && (cut < 0 || at < cut)) cut = at;
    }
    if (cut >= 0) {
      this.#waiting = '';
      return { text: text.slice(0, cut), stopped: true };
    }
    const keep = Math.max(0, ...this.#stops.map((stop) => sharedLength(text, stop)));
    this.#waiting = text.slice(text.length - keep);
    return { text: text.slice(0, text.length - keep), stopped: false };
  }

  /** The answer is complete. Returns the text that waited. */
  end(): string {
    const rest = this.#waiting;
    this.#waiting = '';
    return rest;
  }
}

/** Length of the longest end of a text that is the start of a stop sequence. */
function sharedLength(text: string, stop: string): number {
  for (let length = Math.min(stop.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}

/** Applies stop sequences that the upstream did not get. Ends the request at the first one. */
export async function* cutAtStops(events: AsyncIterable<Event>, stops: readonly string[]): AsyncGenerator<Event> {
  const sequences = new StopSequences(stops);
  for await (const event of events) {
    if (event.type === 'text') {
      const { text, stopped } = sequences.push(event.text);
      if (text !== '') yield { ...event, text };
      if (stopped) {
        yield { type: 'finish', reason: 'stop' };
        return;
      }
      continue;
    }
    if (event.type === 'finish' || event.type === 'error') {
      const text = sequences.end();
      if (text !== '') yield { type: 'text', part: 0, text };
    }
    yield event;
  }
}
