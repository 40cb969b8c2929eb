import type { Model } from '../../catalog/model.ts';
import { isPaid } from '../../catalog/price.ts';
import type { OrganizationSettings } from '../../config/settings/settings.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { type Principal, requireKey } from '../access/authentication.ts';
import { requestedOrganization } from '../access/organization.ts';
import { toUsd } from '../accounting/money.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { RequestContext } from '../http/request-context.ts';

/** The key's owner and the organization of a request. */
export interface Caller {
  readonly principal: Principal;
  readonly organization: OrganizationSettings | undefined;
}

/**
 * Checks key, rate and organization, which does not need the body. Each request with a key counts towards its rate,
 * also if it is refused later. @throws SvcError 401, 429 rate_limit_exceeded, 400, 403.
 */
export function identify(deps: GatewayDeps, context: RequestContext): Caller {
  const principal = requireKey(context, deps.keys);
  takeRate(principal);
  return { principal, organization: requestedOrganization(context, principal, deps.settings()) };
}

/**
 * Checks the budget, which is in memory (docs/gateway.md).
 * @throws SvcError 402 usage_limit_exceeded, 503 temporarily_unavailable.
 */
export function admit(deps: GatewayDeps, caller: Caller, model: Pick<Model, 'provider' | 'cost'>): void {
  if (!withinBudget(caller, model)) {
    throw new SvcError({
      errorType: 'usage_limit_exceeded',
      message: `The budget of this key, ${toUsd(caller.principal.account.budget ?? 0)} USD, is used up.`,
      action: 'Use a free model, or request a larger budget.',
    });
  }
  if (deps.ledger.full) {
    throw new SvcError({
      errorType: 'temporarily_unavailable',
      message: 'The gateway can’t write its usage ledger, so it refuses new requests.',
      action: 'If you run this gateway, check the free disk space.',
      retryable: true,
    });
  }
}

/** Whether the budget allows a model: budget is left, the model is free, or the organization pays for it (BYOK). */
export function withinBudget({ principal, organization }: Caller, model: Pick<Model, 'provider' | 'cost'>): boolean {
  const { budget, spent } = principal.account;
  return (
    budget === undefined || spent < budget || !isPaid(model.cost) || organization?.byok.has(model.provider) === true
  );
}

function takeRate({ account }: Principal): void {
  if (account.rpm === undefined) return;
  const wait = account.window.take(account.rpm);
  if (wait === 0) return;
  throw new SvcError({
    errorType: 'rate_limit_exceeded',
    message: `This key may send ${account.rpm} requests per minute.`,
    retryable: true,
    retryAfterMs: wait,
  });
}
