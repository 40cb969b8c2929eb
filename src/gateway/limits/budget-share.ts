import { GrantWaits } from './grant-waits.ts';

/** The share of one process in a window of a budget that several processes spend. Nano-USD. */
export interface WindowShare {
  /** Subtracted for this process in the shared state, in total. */
  granted: number;
  /** The spending of this process, in total. */
  used: number;
  /** The part of it that is in rows of the state; of the last grant. */
  settled: number;
  /** The part that no process holds; of the last grant. */
  free: number;
  /** The part that peers hold; of the last grant. */
  peers: number;
}

/**
 * The shares of a process in a budget. They are subtracted from the budget before they are spent, so processes that
 * know nothing of each other can't exceed the budget together.
 */
export class BudgetShare {
  readonly #windows = new Map<number, WindowShare>();
  /** Spent before the first grant of a window. */
  readonly #early = new Map<number, number>();
  readonly waits = new GrantWaits();
  readonly #changed: () => void;
  readonly #usable: () => boolean;
  readonly #reachable: () => boolean;
  /** The largest amount that a request needed. */
  largest = 0;
  /** The largest amount that was refused since the last request for a lease. */
  needed = 0;
  /** The amount of all requests that wait for a grant. */
  waiting = 0;
  /** The lease must be returned, because the budget is lower than before. */
  lowered = false;
  /** The lease must be returned, and nothing of it may be spent, because peers may have it. */
  recalled = false;
  /** Spent since a time of the monotonic clock. */
  recent = { nano: 0, since: performance.now() };
  /** When something was spent or needed; of the monotonic clock. */
  usedAt = 0;

  /**
   * @param usable whether the shared state answered not long ago.
   * @param changed is called when more may be needed.
   * @param reachable whether the shared state will probably answer soon.
   */
  constructor(usable: () => boolean, changed: () => void, reachable: () => boolean = usable) {
    this.#reachable = reachable;
    this.#usable = usable;
    this.#changed = changed;
  }

  /** Undefined before the first grant of the window. */
  window(start: number): WindowShare | undefined {
    return this.#windows.get(start);
  }

  /** The spending of this process in the window, also before the first grant of it. */
  used(start: number): number {
    return this.#windows.get(start)?.used ?? this.#early.get(start) ?? 0;
  }

  /** Whether more can be granted now. */
  get usable(): boolean {
    return this.#usable();
  }

  /** Whether it makes sense to wait for a grant. */
  get reachable(): boolean {
    return this.#reachable();
  }

  left(start: number): number {
    const found = this.#windows.get(start);
    return found === undefined || this.recalled || !this.#usable() ? 0 : found.granted - found.used;
  }

  spend(start: number, nano: number): void {
    const found = this.#windows.get(start);
    if (found !== undefined) found.used += nano;
    else this.#early.set(start, (this.#early.get(start) ?? 0) + nano);
    this.recent.nano += nano;
    this.#note(nano);
  }

  /** A request was refused because less is left. */
  need(nano: number): void {
    this.needed = Math.max(this.needed, nano);
    this.#note(nano);
  }

  /** @param share has the counts of the shared state for this process; also of budgets that were removed meanwhile. */
  grant(start: number, share: Omit<WindowShare, 'used'>): void {
    const used = Math.max(this.used(start), share.settled);
    this.#early.delete(start);
    this.#windows.set(start, { ...share, used });
    for (const old of [...this.#windows.keys()].sort((a, b) => b - a).slice(3)) this.#windows.delete(old);
    void this.waits.granted();
  }

  /** The leases are lost. Spent money counts with the next grant. */
  forget(): void {
    for (const [start, { used }] of this.#windows) this.#early.set(start, used);
    this.#windows.clear();
  }

  /** The budget is lower than before. */
  lower(): void {
    this.lowered = true;
    this.#changed();
  }

  /** Peers may have the lease. */
  recall(): void {
    this.recalled = true;
    this.#changed();
  }

  /** Must be called when a lease was requested. */
  requested(): void {
    this.needed = 0;
    this.lowered = false;
    this.recalled = false;
    this.recent = { nano: 0, since: performance.now() };
  }

  /** The request for a lease failed. */
  requestAgain({ needed, lowered, recalled }: Pick<BudgetShare, 'needed' | 'lowered' | 'recalled'>): void {
    this.lowered ||= lowered;
    this.recalled ||= recalled;
    this.needed = Math.max(this.needed, needed);
  }

  #note(nano: number): void {
    this.largest = Math.max(this.largest, nano);
    this.usedAt = performance.now();
    this.#changed();
  }
}

/** Gives the processes that share a state their shares of budgets. */
export interface SharedBudgets {
  share(id: string, hard: boolean): BudgetShare;
}
