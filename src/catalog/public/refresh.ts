import { readFile } from 'node:fs/promises';
import { platformPath } from '../../base/real-path.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { svcFolder } from '../../base/user-folders.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { CatalogData, CatalogProvider } from './catalog.ts';
import { CATALOG_URL, fromModelsDev } from './models-dev.ts';
import { readCatalog } from './snapshot.ts';

/** Milliseconds between two requests to the public catalog. */
export const REFRESH_INTERVAL_MS = 60 * 60 * 1000;
/** Time limit for the whole response, in milliseconds. */
const TIMEOUT_MS = 20_000;
/** The public catalog is smaller than 5 MB. A larger response is not a catalog. */
const MAX_BYTES = 32 * 1024 * 1024;
const REFRESH_OFF_VARIABLE = 'SVC_DISABLE_CATALOG_REFRESH';
const CATALOG_URL_VARIABLE = 'SVC_CATALOG_URL';

type Environment = Readonly<Record<string, string | undefined>>;

export interface RefreshInput {
  readonly snapshot: CatalogData;
  /** The file that stores the fetched catalog; see `catalogCacheFile`. */
  readonly cacheFile: string;
  readonly url?: string;
  /** Unix milliseconds. */
  readonly now?: () => number;
  readonly fetch?: typeof globalThis.fetch;
}

interface Cache {
  readonly url: string;
  /** Unix milliseconds of the last request. */
  readonly checked: number;
  readonly etag?: string;
  readonly lastModified?: string;
  readonly catalog: CatalogData;
}

/** The file for fetched catalogs, in the platform's cache folder. */
export function catalogCacheFile(env: Environment, platform: NodeJS.Platform, home: string): string {
  return platformPath(platform).join(svcFolder('cache', { env, platform, home }), 'models.json');
}

/** The URL of the catalog: `SVC_CATALOG_URL` (for example an organization's mirror) or the public one. */
export function catalogUrl(env: Environment): string {
  return env[CATALOG_URL_VARIABLE] || CATALOG_URL;
}

/** Whether the settings and the environment allow requests to the public catalog. */
export function refreshAllowed(settings: Pick<Settings, 'catalog' | 'localOnly'>, env: Environment): boolean {
  const off = env[REFRESH_OFF_VARIABLE];
  if (settings.localOnly !== undefined) return false;
  return settings.catalog.refresh && (off === undefined || off === '' || off === '0' || off === 'false');
}

/** The newest local catalog: the cache merged over the snapshot. An unreadable cache is ignored. */
export async function cachedCatalog(input: RefreshInput): Promise<CatalogData> {
  const cache = await readCache(input);
  return cache === undefined ? input.snapshot : mergeCatalogs(input.snapshot, cache.catalog);
}

export type RefreshOutcome =
  | { readonly outcome: 'updated'; readonly catalog: CatalogData }
  | { readonly outcome: 'unchanged' | 'fresh' }
  | { readonly outcome: 'failed'; readonly reason: string };

