import { matchesModelPattern } from '../../catalog/model-pattern.ts';
import type { OrganizationSettings } from '../../config/settings/settings.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { KeyCheck } from '../access/authentication.ts';
import { type Principal, requireKey } from '../access/authentication.ts';
import { namedOrganization, requestedOrganization } from '../access/organization.ts';
import type { Ledger } from '../accounting/ledger.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RunningRequests } from '../http/running-requests.ts';
import type { Limits } from '../limits/limits.ts';
import { RequestLimits } from '../limits/request-limits.ts';
import { estimateRequest } from './estimate.ts';
import type { Models, ServedModel } from './models.ts';

/** Keys and limits of callers. */
export interface Access extends Pick<Models, 'settings'> {
  readonly keys: KeyCheck;
  readonly limits: Limits;
  readonly running: RunningRequests;
  /** Without a ledger that can be written, nothing is admitted. */
  readonly ledger: Pick<Ledger, 'full'>;
}

/** The key's owner and the organization of a request. */
export interface Caller {
  readonly principal: Principal;
  readonly organization: OrganizationSettings | undefined;
  /** Absent if no budget and no rate applies. */
  readonly limits?: RequestLimits | undefined;
}

/**
 * Checks key, rate and organization, which does not need the body. Each request with a key counts towards its rate,
 * also if it is refused later. @throws SvcError 401, 429 rate_limit_exceeded, 400, 403.
 */
export async function identify(deps: Access, context: RequestContext): Promise<Caller> {
  const principal = requireKey(context, deps.keys);
  context.onEnd(deps.running.enter(principal.name, context));
  const limits = await enterLimits(deps, context, principal);
  return { principal, organization: requestedOrganization(context, principal, deps.settings()), limits };
}

/** The organization is not checked yet, so that requests with a wrong one count too. */
async function enterLimits(
  { limits, settings }: Access,
  context: RequestContext,
  { name, organization }: Principal,
): Promise<RequestLimits | undefined> {
  const found = limits.of(name, namedOrganization(context) ?? organization) ?? limits.of(name, organization);
  if (found === undefined) return undefined;
  const admitsUnpriced = (model: string) =>
    settings().gateway.unpricedModels.some((pattern) => matchesModelPattern(pattern, model));
  const request = new RequestLimits(found, (headers) => context.addHeaders(headers), admitsUnpriced);
  context.onEnd(() => request.release());
  await request.enter();
  return request;
}

/** Space on a disk is not freed in a second. */
const LEDGER_FULL_MS = 10_000;

/**
 * Checks budgets and rates, which are in memory (docs/gateway.md).
 * @throws SvcError 402 usage_limit_exceeded, 429 rate_limit_exceeded, 503 temporarily_unavailable.
 */
export async function admit(
  deps: Pick<Access, 'ledger'>,
  context: RequestContext,
  caller: Caller,
  model: ServedModel,
): Promise<void> {
  await caller.limits?.admit(model.ref, estimateRequest(context, model, paysItself(caller, model)));
  if (deps.ledger.full) {
    throw new SvcError({
      errorType: 'temporarily_unavailable',
      message: 'The gateway can’t write its usage ledger, so it refuses new requests.',
      action: 'If you run this gateway, check the free disk space.',
      retryable: true,
      retryAfterMs: LEDGER_FULL_MS,
    });
  }
}

/** Waits for shares of budgets, if this process has none that are large enough. */
export function prepare(context: RequestContext, caller: Caller, model: ServedModel): Promise<unknown> | undefined {
  return caller.limits?.prepare(model.ref, estimateRequest(context, model, paysItself(caller, model)));
}

/** Whether budgets allow a model: something is left, the model is free, or the organization pays for it (BYOK). */
export function withinBudget(context: RequestContext, caller: Caller, model: ServedModel): boolean {
  if (caller.limits === undefined) return true;
  return caller.limits.allows(model.ref, estimateRequest(context, model, paysItself(caller, model)));
}

/**
 * Reserves the estimated cost of an attempt of hard budgets, unless `admit` did. @returns a function that gives it back.
 * @throws SvcError 402 usage_limit_exceeded.
 */
export function reserve(context: RequestContext, caller: Caller, model: ServedModel): () => void {
  const { limits } = caller;
  if (limits === undefined) return () => undefined;
  limits.reserve(model.ref, estimateRequest(context, model, paysItself(caller, model)));
  return () => limits.unreserve(model.ref);
}

function paysItself({ organization }: Caller, { provider }: ServedModel): boolean {
  return organization?.byok.has(provider) === true;
}
