import { defined } from '../../base/json.ts';
import { toNano } from '../../base/money.ts';
import type { RATE_KINDS } from '../../config/settings/limit-values.ts';
import type { BudgetSettings, GatewaySettings, LimitSettings, RateSettings } from '../../config/settings/settings.ts';
import type { BudgetScope } from '../../protocol/admin-api/schemas.ts';

/** Who uses a key, and for which organization. */
export interface Subject {
  readonly key: string;
  readonly user?: string | undefined;
  readonly organization?: string | undefined;
}

/** Whose requests a limit counts together: those that match each member. Without a member: all requests. */
export type Scope = Partial<Subject>;

export interface BudgetRule {
  readonly scope: Scope;
  /** Models that count, as in policies; `*` for all. */
  readonly model: string;
  readonly period: BudgetSettings['period'];
  readonly timeZone: string;
  readonly nano: number;
  /** Requests reserve their estimated cost, so that the budget is not exceeded. */
  readonly hard: boolean;
}

export interface RateRule extends Omit<RateSettings, 'each'> {
  readonly scope: Scope;
}

/** The limits of a subject: those of the gateway, its organization, its user and its key. */
export function rulesFor(
  subject: Subject,
  { limits, organizations, users }: GatewaySettings,
  own: LimitSettings,
): { readonly budgets: readonly BudgetRule[]; readonly rates: readonly RateRule[] } {
  const { key, user, organization } = subject;
  const sources: readonly (readonly [Scope, LimitSettings | undefined])[] = [
    [{}, limits],
    [{ organization }, organization === undefined ? undefined : organizations.get(organization)?.limits],
    [{ user }, user === undefined ? undefined : users.get(user)],
    [{ key }, own],
  ];
  const expand = <T extends { readonly each?: 'user' | 'key' | undefined }, R>(
    list: (settings: LimitSettings) => readonly T[],
    rule: (settings: T, scope: Scope) => R,
  ) =>
    sources.flatMap(([scope, settings]) =>
      (settings === undefined ? [] : list(settings)).flatMap((each) => {
        // A key without a user is a user of its own, so that no key escapes the limit.
        if (each.each === 'user') return rule(each, { ...scope, ...(user === undefined ? { key } : { user }) });
        return rule(each, each.each === 'key' ? { ...scope, key } : scope);
      }),
    );
  return {
    budgets: expand(({ budgets }) => budgets, budgetRule),
    rates: expand(({ rates }) => rates, rateRule),
  };
}

export function budgetRule({ usd, model, period, timeZone, mode }: BudgetSettings, scope: Scope): BudgetRule {
  return { scope, model, period, timeZone, nano: toNano(usd), hard: mode === 'hard' };
}

function rateRule({ each: _, ...rest }: RateSettings, scope: Scope): RateRule {
  return { ...rest, scope };
}

/** The rule that holds if both do. They have the same id. */
export function stricterBudget(one: BudgetRule | undefined, other: BudgetRule): BudgetRule {
  return one === undefined || other.nano < one.nano ? other : one;
}

/** The rule that holds if both do. They have the same id. */
export function stricterRate(one: RateRule | undefined, other: RateRule): RateRule {
  if (one === undefined) return other;
  const smallest = (of: (typeof RATE_KINDS)[number]) => {
    const [a, b] = [one[of], other[of]];
    return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
  };
  const numbers = { requests: smallest('requests'), tokens: smallest('tokens'), parallel: smallest('parallel') };
  return { scope: one.scope, model: one.model, ...defined(numbers) };
}

/** Two rules with the same id count the same requests. */
export function budgetId({ scope, model, period, timeZone, hard }: BudgetRule): string {
  return JSON.stringify([...scopeParts(scope), model, period, timeZone, hard]);
}

export function rateId({ scope, model }: RateRule): string {
  return JSON.stringify([...scopeParts(scope), model]);
}

function scopeParts(scope: Scope): readonly (string | null)[] {
  const { key, user, organization } = scopeOrNull(scope);
  return [key, user, organization];
}

/** As the admin API and webhooks have it. */
export function scopeOrNull({ key, user, organization }: Scope): BudgetScope {
  return { key: key ?? null, user: user ?? null, organization: organization ?? null };
}

/** `the key ann`, `the organization acme for the user bob`, `this gateway`. For messages. */
export function describeScope({ key, user, organization }: Scope): string {
  const owner = organization === undefined ? undefined : `the organization ${organization}`;
  const member = user !== undefined ? `the user ${user}` : key !== undefined ? `the key ${key}` : undefined;
  if (owner !== undefined && member !== undefined) return `${owner} for ${member}`;
  return owner ?? member ?? 'this gateway';
}
