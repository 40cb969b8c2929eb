import { catalogCacheFile, catalogUrl, refreshAllowed, refreshCatalog } from '../catalog/public/refresh.ts';
import { takeRefreshTurn } from '../catalog/public/refresh-turn.ts';
import { loadSnapshot } from '../catalog/public/snapshot.ts';
import type { Settings } from '../config/settings/settings.ts';
import { undiciTransport } from '../provider/transport/undici-transport.ts';
import type { Io } from './io.ts';

/**
 * Once an hour, a command starts a detached svc process that refreshes the catalog. Users of the terminal get new
 * models this way, and no command waits for the catalog's server.
 */
export async function refreshInBackground(settings: Settings, io: Io): Promise<void> {
  if (io.spawnDetached === undefined || !refreshAllowed(settings, io.env)) return;
  if (await takeRefreshTurn(catalogCacheFile(io.env, io.platform, io.home))) io.spawnDetached(['models', '--refresh']);
}

/** Refreshes the catalog and waits for the result. A failure is reported as a warning. */
export async function refreshNow(settings: Settings, io: Io): Promise<void> {
  if (!refreshAllowed(settings, io.env)) {
    await io.err('warning: Refreshing the model catalog is disabled.\n');
    return;
  }
  const transport = undiciTransport({ env: io.env });
  try {
    const cacheFile = catalogCacheFile(io.env, io.platform, io.home);
    const input = { snapshot: await loadSnapshot(), cacheFile, url: catalogUrl(io.env), fetch: transport.fetch };
    const result = await refreshCatalog(input, io.signal);
    if (result.outcome === 'failed') await io.err(`warning: Could not refresh the model catalog: ${result.reason}\n`);
  } finally {
    await transport.close();
  }
}
