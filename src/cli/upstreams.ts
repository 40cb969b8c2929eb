import type { CatalogData } from '../catalog/catalog.ts';
import type { Provider } from '../catalog/model.ts';
import {
  CatalogRefresher,
  cachedCatalog,
  catalogCacheFile,
  catalogUrl,
  type RefreshInput,
  refreshAllowed,
} from '../catalog/refresh.ts';
import { buildRegistry, providersToList, type Registry } from '../catalog/registry.ts';
import { loadSnapshot } from '../catalog/snapshot.ts';
import { withTrustedProviders } from '../catalog/trusted-providers.ts';
import type { Settings } from '../config/settings.ts';
import type { LoadInput } from '../config/sources.ts';
import { SettingsStore } from '../config/store.ts';
import { listModels } from '../provider/list-models.ts';
import type { UndiciTransport } from '../provider/undici-transport.ts';
import { requireManaged, terminalInput } from './context.ts';
import type { Io } from './io.ts';

export interface UpstreamEvents {
  /** New settings are in force. */
  readonly changed: (settings: Settings) => void;
  /** A provider without models does not list them. */
  readonly unlisted: (provider: string, reason: string) => void;
}

/** Milliseconds that a request waits for the lists of endpoints, at most. */
const LISTING_WAIT_MS = 5_000;
/** Milliseconds after which a request for an unknown model has the endpoints asked anew. */
const LOOK_AGAIN_MS = 10_000;

/** Settings and models of a process that runs on: they follow the files, and what endpoints list. */
export class Upstreams {
  readonly #io: Io;
  readonly #transport: UndiciTransport;
  readonly #events: UpstreamEvents;
  readonly #store: SettingsStore;
  readonly #refresher: CatalogRefresher;
  #catalog: CatalogData;
  readonly #stop = new AbortController();
  /** What endpoints listed, by provider and address: a new configuration must not make models vanish for a moment. */
  readonly #listed = new Map<string, readonly string[]>();
  /** As `withTrustedProviders` has them. */
  #settings: Settings;
  #registry: Registry;
  #generation = 0;
  /** The lists that are asked for now. */
  #listing: Promise<void> | undefined;
  #listingSince = 0;

  /** @throws GatewayError configuration_error when the managed configuration is invalid. */
  static async open(
    io: Io,
    transport: UndiciTransport,
    events: UpstreamEvents,
    input: LoadInput = terminalInput(io),
  ): Promise<Upstreams> {
    const store = new SettingsStore(() => input);
    try {
      // Before the first look: a change that comes while the gateway starts is seen too.
      await store.watch();
      const [settings, snapshot] = await Promise.all([store.refresh(), loadSnapshot()]);
      requireManaged(settings);
      const cacheFile = catalogCacheFile(io.env, io.platform, io.home);
      const place = { snapshot, cacheFile, url: catalogUrl(io.env), fetch: transport.fetch };
      const catalog = refreshAllowed(settings, io.env) ? await cachedCatalog(place) : snapshot;
      const upstreams = new Upstreams(io, transport, events, store, catalog, place);
      // Before the first request: what is asked for meanwhile waits for it.
      upstreams.#list();
      return upstreams;
    } catch (thrown) {
      store.dispose();
      throw thrown;
    }
  }

  private constructor(
    io: Io,
    transport: UndiciTransport,
    events: UpstreamEvents,
    store: SettingsStore,
    catalog: CatalogData,
    place: RefreshInput,
  ) {
    this.#io = io;
    this.#transport = transport;
    this.#events = events;
    this.#store = store;
    this.#catalog = catalog;
    this.#settings = store.current;
    this.#registry = this.#build(store.current);
    this.#refresher = new CatalogRefresher(place, (fresh) => {
      this.#catalog = fresh;
      this.#registry = this.#build(this.#store.current);
    });
    store.onChange((settings) => {
      this.#registry = this.#build(settings);
      this.#events.changed(this.#settings);
      this.#list();
    });
  }

  dispose(): void {
    this.#stop.abort();
    this.#refresher.dispose();
    this.#store.dispose();
  }

  get settings(): Settings {
    return this.#settings;
  }

  get registry(): Registry {
    return this.#registry;
  }

  /** Whether all lists that were asked for are there, have failed, or take too long. */
  get listed(): boolean {
    return this.#patience() <= 0;
  }

  /** Resolves when `listed`. */
  async whenListed(): Promise<void> {
    const patience = this.#patience();
    if (patience <= 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patience);
    });
    await Promise.race([this.#listing, late]);
    clearTimeout(timer);
  }

  /** As `whenListed`, for a model that nobody lists: a server may have got it meanwhile. */
  async lookAgain(): Promise<void> {
    if (this.#listing === undefined && performance.now() - this.#listingSince > LOOK_AGAIN_MS) this.#list();
    await this.whenListed();
  }

  /** Follows the public list of models, where it may, until `dispose`. */
  follow(): void {
    if (refreshAllowed(this.#store.current, this.#io.env)) this.#refresher.start();
  }

  #build(all: Settings): Registry {
    this.#generation += 1;
    const known = { catalog: this.#catalog, env: this.#io.env };
    const settings = withTrustedProviders(all, known);
    this.#settings = settings;
    let registry = buildRegistry({ settings, ...known, workspace: this.#io.cwd });
    for (const { id, endpoint } of providersToList(registry)) {
      registry = registry.withListedModels(id, this.#listed.get(`${id} ${endpoint.baseURL}`) ?? []);
    }
    return registry;
  }

  /** Providers whose only models, if any, are those that they listed. */
  #unlisted(): readonly Provider[] {
    return [...this.#registry.providers.values()].filter(
      ({ models, endpoint }) =>
        [...models.values()].every(({ source }) => source === 'listed') &&
        endpoint.problem === undefined &&
        endpoint.baseURL !== undefined,
    );
  }

  /** Milliseconds that the running lists may still be waited for; 0 when none run. */
  #patience(): number {
    return this.#listing === undefined ? 0 : this.#listingSince + LISTING_WAIT_MS - performance.now();
  }

  /** Asks providers without models for theirs. */
  #list(): void {
    this.#listingSince = performance.now();
    const listing = this.#ask().finally(() => {
      if (this.#listing === listing) this.#listing = undefined;
    });
    this.#listing = listing;
  }

  async #ask(): Promise<void> {
    const generation = this.#generation;
    const options = { transport: this.#transport, signal: this.#stop.signal };
    await Promise.all(
      this.#unlisted().map(async ({ id, endpoint }) => {
        try {
          const listed = await listModels(endpoint, { ...options, provider: id });
          const ids = listed.map((model) => model.id);
          this.#listed.set(`${id} ${endpoint.baseURL}`, ids);
          // What was built meanwhile has asked, or has the list already.
          if (generation === this.#generation) this.#registry = this.#registry.withListedModels(id, ids);
        } catch (thrown) {
          if (this.#stop.signal.aborted) return;
          this.#events.unlisted(id, thrown instanceof Error ? thrown.message : String(thrown));
        }
      }),
    );
  }
}
