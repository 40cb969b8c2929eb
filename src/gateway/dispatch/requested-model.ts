import type { JsonObject } from '../../base/json.ts';
import type { OrganizationSettings } from '../../config/settings/settings.ts';
import { invalidRequest } from '../../wire/errors/svc-error.ts';
import { type Names, resolveName, unknownModel } from './model-names.ts';
import type { Candidate, Models } from './models.ts';

/**
 * @param organization of the caller. An error lists only its models.
 * @throws SvcError 400 invalid_request or model_not_found.
 */
export function requestedModel(
  deps: Models,
  body: JsonObject,
  organization: OrganizationSettings | undefined,
): Candidate | Promise<Candidate> {
  const ref = requestedRef(body);
  return findModel(deps, ref) ?? listedModel(deps, ref, organization);
}

/** Finds a model that the lists contain only later: just after the start, or because a server has added it since. */
async function listedModel(
  deps: Models,
  ref: string,
  organization: OrganizationSettings | undefined,
): Promise<Candidate> {
  const slash = ref.indexOf('/');
  if (slash < 0 || deps.registry().providers.has(ref.slice(0, slash))) await deps.listing.refreshListings();
  const found = findModel(deps, ref);
  if (found) return found;
  throw unknownModel(deps, ref, organization);
}

/** @throws SvcError 400 invalid_request. */
export function requestedRef(body: JsonObject): string {
  const { model } = body;
  if (typeof model === 'string' && model !== '') return model;
  throw invalidRequest('model', 'The field “model” must be a string such as "vendor/model".');
}

/** Claude Code's mark for a window of a million tokens. Some of its requests still have it (Wei-Shaw/sub2api#4505). */
const WINDOW = /(?:\[1m\]){1,4}$/i;

/** Finds a model by its name, else by the name before the last colon, with the rest as the variant. */
export function findModel(deps: Names, name: string): Candidate | undefined {
  const found = findWithoutVariant(deps, name) ?? withVariant(name, (base) => findWithoutVariant(deps, base));
  return found ?? (WINDOW.test(name) ? findModel(deps, name.replace(WINDOW, '')) : undefined);
}

/** Finds a pool, else a model, by its name. Only the target of an alias may have a variant. */
export function findWithoutVariant(deps: Names, name: string): Candidate | undefined {
  const findWhole = (ref: string) => findRef(deps, ref);
  return resolveName(deps, name, (ref) => findWhole(ref) ?? (ref === name ? undefined : withVariant(ref, findWhole)));
}

function withVariant(name: string, find: (base: string) => Candidate | undefined): Candidate | undefined {
  const colon = name.lastIndexOf(':');
  if (colon < 0) return undefined;
  const base = find(name.slice(0, colon));
  const variant = name.slice(colon + 1);
  return base?.model.variants.has(variant) ? { ...base, variant } : undefined;
}

/** Finds a pool, else a model, by its whole name. */
function findRef({ registry, pools }: Names, ref: string): Candidate | undefined {
  const pool = pools.find(ref);
  if (pool) return { model: pool.model, variant: undefined, pool };
  const model = registry().models.get(ref);
  return model && { model, variant: undefined };
}
