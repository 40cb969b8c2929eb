import { toUsd } from '../../base/money.ts';
import { ENDPOINTS } from '../../protocol/admin-api/endpoints.ts';
import type * as api from '../../protocol/admin-api/schemas.ts';
import { whenLeft } from '../http/request-body.ts';
import type { Route } from '../http/router.ts';
import type { Budget } from '../limits/budget.ts';
import { scopeOrNull } from '../limits/limit-rules.ts';
import { listReplicas } from '../operations/replicas.ts';
import type { UsageQuery } from '../reports/usage-query.ts';
import type { UsageReport } from '../reports/usage-report.ts';
import { bucketOf } from '../state/usage-sums.ts';
import { type Administration, route } from './call.ts';
import { describeRate, isoTime } from './key-view.ts';
import { describeModels, describeProviders } from './model-health.ts';
import type { Viewer } from './viewer.ts';

/** Budgets, organizations, models, providers and replicas. */
export function overviewRoutes(deps: Administration): Route[] {
  return [
    route(deps, ENDPOINTS.listBudgets, async ({ context, viewer }) => ({
      data: await describeVisibleBudgets(deps, viewer, whenLeft(context)),
    })),
    route(deps, ENDPOINTS.listOrganizations, async () => ({ data: await describeOrganizations(deps) })),
    route(deps, ENDPOINTS.listModels, async () => {
      await deps.listing.whenListed();
      return { data: await describeModels(deps) };
    }),
    route(deps, ENDPOINTS.listProviders, async () => {
      await deps.listing.whenListed();
      return { data: await describeProviders(deps) };
    }),
    route(deps, ENDPOINTS.listReplicas, async () => ({ data: await listReplicas(deps) })),
  ];
}

const WEEK_MS = 7 * 86_400_000;
/** Budgets on one page: teams have fewer, and a list of all keys has its own pages. */
const MAX_BUDGETS = 1_000;

/** All budgets, or those that count the requests of the caller's own key. */
export async function describeVisibleBudgets(
  deps: Administration,
  viewer: Viewer,
  left: AbortSignal,
): Promise<api.Budget[]> {
  const report = (query: UsageQuery) => deps.reports.run(viewer.name, left, () => deps.admin.usage(query, left));
  if (viewer.scope !== 'own') return describeBudgets(deps, report, [...deps.limits.budgets]);
  const own = await deps.admin.findKey(viewer.name);
  return describeBudgets(deps, report, [...(deps.limits.of(viewer.name, own?.organization)?.budgets ?? [])]);
}

type MakeReport = (query: UsageQuery) => Promise<UsageReport>;

async function describeBudgets(
  deps: Pick<Administration, 'limits'>,
  report: MakeReport,
  budgets: readonly Budget[],
  now = Date.now(),
): Promise<api.Budget[]> {
  const share = (budget: Budget) => (budget.rule.nano === 0 ? 1 : budget.spent() / budget.rule.nano);
  const most = [...budgets].sort((a, b) => share(b) - share(a)).slice(0, MAX_BUDGETS);
  const lastWeek = await spentLastWeek(deps, report, most, now);
  return most.map((budget) => {
    const { rule } = budget;
    const { start, end } = budget.window();
    const spent = budget.spent();
    const perMs = rule.period === 'total' ? (lastWeek.get(budget) ?? 0) / WEEK_MS : spent / Math.max(1, now - start);
    const runsOut = now + (rule.nano - spent) / perMs;
    return {
      scope: scopeOrNull(rule.scope),
      model: rule.model,
      period: rule.period,
      time_zone: rule.timeZone,
      mode: rule.hard ? 'hard' : 'soft',
      usd: toUsd(rule.nano),
      spent: toUsd(spent),
      window_start: isoTime(start),
      window_end: isoTime(end),
      runs_out_at: spent < rule.nano && runsOut < Math.min(end, LATEST) ? isoTime(runsOut) : null,
    };
  });
}

/** Dates beyond it mean nothing. */
const LATEST = Date.UTC(2200, 0, 1);

/** Nano-USD of the last 7 days, for budgets without a window. */
async function spentLastWeek(
  deps: Pick<Administration, 'limits'>,
  report: MakeReport,
  budgets: readonly Budget[],
  now: number,
): Promise<ReadonlyMap<Budget, number>> {
  const totals = budgets.filter(({ rule }) => rule.period === 'total');
  const sums = new Map<Budget, number>();
  if (totals.length === 0) return sums;
  const since = bucketOf(now - WEEK_MS);
  const { rows } = await report({ since, by: ['key', 'organization', 'model'] });
  for (const row of rows) {
    const spend = {
      key: String(row.key ?? ''),
      organization: String(row.organization ?? ''),
      model: String(row.model),
    };
    const nano = Math.round((row.cost - row.byok_cost) * 1e9);
    const user = deps.limits.userOf(spend.key);
    for (const budget of totals) {
      if (nano > 0 && budget.counts(spend, user)) sums.set(budget, (sums.get(budget) ?? 0) + nano);
    }
  }
  return sums;
}

async function describeOrganizations(deps: Pick<Administration, 'settings' | 'admin'>): Promise<api.Organization[]> {
  const organizations = [...deps.settings().gateway.organizations.values()];
  return Promise.all(
    organizations.map(async ({ id, name, policy, byok, limits }) => ({
      id,
      name,
      allow: policy.allow === undefined ? null : [...policy.allow],
      deny: [...policy.deny],
      byok: [...byok.keys()],
      rates: limits.rates.map(describeRate),
      keys: (await deps.admin.searchKeys({ organization: id, limit: 0 })).total,
    })),
  );
}
