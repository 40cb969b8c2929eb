import { environmentKey } from '../environment-key.ts';
import type { Model, Provider, ServedWindow } from '../model.ts';
import { withServedWindow } from '../served-window.ts';
import { withVendorPrices } from '../vendor-prices.ts';
import { VENDORS } from '../vendors.ts';
import { ProviderBuilder, type RegistryInput } from './provider-builder.ts';
import { isKnown, ProviderCatalog } from './provider-catalog.ts';

/**
 * All providers that are configured or have a key, with their models. Immutable: it is rebuilt when settings change.
 */
export class Registry {
  readonly providers: ReadonlyMap<string, Provider>;
  /** By `<provider_id>/<model_id>`, with providers in order of preference. */
  readonly models: ReadonlyMap<string, Model>;
  readonly #input: RegistryInput;
  /** References by the name without a provider; made when it is first used. */
  #named: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(input: RegistryInput, providers: ReadonlyMap<string, Provider>) {
    this.#input = input;
    this.providers = providers;
    const models = new Map<string, Model>();
    const add = (model: Model) => void models.set(model.ref, model);
    for (const provider of providers.values()) provider.models.forEach(add);
    this.models = models;
  }

  /** Finds a model by `<provider_id>/<model_id>`. The model id may contain more slashes. */
  find(ref: string): Model | undefined {
    return this.models.get(ref);
  }

  /** References of the callable models that have a name without a provider: as their key, else as their upstream id. */
  named(name: string): readonly string[] {
    this.#named ??= namesOf(this.models.values());
    return this.#named.get(name) ?? [];
  }

  /**
   * The price of a model (USD per million tokens) by its upstream id. The model may be configured or only in the
   * catalog.
   */
  findCost(provider: string, id: string): Model['cost'] {
    for (const model of this.providers.get(provider)?.models.values() ?? []) {
      if (model.id === id && model.cost !== undefined) return model.cost;
    }
    const { catalog, settings } = this.#input;
    const cost = new ProviderCatalog(provider, catalog, settings.providers.get(provider)).lookUp(id, id)?.cost;
    return cost && withVendorPrices(provider, cost);
  }

  /** A registry without the hidden models (`<provider_id>/<model_id>`). */
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

  /** A registry with the additional models that the provider's endpoint lists. Configured models do not change. */
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

  /** A registry whose models have the windows that their servers have. */
  withServedWindows(windowOf: (model: Model) => ServedWindow | undefined): Registry {
    const fit = (model: Model) => {
      const window = windowOf(model);
      return window === undefined ? model : withServedWindow(model, window);
    };
    const providers = [...this.providers].map(([id, provider]) => {
      const models = [...provider.models].map(([key, model]) => [key, fit(model)] as const);
      return [id, { ...provider, models: new Map(models) }] as const;
    });
    return new Registry(this.#input, new Map(providers));
  }
}

function namesOf(models: Iterable<Model>): ReadonlyMap<string, readonly string[]> {
  const callable = [...models].filter(({ endpoint }) => endpoint.problem === undefined);
  const byKey = Map.groupBy(callable, ({ key }) => key);
  const byId = Map.groupBy(callable, ({ id }) => id);
  return new Map([...byId, ...byKey].map(([name, found]) => [name, found.map(({ ref }) => ref)]));
}

/**
 * Builds the registry: configured providers first, in the order of the configuration, then those that only have a key.
 */
export function buildRegistry(input: RegistryInput): Registry {
  const { settings, catalog, storedKeys } = input;
  const ids = new Set(settings.providers.keys());
  for (const id of storedKeys?.keys() ?? []) if (isKnown(id, catalog)) ids.add(id);
  for (const id of [...Object.keys(catalog.providers), ...VENDORS.keys()]) {
    if (!ids.has(id) && environmentKey(id, undefined, input) !== undefined) ids.add(id);
  }
  const providers = new Map<string, Provider>();
  for (const id of ids) {
    const offered = !settings.disabledProviders.has(id) && (settings.offersProvider?.(id) ?? true);
    if (offered) providers.set(id, new ProviderBuilder(id, input).build());
  }
  return new Registry(input, providers);
}
