import type { LiveRegistry } from '../catalog/live-registry.ts';
import type { Registry } from '../catalog/registry/registry.ts';
import { registryDiagnostics } from '../catalog/registry/registry-diagnostics.ts';
import { withTrustedProviders } from '../catalog/registry/trusted-providers.ts';
import type { LoadInput } from '../config/load/sources.ts';
import { SettingsStore } from '../config/load/store.ts';
import { type Accepted, LastValid } from '../config/settings/last-valid.ts';
import type { Diagnostic, Settings } from '../config/settings/settings.ts';
import type { ModelListing } from '../gateway/dispatch/models.ts';
import { LiveModels } from '../provider/live-models.ts';
import type { UndiciTransport } from '../provider/transport/undici-transport.ts';
import { followWindowKeys, readWindowKeys, type StoredKeyMap, windowAddress } from '../provider/window-keys.ts';
import { requireManaged, terminalInput } from './cli-context.ts';
import type { Io } from './io.ts';

export interface LiveConfigurationEvents {
  /** The configuration was read first. No provider was asked yet. */
  readonly read?: (settings: Settings) => void;
  /** The configuration was read again. @param accepted the part of it that is used. */
  readonly changed: (accepted: Accepted) => void;
  /** The model list of a provider without configured models could not be read. */
  readonly unlisted: (provider: string, reason: string) => void;
  /** The VS Code window has given no keys. They are used when it gives them. */
  readonly noWindowKeys?: () => void;
}

/** Settings and models of a long-running process. Follows changes of the files and of the model lists. */
export class LiveConfiguration {
  readonly #store: SettingsStore;
  readonly #models: LiveModels;
  readonly #lastValid: LastValid;
  readonly #events: LiveConfigurationEvents;
  /** The part of the configuration that is used. */
  #loaded: Settings;
  /** Keys of the VS Code window that started this process. */
  #windowKeys: StoredKeyMap;
  readonly #closing = new AbortController();

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
      const settings = await store.refresh();
      transport.restrict(settings.localOnly);
      requireManaged(settings);
      const address = windowAddress(io.env);
      const window = address && (await readWindowKeys(address, io.signal));
      if (address && window === undefined) events.noWindowKeys?.();
      const configuration = new LiveConfiguration(io, transport, events, store, window?.keys ?? new Map());
      await configuration.#models.rebuild();
      events.read?.(configuration.settings);
      const changed = (loaded: Settings) => {
        transport.restrict(loaded.localOnly);
        void configuration.#reload(loaded);
      };
      store.onChange(changed);
      // It may have changed since it was read first.
      if (store.current !== settings) changed(store.current);
      if (address) {
        const { signal } = configuration.#closing;
        // After the window is closed, its last keys stay in use.
        void followWindowKeys(address, signal, window?.version, (keys) => configuration.#useWindowKeys(keys));
      }
      // Start listing before the first request. A request waits for the lists.
      void configuration.#live.list();
      return configuration;
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
    windowKeys: StoredKeyMap,
  ) {
    this.#windowKeys = windowKeys;
    this.#store = store;
    this.#events = events;
    this.#lastValid = new LastValid(store.current);
    this.#loaded = store.current;
    const { env, platform, home, cwd } = io;
    this.#models = new LiveModels({
      env,
      platform,
      home,
      transport,
      fetch: transport.fetch,
      loaded: () => this.#loaded,
      usable: withTrustedProviders,
      storedKeys: () => this.#windowKeys,
      workspace: () => cwd,
      unlisted: events.unlisted,
      failed: (error) => {
        throw error;
      },
    });
  }

  async #reload(loaded: Settings): Promise<void> {
    const accepted = this.#lastValid.accept(loaded);
    this.#loaded = accepted.settings;
    await this.#models.rebuild();
    if (this.#closing.signal.aborted) return;
    this.#events.changed({ ...accepted, settings: this.settings });
    void this.#live.list();
  }

  async #useWindowKeys(keys: StoredKeyMap): Promise<void> {
    this.#windowKeys = keys;
    await this.#models.rebuild();
    void this.#live.list();
  }

  dispose(): void {
    this.#closing.abort();
    this.#models.dispose();
    this.#store.dispose();
  }

  /** The settings that are used: projects can't change the providers of a trusted source. */
  get settings(): Settings {
    return this.#models.settings ?? this.#loaded;
  }

  get registry(): Registry {
    return this.#live.current;
  }

  /** Problems that need the catalog: names of providers and models that do not exist. */
  diagnostics(): readonly Diagnostic[] {
    return registryDiagnostics(this.settings, this.registry, this.#models.catalog);
  }

  /** The state of the model lists; see `LiveRegistry`. */
  get listing(): ModelListing {
    return this.#live;
  }

  /** Refreshes the public catalog, if allowed, until `dispose`. */
  follow(): void {
    this.#models.follow();
  }

  get #live(): LiveRegistry {
    const { live } = this.#models;
    if (live === undefined) throw new Error('The models are used before they were built.');
    return live;
  }
}
