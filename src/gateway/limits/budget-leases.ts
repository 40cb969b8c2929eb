import type { Budget, BudgetWindow } from './budget.ts';
import { BudgetShare, type SharedBudgets } from './budget-share.ts';
import { grantsSoon } from './grant-waits.ts';
import { type BudgetGrant, type BudgetRequest, type LeaseRound, type LeasingGateway, windowId } from './lease.ts';

/** Nano-USD that a process requests if it does not know the cost of requests. */
const BASE_NANO = 250_000_000;
/**
 * A process requests its spending of this time, so that it can go on while the store is started again, and for this
 * many of its largest requests.
 */
const AHEAD_MS = 120_000;
/** It requests more when less than this part is left. */
const REFILL = 0.75;
const AHEAD_REQUESTS = 4;
/** Milliseconds before the end of a window in which the lease of the next one is requested. */
const NEXT_MS = 30_000;
/** Milliseconds after the last grant of the store in which leases may be spent. */
const USABLE_MS = 600_000;
/**
 * Milliseconds without an answer of a store that is not lost: this process was frozen. Peers may have its leases of soft
 * budgets, so it uses none of them before the next heartbeat. Less than `LATE_MS` in Postgres.
 */
const FROZEN_MS = 12_000;
/** Milliseconds without a request after which peers may have the whole lease. */
const IDLE_MS = 2_000;
/** Milliseconds without a request after which the whole lease is returned: a process that is killed later holds nothing. */
const UNUSED_MS = 20_000;

export interface BudgetLeasesOptions {
  /** Is called when more may be needed. */
  readonly wake: () => void;
  /** When the store was lost, of the monotonic clock; undefined if it answers. */
  readonly lostAt: () => number | undefined;
  /** Milliseconds after the last grant in which leases may be spent, default 600,000. */
  readonly usableMs?: number;
  /** Milliseconds without a request after which a lease is returned, default 20,000. */
  readonly unusedMs?: number;
}

/**
 * The leases of this process of budgets. A lease is subtracted from the budget when it is granted, and it is settled
 * when the rows are stored. So the sum of spending and leases never exceeds a budget,
 * whatever happens to processes and connections.
 */
export class BudgetLeases implements SharedBudgets {
  readonly #options: BudgetLeasesOptions;
  readonly #unusedMs: number;
  /** Also of budgets that were removed, because their leases still exist. */
  readonly #shares = new Map<string, BudgetShare>();
  readonly #soft = new Set<BudgetShare>();
  /** Budgets of which something was spent or needed. */
  #changed = new Set<string>();
  /** Windows of which a peer needs more, by `windowId`. */
  inDemand: ReadonlySet<string> = new Set();
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(options: BudgetLeasesOptions) {
    this.#options = options;
    this.#unusedMs = options.unusedMs ?? UNUSED_MS;
  }

  share(id: string, hard: boolean): BudgetShare {
    const found = this.#shares.get(id);
    if (found !== undefined) return found;
    const { wake, lostAt } = this.#options;
    const changed = () => {
      this.#changed.add(id);
      wake();
    };
    const share = new BudgetShare(
      () => this.usable && (hard || !this.#isFrozen),
      changed,
      () => grantsSoon(lostAt()),
    );
    this.#shares.set(id, share);
    if (!hard) this.#soft.add(share);
    // Nothing is leased for a key that no one uses: its first request requests a lease.
    return share;
  }

  /** Whether leases may be spent: the store answered not long ago. */
  get usable(): boolean {
    return performance.now() - this.#answeredAt < (this.#options.usableMs ?? USABLE_MS);
  }

  get #isFrozen(): boolean {
    return performance.now() - this.#answeredAt > FROZEN_MS && this.#options.lostAt() === undefined;
  }

