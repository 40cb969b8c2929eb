import type { Model, Provider, ServedWindow } from './model.ts';
import type { Registry } from './registry/registry.ts';
import { type WindowReader, withServedWindow } from './served-window.ts';

/** Returns the ids of the models that the provider's endpoint lists. Rejects if the request fails. */
export type ListModels = (provider: Provider, signal: AbortSignal) => Promise<readonly string[]>;

export interface LiveRegistryDeps {
  readonly listModels: ListModels;
  /** Absent: windows are not read. */
  readonly windows?: WindowReader;
  /** The model list of a provider without configured models could not be read. */
  readonly unlisted: (provider: string, reason: string, error: unknown) => void | Promise<void>;
  /** Whether the provider is asked for its list. Absent: each one without configured models is. */
  readonly wanted?: (provider: string) => boolean;
  /** The registry was replaced by one with different models. */
  readonly changed?: (registry: Registry) => void;
}

/** Maximum time in milliseconds that a request waits for model lists. */
const LISTING_WAIT_MS = 5_000;
/** Milliseconds until a request for an unknown model causes another listing. */
const LISTING_INTERVAL_MS = 10_000;

/**
 * The registry of a running process. It is rebuilt after a change of settings, keys or catalog data. Models that
 * endpoints list are added to it. A list is kept for each provider and address, so that models do not disappear while a
 * new registry waits for its lists.
 */
export class LiveRegistry {
  readonly #deps: LiveRegistryDeps;
  readonly #closing = new AbortController();
  readonly #lists = new Map<string, readonly string[]>();
  /** Windows that servers told, by the reference of the model, with the address. */
  readonly #windows = new Map<string, ServedWindow & { readonly address: string | undefined }>();
  #registry: Registry;
  /** Counts builds. The response to a list request of an earlier build does not change a later registry. */
  #build = 0;
  #listing: Promise<void> | undefined;
  #listingSince = 0;
  #wasListed = false;

  constructor(registry: Registry, deps: LiveRegistryDeps) {
    this.#deps = deps;
    this.#registry = registry;
  }

  get current(): Registry {
    return this.#registry;
  }

  /** Stops listing. No events are reported after this call. */
  dispose(): void {
    this.#closing.abort();
  }

  /** Replaces the registry with a new build. Call `list` to request the model lists again. */
  rebuilt(registry: Registry): void {
    this.#build += 1;
    this.#replace(this.#withKnownLists(registry));
  }

  /** Requests the model lists of all providers without configured models, in parallel. Never rejects. */
  list(): Promise<void> {
    this.#listingSince = performance.now();
    const listing = this.#listAll().finally(() => {
      this.#wasListed = true;
      if (this.#listing === listing) this.#listing = undefined;
    });
    this.#listing = listing;
    // No request waits for windows.
    return listing.then(() => this.#readWindows());
  }

  /** Resolves when the server has the model in memory, as far as it can tell. A request follows. */
  async load(model: Model, signal: AbortSignal): Promise<void> {
    await this.#deps.windows?.load(model, signal);
  }

  /** See `WindowReader`. */
  failed(model: Model): void {
    this.#deps.windows?.failed(model);
  }

  /** The model with the window that its server has now. A request follows. */
  async served(model: Model, signal: AbortSignal): Promise<Model> {
    const { windows } = this.#deps;
    if (!windows?.mayTell(model)) return model;
    const window = await windows.read(model, signal);
    if (window !== undefined) this.#learn(new Map([[model.ref, window]]));
    const known = window ?? this.#knownWindow(model);
    return known === undefined ? model : withServedWindow(model, known);
  }

