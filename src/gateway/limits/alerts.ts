import type { DatabaseSync } from 'node:sqlite';
import { toUsd } from '../../base/money.ts';
import { run, runSteps, type Steps } from '../state/steps.ts';
import type { Budget, BudgetWindow } from './budget.ts';
import { type BudgetRule, budgetId, describeScope, scopeOrNull } from './limit-rules.ts';

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

/** The state of an alert: this process may report it, another one is doing it, or it was reported. */
export type Claim = 'mine' | 'claimed' | 'reported';

/** Names an alert. */
export type AlertId = readonly [budget: string, windowStart: number, percent: number];

/** Lets one process at a time report an alert, until one has. */
export interface AlertClaims {
  /** @param until Unix milliseconds: then another process may report it. */
  claim(id: AlertId, until: number): Claim | Promise<Claim>;
  /** @param delivered whether it was reported. If not, any process may try again. */
  settle(id: AlertId, delivered: boolean): void | Promise<void>;
}

/** `at` of an alert is when it was reported; negative: until when it is claimed. */
export function* claimAlert(id: AlertId, until: number): Steps<Claim> {
  const [claimed] = yield* run(
    `INSERT INTO alerts VALUES (?1, ?2, ?3, ?4) ON CONFLICT (budget, window_start, percent)
      DO UPDATE SET at = excluded.at WHERE alerts.at < 0 AND alerts.at >= ?5 RETURNING at`,
    [...id, -until, -Date.now()],
  );
  if (claimed !== undefined) return 'mine';
  const [row] = yield* run(`SELECT at FROM alerts WHERE ${ALERT}`, id);
  return Number(row?.at) < 0 ? 'claimed' : 'reported';
}

/** Of an alert that was not reported, any process may claim it. */
export function* settleAlert(id: AlertId, delivered: boolean): Steps<void> {
  yield* run(`UPDATE alerts SET at = ?4 WHERE ${ALERT}`, [...id, delivered ? Date.now() : -1]);
}

const ALERT = 'budget = ?1 AND window_start = ?2 AND percent = ?3';

export function claimInSqlite(database: DatabaseSync): AlertClaims {
  return {
    claim: (id, until) => runSteps(database, claimAlert(id, until)),
    settle: (id, delivered) => runSteps(database, settleAlert(id, delivered)),
  };
}

/** For a process without a state. */
export const NO_CLAIMS: AlertClaims = { claim: () => 'mine', settle: () => undefined };

/** Milliseconds for which an alert is claimed: longer than all attempts of the webhook. */
const CLAIM_MS = 150_000;
/** Milliseconds until an alert that a peer has claimed is claimed again. */
const RECLAIM_MS = 30_000;
/** Milliseconds until an alert that could not be delivered is tried again; each time twice as long. */
const RETRY_MS = 300_000;
const MAX_RETRY_MS = 6 * 3_600_000;

interface Waiting {
  readonly alert: BudgetAlert;
  readonly id: AlertId;
  /** Of the monotonic clock. */
  at: number;
  attempts: number;
  delivered: boolean;
}

/**
 * Reports each share of each budget once in a window. The state knows which were reported, also by other processes. An
 * alert is noted there when it was delivered, so one that fails before a restart is delivered after it.
 */
export class BudgetAlerts {
  readonly #claims: AlertClaims;
  readonly #deliver: (alert: BudgetAlert, again: boolean) => Promise<void>;
  readonly #failed: (thrown: unknown) => void;
  /** The start of the window, the amount and the largest percentage that were queued for a budget. */
  readonly #queued = new WeakMap<Budget, { start: number; nano: number; percent: number }>();
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  /** @param deliver rejects if the alert was not delivered. `again`: the log has it already. */
  constructor(
    claims: AlertClaims,
    deliver: (alert: BudgetAlert, again: boolean) => Promise<void>,
    failed: (thrown: unknown) => void,
  ) {
    this.#claims = claims;
    this.#deliver = deliver;
    this.#failed = failed;
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }

  /** Must be called when the spending of a budget, or the budget itself, has changed. */
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
    for (const percent of reached) {
      const id = [`${budgetId(rule)} ${rule.nano}`, window.start, percent] as const;
      const alert = { percent, rule, window, spent };
      this.#wait({ alert, id, at: 0, attempts: 0, delivered: false }, DELAY_MS);
    }
  }

  #wait(waiting: Waiting, milliseconds: number): void {
    waiting.at = performance.now() + milliseconds;
    this.#waiting.add(waiting);
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#disposed || this.#waiting.size === 0) return;
    const next = Math.min(...[...this.#waiting].map(({ at }) => at));
    this.#timer = setTimeout(() => this.#reportDue(), Math.max(0, next - performance.now())).unref();
  }

  #reportDue(): void {
    const now = performance.now();
    for (const each of this.#waiting) {
      if (each.at > now) continue;
      this.#waiting.delete(each);
      void this.#report(each);
    }
    this.#schedule();
  }

  async #report(waiting: Waiting): Promise<void> {
    const { alert, id } = waiting;
    let problem: unknown;
    try {
      if (!waiting.delivered) {
        const claim = await this.#claims.claim(id, Date.now() + CLAIM_MS);
        if (claim === 'claimed') return this.#wait(waiting, RECLAIM_MS);
        if (claim === 'reported') return;
        waiting.attempts += 1;
        await this.#deliver(alert, waiting.attempts > 1).catch((thrown: unknown) => {
          problem = thrown;
        });
        waiting.delivered = problem === undefined;
      }
      await this.#claims.settle(id, waiting.delivered);
    } catch (thrown) {
      this.#failed(thrown);
      return this.#wait(waiting, DELAY_MS * 4);
    }
    if (problem === undefined) return;
    this.#failed(problem);
    if (Date.now() <= alert.window.end)
      this.#wait(waiting, Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (waiting.attempts - 1)));
  }
}

const EACH_PERIOD = { total: '', day: ' a day', week: ' a week', month: ' a month' } as const;

/** `the budget of the key ann for openai/*, 20 USD a month` */
export function describeBudget({ scope, model, nano, period }: BudgetRule): string {
  const models = model === '*' ? '' : ` for ${model}`;
  return `the budget of ${describeScope(scope)}${models}, ${toUsd(nano)} USD${EACH_PERIOD[period]}`;
}

/** The body of the request to the webhook. Chat services show `text`. */
export function alertBody({ percent, rule, window, spent }: BudgetAlert): Record<string, unknown> {
  const { scope, model, period, timeZone, nano, hard } = rule;
  const time = (at: number) => (Number.isFinite(at) && at > 0 ? new Date(at).toISOString() : null);
  return {
    event: 'budget',
    text: `${percent} % of ${describeBudget(rule)}, ${percent < 100 ? 'is' : 'are'} spent: ${toUsd(spent)} USD.`,
    percent,
    ...scopeOrNull(scope),
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
