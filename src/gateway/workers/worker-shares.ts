import { EarliestTimer } from '../../base/concurrency.ts';
import type { Budget } from '../limits/budget.ts';
import { type BudgetAnswer, BudgetLeases, type BudgetQuestion } from '../limits/budget-leases.ts';
import type { SharedBudgets } from '../limits/budget-share.ts';
import type { Rate } from '../limits/rate.ts';
import { RateLeases } from '../limits/rate-leases.ts';
import type { SharedRates } from '../limits/rate-share.ts';
import type { BudgetGateway, SharedBudgetServer, SharedRateServer } from '../shared-state.ts';
import type { Answers, Questions, Wanted } from './messages.ts';

/** Milliseconds in which questions are collected. */
const ASK_MS = 10;
/** Milliseconds in which use is collected. */
const REPORT_MS = 100;
/** Milliseconds after which all leases are renewed, so that the spending of peers is known. */
const LOOK_MS = 1_000;

/**
 * The shares of a worker in rates and budgets, which the primary grants. It runs in the background. A worker ends with
 * its primary, so there is no case in which the primary is away.
 */
export class WorkerShares implements SharedRateServer, SharedBudgetServer {
  readonly #call: (questions: Questions) => Promise<Answers>;
  readonly #rateLeases: RateLeases;
  readonly #budgetLeases: BudgetLeases;
  #rates: () => ReadonlyMap<string, Rate> = () => new Map();
  #gateway: BudgetGateway | undefined;
  readonly #renewal = new EarliestTimer(() => void this.#ask(false));
  readonly #look: NodeJS.Timeout;

  constructor(call: (questions: Questions) => Promise<Answers>) {
    this.#call = call;
    const store = {
      ask: async (rates: Questions['rates']) => {
        const { rates: answers, workers } = await call({ rates: rates.map(plain), budgets: [] });
        return { answers, replicas: workers };
      },
    };
    this.#rateLeases = new RateLeases(store, {
      lostAt: () => undefined,
      wake: (delay) => this.#renewal.start(Math.max(ASK_MS, delay)),
      reportMs: REPORT_MS,
    });
    this.#budgetLeases = new BudgetLeases({ ask: (questions) => this.#askForBudgets(questions) }, () =>
      this.#renewal.start(ASK_MS),
    );
    this.#look = setInterval(() => void this.#ask(true), LOOK_MS).unref();
  }

  get rates(): SharedRates {
    return this.#rateLeases;
  }

  get budgets(): SharedBudgets {
    return this.#budgetLeases;
  }

  attach(rates: () => ReadonlyMap<string, Rate>): void {
    this.#rates = rates;
    this.#renewal.start(ASK_MS);
  }

  attachBudgets(gateway: BudgetGateway): void {
    this.#gateway = gateway;
    this.#renewal.start(ASK_MS);
  }

  ready(): Promise<void> {
    return this.#ask(true);
  }

  /** Others need more. */
  wanted({ rates, budgets }: Wanted): void {
    this.#rateLeases.wanted = new Set(rates);
    this.#budgetLeases.wanted = new Set(budgets);
    void this.#ask(true).then(() => {
      this.#rateLeases.wanted = new Set();
      this.#budgetLeases.wanted = new Set();
    });
  }

  async dispose(): Promise<void> {
    this.#renewal.stop();
    clearInterval(this.#look);
  }

  async #ask(all: boolean): Promise<void> {
    const gateway = this.#gateway;
    // The primary is there: this process would have ended with it.
    this.#budgetLeases.answeredAt = performance.now();
    if (gateway !== undefined) {
      await this.#budgetLeases.ask(gateway.budgets(), all, (budget) => gateway.spent(budget));
    }
    await this.#rateLeases.ask(this.#rates(), all);
  }

  async #askForBudgets(questions: readonly BudgetQuestion[]): Promise<readonly BudgetAnswer[]> {
    const asked = questions.map((question) => ({
      ...question,
      ...this.#state(question.budget, question.window.start),
    }));
    const { budgets } = await this.#call({
      rates: [],
      budgets: asked.map(({ id, window, want, needed, held }) => ({ id, start: window.start, want, needed, held })),
    });
    return budgets.flatMap(({ id, start, amount, spent, free, others }) => {
      const question = asked.find((each) => each.id === id && each.window.start === start);
      if (question === undefined) return [];
      const { share } = question.budget;
      const granted = (share?.window(start)?.granted ?? share?.used(start) ?? 0) + amount;
      return { id, start, granted, settled: question.settled, spent, free, others };
    });
  }

  /** The lease of this worker in a window, and the stored part of its spending. */
  #state(budget: Budget, start: number): { readonly held: number; readonly settled: number } {
    const unwritten = this.#gateway?.unwritten(budget, start) ?? 0;
    const used = budget.share?.used(start) ?? 0;
    const left = (budget.share?.window(start)?.granted ?? used) - used;
    return { held: Math.max(0, left) + unwritten, settled: Math.max(0, used - unwritten) };
  }
}

/** Without members that can't be sent. */
function plain({ id, limit, used, held, left, needed }: Questions['rates'][number]) {
  return { id, limit, used, held, left, needed };
}
