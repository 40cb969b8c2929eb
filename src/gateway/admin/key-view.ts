import { defined } from '../../base/json.ts';
import { toUsd } from '../../base/money.ts';
import type { BudgetSettings, RateSettings } from '../../config/settings/settings.ts';
import type { Key, RateInput } from '../../protocol/admin-api/schemas.ts';
import type { FoundKey } from '../access/key-store.ts';
import { Budget } from '../limits/budget.ts';
import { budgetId, budgetRule } from '../limits/limit-rules.ts';

/** Nano-USD that were spent of a budget in its current window, by `budgetId`. */
export type SpentOf = (budgetId: string) => number;

/** A key as the admin API and `svc keys` show it. */
export function describeKey(key: FoundKey, spentOf: SpentOf): Key {
  return {
    name: key.name,
    organization: key.organization ?? null,
    user: key.user ?? null,
    admin: key.admin ?? null,
    state: key.state,
    spent: toUsd(key.spent),
    budgets: key.limits.budgets.map((budget) => describeKeyBudget(key.name, budget, spentOf)),
    rates: key.limits.rates.map(describeRate),
    created_at: new Date(key.createdAt).toISOString(),
    expires_at: isoTime(key.expiresAt),
    revoked_at: isoTime(key.revokedAt),
    last_used_at: isoTime(key.usedAt),
  };
}

function describeKeyBudget(key: string, settings: BudgetSettings, spentOf: SpentOf): Key['budgets'][number] {
  const { usd, period, timeZone, mode, model } = settings;
  const rule = budgetRule(settings, { key });
  const { start, end } = new Budget(rule).window();
  return {
    usd,
    spent: toUsd(spentOf(budgetId(rule))),
    period,
    time_zone: timeZone,
    mode,
    model,
    window_start: isoTime(start),
    window_end: isoTime(end),
  };
}

export function describeRate({ requests, tokens, parallel, model }: RateSettings): RateInput {
  return { ...defined({ requests, tokens, parallel }), model };
}

/** A time for an answer; null for none or one without an end. */
export function isoTime(at: number | undefined): string | null {
  return at === undefined || at <= 0 || !Number.isFinite(at) ? null : new Date(at).toISOString();
}
