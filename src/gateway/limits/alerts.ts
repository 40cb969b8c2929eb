import type { DatabaseSync } from 'node:sqlite';
import { toUsd } from '../../base/money.ts';
import type { Budget, BudgetWindow } from './budget.ts';
import { type BudgetRule, budgetId, describeScope } from './limit-rules.ts';

/** Shares of a budget that are reported, in percent. */
const PERCENTS = [50, 80, 100] as const;
/** Milliseconds until a share is reported. Also the time until another attempt if the state is busy. */
const DELAY_MS = 250;

/** A share of a budget was spent. */
export interface BudgetAlert {
  readonly percent: number;
  readonly rule: BudgetRule;
  readonly window: BudgetWindow;
  /** Nano-USD. */
  readonly spent: number;
}

/** Notes that an alert is reported. @returns false if it was reported before, by any process. */
export type ClaimAlert = (budget: string, windowStart: number, percent: number) => boolean | Promise<boolean>;

export function claimInSqlite(database: DatabaseSync): ClaimAlert {
  return (budget, windowStart, percent) => {
    const insert = database.prepare('INSERT INTO alerts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
    return insert.run(budget, windowStart, percent, Date.now()).changes > 0;
  };
}

/** Reports each share of each budget once in a window. The state knows which were reported, also by other processes. */
export class BudgetAlerts {
  readonly #claim: ClaimAlert;
  readonly #send: (alert: BudgetAlert) => void;
  readonly #failed: (thrown: unknown) => void;
  /** The start of the window, the amount and the largest percentage that were queued for a budget. */
  readonly #queued = new WeakMap<Budget, { start: number; nano: number; percent: number }>();
  #waiting: BudgetAlert[] = [];
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(claim: ClaimAlert, send: (alert: BudgetAlert) => void, failed: (thrown: unknown) => void) {
    this.#claim = claim;
    this.#send = send;
    this.#failed = failed;
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }

  /** Must be called when what was spent of a budget, or the budget itself, has changed. */
  note(budget: Budget): void {
    const { rule } = budget;
    const spent = budget.spent();
    if (rule.nano === 0 || spent * 100 < rule.nano * PERCENTS[0]) return;
    const window = budget.window();
    const queued = this.#queued.get(budget);
    const known = queued?.start === window.start && queued.nano === rule.nano ? queued.percent : 0;
    const reached = PERCENTS.filter((percent) => percent > known && spent * 100 >= rule.nano * percent);
    const highest = reached.at(-1);
    if (highest === undefined) return;
    this.#queued.set(budget, { start: window.start, nano: rule.nano, percent: highest });
    this.#waiting.push(...reached.map((percent) => ({ percent, rule, window, spent })));
    this.#timer ??= setTimeout(() => void this.#report(), DELAY_MS).unref();
  }

  async #report(): Promise<void> {
    const failed: BudgetAlert[] = [];
    for (const alert of this.#waiting.splice(0)) {
      const { rule, window, percent } = alert;
      try {
        if (await this.#claim(`${budgetId(rule)} ${rule.nano}`, window.start, percent)) this.#send(alert);
      } catch (thrown) {
        this.#failed(thrown);
        failed.push(alert);
      }
    }
    this.#waiting.push(...failed);
    const waits = this.#waiting.length > 0 && !this.#disposed;
    this.#timer = waits ? setTimeout(() => void this.#report(), DELAY_MS * 4).unref() : undefined;
  }
}

const PERIODS = { total: '', day: ' a day', week: ' a week', month: ' a month' } as const;

/** `the budget of the key ann for openai/*, 20 USD a month` */
export function describeBudget({ scope, model, nano, period }: BudgetRule): string {
  const models = model === '*' ? '' : ` for ${model}`;
  return `the budget of ${describeScope(scope)}${models}, ${toUsd(nano)} USD${PERIODS[period]}`;
}

/** The body of the request to the webhook. Chat services show `text`. */
export function alertBody({ percent, rule, window, spent }: BudgetAlert): Record<string, unknown> {
  const { scope, model, period, timeZone, nano, hard } = rule;
  const time = (at: number) => (Number.isFinite(at) && at > 0 ? new Date(at).toISOString() : null);
  return {
    event: 'budget',
    text: `${percent} % of ${describeBudget(rule)}, ${percent < 100 ? 'is' : 'are'} spent: ${toUsd(spent)} USD.`,
    percent,
    key: scope.key ?? null,
    user: scope.user ?? null,
    organization: scope.organization ?? null,
    model,
    period,
    time_zone: timeZone,
    mode: hard ? 'hard' : 'soft',
    budget: toUsd(nano),
    spent: toUsd(spent),
    window_start: time(window.start),
    window_end: time(window.end),
  };
}
