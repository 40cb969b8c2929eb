import type { Provider } from '../../catalog/model.ts';
import type { OrganizationSettings } from '../../config/settings/settings.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { resolveName, unknownModel } from './model-names.ts';
import type { Candidate, Models, ServedModel } from './models.ts';

/**
 * A model from `gateway.embeddingModels` or `gateway.transcriptionModels`. It does not have to be one of
 * its provider's chat models.
 *
 * @throws SvcError 400 model_not_found.
 */
export function specialModel(
  deps: Models,
  name: string,
  list: ReadonlyMap<string, unknown>,
  organization: OrganizationSettings | undefined,
): Candidate<ServedModel> {
  const refs = [...list.keys()];
  const found = resolveName(deps, name, (ref) => findSpecial(deps, ref, list), refs);
  if (found === undefined) throw unknownModel(deps, name, organization, refs);
  return found;
}

function findSpecial(
  deps: Pick<Models, 'registry'>,
  ref: string,
  list: ReadonlyMap<string, unknown>,
): Candidate<ServedModel> | undefined {
  const registry = deps.registry();
  const model = registry.models.get(ref);
  if (model) return { model, variant: undefined };
  const provider = registry.providers.get(ref.slice(0, ref.indexOf('/')));
  if (provider === undefined || !list.has(ref)) return undefined;
  const key = ref.slice(ref.indexOf('/') + 1);
  const { id, endpoint } = provider;
  return { model: { ref, provider: id, key, id: key, endpoint }, variant: undefined };
}

/** @throws SvcError 400 for a provider that does not have the endpoint. */
export function requireOpenAI({ provider, endpoint }: { provider: string; endpoint: Provider['endpoint'] }): void {
  if (endpoint.kind !== 'anthropic') return;
  throw new SvcError({
    errorType: 'model_not_found',
    message: `${provider} has no such endpoint.`,
    param: 'model',
  });
}
