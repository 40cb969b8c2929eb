import { CoalescedRun } from '../base/concurrency.ts';
import { defined } from '../base/json.ts';
import { LiveRegistry } from '../catalog/live-registry.ts';
import type { Model } from '../catalog/model.ts';
import { type CatalogData, EMPTY_CATALOG } from '../catalog/public/catalog.ts';
import {
  CatalogRefresher,
  cachedCatalog,
  catalogCacheFile,
  catalogUrl,
  refreshAllowed,
} from '../catalog/public/refresh.ts';
import { loadSnapshot } from '../catalog/public/snapshot.ts';
import { buildRegistry, type Registry } from '../catalog/registry/registry.ts';
import type { Settings } from '../config/settings/settings.ts';
import { modelLister } from './list-models.ts';
import { ServedWindows, type ServedWindowsOptions } from './served-window.ts';
import type { Transport } from './transport/transport.ts';
import type { StoredKeyMap } from './window-keys.ts';

/** Facts that decide which providers of the settings are used. */
export interface KnownProviders {
  readonly catalog: CatalogData;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hasStoredKey: (id: string) => boolean;
}

export interface LiveModelsDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly transport: Transport;
  /** For the public catalog. */
  readonly fetch?: typeof globalThis.fetch;
  /** The settings that were read last. */
  readonly loaded: () => Settings;
  /** The part of the settings that may be used: projects are not trusted everywhere. */
  readonly usable: (loaded: Settings, known: KnownProviders) => Settings;
  /** Keys that the user stored, by provider id. */
  readonly storedKeys: () => StoredKeyMap | Promise<StoredKeyMap>;
  /** The user's decisions about keys for addresses of projects; see `originDecisionKey`. */
  readonly originDecisions?: () => ReadonlyMap<string, boolean>;
  /** Identifies the workspace, or the folder of the process. */
  readonly workspace: () => string;
  /** The model list of a provider without configured models could not be read. */
  readonly unlisted: (provider: string, reason: string) => void;
  /** A server began to load a model. */
  readonly loading?: ServedWindowsOptions['loading'];
  /** The registry was replaced by one with other models. */
  readonly changed?: (registry: Registry) => void;
  /** A build after an update of the public catalog failed. */
  readonly failed: (error: unknown) => void;
}

/** The models of a running process: built from settings, keys and catalog, and again after each change of them. */
export class LiveModels {
  readonly #deps: LiveModelsDeps;
  readonly #builds = new CoalescedRun(() => this.#build());
  #catalog: CatalogData | undefined;
  #settings: Settings | undefined;
  #live: LiveRegistry | undefined;
  #refresher: CatalogRefresher | undefined;
  #disposed = false;

  constructor(deps: LiveModelsDeps) {
    this.#deps = deps;
  }

  dispose(): void {
    this.#disposed = true;
    this.#live?.dispose();
    this.#refresher?.dispose();
  }

  /** Undefined until the first build. */
  get live(): LiveRegistry | undefined {
    return this.#live;
  }

  /** The settings of the last build. */
  get settings(): Settings | undefined {
    return this.#settings;
  }

  /** Empty until the first build. */
  get catalog(): CatalogData {
    return this.#catalog ?? EMPTY_CATALOG;
  }

  /** The model with the window that its server has now. A request follows. */
  readonly served = async (model: Model, signal: AbortSignal): Promise<Model> =>
    (await this.#live?.served(model, signal)) ?? model;

  /** Resolves when the server has the model in memory. A request follows. */
  readonly load = async (model: Model, signal: AbortSignal): Promise<void> => {
    await this.#live?.load(model, signal);
  };

  /** See `WindowReader`. */
  readonly failed = (model: Model): void => this.#live?.failed(model);

  /** Builds the registry again. Calls during a build share one further build. Asks no provider: see `LiveRegistry.list`. */
  rebuild(): Promise<void> {
    return this.#builds.run();
  }

  /** Requests the public catalog now and from time to time, if that is allowed, until `dispose`. */
  follow(): void {
    if (this.#mayRefresh()) this.#refresher?.start();
  }

  #mayRefresh(): boolean {
    return refreshAllowed(this.#deps.loaded(), this.#deps.env);
  }

  async #build(): Promise<void> {
    const { env, loaded, usable, originDecisions, workspace } = this.#deps;
    const [catalog, storedKeys] = await Promise.all([this.#readCatalog(), this.#deps.storedKeys()]);
    if (this.#disposed) return;
    if (!this.#mayRefresh()) this.#refresher?.dispose();
    const settings = usable(loaded(), { catalog, env, hasStoredKey: (id) => storedKeys.has(id) });
    this.#settings = settings;
    const decisions = originDecisions === undefined ? {} : { originDecisions: originDecisions() };
    const registry = buildRegistry({ settings, catalog, env, storedKeys, workspace: workspace(), ...decisions });
    this.#live ??= this.#createLive(registry);
    this.#live.rebuilt(registry);
  }

  #createLive(registry: Registry): LiveRegistry {
    const { transport, unlisted, changed, loading } = this.#deps;
    const windows = new ServedWindows(transport, { loading });
    const listModels = modelLister(transport);
    return new LiveRegistry(registry, { listModels, windows, unlisted, ...defined({ changed }) });
  }

  async #readCatalog(): Promise<CatalogData> {
    this.#catalog ??= await this.#loadCatalog();
    return this.#catalog;
  }

  async #loadCatalog(): Promise<CatalogData> {
    const { env, platform, home, fetch, failed } = this.#deps;
    const snapshot = await loadSnapshot();
    const cacheFile = catalogCacheFile(env, platform, home);
    const input = { snapshot, cacheFile, url: catalogUrl(env), ...defined({ fetch }) };
    this.#refresher = new CatalogRefresher(input, (catalog) => {
      this.#catalog = catalog;
      this.rebuild().catch(failed);
    });
    return this.#mayRefresh() ? cachedCatalog(input) : snapshot;
  }
}
