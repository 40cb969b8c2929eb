import { catalogCacheFile, catalogUrl, refreshAllowed, refreshCatalog } from '../catalog/public/refresh.ts';
import { takeRefreshTurn } from '../catalog/public/refresh-turn.ts';
import { loadSnapshot } from '../catalog/public/snapshot.ts';
import type { Settings } from '../config/settings/settings.ts';
import { undiciTransport } from '../provider/transport/undici-transport.ts';
import type { Io } from './io.ts';

/**
 * Once an hour a command leaves another svc behind that looks for a newer catalog: whoever only ever uses the
 * terminal gets new models too, and neither the output nor the end of a command waits for a server.
 */
export async function refreshBehind(settings: Settings, io: Io): Promise<void> {
  if (io.leaveBehind === undefined || !refreshAllowed(settings, io.env)) return;
  if (await takeRefreshTurn(catalogCacheFile(io.env, io.platform, io.home))) io.leaveBehind(['models', '--refresh']);
}

/** Looks for a newer catalog and waits for it; what stands in the way is a warning. */
export async function refreshNow(settings: Settings, io: Io): Promise<void> {
  if (!refreshAllowed(settings, io.env)) {
    await io.err('warning: Looking for a newer catalog is switched off.\n');
    return;
  }
  const transport = undiciTransport({ env: io.env });
  try {
    const cacheFile = catalogCacheFile(io.env, io.platform, io.home);
    const input = { snapshot: await loadSnapshot(), cacheFile, url: catalogUrl(io.env), fetch: transport.fetch };
    const result = await refreshCatalog(input, io.signal);
    if (result.outcome === 'failed') await io.err(`warning: There is no newer catalog: ${result.reason}\n`);
  } finally {
    await transport.close();
  }
}
