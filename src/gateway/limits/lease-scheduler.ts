import { EarliestTimer, SerialQueue } from '../../base/concurrency.ts';
import { defined } from '../../base/json.ts';
import { BudgetLeases } from './budget-leases.ts';
import type { LeaseGrants, LeaseRequests, LeaseStore, LeasingGateway } from './lease.ts';
import { RateLeases } from './rate-leases.ts';

export interface LeaseSchedulerOptions {
  /** Milliseconds between two rounds. */
  readonly intervalMs: number;
  /** When the store was lost, of the monotonic clock. Undefined: it answers. Meanwhile only calls of `renew` request leases. */
  readonly lostAt?: () => number | undefined;
  readonly failed: (thrown: unknown) => void;
  /** As `BudgetLeasesOptions` and `RateLeasesOptions`. */
  readonly usableMs?: number;
  readonly unusedMs?: number;
  readonly reportMs?: number;
  readonly minuteMs?: number;
}

/**
 * Requests the leases of this process from a store when they are needed, one round at a time. It runs in the background:
 * no request of a client waits for it, unless its process has no lease.
 */
export class LeaseScheduler {
  readonly budgets: BudgetLeases;
  readonly rates: RateLeases;
  readonly #store: LeaseStore;
  readonly #options: LeaseSchedulerOptions;
  readonly #rounds = new SerialQueue();
  readonly #timer: EarliestTimer;
  #gateway: LeasingGateway | undefined;
  /** When the last round began; of the monotonic clock. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(store: LeaseStore, options: LeaseSchedulerOptions) {
    this.#store = store;
    this.#options = options;
    const { lostAt = () => undefined, usableMs, unusedMs, reportMs, minuteMs } = options;
    this.#timer = new EarliestTimer(() => {
      this.#renewedAt = performance.now();
      // Without a heartbeat for so long, peers may have been granted the leases. The next one tells.
      if (lostAt() === undefined && this.budgets.usable) void this.renew(false);
    });
    this.budgets = new BudgetLeases({ wake: () => this.#wake(0), lostAt, ...defined({ usableMs, unusedMs }) });
    this.rates = new RateLeases({
      wake: (delay) => this.#wake(delay),
      lostAt,
      ...defined({ usableMs, reportMs, minuteMs }),
    });
  }

  attach(gateway: LeasingGateway): void {
    this.#gateway = gateway;
    this.#wake(0);
  }

  /**
   * The store answered a heartbeat.
   *
   * @param at when it was sent; of the monotonic clock.
   * @param late whether the one before was so long ago that peers may have leases of soft budgets.
   */
  answered(at: number, late = false): void {
    if (!this.rates.usable) this.rates.forget();
    this.budgets.answered(at, late);
    this.rates.answeredAt = at;
  }

  /** Peers may have been granted the leases of this process. The next round requests others. */
  forget(): void {
    this.budgets.forget();
    this.rates.forget();
  }

  /** Peers need more of these: windows of budgets by `windowId`, and rates. */
  inDemand(windows: ReadonlySet<string>, rates: ReadonlySet<string>): void {
    this.budgets.inDemand = windows;
    this.rates.inDemand = rates;
  }

  /**
   * One round.
   *
   * @param all whether to renew the leases of all limits, and not only of those that have changed.
   * @returns whether it did not fail.
   */
  async renew(all: boolean): Promise<boolean> {
    try {
      await this.#rounds.run(() => this.#renew(all));
      return true;
    } catch (thrown) {
      this.#options.failed(thrown);
      return false;
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#timer.stop();
  }

  #wake(delay: number): void {
    if (this.#stopped || this.#gateway === undefined) return;
    this.#timer.start(Math.max(this.#renewedAt + this.#options.intervalMs - performance.now(), delay));
  }

  async #renew(all: boolean): Promise<void> {
    if (this.#gateway === undefined) return;
    const budgets = this.budgets.begin(this.#gateway, all);
    const rates = this.rates.begin(this.#gateway, all);
    const at = performance.now();
    // Rows of the ledger wait for grants of budgets in Postgres, so these do not wait for rates.
    try {
      if (budgets.requests.length > 0) budgets.granted((await this.#grant({ budgets: budgets.requests })).budgets, at);
    } catch (thrown) {
      for (const round of [budgets, rates]) round.failed();
      throw thrown;
    }
    try {
      if (rates.requests.length > 0) rates.granted((await this.#grant({ rates: rates.requests })).rates, at);
    } catch (thrown) {
      rates.failed();
      throw thrown;
    }
  }

  async #grant({ budgets = [], rates = [] }: Partial<LeaseRequests>): Promise<LeaseGrants> {
    const grants = await this.#store.grant({ budgets, rates });
    this.rates.processes = grants.processes;
    return grants;
  }
}