/** Requests the public catalog, at most once an hour for all processes that share the cache. Never throws. */
export async function refreshCatalog(input: RefreshInput, signal?: AbortSignal): Promise<RefreshOutcome> {
  const { now = Date.now } = input;
  const cache = await readCache(input);
  const age = cache === undefined ? Number.POSITIVE_INFINITY : now() - cache.checked;
  // A clock that was set back must not stop refreshing for years.
  if (age >= 0 && age < REFRESH_INTERVAL_MS) return { outcome: 'fresh' };
  try {
    return await ask(input, cache, signal);
  } catch (error) {
    // Being offline is normal. The next attempt is in an hour.
    return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

async function ask(
  input: RefreshInput,
  cache: Cache | undefined,
  signal: AbortSignal | undefined,
): Promise<RefreshOutcome> {
  const { url = CATALOG_URL, now = Date.now, fetch = globalThis.fetch } = input;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'svc' };
  if (cache?.etag !== undefined) headers['if-none-match'] = cache.etag;
  if (cache?.lastModified !== undefined) headers['if-modified-since'] = cache.lastModified;
  const response = await fetch(url, {
    headers,
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  if (response.status === 304 && cache !== undefined) {
    await response.body?.cancel();
    await writeCache(input.cacheFile, { ...cache, checked: now() });
    return { outcome: 'unchanged' };
  }
  if (!response.ok) {
    await response.body?.cancel();
    return { outcome: 'failed', reason: `The model catalog answered ${response.status}.` };
  }
  const catalog = fromModelsDev(JSON.parse(await readBody(response)));
  if (Object.keys(catalog.providers).length === 0) return { outcome: 'failed', reason: 'The model catalog is empty.' };
  const etag = response.headers.get('etag');
  const lastModified = response.headers.get('last-modified');
  await writeCache(input.cacheFile, {
    url,
    checked: now(),
    ...(etag === null ? {} : { etag }),
    ...(lastModified === null ? {} : { lastModified }),
    catalog,
  });
  return { outcome: 'updated', catalog: mergeCatalogs(input.snapshot, catalog) };
}

async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error('The model catalog is larger than expected.');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * A fetched catalog adds models and providers. It never changes the address or the key variable of a shipped provider,
 * and sets no key variables for a new provider: the operator of the public catalog must not be able to redirect the
 * user's key.
 */
export function mergeCatalogs(snapshot: CatalogData, fetched: CatalogData): CatalogData {
  const providers: Record<string, CatalogProvider> = { ...snapshot.providers };
  for (const [id, provider] of Object.entries(fetched.providers)) {
    const shipped = Object.hasOwn(snapshot.providers, id) ? snapshot.providers[id] : undefined;
    const models: Record<string, Row> = {};
    for (const [key, row] of Object.entries(provider.models)) models[key] = atHome(row, shipped?.models[key]);
    if (shipped === undefined) providers[id] = { ...provider, models, env: [] };
    else providers[id] = { ...shipped, models: { ...shipped.models, ...models } };
  }
  return { ...fetched, providers };
}

type Row = CatalogProvider['models'][string];

/** A fetched row with the package and address of the shipped row. A fetched address is removed. */
function atHome(row: Row, shipped: Row | undefined): Row {
  const via = shipped === undefined ? row[8]?.slice(0, 1) : shipped[8];
  if (via === undefined && row[8] === undefined) return row;
  const [name, bits, context, output, input = 0, cost = 0, date = 0, reasoning = 0] = row;
  return [name, bits, context, output, input, cost, date, reasoning, via ?? []];
}

async function readCache({ cacheFile, url = CATALOG_URL }: RefreshInput): Promise<Cache | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(cacheFile, 'utf8'));
    return parseCache(value, url);
  } catch {
    // Missing or incomplete: treated as no cache.
    return undefined;
  }
}

function parseCache(value: unknown, url: string): Cache | undefined {
  if (typeof value !== 'object' || value === null || !('catalog' in value) || !('checked' in value)) return undefined;
  if (!('url' in value) || value.url !== url || typeof value.checked !== 'number') return undefined;
  const catalog = readCatalog(value.catalog, true);
  if (catalog === undefined) return undefined;
  const etag = 'etag' in value && typeof value.etag === 'string' ? { etag: value.etag } : {};
  const modified =
    'lastModified' in value && typeof value.lastModified === 'string' ? { lastModified: value.lastModified } : {};
  return { url, checked: value.checked, ...etag, ...modified, catalog };
}

async function writeCache(file: string, cache: Cache): Promise<void> {
  await replaceFile(file, JSON.stringify(cache));
}

/** Refreshes the catalog in the background: immediately, then every hour. Calls `onUpdate` with each new catalog. */
export class CatalogRefresher {
  readonly #input: RefreshInput;
  readonly #onUpdate: (catalog: CatalogData) => void;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(input: RefreshInput, onUpdate: (catalog: CatalogData) => void) {
    this.#input = input;
    this.#onUpdate = onUpdate;
  }

  dispose(): void {
    this.#stop.abort();
    clearInterval(this.#timer);
  }

  start(): void {
    if (this.#timer !== undefined || this.#stop.signal.aborted) return;
    this.#timer = setInterval(() => void this.look(), REFRESH_INTERVAL_MS);
    this.#timer.unref();
    void this.look();
  }

  /** Refreshes once and returns the outcome. */
  async look(): Promise<RefreshOutcome> {
    const result = await refreshCatalog(this.#input, this.#stop.signal);
    if (result.outcome === 'updated' && !this.#stop.signal.aborted) this.#onUpdate(result.catalog);
    return result;
  }
}
