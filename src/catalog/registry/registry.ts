import { environmentKey } from '../environment-key.ts';
import type { Model, Provider } from '../model.ts';
import { VENDORS } from '../vendors.ts';
import { ProviderBuilder, type RegistryInput } from './provider-builder.ts';
import { isKnown, ProviderCatalog } from './provider-catalog.ts';

/** Every provider that is configured or has a key, and its models. Immutable; built anew when settings change. */
export class Registry {
  readonly providers: ReadonlyMap<string, Provider>;
  /** By `<provider_id>/<model_id>`, providers in order of preference. */
  readonly models: ReadonlyMap<string, Model>;
  readonly #input: RegistryInput;

  constructor(input: RegistryInput, providers: ReadonlyMap<string, Provider>) {
    this.#input = input;
    this.providers = providers;
    const models = new Map<string, Model>();
    const add = (model: Model) => void models.set(model.ref, model);
    for (const provider of providers.values()) provider.models.forEach(add);
    this.models = models;
  }

  /** A model by `<provider_id>/<model_id>`; the id may hold further slashes. */
  find(ref: string): Model | undefined {
    return this.models.get(ref);
  }

  /** USD per million tokens of a model by the name that its provider has for it, configured or only in the catalog. */
  costOf(provider: string, id: string): Model['cost'] {
    for (const model of this.providers.get(provider)?.models.values() ?? []) {
      if (model.id === id && model.cost !== undefined) return model.cost;
    }
    const { catalog, settings } = this.#input;
    return new ProviderCatalog(provider, catalog, settings.providers.get(provider)).lookUp(id, id)?.cost;
  }

  /** A registry without models that a person has hidden, by `<provider_id>/<model_id>`. */
  without(hidden: ReadonlySet<string>): Registry {
    if (hidden.size === 0) return this;
    const kept = [...this.providers].map(([id, provider]) => {
      const models = [...provider.models].filter(([, { ref }]) => !hidden.has(ref));
      return [
        id,
        models.length === provider.models.size ? provider : { ...provider, models: new Map(models) },
      ] as const;
    });
    return new Registry(this.#input, new Map(kept));
  }

  /** A registry in which the provider also has the models that its endpoint listed. What is configured stays as it is. */
  withListedModels(id: string, listed: readonly string[]): Registry {
    const provider = this.providers.get(id);
    if (provider === undefined) return this;
    const builder = new ProviderBuilder(id, this.#input);
    const models = new Map(provider.models);
    for (const key of listed) {
      if (key === '' || models.has(key) || !builder.offers(key)) continue;
      models.set(key, builder.model(key, 'listed'));
    }
    return new Registry(this.#input, new Map(this.providers).set(id, { ...provider, models }));
  }
}

/** Configured providers first, in the order that they are written in, then those that only have a key. */
export function buildRegistry(input: RegistryInput): Registry {
  const { settings, catalog, storedKeys } = input;
  const ids = new Set(settings.providers.keys());
  for (const id of storedKeys?.keys() ?? []) if (isKnown(id, catalog)) ids.add(id);
  for (const id of [...Object.keys(catalog.providers), ...VENDORS.keys()]) {
    if (!ids.has(id) && environmentKey(id, undefined, input) !== undefined) ids.add(id);
  }
  const providers = new Map<string, Provider>();
  for (const id of ids) {
    if (!settings.disabledProviders.has(id)) providers.set(id, new ProviderBuilder(id, input).build());
  }
  return new Registry(input, providers);
}
