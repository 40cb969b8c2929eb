import { LiveRegistry } from '../catalog/live-registry.ts';
import type { CatalogData } from '../catalog/public/catalog.ts';
import {
  CatalogRefresher,
  cachedCatalog,
  catalogCacheFile,
  catalogUrl,
  type RefreshInput,
  refreshAllowed,
} from '../catalog/public/refresh.ts';
import { loadSnapshot } from '../catalog/public/snapshot.ts';
import { buildRegistry, type Registry } from '../catalog/registry/registry.ts';
import { registryDiagnostics } from '../catalog/registry/registry-diagnostics.ts';
import { withTrustedProviders } from '../catalog/registry/trusted-providers.ts';
import type { LoadInput } from '../config/load/sources.ts';
import { SettingsStore } from '../config/load/store.ts';
import { type Accepted, LastValid } from '../config/settings/last-valid.ts';
import type { Diagnostic, Settings } from '../config/settings/settings.ts';
import type { ModelListing } from '../gateway/dispatch/models.ts';
import { modelLister } from '../provider/list-models.ts';
import { ServedWindows } from '../provider/served-window.ts';
import type { UndiciTransport } from '../provider/transport/undici-transport.ts';
import { readWindowKeys, type WindowAddress, type WindowKeys, windowAddress } from '../provider/window-keys.ts';
import { requireManaged, terminalInput } from './cli-context.ts';
import type { Io } from './io.ts';

export interface LiveConfigurationEvents {
  /** The configuration was read first. No provider was asked yet. */
  readonly read?: (settings: Settings) => void;
  /** The configuration was read again. @param accepted what of it is used. */
  readonly changed: (accepted: Accepted) => void;
  /** The model list of a provider without configured models could not be read. */
  readonly unlisted: (provider: string, reason: string) => void;
}

/** Settings and models of a long-running process. Follows changes of the files and of the model lists. */
export class LiveConfiguration {
  readonly #io: Io;
  readonly #store: SettingsStore;
  readonly #refresher: CatalogRefresher;
  readonly #registry: LiveRegistry;
  readonly #lastValid: LastValid;
  /** What of the configuration is used. */
  #loaded: Settings;
  #catalog: CatalogData;
  /** Keys of the VS Code window that started this process. */
  #windowKeys: WindowKeys | undefined;
  readonly #closing = new AbortController();
  /** The result of `withTrustedProviders`. */
  #settings: Settings;

  /** @throws SvcError configuration_error if the managed configuration is invalid. */
  static async open(
    io: Io,
    transport: UndiciTransport,
    events: LiveConfigurationEvents,
    input: LoadInput = terminalInput(io),
  ): Promise<LiveConfiguration> {
    const store = new SettingsStore(() => input);
    try {
      // Watch before the first read, so that a change during the start is not missed.
      await store.watch();
      const [settings, snapshot] = await Promise.all([store.refresh(), loadSnapshot()]);
      transport.restrict(settings.localOnly);
      requireManaged(settings);
      const cacheFile = catalogCacheFile(io.env, io.platform, io.home);
      const place = { snapshot, cacheFile, url: catalogUrl(io.env), fetch: transport.fetch };
      const catalog = refreshAllowed(settings, io.env) ? await cachedCatalog(place) : snapshot;
      const address = windowAddress(io.env);
      const windowKeys = address && (await readWindowKeys(address, io.signal));
      const upstreams = new LiveConfiguration(io, transport, events, store, catalog, place, windowKeys);
      if (address && windowKeys) void upstreams.#followWindow(address, windowKeys);
      // Start listing before the first request. A request waits for the lists.
      void upstreams.#registry.list();
      return upstreams;
    } catch (thrown) {
      store.dispose();
      throw thrown;
    }
  }

  private constructor(
    io: Io,
    transport: UndiciTransport,
    events: LiveConfigurationEvents,
    store: SettingsStore,
    catalog: CatalogData,
    place: RefreshInput,
    windowKeys: WindowKeys | undefined,
  ) {
    this.#windowKeys = windowKeys;
    this.#io = io;
    this.#store = store;
    this.#catalog = catalog;
    this.#lastValid = new LastValid(store.current);
    this.#loaded = store.current;
    this.#settings = this.#trusted(this.#loaded);
    events.read?.(this.#settings);
    const windows = new ServedWindows(transport);
    const deps = { listModels: modelLister(transport), windows, unlisted: events.unlisted };
    this.#registry = new LiveRegistry(this.#build(), deps);
    this.#refresher = new CatalogRefresher(place, (fresh) => {
      this.#catalog = fresh;
      this.#rebuild();
    });
    store.onChange((loaded) => {
      transport.restrict(loaded.localOnly);
      const accepted = this.#lastValid.accept(loaded);
      this.#loaded = accepted.settings;
      this.#rebuild();
      events.changed({ ...accepted, settings: this.#settings });
      void this.#registry.list();
    });
  }

  /** Follows changes of the keys until the window closes. The last keys stay in use after that. */
  async #followWindow(address: WindowAddress, first: WindowKeys): Promise<void> {
    const { signal } = this.#closing;
    let known: WindowKeys | undefined = first;
    while (known !== undefined && !signal.aborted) {
      known = await readWindowKeys(address, signal, known.version);
      if (known === undefined || signal.aborted) return;
      this.#windowKeys = known;
      this.#rebuild();
      void this.#registry.list();
    }
  }

  dispose(): void {
    this.#closing.abort();
    this.#registry.dispose();
    this.#refresher.dispose();
    this.#store.dispose();
  }

  get settings(): Settings {
    return this.#settings;
  }

  get registry(): Registry {
    return this.#registry.current;
  }

  /** Problems that need the catalog: names of providers and models that do not exist. */
  diagnostics(): readonly Diagnostic[] {
    return registryDiagnostics(this.#settings, this.#registry.current, this.#catalog);
  }

  /** The state of the model lists; see `LiveRegistry`. */
  get listing(): ModelListing {
    return this.#registry;
  }

  /** Refreshes the public catalog, if allowed, until `dispose`. */
  follow(): void {
    if (refreshAllowed(this.#store.current, this.#io.env)) this.#refresher.start();
  }

  #rebuild(): void {
    this.#settings = this.#trusted(this.#loaded);
    this.#registry.rebuilt(this.#build());
  }

  #build(): Registry {
    const { env, cwd } = this.#io;
    const stored = this.#windowKeys === undefined ? {} : { storedKeys: this.#windowKeys.keys };
    return buildRegistry({ settings: this.#settings, catalog: this.#catalog, env, workspace: cwd, ...stored });
  }

  #trusted(settings: Settings): Settings {
    return withTrustedProviders(settings, { catalog: this.#catalog, env: this.#io.env });
  }
}
