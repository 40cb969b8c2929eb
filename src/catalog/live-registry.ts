import type { Provider } from './model.ts';
import type { Registry } from './registry/registry.ts';

/** Ids of the models that a provider's own endpoint lists. Rejects when the endpoint cannot be asked. */
export type ListModels = (provider: Provider, signal: AbortSignal) => Promise<readonly string[]>;

export interface LiveRegistryDeps {
  readonly listModels: ListModels;
  /** A provider without models does not list them. */
  readonly unlisted: (provider: string, reason: string) => void | Promise<void>;
  /** The registry has been replaced by one with more or other models. */
  readonly changed?: (registry: Registry) => void;
}

/** Milliseconds that a request waits for the lists of endpoints, at most. */
const LISTING_WAIT_MS = 5_000;
/** Milliseconds after which a request for an unknown model makes endpoints list their models again. */
const LISTING_INTERVAL_MS = 10_000;

/**
 * The registry of a running process. It is built again from new settings, keys or catalog data, and completed with the
 * models that endpoints list. A list is remembered by provider and address: models do not vanish while a new
 * registry is being listed.
 */
export class LiveRegistry {
  readonly #deps: LiveRegistryDeps;
  readonly #closing = new AbortController();
  readonly #lists = new Map<string, readonly string[]>();
  #registry: Registry;
  /** Counts builds: a list that was requested for an earlier registry does not change a later one. */
  #build = 0;
  #listing: Promise<void> | undefined;
  #listingSince = 0;

  constructor(registry: Registry, deps: LiveRegistryDeps) {
    this.#deps = deps;
    this.#registry = registry;
  }

  get current(): Registry {
    return this.#registry;
  }

  /** Stops listing. Nothing is reported after it. */
  dispose(): void {
    this.#closing.abort();
  }

  /** Takes a newly built registry. Call `list` to ask the endpoints of its providers again. */
  rebuilt(registry: Registry): void {
    this.#build += 1;
    this.#replace(this.#withKnownLists(registry));
  }

  /** Asks providers that have no configured models for theirs, all at once. Never rejects. */
  list(): Promise<void> {
    this.#listingSince = performance.now();
    const listing = this.#listAll().finally(() => {
      if (this.#listing === listing) this.#listing = undefined;
    });
    this.#listing = listing;
    return listing;
  }

  /** True when all requested lists have arrived, failed, or take too long. */
  get listed(): boolean {
    return this.#remainingWait() <= 0;
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

  /** As `whenListed`, for a model that no list has: an endpoint may have got it since the last list. */
  async lookAgain(): Promise<void> {
    const due = performance.now() - this.#listingSince > LISTING_INTERVAL_MS;
    if (this.#listing === undefined && due) void this.list();
    await this.whenListed();
  }

  /** Milliseconds that the running lists may still be waited for; 0 when none run. */
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
    return filled;
  }

  async #listAll(): Promise<void> {
    const build = this.#build;
    const asked = providersToList(this.#registry);
    await Promise.all(asked.map((provider) => this.#listProvider(provider, build)));
  }

  async #listProvider(provider: Provider, build: number): Promise<void> {
    try {
      const ids = await this.#deps.listModels(provider, this.#closing.signal);
      this.#lists.set(listKey(provider), ids);
      if (build === this.#build) this.#replace(this.#registry.withListedModels(provider.id, ids));
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      await this.#deps.unlisted(provider.id, error instanceof Error ? error.message : String(error));
    }
  }
}

function listKey({ id, endpoint }: Provider): string {
  return `${id} ${endpoint.baseURL}`;
}

/** Providers whose only models, if any, are those that they listed, and that can be asked (`GET {baseURL}/models`). */
export function providersToList(registry: Registry): readonly Provider[] {
  return [...registry.providers.values()].filter(
    ({ models, endpoint }) =>
      [...models.values()].every(({ source }) => source === 'listed') &&
      endpoint.problem === undefined &&
      endpoint.baseURL !== undefined,
  );
}

/** The registry of a process that ends soon, with the models that its endpoints list. */
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
