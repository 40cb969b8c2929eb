import type { Request } from '../../protocol/admin-api/shared-schemas.ts';
import { type EndedRequest, matchesFilter, type RequestFilter } from '../accounting/request-history.ts';
import { describeRequest } from './request-description.ts';

/** Requests per second that one reader gets. Of more, it gets the first of each second. */
const MAX_PER_SECOND = 50;
/** Readers at a time, of all processes. */
const MAX_READERS = 50;
/** Of these, readers whose keys are no admin keys. */
const MAX_ORDINARY = 40;
/** Readers of one key. */
const MAX_OF_KEY = 10;

/** Who reads. */
export interface LiveOwner {
  /** Name of the key. */
  readonly key: string;
  readonly isAdmin: boolean;
}

export interface LiveReader {
  readonly owner: LiveOwner;
  readonly filter: RequestFilter;
  /** Must not block. @returns false if the reader is too slow for this request. */
  readonly show: (request: Request) => boolean;
  /** Called for each request that was not shown. */
  readonly skipped?: () => void;
  /** Called each second in which not all requests were shown. */
  readonly sampled?: (shown: number, total: number) => void;
  /** Called each second. @returns false to end. */
  readonly alive?: () => boolean;
  /** The gateway ends. */
  readonly end?: () => void;
}

/** Receives the requests of peers for a reader. */
export interface LiveReceiver {
  readonly ended: (request: Request) => void;
  readonly skipped: (count: number) => void;
}

interface State {
  readonly reader: LiveReader;
  shown: number;
  total: number;
  /** Ends the requests of peers. */
  unfollow?: (() => void) | undefined;
}

/** Passes requests that have ended to the pages that show them live. Without a reader it costs nothing. */
export class LiveRequests {
  /** Set if other processes share the state. The returned function ends it. */
  followPeers: ((reader: Pick<LiveReader, 'owner' | 'filter'>, receiver: LiveReceiver) => () => void) | undefined;
  readonly #readers = new Set<State>();
  #timer: NodeJS.Timeout | undefined;

  /** Why there is no place for another reader: those of its key, or all readers. Places are kept for admins. */
  fullFor({ key, isAdmin }: LiveOwner): 'key' | 'all' | undefined {
    const owners = [...this.#readers].map(({ reader }) => reader.owner);
    if (owners.filter((each) => each.key === key).length >= MAX_OF_KEY) return 'key';
    if (owners.length >= MAX_READERS) return 'all';
    return !isAdmin && owners.filter((each) => !each.isAdmin).length >= MAX_ORDINARY ? 'all' : undefined;
  }

  /** Adds a reader of the requests of all processes. @returns a function that removes it. */
  add(reader: LiveReader): () => void {
    const state = this.#start(reader);
    state.unfollow = this.followPeers?.(reader, {
      ended: (request) => offer(state, () => request),
      skipped: (count) => {
        state.total += count;
      },
    });
    return () => this.#remove(state);
  }

  /** Adds a reader of a peer, for the requests of this process. @returns a function that removes it. */
  addOfPeer(reader: LiveReader): () => void {
    const state = this.#start(reader);
    return () => this.#remove(state);
  }

  ended(request: EndedRequest): void {
    const { row } = request;
    if (this.#readers.size === 0 || !row.counted) return;
    for (const state of this.#readers) {
      if (matchesFilter(row, state.reader.filter)) offer(state, () => describeRequest(request));
    }
  }

  /** Ends all readers, so that the gateway does not wait for them. */
  close(): void {
    for (const { reader } of this.#readers) reader.end?.();
  }

  #start(reader: LiveReader): State {
    const state = { reader, shown: 0, total: 0 };
    this.#readers.add(state);
    this.#timer ??= setInterval(() => this.#tick(), 1_000).unref();
    return state;
  }

  #tick(): void {
    for (const state of this.#readers) {
      const { reader, shown, total } = state;
      state.shown = 0;
      state.total = 0;
      if (reader.alive?.() === false) this.#remove(state);
      else if (shown < total) reader.sampled?.(shown, total);
    }
  }

  #remove(state: State): void {
    if (!this.#readers.delete(state)) return;
    state.unfollow?.();
    if (this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** @param describe is called only if the request may be shown. */
function offer(state: State, describe: () => Request): void {
  state.total += 1;
  if (state.shown < MAX_PER_SECOND && state.reader.show(describe())) state.shown += 1;
  else state.reader.skipped?.();
}
