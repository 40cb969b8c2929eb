import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { type CatalogData, type CatalogProvider, EMPTY_CATALOG } from './catalog.ts';
import { toRow } from './models-dev.ts';

const FILE = new URL('./snapshot.json', import.meta.url);

/** Reads the catalog that ships with Svc. Call it on first use, not at start. */
export async function loadSnapshot(): Promise<CatalogData> {
  return readCatalog(JSON.parse(await snapshotText())) ?? EMPTY_CATALOG;
}

/** The shipped file is compressed; beside this source file, it is text. */
async function snapshotText(): Promise<string> {
  const compressed = await readFile(new URL(`${FILE}.br`)).catch(() => undefined);
  return compressed ? (await promisify(brotliDecompress)(compressed)).toString() : readFile(FILE, 'utf8');
}

/** Parses a stored catalog; `undefined` if the value is not one. Rows are checked if `strict`. */
export function readCatalog(value: unknown, strict = false): CatalogData | undefined {
  if (!isCatalog(value)) return undefined;
  if (!strict) return value;
  const providers: Record<string, CatalogProvider> = {};
  for (const [id, provider] of Object.entries(value.providers)) {
    if (!isProvider(provider)) return undefined;
    const rows = Object.entries(provider.models).map(([key, row]) => [
      key,
      Array.isArray(row) ? toRow(row) : undefined,
    ]);
    if (rows.some(([, row]) => row === undefined)) return undefined;
    providers[id] = provider;
  }
  return { ...value, providers };
}

function isCatalog(value: unknown): value is CatalogData {
  if (typeof value !== 'object' || value === null) return false;
  return 'providers' in value && typeof value.providers === 'object' && value.providers !== null && 'date' in value;
}

function isProvider(value: unknown): value is CatalogProvider {
  if (typeof value !== 'object' || value === null || !('models' in value) || !('npm' in value)) return false;
  const { models, npm } = value;
  const env = 'env' in value ? value.env : undefined;
  return typeof npm === 'string' && typeof models === 'object' && models !== null && Array.isArray(env);
}
