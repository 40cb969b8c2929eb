import { RATE_KINDS } from '../../config/settings/limit-values.ts';
import type { LeaseRound, LeasingGateway, RateGrant, RateRequest } from './lease.ts';
import type { Rate } from './rate.ts';
import { RateShare, type SharedRates } from './rate-share.ts';
import { MINUTE_MS } from './sliding-minute.ts';

type Kind = (typeof RATE_KINDS)[number];

/** Milliseconds in which use is collected before it is reported. */
const REPORT_MS = 500;
/** Milliseconds after the last answer of the store in which leases may be used. */
const USABLE_MS = 60_000;
/** Milliseconds without a request after which peers may have the whole lease. */
const IDLE_MS = 1_000;

export interface RateLeasesOptions {
  /** When the store was lost, of the monotonic clock; undefined if it answers. */
  readonly lostAt: () => number | undefined;
  /** Is called with the milliseconds after which leases must be renewed. */
  readonly wake: (milliseconds: number) => void;
  /** Milliseconds in which use is collected before it is reported, default 500. */
  readonly reportMs?: number;
  /** Milliseconds of the window of each rate, default 60,000. It must be that of the store. */
  readonly minuteMs?: number;
  /** Milliseconds after the last answer in which leases may be used, default 60,000. The store holds them longer. */
  readonly usableMs?: number;
}

interface Requested extends RateRequest {
  readonly share: RateShare;
  /** Used without a lease, while the store did not answer. Negative or 0. */
  readonly debt: number;
}

/**
 * The leases of this process of rates. Use that a process reports counts for a minute from then on, and was part
 * of its lease before. So no minute has more than the limit, wherever it starts. A process that ends without a word
 * keeps its lease for more than a minute.
 */
export class RateLeases implements SharedRates {
  readonly #options: RateLeasesOptions;
  readonly #shares = new Map<string, RateShare>();
  #changed = new Set<string>();
  /** Rates of which a peer needs more. */
  inDemand: ReadonlySet<string> = new Set();
  /** Number of processes, as it was known last. Also one that requests nothing must know it when the store stops answering. */
  processes = 1;
  /** When the store answered last; of the monotonic clock. */
  answeredAt = Number.NEGATIVE_INFINITY;

  constructor(options: RateLeasesOptions) {
    this.#options = options;
  }

  shares(id: string): Readonly<Record<Kind, RateShare>> {
    const share = (kind: Kind) => {
      // The first lease is requested before something is used.
      const name = `${kind} ${id}`;
      this.#changed.add(name);
      const found = this.#shares.get(name) ?? new RateShare(name, this);
      this.#shares.set(name, found);
      return found;
    };
    this.#options.wake(0);
    return { requests: share('requests'), tokens: share('tokens'), parallel: share('parallel') };
  }

  get minuteMs(): number {
    return this.#options.minuteMs ?? MINUTE_MS;
  }

  get lostAt(): number | undefined {
    return this.#options.lostAt();
  }

  get usable(): boolean {
    return performance.now() - this.answeredAt < (this.#options.usableMs ?? USABLE_MS);
  }

  /** All leases are lost. Their use is reported with the next round, which requests them again. */
  forget(): void {
    for (const [name, share] of this.#shares) {
      share.forget();
      this.#changed.add(name);
    }
  }

  changed(id: string, share: RateShare): void {
    this.#changed.add(id);
    // More is requested before a lease is used up, so that no request is refused while something is free.
    const soon = share.needed > 0 || share.left < share.unreported;
    this.#options.wake(soon ? 0 : (this.#options.reportMs ?? REPORT_MS));
  }

  /**
   * Reports use, requests more, and returns leases that peers need.
   *
   * @param all whether to renew the leases of all rates, and not only of those that have changed.
   */
  begin(gateway: LeasingGateway, all: boolean): LeaseRound<RateRequest, RateGrant> {
    const rates = gateway.rates();
    const changed = [...this.#changed].map((name) => name.slice(name.indexOf(' ') + 1));
    const requests = [...(all ? rates.keys() : new Set(changed))].flatMap((id) => {
      const rate = rates.get(id);
      return rate === undefined ? [] : RATE_KINDS.flatMap((kind) => this.#request(id, rate, kind));
    });
    this.#changed = new Set();
    const needs = requests.map(({ share }) => share.needed);
    for (const { share } of requests) {
      share.unreported = 0;
      share.needed = 0;
    }
    return {
      requests,
      granted: (grants, at) => {
        const byId = new Map(requests.map((each) => [each.id, each]));
        for (const grant of grants) applyGrant(byId.get(grant.id), grant, at);
      },
      failed: () => {
        // If it was counted, it counts twice: less is allowed, not more.
        for (const [index, { id, share, used }] of requests.entries()) {
          share.unreported += used;
          share.needed = Math.max(share.needed, needs[index] ?? 0);
          this.#changed.add(id);
        }
      },
    };
  }

  #request(id: string, rate: Rate, kind: Kind): Requested | [] {
    const limit = rate.rule[kind];
    const share = rate.shares?.[kind];
    const name = `${kind} ${id}`;
    if (limit === undefined || share === undefined) return [];
    const returns = this.inDemand.has(name) && share.left >= 1 && share.needed === 0;
    if (!returns && !this.#changed.has(name)) return [];
    if (returns) share.left = performance.now() - share.usedAt > IDLE_MS ? 0 : Math.floor(share.left / 2);
    const left = Math.floor(Math.max(0, share.left));
    // Use of more than a minute ago does not count any more.
    const used = kind === 'parallel' ? 0 : Math.round(Math.min(share.unreported, rate[kind].used()));
    const held = left + (kind === 'parallel' ? rate.active : 0);
    const needed = Math.ceil(Math.max(0, Math.min(share.needed, limit) - left));
    // A process can use all of a rate, because nothing is lost when it returns it.
    const demand = returns ? -1 : limit;
    return { id: name, share, limit, used, left, held, needed, demand, debt: Math.min(0, share.left) };
  }
}

/** Use without a lease is reported, too. */
function applyGrant(request: Requested | undefined, { amount, free, peers, waitMs }: RateGrant, at: number): void {
  if (request === undefined) return;
  const { share, debt } = request;
  share.left += amount - debt;
  share.free = free;
  share.peers = peers;
  share.waitMs = Math.max(0, waitMs);
  share.answeredAt = at;
  void share.waits.granted();
}
