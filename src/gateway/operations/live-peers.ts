import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { defined, parseJson } from '../../base/json.ts';
import * as schemas from '../../protocol/admin-api/shared-schemas.ts';
import { REQUEST_FILTERS } from '../accounting/request-history.ts';
import type { LiveReader, LiveReceiver, LiveRequests } from './live-requests.ts';

/** Requests that a report has, for all readers together. Of more, the newest. */
const MAX_REQUESTS = 200;
/** Milliseconds for which a request is in the reports: a peer may read some of them late. */
const KEPT_MS = 10_000;

/** A page that shows live requests. */
const reader = z.object({
  id: z.string(),
  owner: z.object({ key: z.string(), isAdmin: z.boolean() }),
  filter: z.partialRecord(z.enum(REQUEST_FILTERS), z.string()),
});
/** Numbers by the id of a reader. */
const byReader = z.record(z.string(), z.number());
/** The live requests of a process, as its peers read them. */
const liveReport = z.object({
  /** Those of this process. */
  readers: z.array(reader),
  /** The number of requests of this process for each reader of a peer. */
  totals: byReader,
  /** The last of them. Each has its number for the readers that are shown it. */
  requests: z.array(z.object({ numbers: byReader, request: schemas.request })),
});

/** That member of the report of a process about itself. Another release may write it in another way. */
const withLive = z.object({ live: liveReport });

export type LiveReport = z.infer<typeof liveReport>;
type Reader = z.infer<typeof reader>;

interface OwnReader {
  readonly reader: Reader;
  readonly receiver: LiveReceiver;
  /** The number of requests of each peer that were received. */
  readonly received: Map<string, number>;
}

interface PeerReader {
  readonly remove: () => void;
  total: number;
}

interface Kept {
  readonly at: number;
  readonly numbers: Record<string, number>;
  readonly request: schemas.Request;
}

/**
 * The live requests of processes that share a state, by their heartbeats. Each process applies the filter and the limit
 * of a reader to its requests, and the process of the reader applies the limit again to those of all.
 */
export class LivePeers {
  readonly #live: LiveRequests;
  readonly #own = new Map<string, OwnReader>();
  readonly #ofPeers = new Map<string, PeerReader>();
  /** By id of the request. */
  readonly #kept = new Map<string, Kept>();

  constructor(live: LiveRequests) {
    this.#live = live;
    live.followPeers = (each, receiver) => this.#followPeers(each, receiver);
  }

  /** For the next heartbeat. Undefined: nobody watches. */
  report(): LiveReport | undefined {
    if (this.#own.size === 0 && this.#ofPeers.size === 0) return undefined;
    const late = performance.now() - KEPT_MS;
    for (const [id, { at }] of this.#kept) if (at < late) this.#kept.delete(id);
    return {
      readers: [...this.#own.values()].map((each) => each.reader),
      totals: Object.fromEntries([...this.#ofPeers].map(([id, { total }]) => [id, total])),
      requests: [...this.#kept.values()].map(({ numbers, request }) => ({ numbers, request })),
    };
  }

  /** @param facts the reports of peers about themselves, by id of the process. Those that can't be read are left out. */
  read(facts: ReadonlyMap<string, string>): void {
    const readers = new Map<string, Reader>();
    for (const [peer, text] of facts) {
      const report = withLive.safeParse(parseJson(text)).data?.live;
      if (report === undefined) continue;
      for (const each of report.readers) readers.set(each.id, each);
      for (const own of this.#own.values()) receive(own, peer, report);
    }
    for (const [id, { remove }] of this.#ofPeers) {
      if (readers.has(id)) continue;
      remove();
      this.#ofPeers.delete(id);
    }
    if (this.#ofPeers.size === 0) this.#kept.clear();
    for (const each of readers.values()) if (!this.#ofPeers.has(each.id)) this.#addOfPeer(each);
  }

  #followPeers({ owner, filter }: Pick<LiveReader, 'owner' | 'filter'>, receiver: LiveReceiver): () => void {
    const id = randomUUID();
    const { key, isAdmin } = owner;
    const described = { id, owner: { key, isAdmin }, filter: defined({ ...filter }) };
    this.#own.set(id, { reader: described, receiver, received: new Map() });
    return () => void this.#own.delete(id);
  }

  #addOfPeer({ id, owner, filter }: Reader): void {
    const remove = this.#live.addOfPeer({
      owner,
      filter,
      show: (request) => {
        state.total += 1;
        this.#keep(id, state.total, request);
        return true;
      },
      skipped: () => {
        state.total += 1;
      },
    });
    const state: PeerReader = { remove, total: 0 };
    this.#ofPeers.set(id, state);
  }

  #keep(id: string, number: number, request: schemas.Request): void {
    const kept = this.#kept.get(request.id) ?? { at: performance.now(), numbers: {}, request };
    kept.numbers[id] = number;
    this.#kept.set(request.id, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_REQUESTS && oldest !== undefined) this.#kept.delete(oldest);
  }
}

function receive({ reader: { id }, receiver, received }: OwnReader, peer: string, report: LiveReport): void {
  const total = report.totals[id];
  if (total === undefined) return;
  const known = received.get(peer) ?? 0;
  // A peer that did not see this process for a while counts from the start.
  const before = known > total ? 0 : known;
  const requests = report.requests.filter(({ numbers }) => (numbers[id] ?? 0) > before);
  received.set(peer, total);
  for (const { request } of requests) receiver.ended(request);
  receiver.skipped(total - before - requests.length);
}
