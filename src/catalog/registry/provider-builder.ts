import { defined, mergeDeep } from '../../base/json.ts';
import { FIELD_OPTIONS, requestFields } from '../../config/schema/option-names.ts';
import type { ConfiguredTier, ModelCost, ModelSettings, PriceTier } from '../../config/settings/configured-model.ts';
import { DEFAULT_TIMEOUT_MS } from '../../config/settings/defaults.ts';
import type { Credential } from '../../config/settings/origin.ts';
import { revealOptions } from '../../config/settings/secret.ts';
import type { ProviderSettings, Settings } from '../../config/settings/settings.ts';
import { verbatim } from '../../wire/errors/svc-error.ts';
import type { FimDialect } from '../../wire/fim/fim-request.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { type Address, resolveAddress } from '../address.ts';
import {
  type OriginDecisions,
  originDecisionKey,
  type ReleasedCredentials,
  releaseCredentials,
  releasedOptions,
  releasedVariants,
  type StoredProviderKey,
} from '../credential-scope.ts';
import { editDialect } from '../edit-ability.ts';
import { environmentKey } from '../environment-key.ts';
import { fimDialect } from '../fim-ability.ts';
import { mergeLimit } from '../limits.ts';
import type { Endpoint, Model, Provider } from '../model.ts';
import { matchesModelPattern } from '../model-pattern.ts';
import { type CatalogData, type CatalogModel, readRow } from '../public/catalog.ts';
import { resolveVariants } from '../variants.ts';
import { withVendorPrices } from '../vendor-prices.ts';
import { findVendor } from '../vendors.ts';
import { isKnown, ProviderCatalog } from './provider-catalog.ts';

export interface RegistryInput {
  readonly settings: Settings;
  readonly catalog: CatalogData;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By provider id. */
  readonly storedKeys?: ReadonlyMap<string, StoredProviderKey>;
  readonly originDecisions?: OriginDecisions;
  /** The name of the workspace in `originDecisions`. */
  readonly workspace?: string;
}

/** Modalities of a model without other information (spec 2.5). */
const TEXT_ONLY: Model['modalities'] = { input: ['text'], output: ['text'] };
const NO_FIELDS: Model['options'] = {};

/** A model before its endpoint is resolved. An empty id requests the provider's endpoint. */
interface UnresolvedModel {
  readonly id: string;
  readonly settings?: ModelSettings | undefined;
  readonly known?: CatalogModel | undefined;
}

interface Placed {
  readonly endpoint: Endpoint;
  readonly address: Address;
}

/** Builds one provider. Caches the values that its models share. */
export class ProviderBuilder {
  readonly #id: string;
  readonly #input: RegistryInput;
  readonly #provider: ProviderSettings | undefined;
  readonly #trusted: ProviderSettings | undefined;
  readonly #envKey: Credential | undefined;
  readonly #catalog: ProviderCatalog;
  readonly #placed = new Map<string, Placed>();
  /** From the first model that has withheld credentials. */
  #withheld: Provider['withheld'];
  #shared: Address | undefined;

  constructor(id: string, input: RegistryInput) {
    this.#id = id;
    this.#input = input;
    this.#provider = input.settings.providers.get(id);
    this.#trusted = this.#provider?.trust === 'untrusted' ? undefined : (this.#provider?.trusted ?? this.#provider);
    this.#envKey = environmentKey(id, this.#provider, input);
    this.#catalog = new ProviderCatalog(id, input.catalog, this.#provider);
  }

