import { readFile } from 'node:fs/promises';
import { type CatalogData, type CatalogProvider, EMPTY_CATALOG } from './catalog.ts';
import { toRow } from './models-dev.ts';

/**
 * The catalog that ships with Svc. It is read when it is first needed, not at start.
 *
 * @param file where a bundle keeps it; beside this file without.
 */
export async function loadSnapshot(
  file: string | URL = new URL('./snapshot.json', import.meta.url),
): Promise<CatalogData> {
  return readCatalog(JSON.parse(await readFile(file, 'utf8'))) ?? EMPTY_CATALOG;
}

/** Our own shape, read back from a file; `undefined` when it is something else. Rows are checked when `strict`. */
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
