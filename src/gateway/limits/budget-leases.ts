import { SerialQueue } from '../../base/concurrency.ts';
import { answersSoon } from './answers.ts';
import type { Budget, BudgetWindow } from './budget.ts';
import { BudgetShare, type SharedBudgets } from './budget-share.ts';

/** Nano-USD that a process requests if it does not know the cost of requests. */
const BASE_NANO = 250_000_000;
/**
 * A process requests its spending of this time, so that it can go on while the store is started again, and for this
 * many of its largest requests.
 */
const AHEAD_MS = 120_000;
/** It asks again when less than this part is left. */
const REFILL = 0.75;
const AHEAD_REQUESTS = 4;
/** Milliseconds before the end of a window in which the share of the next one is requested. */
const NEXT_MS = 30_000;
/** Milliseconds after the last answer of the store in which shares may be spent. */
const USABLE_MS = 600_000;
/** Milliseconds without a request after which others may have the whole share. */
const IDLE_MS = 2_000;
/** Milliseconds without a request after which the whole share is given back: one that is killed later takes nothing away. */
const UNUSED_MS = 20_000;

/** The lease that a process requests of one window of a budget. */
export interface BudgetQuestion {
  readonly id: string;
  readonly budget: Budget;
  readonly window: BudgetWindow;
  /** Nano-USD more; negative if some are given back. */
  readonly want: number;
  /** The least amount that a refused request needs. */
  readonly needed: number;
}

/** Nano-USD of a window. */
export interface BudgetAnswer {
  readonly id: string;
  readonly start: number;
  /** Subtracted for this process, in total. */
  readonly granted: number;
  /** The part of it that the store has counted as spent. */
  readonly settled: number;
  /** Spent by all processes. */
  readonly spent: number;
  /** The part that no process holds. */
  readonly free: number;
  /** The part that peers hold. */
  readonly others: number;
}

/**
 * Grants leases of budgets: at most half of an equal part of the rest, in all grants together, so that little is
 * held when little is left; but the amount that a request needs, if it is there.
 */
export interface BudgetStore {
  ask(questions: readonly BudgetQuestion[]): Promise<readonly BudgetAnswer[]>;
}

/**
 * Shares of budgets as leases in a store. A lease is subtracted from the budget when it is granted, and it is settled
 * when the rows are stored. So the sum of spending and leases never exceeds a budget,
 * whatever happens to replicas and connections.
 */
export class BudgetLeases implements SharedBudgets {
  readonly #store: BudgetStore;
  readonly #wake: () => void;
  readonly #lostAt: () => number | undefined;
  /** Also of budgets that were removed, because their leases still exist. */
  readonly #shares = new Map<string, BudgetShare>();
  /** Budgets of which something was spent or needed. */
  #changed = new Set<string>();
  readonly #rounds = new SerialQueue();
  /** Windows of which another process needs more, by `windowId`. */
  wanted: ReadonlySet<string> = new Set();
  readonly #unusedMs: number;
  /** When the store answered last; of the monotonic clock. */
  answeredAt = Number.NEGATIVE_INFINITY;

  /**
   * @param wake is called when more may be needed.
   * @param lostAt when the store was lost, of the monotonic clock; undefined if it answers.
   * @param unusedMs milliseconds without a request after which a share is given back, default 20,000.
   */
  constructor(
    store: BudgetStore,
    wake: () => void,
    lostAt: () => number | undefined = () => undefined,
    unusedMs = UNUSED_MS,
  ) {
    this.#unusedMs = unusedMs;
    this.#store = store;
    this.#wake = wake;
    this.#lostAt = lostAt;
  }