  #learn(windows: ReadonlyMap<string, ServedWindow>): void {
    let isNew = false;
    for (const [ref, window] of windows) {
      const model = this.#registry.find(ref);
      if (model === undefined) continue;
      const known = this.#knownWindow(model);
      if (known !== undefined && isSame(window, known)) continue;
      this.#windows.set(ref, { ...window, address: model.endpoint.baseURL });
      isNew = true;
    }
    if (isNew) this.#replace(this.#withWindows(this.#registry));
  }

  #knownWindow({ ref, endpoint }: Model): ServedWindow | undefined {
    const known = this.#windows.get(ref);
    return known?.address === endpoint.baseURL ? known : undefined;
  }

  #withWindows(registry: Registry): Registry {
    return this.#windows.size === 0 ? registry : registry.withServedWindows((model) => this.#knownWindow(model));
  }

  /** True if all requested lists have arrived, have failed or are overdue. */
  get listed(): boolean {
    return this.#remainingWait() <= 0;
  }

  /** True if lists were requested before, and arrived or failed. While they are requested again, the old ones are used. */
  get wasListed(): boolean {
    return this.#wasListed || this.listed;
  }

  /** Resolves when `listed`. */
  async whenListed(): Promise<void> {
    const wait = this.#remainingWait();
    if (wait <= 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, wait);
    });
    await Promise.race([this.#listing, late]);
    clearTimeout(timer);
  }

  /** Like `whenListed`, for a model that is in no list: requests the lists again if the last request is not recent. */
  async refreshListings(): Promise<void> {
    const due = performance.now() - this.#listingSince > LISTING_INTERVAL_MS;
    if (this.#listing === undefined && due) void this.list();
    await this.whenListed();
  }

  /** Remaining milliseconds to wait for running list requests; 0 if none is running. */
  #remainingWait(): number {
    return this.#listing === undefined ? 0 : this.#listingSince + LISTING_WAIT_MS - performance.now();
  }

  #replace(registry: Registry): void {
    if (this.#closing.signal.aborted) return;
    this.#registry = registry;
    this.#deps.changed?.(registry);
  }

  #withKnownLists(registry: Registry): Registry {
    let filled = registry;
    for (const provider of providersToList(registry)) {
      const ids = this.#lists.get(listKey(provider));
      if (ids !== undefined) filled = filled.withListedModels(provider.id, ids);
    }
    return this.#withWindows(filled);
  }

  async #listAll(): Promise<void> {
    const build = this.#build;
    const { wanted = () => true } = this.#deps;
    const listable = providersToList(this.#registry).filter(({ id }) => wanted(id));
    await Promise.all(listable.map((provider) => this.#listProvider(provider, build)));
  }

  async #readWindows(): Promise<void> {
    const { windows, wanted = () => true } = this.#deps;
    const local = [...this.#registry.models.values()].filter(
      (model) => windows?.mayTell(model) && wanted(model.provider),
    );
    if (windows && local.length > 0) this.#learn(await windows.readAll(local, this.#closing.signal));
  }

  async #listProvider(provider: Provider, build: number): Promise<void> {
    try {
      const ids = await this.#deps.listModels(provider, this.#closing.signal);
      this.#lists.set(listKey(provider), ids);
      if (build !== this.#build) return;
      this.#replace(this.#withWindows(this.#registry.withListedModels(provider.id, ids)));
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      await this.#deps.unlisted(provider.id, error instanceof Error ? error.message : String(error), error);
    }
  }
}

function isSame(a: ServedWindow, b: ServedWindow): boolean {
  const values = ({ context, trained, slots, think }: ServedWindow) => [context, trained, slots, think];
  return JSON.stringify(values(a)) === JSON.stringify(values(b));
}

function listKey({ id, endpoint }: Provider): string {
  return `${id} ${endpoint.baseURL}`;
}

/** The callable providers without configured models. Their endpoints list the models (`GET {baseURL}/models`). */
export function providersToList(registry: Registry): readonly Provider[] {
  return [...registry.providers.values()].filter(
    ({ models, endpoint }) =>
      [...models.values()].every(({ source }) => source === 'listed') &&
      endpoint.problem === undefined &&
      endpoint.baseURL !== undefined,
  );
}

/** The registry of a short-lived process, with the models that its endpoints list. */
export async function listedRegistry(
  registry: Registry,
  deps: LiveRegistryDeps,
  signal: AbortSignal,
): Promise<Registry> {
  const live = new LiveRegistry(registry, deps);
  signal.addEventListener('abort', () => live.dispose(), { once: true });
  await live.list();
  return live.current;
}
