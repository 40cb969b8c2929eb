import { TimeZone } from '../../base/time-zone.ts';
import { matchesModelPattern } from '../../catalog/model-pattern.ts';
import type { BudgetShare } from './budget-share.ts';
import type { BudgetRule } from './limit-rules.ts';

/** The time in which a budget can be spent: from `start`, before `end`. Unix milliseconds. */
export interface BudgetWindow {
  readonly start: number;
  readonly end: number;
}

const ALWAYS: BudgetWindow = { start: 0, end: Number.POSITIVE_INFINITY };

/** A cost that was caused at a time. */
export interface Spend {
  readonly key: string;
  readonly organization: string;
  readonly at: number;
  readonly model: string;
  readonly nano: number;
}

/**
 * A budget in its current window. A window starts by the calendar when the budget is used or read; nothing resets it.
 */
export class Budget {
  readonly #zone: TimeZone;
  /** Absent: all processes that spend know the spending. */
  readonly share: BudgetShare | undefined;
  #rule: BudgetRule;
  #window: BudgetWindow = { start: 0, end: 0 };
  #spent = 0;
  /** Nano-USD of requests that are running. */
  reserved = 0;

  constructor(rule: BudgetRule, zone: TimeZone = new TimeZone(rule.timeZone), share?: BudgetShare) {
    this.#rule = rule;
    this.#zone = zone;
    this.share = share;
  }

  get rule(): BudgetRule {
    return this.#rule;
  }

  set rule(rule: BudgetRule) {
    const isLower = rule.nano < this.#rule.nano;
    this.#rule = rule;
    if (isLower) this.share?.lower();
  }

  /** The window at another time. */
  windowAt(at: number): BudgetWindow {
    return windowAt(this.rule, this.#zone, at);
  }

  window(now = Date.now()): BudgetWindow {
    if (now >= this.#window.end) {
      this.#window = windowAt(this.rule, this.#zone, now);
      this.#spent = 0;
    }
    return this.#window;
  }

  /** Nano-USD in the current window. */
  spent(now = Date.now()): number {
    this.window(now);
    return this.#spent;
  }

  /** Sets the spending of the current window. */
  restore(nano: number): void {
    this.#spent = nano;
  }

  /** @param user the user of the key; not the one that the client names. */
  counts(spend: Pick<Spend, 'model' | 'key' | 'organization'>, user: string | undefined): boolean {
    return countsSpend(this.rule, spend, user);
  }

  countsModel(ref: string): boolean {
    return countsModel(this.rule, ref);
  }

  /** Adds a cost of the current window. */
  add({ at, nano }: Pick<Spend, 'at' | 'nano'>): void {
    const { start } = this.window(Math.max(at, this.#window.start));
    if (at < start) return;
    this.#spent += nano;
    this.share?.spend(start, nano);
  }

  /** Whether a request may start that will probably cost `nano`. */
  allows(nano: number, now = Date.now()): boolean {
    if (this.share !== undefined) {
      const left = this.share.left(this.window(now).start);
      return this.rule.hard ? this.reserved + nano <= left : left > 0;
    }
    const spent = this.spent(now);
    return this.rule.hard ? spent + this.reserved + nano <= this.rule.nano : spent < this.rule.nano;
  }
}

/** @param user the user of the key; not the one that the client names. */
export function countsSpend(
  rule: BudgetRule,
  spend: Pick<Spend, 'model' | 'key' | 'organization'>,
  user: string | undefined,
): boolean {
  const { scope } = rule;
  return (
    (scope.key === undefined || scope.key === spend.key) &&
    (scope.user === undefined || scope.user === user) &&
    (scope.organization === undefined || scope.organization === spend.organization) &&
    countsModel(rule, spend.model)
  );
}

function countsModel({ model }: BudgetRule, ref: string): boolean {
  return model === '*' || matchesModelPattern(model, ref);
}

function windowAt({ period }: BudgetRule, zone: TimeZone, at: number): BudgetWindow {
  return period === 'total' ? ALWAYS : zone.periodAt(period, at);
}
