import type { Budget } from '../limits/budget.ts';
import { windowId } from '../limits/budget-leases.ts';
import { budgetGrant, rateGrant } from '../limits/grant-rule.ts';
import { SlidingMinute } from '../limits/sliding-minute.ts';
import type { Answers, Questions, Wanted } from './messages.ts';

type RateQuestion = Questions['rates'][number];
type BudgetQuestion = Questions['budgets'][number];

/** The budgets of the state. */
export interface KeptBudgets {
  /** Counts the rows that were stored since the last call. */
  follow(): void;
  find(id: string): Budget | undefined;
}

/** Leases by worker. */
class Held {
  readonly #byWorker = new Map<number, number>();

  set(worker: number, amount: number): void {
    if (amount > 0) this.#byWorker.set(worker, amount);
    else this.#byWorker.delete(worker);
  }

  /** @returns the lease of the worker. */
  drop(worker: number): number {
    const amount = this.#byWorker.get(worker) ?? 0;
    this.#byWorker.delete(worker);
    return amount;
  }

  others(worker: number): number {
    let sum = 0;
    for (const [each, amount] of this.#byWorker) if (each !== worker) sum += amount;
    return sum;
  }
}

/** Windows of a budget that are kept. */
const WINDOWS = 3;

/**
 * Grants shares of rates and budgets to the workers of this machine. A worker's lease of a budget is subtracted
 * until its rows are in the state, so spending and leases never exceed a budget together.
 */
export class ShareKeeper {
  /** Number of workers when all have started. */
  readonly #count: number;
  readonly #budgets: KeptBudgets;
  readonly #wanted: (worker: number, wanted: Wanted) => void;
  readonly #workers = new Set<number>();
  readonly #rates = new Map<string, { readonly used: SlidingMinute; readonly held: Held }>();
  /** By budget, then by start. */
  readonly #windows = new Map<string, Map<number, Held>>();

  /** @param wanted is called for each worker but the one that needs more. */
  constructor(count: number, budgets: KeptBudgets, wanted: (worker: number, wanted: Wanted) => void) {
    this.#count = count;
    this.#budgets = budgets;
    this.#wanted = wanted;
  }

  join(worker: number): void {
    this.#workers.add(worker);
  }

  /** The shares of a worker are free, but it may have used those of rates. */
  leave(worker: number): void {
    this.#workers.delete(worker);
    for (const [id, { used, held }] of this.#rates) {
      const amount = held.drop(worker);
      if (!id.startsWith('parallel ')) used.add(amount);
    }
    for (const windows of this.#windows.values()) for (const held of windows.values()) held.drop(worker);
  }

  ask(worker: number, { rates, budgets }: Questions): Answers {
    const wanted = { rates: [] as string[], budgets: [] as string[] };
    if (budgets.length > 0) this.#budgets.follow();
    const answers = {
      workers: this.#processes,
      rates: rates.map((question) => this.#rate(worker, question, wanted.rates)),
      budgets: budgets.flatMap((question) => this.#budget(worker, question, wanted.budgets) ?? []),
    };
    if (wanted.rates.length + wanted.budgets.length > 0) {
      for (const other of this.#workers) if (other !== worker) this.#wanted(other, wanted);
    }
    return answers;
  }

  /** The first worker requests leases before the others have started. */
  get #processes(): number {
    return Math.max(this.#count, this.#workers.size);
  }

  #rate(worker: number, { id, limit, used, held, left, needed }: RateQuestion, wanted: string[]) {
    const rate = this.#rates.get(id) ?? { used: new SlidingMinute(), held: new Held() };
    this.#rates.set(id, rate);
    if (used !== 0) rate.used.add(used);
    const others = rate.held.others(worker);
    const free = Math.max(0, Math.floor(limit - rate.used.used() - others - held));
    const extra = rateGrant({ free, held: left, needed, processes: this.#processes });
    rate.held.set(worker, held + extra);
    if (needed > extra && others > 0) wanted.push(id);
    return { id, extra, free: free - extra, others, waitMs: rate.used.oldest() };
  }

  #budget(worker: number, { id, start, want, needed, held }: BudgetQuestion, wanted: string[]) {
    const budget = this.#budgets.find(id);
    if (budget === undefined) return undefined;
    const current = budget.window().start;
    // Nothing is granted of a window that has ended; nothing is spent of one that begins soon.
    const spent = start === current ? budget.spent() : 0;
    const most = start < current ? 0 : budget.rule.nano;
    const own = this.#held(id, start);
    const others = own.others(worker);
    const free = Math.max(0, most - spent - others - held);
    const amount = budgetGrant({ free, held, needed, processes: this.#processes }, want);
    own.set(worker, held + amount);
    if (needed > amount && others > 0) wanted.push(windowId(id, start));
    return { id, start, amount, spent, free: free - amount, others };
  }

  #held(id: string, start: number): Held {
    const windows = this.#windows.get(id) ?? new Map<number, Held>();
    this.#windows.set(id, windows);
    const held = windows.get(start) ?? new Held();
    windows.set(start, held);
    for (const old of [...windows.keys()].sort((a, b) => b - a).slice(WINDOWS)) windows.delete(old);
    return held;
  }
}