  build(): Provider {
    const { endpoint } = this.#endpoint('');
    const models = new Map<string, Model>();
    this.#addCatalogs(models);
    this.#provider?.models.forEach((settings, key) => {
      if (settings.off || models.has(key) || !this.#passes(key)) return;
      models.set(key, this.model(key, 'config', settings));
    });
    return {
      id: this.#id,
      name: this.#provider?.name ?? this.#catalog.listed?.name ?? findVendor(this.#id)?.name ?? this.#id,
      endpoint,
      models,
      source: this.#provider === undefined ? 'catalog' : 'config',
      simulated: this.#provider?.simulated ?? false,
      withheld: endpoint.withheld ?? this.#withheld,
    };
  }

  /** Whether the model is offered: it passes the filters (blacklist before whitelist) and is not disabled. */
  offers(key: string): boolean {
    return !this.#provider?.models.get(key)?.off && this.#passes(key);
  }

  #passes(key: string): boolean {
    const whitelist = this.#provider?.whitelist;
    const blacklist = this.#provider?.blacklist;
    if (blacklist !== undefined && matchesAny(blacklist, key)) return false;
    return whitelist === undefined || matchesAny(whitelist, key);
  }

  model(key: string, source: Model['source'], settings = this.#findSettings(key)): Model {
    const id = settings?.id ?? key;
    const known = this.#catalog.lookUp(id, key);
    const { endpoint, address } = this.#endpoint(id, settings, known);
    this.#withheld ??= endpoint.withheld;
    return {
      ref: `${this.#id}/${key}`,
      provider: this.#id,
      key,
      id,
      name: settings?.name ?? (settings?.id !== undefined && id !== key ? key : (known?.name ?? key)),
      toolCall: settings?.toolCall ?? known?.toolCall ?? true,
      reasoning: settings?.reasoning ?? known?.reasoning ?? false,
      effort: known && defined({ levels: known.efforts, budget: known.budget }),
      // Nearly every model supports `temperature`. For an unknown model, keep the caller's setting.
      temperature: settings?.temperature ?? known?.temperature ?? true,
      attachment: settings?.attachment ?? known?.attachment ?? false,
      structuredOutput: known?.structuredOutput ?? false,
      modalities: settings?.modalities ?? known?.modalities ?? TEXT_ONLY,
      limit: mergeLimit(settings, known),
      options: releasedOptions(this.#fields(settings, address.format), endpoint.withheld),
      variants: releasedVariants(resolveVariants(known, settings, address), endpoint.withheld),
      endpoint,
      fim: endpoint.fim !== undefined,
      edit: editDialect(address, settings?.edit ?? this.#provider?.edit, id),
      source,
      cost: mergeCost(this.#id, settings, known),
      releaseDate: known?.releaseDate,
      origin: settings?.origin,
    };
  }

  /** The request fields of the provider's and the model's options. */
  #fields(settings: ModelSettings | undefined, format: FormatName): Model['options'] {
    const own = settings?.options ?? NO_FIELDS;
    const shared = this.#provider?.options;
    if (shared === undefined || Object.keys(shared).length === 0) return requestFields(own, format);
    const fields = Object.entries(shared).filter(([key]) => Object.hasOwn(FIELD_OPTIONS, key));
    const usage = shared.includeUsage === false && format === 'chat-completions' ? { stream_options: null } : {};
    return mergeDeep({ ...usage, ...requestFields(Object.fromEntries(fields), format) }, requestFields(own, format));
  }

  /** Adds the catalog's models. Deprecated models are added only if configured. */
  #addCatalogs(models: Map<string, Model>): void {
    const rows = this.#catalog.served?.models ?? {};
    for (const key in rows) {
      const row = rows[key];
      if (row === undefined || !this.offers(key)) continue;
      const settings = this.#findSettings(key);
      if (settings === undefined && readRow(row).hidden) continue;
      models.set(key, this.model(key, settings === undefined ? 'catalog' : 'config', settings));
    }
  }

  #findSettings(key: string): ModelSettings | undefined {
    const settings = this.#provider?.models.get(key);
    return settings?.off ? undefined : settings;
  }

  #address(
    unresolved: UnresolvedModel,
    provider: ProviderSettings | undefined,
    model: ModelSettings | undefined,
  ): Address {
    const { catalog, env } = this.#input;
    return resolveAddress({
      id: this.#id,
      provider,
      model,
      modelId: unresolved.id,
      catalogModel: unresolved.known,
      catalog,
      env,
    });
  }

  /** Models without their own address, format or headers share one endpoint for each FIM dialect. */
  #endpoint(id: string, settings?: ModelSettings, known?: CatalogModel): Placed {
    const own = settings?.provider ?? settings?.headers ?? known?.npm ?? known?.api;
    const address =
      own === undefined && this.#shared !== undefined
        ? this.#shared
        : this.#address({ id, settings, known }, this.#provider, settings);
    const shareable = own === undefined && address.kind !== 'azure';
    if (shareable) this.#shared = address;
    const fim = id === '' ? (address.fim ?? address.knownFim) : fimDialect(address, id);
    const key = fim ?? '';
    const present = shareable ? this.#placed.get(key) : undefined;
    if (present !== undefined) return present;
    const placed = { endpoint: this.#buildEndpoint({ id, settings, known }, address, fim), address };
    if (shareable) this.#placed.set(key, placed);
    return placed;
  }

  #buildEndpoint(unresolved: UnresolvedModel, address: Address, fim: FimDialect | undefined): Endpoint {
    const provider = this.#provider;
    const { apiKey, headers, withheld } = this.#releaseCredentials(unresolved, address);
    const configured = this.#input.settings.managedProblem ?? provider?.problem;
    const problem = configured === undefined ? address.problem : verbatim(configured);
    const { kind, format, baseURL, fimURL } = address;
    const resource = provider?.resourceName?.value;
    const options = revealOptions(provider?.options ?? {}, withheld === undefined);
    const deployment = kind === 'azure' && unresolved.id !== '' ? unresolved.id : undefined;
    return {
      kind,
      format,
      baseURL,
      fimURL,
      fim,
      apiKey,
      headers,
      timeout: provider?.timeout ?? DEFAULT_TIMEOUT_MS,
      chunkTimeout: provider?.chunkTimeout,
      reasoningTags: provider?.reasoningTags,
      toolCallsInText: provider?.toolCallsInText,
      options: { ...options, ...defined({ resourceName: resource, deployment }) },
      problem,
      withheld,
    };
  }

  #releaseCredentials(unresolved: UnresolvedModel, address: Address): ReleasedCredentials {
    const { storedKeys, originDecisions, workspace = '', catalog } = this.#input;
    const provider = this.#provider;
    const trustedKnows = this.#trusted !== undefined || isKnown(this.#id, catalog);
    const trustedModel =
      unresolved.settings === undefined ? undefined : this.#trusted?.models.get(unresolved.settings.key);
    const same = this.#trusted === provider && trustedModel === unresolved.settings;
    const trusted = () => (same ? address : this.#address(unresolved, this.#trusted, trustedModel));
    return releaseCredentials({
      id: this.#id,
      address,
      trusted: trustedKnows ? trusted() : undefined,
      provider,
      headers: mergeHeaders(provider, unresolved.settings),
      stored: storedKeys?.get(this.#id),
      envKey: this.#envKey,
      allowed: (origin) => originDecisions?.get(originDecisionKey(workspace, this.#id, origin)) === true,
    });
  }
}

/** The model's headers override the provider's. */
function mergeHeaders(provider: ProviderSettings | undefined, model: ModelSettings | undefined): Endpoint['headers'] {
  if (model?.headers === undefined) return provider?.headers ?? new Map();
  return new Map([...(provider?.headers ?? []), ...model.headers]);
}

function matchesAny(patterns: readonly string[], key: string): boolean {
  return patterns.some((pattern) => matchesModelPattern(pattern, key));
}

/**
 * The user's prices override those of the catalog, kind by kind. The catalog's tiers and special prices belong to its
 * own prices, so they end with these.
 */
function mergeCost(
  provider: string,
  settings: ModelSettings | undefined,
  known: CatalogModel | undefined,
): Model['cost'] {
  const listed = known?.cost;
  if (settings?.cost === undefined) return listed && withVendorPrices(provider, listed);
  const { tiers, ...own } = settings.cost;
  const { tiers: _, served: __, ...rates } = listed ?? { input: 0, output: 0 };
  const replaced = own.input !== undefined || own.output !== undefined;
  const merged: ModelCost = { ...(replaced ? rates : (listed ?? rates)), ...own };
  const served = replaced || own.served === undefined ? own.served : { ...listed?.served, ...own.served };
  return withVendorPrices(provider, {
    ...merged,
    ...defined({ served }),
    ...(tiers === undefined ? {} : { tiers: tiers.map((tier) => wholeTier(tier, merged)) }),
  });
}

/** A tier without a price for the input or the output changes only the prices that it has. */
function wholeTier(tier: ConfiguredTier, { tiers: _, served: __, fees: ___, ...rates }: ModelCost): PriceTier {
  const { input, output } = tier;
  return input === undefined || output === undefined ? { ...rates, ...tier } : { ...tier, input, output };
}
