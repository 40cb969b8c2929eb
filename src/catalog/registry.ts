import { revealOptions, Secret } from '../config/secret.ts';
import type { Credential, ModelSettings, ProviderSettings, Settings } from '../config/settings.ts';
import type { FimDialect } from '../wire/hole.ts';
import { type Address, originOf, resolveAddress } from './address.ts';
import {
  type CatalogData,
  type CatalogModel,
  type CatalogProvider,
  catalogModel,
  catalogProvider,
  readRow,
} from './catalog.ts';
import {
  type Cleared,
  clear,
  clearedOptions,
  clearedVariants,
  type OriginDecisions,
  originDecisionKey,
  type StoredKey,
} from './clearance.ts';
import { fimDialect } from './fim-ability.ts';
import type { Endpoint, Model, Provider } from './model.ts';
import { resolveVariants } from './variants.ts';
import { PACKAGE_VENDORS, VENDOR_ORIGINS, VENDORS, vendorOf } from './vendors.ts';

export interface RegistryInput {
  readonly settings: Settings;
  readonly catalog: CatalogData;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By provider id. */
  readonly storedKeys?: ReadonlyMap<string, StoredKey>;
  readonly originDecisions?: OriginDecisions;
  /** Names the workspace in `originDecisions`. */
  readonly workspace?: string;
}

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
    for (const provider of providers.values())
      for (const model of provider.models.values()) models.set(model.ref, model);
    this.models = models;
  }

  /** A model by `<provider_id>/<model_id>`; the id may hold further slashes. */
  find(ref: string): Model | undefined {
    return this.models.get(ref);
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

/** As `Registry.withListedModels`. */
export function withListedModels(registry: Registry, provider: string, ids: readonly string[]): Registry {
  return registry.withListedModels(provider, ids);
}

/** Providers without models that can be asked for theirs (`GET {baseURL}/models`). */
export function providersToList(registry: Registry): readonly Provider[] {
  return [...registry.providers.values()].filter(
    ({ models, endpoint }) => models.size === 0 && endpoint.problem === undefined && endpoint.baseURL !== undefined,
  );
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

function isKnown(id: string, catalog: CatalogData): boolean {
  return catalogProvider(catalog, id) !== undefined || vendorOf(id) !== undefined;
}

/** The first set variable that may hold the provider's key: the person's own list, the catalog's, ours. */
function environmentKey(
  id: string,
  provider: ProviderSettings | undefined,
  input: RegistryInput,
): Credential | undefined {
  const trusted = provider?.trusted ?? (provider?.trust === 'untrusted' ? undefined : provider);
  const names = trusted?.env ?? catalogProvider(input.catalog, id)?.env ?? vendorOf(id)?.env ?? [];
  for (const name of names) {
    const value = Object.hasOwn(input.env, name) ? input.env[name]?.trim() : undefined;
    if (value === undefined || value === '') continue;
    const source = { kind: 'built-in', path: `$${name}`, trusted: true, status: 'loaded' } as const;
    return { secret: new Secret(value), trusted: true, origin: { source, line: 1, column: 1 } };
  }
  return undefined;
}

/** Spec 2.5: of a model of which nothing else is known. */
const TEXT_ONLY: Model['modalities'] = { input: ['text'], output: ['text'] };

/** A model before it has an endpoint; an empty id asks for the provider's own. */
interface Asked {
  readonly id: string;
  readonly settings?: ModelSettings | undefined;
  readonly known?: CatalogModel | undefined;
}

interface Placed {
  readonly endpoint: Endpoint;
  readonly address: Address;
}

/** Builds one provider; keeps what its models share. */
class ProviderBuilder {
  readonly #id: string;
  readonly #input: RegistryInput;
  readonly #provider: ProviderSettings | undefined;
  readonly #trusted: ProviderSettings | undefined;
  readonly #envKey: Credential | undefined;
  readonly #placed = new Map<string, Placed>();
  #shared: Address | undefined;
  #others: readonly CatalogProvider[] | undefined;

  constructor(id: string, input: RegistryInput) {
    this.#id = id;
    this.#input = input;
    this.#provider = input.settings.providers.get(id);
    this.#trusted = this.#provider?.trust === 'untrusted' ? undefined : (this.#provider?.trusted ?? this.#provider);
    this.#envKey = environmentKey(id, this.#provider, input);
  }

  build(): Provider {
    const { endpoint } = this.#endpoint({ id: '' });
    const models = new Map<string, Model>();
    for (const key of this.#keys()) models.set(key, this.model(key, this.#settingsOf(key) ? 'config' : 'catalog'));
    const stopped =
      endpoint.withheld ?? [...models.values()].find((model) => model.endpoint.withheld)?.endpoint.withheld;
    return {
      id: this.#id,
      name: this.#provider?.name ?? this.#listed()?.name ?? vendorOf(this.#id)?.name ?? this.#id,
      endpoint,
      models,
      source: this.#provider === undefined ? 'catalog' : 'config',
      simulated: this.#provider?.simulated ?? false,
      ...(stopped === undefined ? {} : { withheld: stopped }),
    };
  }

  /** Whether the filters let a key through (blacklist before whitelist) and it isn't switched off. */
  offers(key: string): boolean {
    const { whitelist, blacklist } = this.#provider ?? {};
    if (this.#provider?.models.get(key)?.off) return false;
    if (blacklist?.some((pattern) => matches(pattern, key))) return false;
    return whitelist === undefined || whitelist.some((pattern) => matches(pattern, key));
  }

  model(key: string, source: Model['source']): Model {
    const settings = this.#settingsOf(key);
    const id = settings?.id ?? key;
    const known = this.#lookUp(id, key);
    const { endpoint, address } = this.#endpoint({ id, settings, known });
    const model: { -readonly [K in keyof Model]: Model[K] } = {
      ref: `${this.#id}/${key}`,
      provider: this.#id,
      key,
      id,
      name: settings?.name ?? (settings?.id !== undefined && id !== key ? key : (known?.name ?? key)),
      toolCall: settings?.toolCall ?? known?.toolCall ?? true,
      reasoning: settings?.reasoning ?? known?.reasoning ?? false,
      // Nearly every model takes it; a model that is not known must not lose a caller's setting.
      temperature: settings?.temperature ?? known?.temperature ?? true,
      attachment: settings?.attachment ?? known?.attachment ?? false,
      structuredOutput: known?.structuredOutput ?? false,
      modalities: settings?.modalities ?? known?.modalities ?? TEXT_ONLY,
      limit: mergeLimit(settings, known),
      options: clearedOptions(settings?.options ?? {}, endpoint.withheld),
      variants: clearedVariants(resolveVariants(known, settings, address), endpoint.withheld),
      endpoint,
      fim: endpoint.fim !== undefined,
      source,
    };
    const cost = mergeCost(settings, known);
    if (cost !== undefined) model.cost = cost;
    if (known?.releaseDate !== undefined) model.releaseDate = known.releaseDate;
    if (settings !== undefined) model.origin = settings.origin;
    return model;
  }

  /** The catalog's offers and the configured ones; deprecated models only where they are configured. */
  *#keys(): Generator<string> {
    const rows = this.#served()?.models ?? {};
    for (const [key, row] of Object.entries(rows)) {
      if (this.offers(key) && (this.#settingsOf(key) !== undefined || !readRow(row).hidden)) yield key;
    }
    for (const [key, settings] of this.#provider?.models ?? []) {
      if (!settings.off && !Object.hasOwn(rows, key) && this.offers(key)) yield key;
    }
  }

  #settingsOf(key: string): ModelSettings | undefined {
    const settings = this.#provider?.models.get(key);
    return settings?.off ? undefined : settings;
  }

  #listed() {
    return catalogProvider(this.#input.catalog, this.#id);
  }

  /** Whose models the provider offers by itself. */
  #served() {
    const borrowed = vendorOf(this.#id)?.catalog;
    if (borrowed === undefined) return this.#listed();
    const lender = catalogProvider(this.#input.catalog, borrowed);
    if (lender === undefined) return undefined;
    const models = Object.entries(lender.models).filter(([key]) => key.startsWith('codestral'));
    return { ...lender, models: Object.fromEntries(models) };
  }

  /** By id, then by key, of the provider itself, then of the one that its package or address identifies. */
  #lookUp(id: string, key: string): CatalogModel | undefined {
    const own = this.#served();
    const found = catalogModel(own, id) ?? catalogModel(own, key);
    if (found !== undefined) return found;
    this.#others ??= this.#relatives();
    for (const provider of this.#others) {
      const borrowed = catalogModel(provider, id) ?? catalogModel(provider, key);
      // Another provider's own address or format says nothing about this one.
      if (borrowed !== undefined) return withoutPlace(borrowed);
    }
    return undefined;
  }

  /** The providers that the address or the package identifies. */
  #relatives(): readonly CatalogProvider[] {
    const { catalog } = this.#input;
    const configured = this.#provider?.baseURL?.value ?? this.#provider?.api?.value;
    const npm = this.#provider?.npm?.value;
    const ids = [providerAt(configured, catalog), npm === undefined ? undefined : PACKAGE_VENDORS.get(npm)];
    const found = ids.map((id) => (id === undefined ? undefined : catalogProvider(catalog, id)));
    return found.filter((provider) => provider !== undefined);
  }

  #address(asked: Asked, provider: ProviderSettings | undefined, model: ModelSettings | undefined): Address {
    const { catalog, env } = this.#input;
    return resolveAddress({
      id: this.#id,
      provider,
      model,
      modelId: asked.id,
      catalogModel: asked.known,
      catalog,
      env,
    });
  }

  /** Models without an address, a format or headers of their own share one endpoint for each FIM dialect. */
  #endpoint(asked: Asked): Placed {
    const { settings, known } = asked;
    const own = settings?.provider ?? settings?.headers ?? known?.npm ?? known?.api;
    const address =
      own === undefined && this.#shared !== undefined ? this.#shared : this.#address(asked, this.#provider, settings);
    const shareable = own === undefined && address.kind !== 'azure';
    if (shareable) this.#shared = address;
    const fim = asked.id === '' ? (address.fim ?? address.knownFim) : this.#dialect(address, asked.id);
    const key = fim ?? '';
    const present = shareable ? this.#placed.get(key) : undefined;
    if (present !== undefined) return present;
    const placed = { endpoint: this.#place(asked, address, fim), address };
    if (shareable) this.#placed.set(key, placed);
    return placed;
  }

  #dialect(address: Address, model: string): FimDialect | undefined {
    return fimDialect({ kind: address.kind, model, configured: address.fim, known: address.knownFim });
  }

  #place(asked: Asked, address: Address, fim: FimDialect | undefined): Endpoint {
    const provider = this.#provider;
    const { apiKey, headers, withheld } = this.#clear(asked, address);
    const problem = this.#input.settings.managedProblem ?? provider?.problem ?? address.problem;
    const { kind, format, baseURL, fimURL } = address;
    const resource = provider?.resourceName?.value;
    const options = revealOptions(provider?.options ?? {}, withheld === undefined);
    return {
      kind,
      format,
      ...(baseURL === undefined ? {} : { baseURL }),
      ...(fimURL === undefined ? {} : { fimURL }),
      ...(fim === undefined ? {} : { fim }),
      ...(apiKey === undefined ? {} : { apiKey }),
      headers,
      timeout: provider?.timeout ?? 300_000,
      ...(provider?.chunkTimeout === undefined ? {} : { chunkTimeout: provider.chunkTimeout }),
      options: resource === undefined ? options : { ...options, resourceName: resource },
      ...(problem === undefined ? {} : { problem }),
      ...(withheld === undefined ? {} : { withheld }),
    };
  }

  #clear(asked: Asked, address: Address): Cleared {
    const { storedKeys, originDecisions, workspace = '', catalog } = this.#input;
    const provider = this.#provider;
    const trustedKnows = this.#trusted !== undefined || isKnown(this.#id, catalog);
    const trustedModel = asked.settings === undefined ? undefined : this.#trusted?.models.get(asked.settings.key);
    return clear({
      id: this.#id,
      address,
      trusted: trustedKnows ? this.#address(asked, this.#trusted, trustedModel) : undefined,
      provider,
      headers: new Map([...(provider?.headers ?? []), ...(asked.settings?.headers ?? [])]),
      stored: storedKeys?.get(this.#id),
      envKey: this.#envKey,
      allowed: (origin) => originDecisions?.get(originDecisionKey(workspace, this.#id, origin)) === true,
    });
  }
}

/** `*` stands for any text; without one the whole key must be the same. */
export function matches(pattern: string, key: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === key;
  // `vendor/*`, at every request of the gateway.
  if (star === pattern.length - 1) return key.startsWith(pattern.slice(0, star));
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!key.startsWith(first) || !key.endsWith(last) || key.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = key.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= key.length - last.length;
}

/** Origins of a catalog's providers: computed once, a catalog is never changed. */
const ORIGINS = new WeakMap<CatalogData, ReadonlyMap<string, string>>();

function providerAt(address: string | undefined, catalog: CatalogData): string | undefined {
  const origin = originOf(address);
  if (origin === undefined) return undefined;
  const vendor = VENDOR_ORIGINS.get(origin);
  if (vendor !== undefined) return VENDORS.get(vendor)?.catalog ?? vendor;
  let origins = ORIGINS.get(catalog);
  if (origins === undefined) {
    origins = new Map(Object.entries(catalog.providers).map(([id, { api }]) => [originOf(api) ?? '', id]));
    ORIGINS.set(catalog, origins);
  }
  return origins.get(origin);
}

function withoutPlace({ npm: _npm, api: _api, ...model }: CatalogModel): CatalogModel {
  return model;
}

/** Spec 8: the person's values, then the catalog's, then 0, each by itself. */
function mergeLimit(settings: ModelSettings | undefined, known: CatalogModel | undefined): Model['limit'] {
  const context = settings?.limit?.context ?? known?.limit.context ?? 0;
  const output = settings?.limit?.output ?? known?.limit.output ?? 0;
  const catalogInput = known?.limit.input;
  // A person who sets a smaller window means it: the catalog's larger input ceiling would hide it.
  const outgrown = settings?.limit?.context !== undefined && catalogInput !== undefined && catalogInput > context;
  const input = settings?.limit?.input ?? (outgrown ? undefined : catalogInput);
  return input === undefined ? { context, output } : { context, output, input };
}

function mergeCost(settings: ModelSettings | undefined, known: CatalogModel | undefined): Model['cost'] {
  if (settings?.cost === undefined) return known?.cost;
  return { input: 0, output: 0, ...known?.cost, ...settings.cost };
}
