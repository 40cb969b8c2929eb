import { type EndedRequest, matchesFilter, type RequestFilter } from '../accounting/request-history.ts';

/** Requests per second that one reader gets. Of more, it gets the first of each second. */
const MAX_PER_SECOND = 50;
/** Readers at a time. */
export const MAX_READERS = 50;

export interface LiveReader {
  readonly filter: RequestFilter;
  /** Must not block. @returns false if the reader is too slow for this request. */
  readonly show: (request: EndedRequest) => boolean;
  /** Called each second in which not all requests were shown. */
  readonly sampled: (shown: number, total: number) => void;
  /** Called each second. @returns false to end. */
  readonly alive: () => boolean;
  /** The gateway ends. */
  readonly end: () => void;
}

interface State {
  readonly reader: LiveReader;
  shown: number;
  total: number;
}

/** Passes requests that have ended to the pages that show them live. Without a reader it costs nothing. */
export class LiveRequests {
  readonly #readers = new Set<State>();
  #timer: NodeJS.Timeout | undefined;

  get full(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  /** Adds a reader. @returns a function that removes it. */
  add(reader: LiveReader): () => void {
    const state = { reader, shown: 0, total: 0 };
    this.#readers.add(state);
    this.#timer ??= setInterval(() => this.#tick(), 1_000).unref();
    return () => this.#remove(state);
  }

  ended(request: EndedRequest): void {
    const { row } = request;
    if (this.#readers.size === 0 || !row.counted) return;
    for (const state of this.#readers) {
      if (!matchesFilter(row, state.reader.filter)) continue;
      state.total += 1;
      if (state.shown < MAX_PER_SECOND && state.reader.show(request)) state.shown += 1;
    }
  }

  /** Ends all readers, so that the gateway does not wait for them. */
  close(): void {
    for (const { reader } of this.#readers) reader.end();
  }

  #tick(): void {
    for (const state of this.#readers) {
      const { reader, shown, total } = state;
      state.shown = 0;
      state.total = 0;
      if (!reader.alive()) this.#remove(state);
      else if (shown < total) reader.sampled(shown, total);
    }
  }

  #remove(state: State): void {
    this.#readers.delete(state);
    if (this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
