import type { CatalogData } from '../catalog/catalog.ts';
import { cachedCatalog, catalogCacheFile, refreshAllowed } from '../catalog/refresh.ts';
import { buildRegistry, providersToList, type Registry } from '../catalog/registry.ts';
import { loadSnapshot } from '../catalog/snapshot.ts';
import type { Settings } from '../config/settings.ts';
import { SettingsStore } from '../config/store.ts';
import { listModels } from '../provider/list-models.ts';
import type { Transport } from '../provider/transport.ts';
import { requireManaged, terminalInput } from './context.ts';
import type { Io } from './io.ts';

export interface UpstreamEvents {
  /** New settings are in force. */
  readonly changed: (settings: Settings) => void;
  /** A provider without models does not list them. */
  readonly unlisted: (provider: string, reason: string) => void;
}

/** Settings and models of a process that runs on: they follow the files, and what endpoints list. */
export class Upstreams {
  readonly #io: Io;
  readonly #transport: Transport;
  readonly #events: UpstreamEvents;
  readonly #store: SettingsStore;
  readonly #catalog: CatalogData;
  readonly #stop = new AbortController();
  #registry: Registry;
  #generation = 0;

  /** @throws GatewayError configuration_error when the managed configuration is invalid. */
  static async open(io: Io, transport: Transport, events: UpstreamEvents): Promise<Upstreams> {
    const store = new SettingsStore(() => terminalInput(io));
    const [settings, snapshot] = await Promise.all([store.refresh(), loadSnapshot()]);
    requireManaged(settings);
    const cacheFile = catalogCacheFile(io.env, io.platform, io.home);
    const catalog = refreshAllowed(settings, io.env) ? await cachedCatalog({ snapshot, cacheFile }) : snapshot;
    return new Upstreams(io, transport, events, store, catalog);
  }

  private constructor(
    io: Io,
    transport: Transport,
    events: UpstreamEvents,
    store: SettingsStore,
    catalog: CatalogData,
  ) {
    this.#io = io;
    this.#transport = transport;
    this.#events = events;
    this.#store = store;
    this.#catalog = catalog;
    this.#registry = this.#build(store.current);
  }

  dispose(): void {
    this.#stop.abort();
    this.#store.dispose();
  }

  get settings(): Settings {
    return this.#store.current;
  }

  get registry(): Registry {
    return this.#registry;
  }

  /** Follows the configuration's files and asks providers without models for theirs, until `dispose`. */
  async follow(): Promise<void> {
    this.#store.onChange((settings) => {
      this.#registry = this.#build(settings);
      this.#events.changed(settings);
      void this.#list();
    });
    void this.#list();
    await this.#store.watch();
  }

  #build(settings: Settings): Registry {
    this.#generation += 1;
    return buildRegistry({ settings, catalog: this.#catalog, env: this.#io.env, workspace: this.#io.cwd });
  }

  async #list(): Promise<void> {
    const generation = this.#generation;
    const options = { transport: this.#transport, signal: this.#stop.signal };
    await Promise.all(
      providersToList(this.#registry).map(async ({ id, endpoint }) => {
        try {
          const listed = await listModels(endpoint, { ...options, provider: id });
          // Settings that came meanwhile have a list of their own.
          if (generation !== this.#generation) return;
          this.#registry = this.#registry.withListedModels(
            id,
            listed.map((model) => model.id),
          );
        } catch (thrown) {
          if (this.#stop.signal.aborted) return;
          this.#events.unlisted(id, thrown instanceof Error ? thrown.message : String(thrown));
        }
      }),
    );
  }
}
