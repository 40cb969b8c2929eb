import { matchesModelPattern } from '../../catalog/model-pattern.ts';
import { RATE_KINDS } from '../../config/settings/limit-values.ts';
import type { RateRule } from './limit-rules.ts';
import type { RateShare } from './rate-share.ts';
import { SlidingMinute } from './sliding-minute.ts';

/** The use of a rate by all requests that it counts. It is kept in this process; the limits may change meanwhile. */
export class Rate {
  #rule: RateRule;
  readonly requests: SlidingMinute;
  readonly tokens: SlidingMinute;
  /** Running requests. */
  active = 0;
  /** Absent: only this process counts. */
  readonly shares: RateShares | undefined;

  constructor(rule: RateRule, shares?: RateShares) {
    this.#rule = rule;
    this.shares = shares;
    this.requests = new SlidingMinute(shares?.requests.minuteMs);
    this.tokens = new SlidingMinute(shares?.tokens.minuteMs);
  }

  get rule(): RateRule {
    return this.#rule;
  }

  set rule(rule: RateRule) {
    const before = this.#rule;
    this.#rule = rule;
    for (const kind of RATE_KINDS) {
      if ((rule[kind] ?? Number.POSITIVE_INFINITY) < (before[kind] ?? 0)) this.shares?.[kind].lower();
    }
  }

  /** Milliseconds until `amount` may be used; 0 if it may be used now. */
  wait(of: 'requests' | 'tokens', amount: number, limit: number, now: number): number {
    if (this.shares === undefined) return this[of].wait(amount, limit, now);
    const own = {
      used: () => this[of].used(now),
      wait: (part: number) => this[of].wait(Math.min(amount, part), part, now),
    };
    return this.shares[of].wait(amount, limit, own, now);
  }

  /** Milliseconds until another request may run; 0 if it may run now. */
  waitParallel(limit: number, now: number): number {
    const wait = (part: number) => (this.active >= part ? PARALLEL_WAIT_MS : 0);
    if (this.shares === undefined) return wait(limit);
    return this.shares.parallel.wait(1, limit, { used: () => this.active, wait }, now);
  }

  add(of: 'requests' | 'tokens', amount: number, now?: number): void {
    this[of].add(amount, now);
    this.shares?.[of].use(amount);
  }

  /** A request starts, or ends with -1. */
  run(change: 1 | -1): void {
    this.active += change;
    if (this.rule.parallel !== undefined) this.shares?.parallel.use(change);
  }

  used(of: 'requests' | 'tokens', limit: number, now: number): number {
    return this.shares === undefined ? this[of].used(now) : limit - this.shares[of].remaining(limit);
  }

  get countsAllModels(): boolean {
    return this.rule.model === '*';
  }

  countsModel(ref: string): boolean {
    return this.countsAllModels || matchesModelPattern(this.rule.model, ref);
  }
}

/** The shares of a process in a rate that several processes use. */
export type RateShares = Readonly<Record<'requests' | 'tokens' | 'parallel', RateShare>>;

/** A limit that a request exceeds. */
export interface Excess {
  readonly rate: Rate;
  readonly of: 'requests' | 'tokens' | 'parallel';
  readonly limit: number;
  readonly waitMs: number;
  readonly amount: number;
}

/** Milliseconds after which a request may be repeated if too many are running. Nobody knows when one ends. */
const PARALLEL_WAIT_MS = 1_000;

/** Takes a request of each rate, or of none. @returns the limit that the request exceeds. */
export function takeRequest(rates: readonly Rate[], now = performance.now()): Excess | undefined {
  for (const rate of rates) {
    const { requests, parallel } = rate.rule;
    const parallelMs = parallel === undefined ? 0 : rate.waitParallel(parallel, now);
    if (parallel !== undefined && parallelMs > 0)
      return { rate, of: 'parallel', limit: parallel, waitMs: parallelMs, amount: 1 };
    const waitMs = requests === undefined ? 0 : rate.wait('requests', 1, requests, now);
    if (requests !== undefined && waitMs > 0) return { rate, of: 'requests', limit: requests, waitMs, amount: 1 };
  }
  for (const rate of rates) {
    rate.run(1);
    if (rate.rule.requests !== undefined) rate.add('requests', 1, now);
  }
  return undefined;
}

/**
 * Takes the estimated tokens of a request of each rate, or of none. A request that is larger than the limit may start
 * when nothing was used for a minute. @returns the limit that the request exceeds.
 */
export function takeTokens(rates: readonly Rate[], amount: number, now = performance.now()): Excess | undefined {
  for (const rate of rates) {
    const { tokens } = rate.rule;
    if (tokens === undefined) continue;
    const needed = Math.min(amount, tokens);
    const waitMs = rate.wait('tokens', needed, tokens, now);
    if (waitMs > 0) return { rate, of: 'tokens', limit: tokens, waitMs, amount: needed };
  }
  for (const rate of rates) if (rate.rule.tokens !== undefined) rate.add('tokens', amount, now);
  return undefined;
}

/**
 * Calls `add` with `RateLimit-*` of the rate with the smallest remaining share, and with the names of OpenAI's API for
 * its SDKs. Every answer of a limited key has them.
 */
export function describeRates(
  rates: readonly Rate[],
  of: 'requests' | 'tokens',
  add: (headers: Readonly<Record<string, string>>) => void,
): void {
  const now = performance.now();
  let tightest: Rate | undefined;
  let limit = 0;
  let used = 0;
  for (const rate of rates) {
    const own = rate.rule[of];
    if (own === undefined) continue;
    const ownUsed = rate.used(of, own, now);
    if (tightest !== undefined && ownUsed * limit <= used * own) continue;
    tightest = rate;
    limit = own;
    used = ownUsed;
  }
  if (tightest === undefined) return;
  const remaining = String(Math.max(0, Math.floor(limit - used)));
  const reset = String(Math.ceil(tightest[of].oldest(now) / 1000));
  if (of === 'tokens') {
    add({
      'x-ratelimit-limit-tokens': String(limit),
      'x-ratelimit-remaining-tokens': remaining,
      'x-ratelimit-reset-tokens': `${reset}s`,
    });
    return;
  }
  add({
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': remaining,
    'ratelimit-reset': reset,
    'ratelimit-policy': `${limit};w=60`,
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': remaining,
    'x-ratelimit-reset-requests': `${reset}s`,
  });
}