  share(id: string): BudgetShare {
    const found = this.#shares.get(id);
    if (found !== undefined) return found;
    const changed = () => {
      this.#changed.add(id);
      this.#wake();
    };
    const usable = () => performance.now() - this.answeredAt < USABLE_MS;
    const share = new BudgetShare(usable, changed, () => answersSoon(this.#lostAt()));
    this.#shares.set(id, share);
    // Nothing is leased for a key that nobody uses: the first request asks.
    return share;
  }

  /**
   * Requests the leases that budgets need, and gives back those that peers need. One request at a time.
   *
   * @param all whether to look at all budgets, and not only at those that have changed.
   */
  ask(budgets: ReadonlyMap<string, Budget>, all: boolean, answered: (budget: Budget) => void): Promise<void> {
    return this.#rounds.run(() => this.#ask(budgets, all, answered));
  }

  async #ask(budgets: ReadonlyMap<string, Budget>, all: boolean, answered: (budget: Budget) => void): Promise<void> {
    const questions = this.#questions(all ? budgets.keys() : this.#changed, budgets);
    this.#changed = new Set();
    if (questions.length === 0) return;
    const asked = performance.now();
    const needs = questions.map(({ budget: { share }, budget, window, want }) => {
      giveBack(budget, window, want);
      const needed = share?.needed ?? 0;
      share?.asked();
      return () => share?.askAgain(needed);
    });
    const answers = await this.#store.ask(questions).catch((thrown: unknown) => {
      for (const askAgain of needs) askAgain();
      throw thrown;
    });
    this.answeredAt = asked;
    const byWindow = new Map(questions.map((each) => [windowId(each.id, each.window.start), each]));
    for (const answer of answers) {
      const question = byWindow.get(windowId(answer.id, answer.start));
      if (question !== undefined) applyAnswer(question, answer, answered);
    }
  }

  #questions(ids: Iterable<string>, budgets: ReadonlyMap<string, Budget>): BudgetQuestion[] {
    const now = Date.now();
    const found: BudgetQuestion[] = [];
    for (const id of ids) {
      const budget = budgets.get(id);
      if (budget === undefined) continue;
      const window = budget.window(now);
      const own = this.#question(id, budget, window);
      if (own !== undefined) found.push(own);
      if (window.end - now >= NEXT_MS || !wasUsed(budget) || this.#isUnused(budget)) continue;
      const next = budget.windowAt(window.end);
      if (budget.share?.window(next.start) === undefined) {
        found.push({ id, budget, window: next, want: BASE_NANO, needed: 0 });
      }
    }
    return found;
  }

  #isUnused({ share, reserved }: Budget): boolean {
    return reserved === 0 && performance.now() - (share?.usedAt ?? 0) > this.#unusedMs;
  }

  #question(id: string, budget: Budget, window: BudgetWindow): BudgetQuestion | undefined {
    const { share } = budget;
    if (share === undefined) return undefined;
    const { largest, recent } = share;
    const known = share.window(window.start);
    if (known === undefined && !wasUsed(budget)) return undefined;
    const left = (known?.granted ?? 0) - (known?.used ?? 0) - budget.reserved;
    const elapsed = Math.max(1_000, performance.now() - recent.since);
    const target = Math.max(BASE_NANO, AHEAD_REQUESTS * largest, (recent.nano / elapsed) * AHEAD_MS);
    const needed = share.needed > left ? share.needed - Math.max(0, left) : 0;
    if (known === undefined || needed > 0) return { id, budget, window, want: target - left, needed };
    if (this.#isUnused(budget)) {
      return left > 0 ? { id, budget, window, want: -left, needed: 0 } : undefined;
    }
    if (left > 0 && this.wanted.has(windowId(id, window.start))) {
      // An amount below the need of a request can't be spent here.
      const keep = performance.now() - share.usedAt > IDLE_MS || left < largest ? 0 : largest;
      if (left > keep) return { id, budget, window, want: keep - left, needed: 0 };
    }
    // If nothing is free, the next request that is refused asks.
    return left < target * REFILL && known.free > 0
      ? { id, budget, window, want: target - left, needed: 0 }
      : undefined;
  }
}

/** Whether a request has used or needed a budget since this process started. */
function wasUsed({ share }: Budget): boolean {
  return share !== undefined && share.usedAt > 0;
}

function applyAnswer(
  { budget, window }: BudgetQuestion,
  { granted, settled, spent, free, others }: BudgetAnswer,
  answered: (budget: Budget) => void,
): void {
  budget.share?.answer(window.start, { granted, spent: settled, free, others });
  if (budget.window().start !== window.start) return;
  // Rows that are not stored yet are part of the spending.
  const unsent = (budget.share?.window(window.start)?.used ?? 0) - settled;
  budget.restore(spent + unsent);
  answered(budget);
}

export function windowId(budget: string, start: number): string {
  return `${start} ${budget}`;
}

/** Returned leases must not be spent, whether the request arrives or not. */
function giveBack(budget: Budget, window: BudgetWindow, want: number): void {
  const known = budget.share?.window(window.start);
  if (known !== undefined && want < 0) known.granted += want;
}
