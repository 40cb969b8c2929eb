import type { JsonObject } from '../../base/json.ts';
import { invalidRequest, SvcError } from '../../wire/errors/svc-error.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Candidate } from './pipeline.ts';

/** @throws SvcError 400 invalid_request or model_not_found. */
export function requestedModel(deps: GatewayDeps, body: JsonObject): Candidate | Promise<Candidate> {
  const ref = requestedRef(body);
  return findModel(deps, ref) ?? listedModel(deps, ref);
}

/** Finds a model that the lists contain only later: just after the start, or because a server has added it since. */
async function listedModel(deps: GatewayDeps, ref: string): Promise<Candidate> {
  const provider = deps.registry().providers.get(ref.slice(0, Math.max(0, ref.indexOf('/'))));
  if (provider !== undefined) await deps.listing.refreshListings();
  const found = findModel(deps, ref);
  if (found) return found;
  throw unknownModel(ref);
}

/** @throws SvcError 400 invalid_request. */
export function requestedRef(body: JsonObject): string {
  const { model } = body;
  if (typeof model === 'string' && model !== '') return model;
  throw invalidRequest('model', 'The field “model” must be a string such as "vendor/model".');
}

/** Finds a model by its whole name, else by the name before the last colon, with the rest as the variant. */
export function findModel(deps: Pick<GatewayDeps, 'registry' | 'pools'>, ref: string): Candidate | undefined {
  const found = findWithoutVariant(deps, ref);
  if (found) return found;
  const colon = ref.lastIndexOf(':');
  if (colon < 0) return undefined;
  const base = findWithoutVariant(deps, ref.slice(0, colon));
  const variant = ref.slice(colon + 1);
  return base?.model.variants.has(variant) ? { ...base, variant } : undefined;
}

/** Finds a pool, else a model, by its whole name. */
export function findWithoutVariant(
  { registry, pools }: Pick<GatewayDeps, 'registry' | 'pools'>,
  ref: string,
): Candidate | undefined {
  const pool = pools.find(ref);
  if (pool) return { model: pool.model, variant: undefined, pool };
  const model = registry().models.get(ref);
  return model && { model, variant: undefined };
}

export function unknownModel(ref: string): SvcError {
  return new SvcError({
    errorType: 'model_not_found',
    message: `There is no model “${ref.slice(0, 200)}” at this gateway.`,
    action: 'GET /models lists the available models.',
    param: 'model',
  });
}
