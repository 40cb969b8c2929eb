import { SerialQueue } from '../../base/concurrency.ts';
import { RATE_KINDS } from '../../config/settings/limit-values.ts';
import type { Rate } from './rate.ts';
import { RateShare, type SharedRates } from './rate-share.ts';
import { MINUTE_MS } from './sliding-minute.ts';

type Kind = (typeof RATE_KINDS)[number];

/** Milliseconds in which use is collected before it is reported. */
const REPORT_MS = 500;
/** Milliseconds without a request after which others may have the whole share. */
const IDLE_MS = 1_000;

/** A report of a process about its lease of one rate. Integers. */
export interface RateQuestion {
  readonly id: string;
  readonly limit: number;
  /** Used since the last question. Running requests are not used up. */
  readonly used: number;
  /** The unused part of the lease. */
  readonly left: number;
  /** The lease: also running requests hold theirs. */
  readonly held: number;
  /** The additional need of a refused request; negative if a part of the lease is given back. */
  readonly needed: number;
}

export interface RateAnswer {
  readonly id: string;
  readonly extra: number;
  /** The part that no process holds. */
  readonly free: number;
  /** The part that peers hold. */
  readonly others: number;
  /** Milliseconds until more is free, if nothing is. */
  readonly waitMs: number;
}

/** Grants leases of rates: at most an equal part of the free part, but the need of a request, if it is there. */
export interface RateStore {
  /** @throws an error if it is not known whether the store has counted. */
  ask(questions: readonly RateQuestion[]): Promise<RateGrants>;
}

export interface RateGrants {
  readonly answers: readonly RateAnswer[];
  /** Number of gateways. */
  readonly replicas: number;
}

export interface RateLeasesOptions {
  /** When the store was lost, of the monotonic clock; undefined if it answers. */
  readonly lostAt: () => number | undefined;
  /** Is called with the milliseconds after which `ask` must be called. */
  readonly wake: (milliseconds: number) => void;
  /** Milliseconds in which use is collected before it is reported, default 500. */
  readonly reportMs?: number;
  /** Milliseconds of the window of each rate, default 60,000. It must be that of the store. */
  readonly minuteMs?: number;
  /** Number of gateways while the store is away, if it is known from elsewhere. */
  readonly replicas?: () => number | undefined;
}

interface Asked extends RateQuestion {
  readonly share: RateShare;
  /** Used without a share, while the store was away. Negative or 0. */
  readonly debt: number;
}

/**
 * Shares of rates as leases in a store. Use that a process reports counts for a minute from then on, and was part
 * of its lease before. So no minute has more than the limit, wherever it starts. A process that ends without a word
 * keeps its lease for more than a minute.
 */
export class RateLeases implements SharedRates {
  readonly #store: RateStore;
  readonly #options: RateLeasesOptions;
  readonly #shares = new Map<string, RateShare>();
  #changed = new Set<string>();
  readonly #rounds = new SerialQueue();
  #replicas = 1;
  /** Rates of which another process needs more. */
  wanted: ReadonlySet<string> = new Set();

  constructor(store: RateStore, options: RateLeasesOptions) {
    this.#store = store;
    this.#options = options;
  }

  shares(id: string): Readonly<Record<Kind, RateShare>> {
    const share = (kind: Kind) => {
      // The first question is asked before something is used.
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

  /** Number of gateways; of the last answer, unless the store is away and it is known from elsewhere. */
  get replicas(): number {
    return (this.lostAt === undefined ? undefined : this.#options.replicas?.()) ?? this.#replicas;
  }

  /** Also a process that asks for nothing must know it when the store goes away. */
  set replicas(count: number) {
    this.#replicas = count;
  }

  changed(id: string, share: RateShare): void {
    this.#changed.add(id);
    // More is asked for before a lease is used up, so that no request is refused while something is free.
    const soon = share.needed > 0 || share.left < share.unreported;
    this.#options.wake(soon ? 0 : (this.#options.reportMs ?? REPORT_MS));
  }

  /**
   * Reports use, requests more, and gives back leases that peers need. One request at a time.
   *
   * @param all whether to look at all rates, and not only at those that have changed.
   */
  ask(rates: ReadonlyMap<string, Rate>, all: boolean): Promise<void> {
    return this.#rounds.run(() => this.#ask(rates, all));
  }

  async #ask(rates: ReadonlyMap<string, Rate>, all: boolean): Promise<void> {
    const changed = [...this.#changed].map((name) => name.slice(name.indexOf(' ') + 1));
    const questions = [...(all ? rates.keys() : new Set(changed))].flatMap((id) => {
      const rate = rates.get(id);
      return rate === undefined ? [] : RATE_KINDS.flatMap((kind) => this.#question(id, rate, kind));
    });
    this.#changed = new Set();
    if (questions.length === 0) return;
    const asked = performance.now();
    const needs = questions.map(({ share }) => share.needed);
    for (const { share } of questions) {
      share.unreported = 0;
      share.needed = 0;
    }
    try {
      const { answers, replicas } = await this.#store.ask(questions);
      this.#replicas = replicas;
      const byId = new Map(questions.map((each) => [each.id, each]));
      for (const answer of answers) applyAnswer(byId.get(answer.id), answer, asked);
    } catch (thrown) {
      // If it was counted, it counts twice: less is allowed, not more.
      for (const [index, { id, share, used }] of questions.entries()) {
        share.unreported += used;
        share.needed = Math.max(share.needed, needs[index] ?? 0);
        this.#changed.add(id);
      }
      throw thrown;
    }
  }

  #question(id: string, rate: Rate, kind: Kind): Asked | [] {
    const limit = rate.rule[kind];
    const share = rate.shares?.[kind];
    const name = `${kind} ${id}`;
    if (limit === undefined || share === undefined) return [];
    const gives = this.wanted.has(name) && share.left >= 1 && share.needed === 0;
    if (!gives && !this.#changed.has(name)) return [];
    if (gives) share.left = performance.now() - share.usedAt > IDLE_MS ? 0 : Math.floor(share.left / 2);
    const left = Math.floor(Math.max(0, share.left));
    // Use of more than a minute ago does not count any more.
    const used = kind === 'parallel' ? 0 : Math.round(Math.min(share.unreported, rate[kind].used()));
    const held = left + (kind === 'parallel' ? rate.active : 0);
    const needed = gives ? -1 : Math.ceil(Math.max(0, Math.min(share.needed, limit) - left));
    return { id: name, share, limit, used, left, held, needed, debt: Math.min(0, share.left) };
  }

  /** The store has lost its data: all use of the last minute is reported with the next request. */
  reportAll(rates: ReadonlyMap<string, Rate>): void {
    for (const [id, rate] of rates) {
      for (const kind of RATE_KINDS) {
        const share = rate.shares?.[kind];
        if (share === undefined || rate.rule[kind] === undefined) continue;
        share.unreported = kind === 'parallel' ? 0 : rate[kind].used();
        this.#changed.add(`${kind} ${id}`);
      }
    }
  }
}

/** Use without a share is reported, too. */
function applyAnswer(question: Asked | undefined, { extra, free, others, waitMs }: RateAnswer, asked: number): void {
  if (question === undefined) return;
  const { share, debt } = question;
  share.left += extra - debt;
  share.free = free;
  share.others = others;
  share.waitMs = Math.max(0, waitMs);
  share.answeredAt = asked;
  share.answers.arrived();
}