  /**
   * The store answered a heartbeat.
   *
   * @param at when it was sent; of the monotonic clock.
   * @param late whether peers may have leases of soft budgets, because the one before was long ago. They are returned.
   */
  answered(at: number, late: boolean): void {
    if (late) for (const share of this.#soft) share.recall();
    this.#answeredAt = at;
  }

  /** All leases are lost. */
  forget(): void {
    for (const share of this.#shares.values()) share.forget();
  }

  /**
   * Requests the leases that budgets need, and returns those that peers need.
   *
   * @param all whether to renew the leases of all budgets, and not only of those that have changed.
   */
  begin(gateway: LeasingGateway, all: boolean): LeaseRound<BudgetRequest, BudgetGrant> {
    const budgets = gateway.budgets();
    const requested = this.#requests(all, budgets, gateway);
    this.#changed = new Set();
    const renewals = requested.map(({ budget: { share }, budget, request }) => {
      returnLease(budget, request);
      const { needed = 0, lowered = false, recalled = false } = share ?? {};
      share?.requested();
      return () => {
        share?.requestAgain({ needed, lowered, recalled });
        if (recalled) keepLease(budget, request);
      };
    });
    return {
      requests: requested.map(({ request }) => request),
      granted: (grants, at) => {
        // Only a heartbeat tells that peers have nothing.
        if (!this.#isFrozen) this.#answeredAt = at;
        const byId = new Map(requested.map((each) => [each.request.id, each]));
        for (const grant of grants) {
          const found = byId.get(grant.id);
          if (found !== undefined) applyGrant(found, grant, gateway);
        }
      },
      failed: () => {
        for (const requestAgain of renewals) requestAgain();
      },
    };
  }

  #requests(all: boolean, budgets: ReadonlyMap<string, Budget>, gateway: LeasingGateway): Requested[] {
    const now = Date.now();
    const ids = all ? budgets.keys() : this.#changed;
    const found: Requested[] = [];
    for (const id of ids) {
      const budget = budgets.get(id);
      if (budget === undefined) continue;
      const window = budget.window(now);
      const own =
        this.#need(id, budget, window) ?? (all && isUnsettled(budget, window, gateway) ? NOTHING_MORE : undefined);
      if (own !== undefined) found.push(requestOf(id, budget, window, own, gateway));
      if (window.end - now >= NEXT_MS || !wasUsed(budget) || this.#isUnused(budget)) continue;
      const next = budget.windowAt(window.end);
      if (budget.share?.window(next.start) === undefined) {
        found.push(requestOf(id, budget, next, { demand: BASE_NANO, needed: 0 }, gateway));
      }
    }
    return found;
  }

  #isUnused({ share, reserved }: Budget): boolean {
    return reserved === 0 && performance.now() - (share?.usedAt ?? 0) > this.#unusedMs;
  }

  #need(id: string, budget: Budget, window: BudgetWindow): Need | undefined {
    const { share } = budget;
    if (share === undefined) return undefined;
    const { largest, recent } = share;
    const known = share.window(window.start);
    if (known === undefined && !wasUsed(budget)) return undefined;
    const left = (known?.granted ?? 0) - (known?.used ?? 0) - budget.reserved;
    if ((share.lowered || share.recalled) && left > 0) return { demand: -left, needed: 0 };
    share.recalled = false;
    const elapsed = Math.max(1_000, performance.now() - recent.since);
    const target = Math.max(BASE_NANO, AHEAD_REQUESTS * largest, (recent.nano / elapsed) * AHEAD_MS);
    const missing = (nano: number) => (nano > left ? nano - Math.max(0, left) : 0);
    const [needed, waiting] = [missing(share.needed), missing(share.waiting)];
    if (known === undefined || needed > 0) return { demand: target - left, needed, waiting };
    if (this.#isUnused(budget)) return left > 0 ? { demand: -left, needed: 0 } : undefined;
    if (left > 0 && this.inDemand.has(windowId(id, window.start))) {
      // An amount below the need of a request can't be spent here.
      const keep = performance.now() - share.usedAt > IDLE_MS || left < largest ? 0 : largest;
      if (left > keep) return { demand: keep - left, needed: 0 };
    }
    // If nothing is free, the next request that is refused requests more.
    return left < target * REFILL && known.free > 0 ? { demand: target - left, needed: 0 } : undefined;
  }
}

type Need = Pick<BudgetRequest, 'demand' | 'needed' | 'waiting'>;
const NOTHING_MORE: Need = { demand: 0, needed: 0 };

interface Requested {
  readonly budget: Budget;
  readonly request: BudgetRequest;
}

function requestOf(
  id: string,
  budget: Budget,
  window: BudgetWindow,
  { demand, needed, waiting = 0 }: Need,
  gateway: LeasingGateway,
): Requested {
  const { share, rule } = budget;
  const used = share?.used(window.start) ?? 0;
  const request: BudgetRequest = {
    id: windowId(id, window.start),
    budget: id,
    rule,
    window,
    limit: rule.nano,
    isNew: share?.window(window.start) === undefined,
    demand: Math.round(demand),
    needed: Math.round(needed),
    waiting: Math.round(waiting),
    used,
    stored: storedPart(budget, window, used, gateway),
  };
  return { budget, request };
}

function storedPart(budget: Budget, window: BudgetWindow, used: number, gateway: LeasingGateway): number | undefined {
  const unstored = gateway.unstored?.(budget, window.start);
  return unstored === undefined ? undefined : Math.max(0, used - unstored);
}

/** Whether rows of this process were stored since the last grant: until they are settled, peers count them twice. */
function isUnsettled(budget: Budget, window: BudgetWindow, gateway: LeasingGateway): boolean {
  const known = budget.share?.window(window.start);
  if (known === undefined || known.used === known.settled) return false;
  const stored = storedPart(budget, window, known.used, gateway);
  return stored !== undefined && stored !== known.settled;
}

/** Whether a request has used or needed a budget since this process started. */
function wasUsed({ share }: Budget): boolean {
  return share !== undefined && share.usedAt > 0;
}

function applyGrant(
  { budget, request: { window } }: Requested,
  { granted, settled, spent, free, peers }: BudgetGrant,
  gateway: LeasingGateway,
): void {
  budget.share?.grant(window.start, { granted, settled, free, peers });
  if (budget.window().start !== window.start) return;
  // Rows that are not stored yet are part of the spending.
  const unsettled = (budget.share?.window(window.start)?.used ?? 0) - settled;
  budget.restore(spent + unsettled);
  gateway.spent(budget);
}

/** Returned leases must not be spent, whether the request arrives or not. */
function returnLease(budget: Budget, { window, demand }: BudgetRequest): void {
  const known = budget.share?.window(window.start);
  if (known !== undefined && demand < 0) known.granted += demand;
}

/** It is not known whether the store has it back: the next request returns it again. */
function keepLease(budget: Budget, { window, demand }: BudgetRequest): void {
  const known = budget.share?.window(window.start);
  if (known !== undefined && demand < 0) known.granted -= demand;
}
