import type { Provider } from '../../catalog/model.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Candidate, ServedModel } from './pipeline.ts';
import { unknownModel } from './requested-model.ts';

/**
 * A model from `gateway.embeddingModels` or `gateway.transcriptionModels`. It does not have to be one of
 * its provider's chat models.
 *
 * @throws SvcError 400 model_not_found.
 */
export function specialModel(
  deps: GatewayDeps,
  ref: string,
  list: ReadonlyMap<string, unknown>,
): Candidate<ServedModel> {
  const registry = deps.registry();
  const model = registry.models.get(ref);
  if (model) return { model, variant: undefined };
  const provider = registry.providers.get(ref.slice(0, ref.indexOf('/')));
  if (provider === undefined || !list.has(ref)) throw unknownModel(ref);
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
