import type { Budget, BudgetWindow } from './budget.ts';
import type { BudgetRule } from './limit-rules.ts';
import type { Rate } from './rate.ts';

/**
 * A request of one process for its lease of one limit. Whole numbers: nano-USD of a budget; requests or tokens of a
 * minute, or requests at a time.
 */
export interface LeaseRequest {
  /** Of the window of a budget (`windowId`), or of a kind of a rate. */
  readonly id: string;
  /** The most that all processes may use together. */
  readonly limit: number;
  /** The process can use so much more; negative if it returns a part of its lease. */
  readonly demand: number;
  /** A request of a client that was refused needs so much more. */
  readonly needed: number;
  /** Requests of clients that wait need so much more, all together. */
  readonly waiting?: number;
}

/** The lease of a process, and the leases of its peers. */
export interface LeaseGrant {
  readonly id: string;
  /** The part that no process holds. */
  readonly free: number;
  /** The part that peers hold. */
  readonly peers: number;
}

/** A lease of a budget is the difference of two sums, which the grant and the rows of the ledger change. */
export interface BudgetRequest extends LeaseRequest {
  readonly budget: string;
  readonly rule: BudgetRule;
  readonly window: BudgetWindow;
  /** No grant of this window is known. */
  readonly isNew: boolean;
  /** Spent by this process. */
  readonly used: number;
  /** The part of it that the state has in its rows, if the process writes them there itself. */
  readonly stored?: number | undefined;
}

export interface BudgetGrant extends LeaseGrant {
  /** Subtracted for this process, in total. */
  readonly granted: number;
  /** The part of it that is in rows of the state. */
  readonly settled: number;
  /** Spent by all processes, in rows of the state. */
  readonly spent: number;
}

export interface RateRequest extends LeaseRequest {
  /** Used since the last request. Running requests are not used up. */
  readonly used: number;
  /** The unused part of the lease. */
  readonly left: number;
  /** The lease: also running requests hold theirs. */
  readonly held: number;
}

export interface RateGrant extends LeaseGrant {
  /** Added to the lease. */
  readonly amount: number;
  /** Milliseconds until more is free, if nothing is. */
  readonly waitMs: number;
}

export interface LeaseRequests {
  readonly budgets: readonly BudgetRequest[];
  readonly rates: readonly RateRequest[];
}

export interface LeaseGrants {
  /** Number of processes that share the limits. */
  readonly processes: number;
  readonly budgets: readonly BudgetGrant[];
  readonly rates: readonly RateGrant[];
}

/** Grants leases. A grant is subtracted for all processes before this one may use it. */
export interface LeaseStore {
  /** @throws an error if it is not known whether the store has granted. */
  grant(requests: LeaseRequests): Promise<LeaseGrants>;
}

/** The parts of a gateway whose limits are leased. */
export interface LeasingGateway {
  /** All budgets, by id. */
  budgets(): ReadonlyMap<string, Budget>;
  /** All rates, by id. */
  rates(): ReadonlyMap<string, Rate>;
  /** It is known how much was spent of a budget. */
  spent(budget: Budget): void;
  /** Nano-USD that this process spent in a window, in rows that are not in the state yet. Absent: it is not known. */
  unstored?(budget: Budget, start: number): number;
}

/** Requests of one round, which are granted or fail together. */
export interface LeaseRound<Request, Grant> {
  readonly requests: readonly Request[];
  /** @param at when they were sent; of the monotonic clock. */
  granted(grants: readonly Grant[], at: number): void;
  failed(): void;
}

/**
 * The share of an equal part of the rest that a process may hold. Money is returned later than requests and tokens,
 * so little of it is held when little is left.
 */
export const PART = { budget: 1 / 2, rate: 1 } as const;

/** The amounts of a limit when a request is judged. */
export interface Available {
  /** No process holds it. */
  readonly free: number;
  /** The process holds it, and it is not used. */
  readonly left: number;
  readonly processes: number;
  /** One of `PART`. */
  readonly part: number;
}

/**
 * The rule by which all leases are granted: at most a part of an equal part of all that is not used, in all grants
 * together, and no more than the demand; but the need of a refused request, if it is free, and an equal part for all
 * requests that wait: they use it at once.
 */
export function grantOf(
  { demand, needed, waiting = 0 }: Pick<LeaseRequest, 'demand' | 'needed' | 'waiting'>,
  { free, left, processes, part }: Available,
): number {
  if (demand < 0) return 0;
  const equal = (free + left) / processes;
  const wanted = Math.max(0, needed, Math.min(waiting, equal - left), Math.min(demand, Math.ceil(part * equal) - left));
  return Math.floor(Math.min(free, wanted));
}

/** Of a window of a budget. */
export function windowId(budget: string, start: number): string {
  return `${start} ${budget}`;
}
