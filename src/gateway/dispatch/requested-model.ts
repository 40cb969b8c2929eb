import type { JsonObject } from '../../base/json.ts';
import type { Registry } from '../../catalog/registry/registry.ts';
import { invalidRequest, SvcError } from '../../wire/errors/svc-error.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Candidate } from './pipeline.ts';

/** @throws SvcError 400 invalid_request or model_not_found. */
export function requestedModel(deps: GatewayDeps, body: JsonObject): Candidate | Promise<Candidate> {
  const ref = requestedRef(body);
  return findModel(deps.registry(), ref) ?? listedModel(deps, ref);
}

/** Finds a model that the lists contain only later: just after the start, or because a server has added it since. */
async function listedModel(deps: GatewayDeps, ref: string): Promise<Candidate> {
  const provider = deps.registry().providers.get(ref.slice(0, Math.max(0, ref.indexOf('/'))));
  if (provider !== undefined) await deps.listing.refreshListings();
  const found = findModel(deps.registry(), ref);
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
export function findModel(registry: Registry, ref: string): Candidate | undefined {
  const model = registry.models.get(ref);
  if (model) return { model, variant: undefined };
  const colon = ref.lastIndexOf(':');
  if (colon < 0) return undefined;
  const base = registry.models.get(ref.slice(0, colon));
  const variant = ref.slice(colon + 1);
  return base?.variants.has(variant) ? { model: base, variant } : undefined;
}

export function unknownModel(ref: string): SvcError {
  return new SvcError({
    errorType: 'model_not_found',
    message: `There is no model “${ref.slice(0, 200)}” at this gateway.`,
    action: 'GET /models lists the available models.',
    param: 'model',
  });
}
