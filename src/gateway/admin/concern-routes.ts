import { ENDPOINTS } from '../../protocol/admin-api/endpoints.ts';
import type * as api from '../../protocol/admin-api/schemas.ts';
import { whenLeft } from '../http/request-body.ts';
import type { Route } from '../http/router.ts';
import { type Administration, route } from './call.ts';
import { isoTime } from './key-view.ts';
import { describeProviders } from './model-health.ts';
import { describeVisibleBudgets } from './overview-routes.ts';
import { requireScope, type Viewer } from './viewer.ts';

const SOON_MS = 14 * 86_400_000;
/** Concerns of one kind. */
const MAX_CONCERNS = 20;
/** Share of a budget that concerns a person. */
const MUCH = 0.8;
/** Share of a budget that runs out in its window. At the start of a window, a few requests are no measure of the rate. */
const SOME = 0.2;

/** Budgets, providers, ledgers and keys that need attention. */
export function concernRoutes(deps: Administration): Route[] {
  return [
    route(deps, ENDPOINTS.listConcerns, async ({ context, viewer }) => {
      const budgets = await budgetConcerns(deps, viewer, whenLeft(context));
      if (viewer.scope === 'own') return { data: budgets };
      requireScope(viewer, 'read');
      const [providers, keys] = await Promise.all([providerConcerns(deps), keyConcerns(deps)]);
      return { data: [...ledgerConcerns(deps), ...providers, ...budgets, ...keys] };
    }),
  ];
}

async function budgetConcerns(deps: Administration, viewer: Viewer, left: AbortSignal): Promise<api.Concern[]> {
  const budgets = await describeVisibleBudgets(deps, viewer, left);
  return budgets
    .filter(({ usd, spent, runs_out_at }) => spent >= usd * (runs_out_at === null ? MUCH : SOME))
    .slice(0, MAX_CONCERNS)
    .map((budget) => ({ kind: 'budget', budget }));
}

async function providerConcerns(deps: Administration): Promise<api.Concern[]> {
  const providers = await describeProviders(deps);
  return providers.flatMap(({ id, problem, health }) => {
    const failing = health.state === 'failing' || health.state === 'cooling';
    if (problem === null && !failing) return [];
    return { kind: 'provider', id, problem: problem ?? health.last_error ?? health.state, until: health.cooling_until };
  });
}

function ledgerConcerns({ ledger }: Pick<Administration, 'ledger'>): api.Concern[] {
  return ledger.broken ? [{ kind: 'ledger', replica: 'This process', rows: ledger.waiting }] : [];
}

async function keyConcerns(deps: Pick<Administration, 'admin'>, now = Date.now()): Promise<api.Concern[]> {
  const { keys } = await deps.admin.searchKeys({ expiresBefore: now + SOON_MS, limit: MAX_CONCERNS });
  return keys.map(({ name, expiresAt }) => ({ kind: 'key', name, expires_at: isoTime(expiresAt) ?? '' }));
}
