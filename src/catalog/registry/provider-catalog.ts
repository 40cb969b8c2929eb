import type { ProviderSettings } from '../../config/settings/settings.ts';
import { addressOrigin } from '../address.ts';
import {
  type CatalogData,
  type CatalogModel,
  type CatalogProvider,
  catalogModel,
  catalogProvider,
} from '../public/catalog.ts';
import { findVendor, PACKAGE_VENDORS, VENDOR_ORIGINS, VENDORS } from '../vendors.ts';

/** Whether the provider is known without configuration. */
export function isKnown(id: string, catalog: CatalogData): boolean {
  return catalogProvider(catalog, id) !== undefined || findVendor(id) !== undefined;
}

/**
 * The catalog data for one configured provider, by its own id or by the provider that its package or address
 * identifies.
 */
export class ProviderCatalog {
  /** The catalog's provider with the same id. */
  readonly listed: CatalogProvider | undefined;
  /** The catalog's provider whose models this provider offers without configuration. */
  readonly served: CatalogProvider | undefined;
  readonly #catalog: CatalogData;
  readonly #provider: ProviderSettings | undefined;
  #others: readonly CatalogProvider[] | undefined;

  constructor(id: string, catalog: CatalogData, provider: ProviderSettings | undefined) {
    this.#catalog = catalog;
    this.#provider = provider;
    this.listed = catalogProvider(catalog, id);
    const borrowed = findVendor(id)?.catalog;
    this.served = borrowed === undefined ? this.listed : findCodestral(catalogProvider(catalog, borrowed));
  }

  /**
   * Looks up a model by id, then by key: first in the provider itself, then in the one that its package or address
   * identifies.
   */
  lookUp(id: string, key: string): CatalogModel | undefined {
    const { served } = this;
    const found = served && (catalogModel(served, id) ?? catalogModel(served, key));
    if (found !== undefined) return found;
    this.#others ??= this.#relatives();
    if (this.#others.length === 0) return undefined;
    for (const provider of this.#others) {
      const borrowed = catalogModel(provider, id) ?? catalogModel(provider, key);
      // The address and format of another provider do not apply to this one.
      if (borrowed !== undefined) return withoutPlace(borrowed);
    }
    return undefined;
  }

  /** The providers that the address or the package identifies. */
  #relatives(): readonly CatalogProvider[] {
    const catalog = this.#catalog;
    const configured = this.#provider?.baseURL?.value ?? this.#provider?.api?.value;
    const npm = this.#provider?.npm?.value;
    const ids = [providerAt(configured, catalog), npm === undefined ? undefined : PACKAGE_VENDORS.get(npm)];
    const found = ids.map((id) => (id === undefined ? undefined : catalogProvider(catalog, id)));
    return found.filter((provider) => provider !== undefined);
  }
}

/** Codestral's own address offers only these models. */
function findCodestral(lender: CatalogProvider | undefined): CatalogProvider | undefined {
  if (lender === undefined) return undefined;
  const models = Object.entries(lender.models).filter(([key]) => key.startsWith('codestral'));
  return { ...lender, models: Object.fromEntries(models) };
}

/** Origins of a catalog's providers. Computed once: a catalog never changes. */
const ORIGINS = new WeakMap<CatalogData, ReadonlyMap<string, string>>();

function providerAt(address: string | undefined, catalog: CatalogData): string | undefined {
  const origin = addressOrigin(address);
  if (origin === undefined) return undefined;
  const vendor = VENDOR_ORIGINS.get(origin);
  if (vendor !== undefined) return VENDORS.get(vendor)?.catalog ?? vendor;
  let origins = ORIGINS.get(catalog);
  if (origins === undefined) {
    origins = new Map(Object.entries(catalog.providers).map(([id, { api }]) => [addressOrigin(api) ?? '', id]));
    ORIGINS.set(catalog, origins);
  }
  return origins.get(origin);
}

function withoutPlace({ npm: _npm, api: _api, ...model }: CatalogModel): CatalogModel {
  return model;
}
