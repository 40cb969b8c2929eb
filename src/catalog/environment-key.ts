import type { Credential } from '../config/settings/origin.ts';
import { Secret } from '../config/settings/secret.ts';
import type { ProviderSettings } from '../config/settings/settings.ts';
import { type CatalogData, catalogProvider } from './public/catalog.ts';
import { findVendor } from './vendors.ts';

/**
 * The first environment variable that is set and may contain the provider's key. Order: the user's list, the catalog's
 * list, the vendor table.
 */
export function environmentKey(
  id: string,
  provider: ProviderSettings | undefined,
  { catalog, env }: { readonly catalog: CatalogData; readonly env: Readonly<Record<string, string | undefined>> },
): Credential | undefined {
  const trusted = provider?.trusted ?? (provider?.trust === 'untrusted' ? undefined : provider);
  const names = trusted?.env ?? catalogProvider(catalog, id)?.env ?? findVendor(id)?.env ?? [];
  for (const name of names) {
    const value = Object.hasOwn(env, name) ? env[name]?.trim() : undefined;
    if (value === undefined || value === '') continue;
    const source = { kind: 'built-in', path: `$${name}`, trusted: true, status: 'loaded' } as const;
    return { secret: new Secret(value), trusted: true, origin: { source, line: 1, column: 1 } };
  }
  return undefined;
}
