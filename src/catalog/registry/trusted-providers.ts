import type { Diagnostic, ProviderSettings, Settings } from '../../config/settings/settings.ts';
import { environmentKey } from '../environment-key.ts';
import type { CatalogData } from '../public/catalog.ts';

interface Known {
  readonly catalog: CatalogData;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Settings for a process that serves others: a provider that trusted sources configure, or have a key for, is as they
 * say. A project's file could give a dear model a price of 0 or another name, or send its prompts to another address;
 * keys, budgets and policies of the gateway name what its operator configured. Providers of the project's own stay.
 */
export function withTrustedProviders(settings: Settings, known: Known): Settings {
  const providers = new Map<string, ProviderSettings>();
  const diagnostics: Diagnostic[] = [];
  for (const [id, provider] of settings.providers) {
    const kept = asTrusted(id, provider, known);
    if (kept !== undefined) providers.set(id, kept);
    if (kept !== provider) diagnostics.push(ignored(id, provider));
  }
  if (diagnostics.length === 0) return settings;
  return { ...settings, providers, diagnostics: [...settings.diagnostics, ...diagnostics] };
}

/** `undefined`: what the catalog knows of it is all that counts. */
function asTrusted(id: string, provider: ProviderSettings, known: Known): ProviderSettings | undefined {
  if (provider.trust === 'mixed') return provider.trusted;
  if (provider.trust === 'untrusted' && environmentKey(id, provider, known) !== undefined) return undefined;
  return provider;
}

function ignored(id: string, { origin }: ProviderSettings): Diagnostic {
  return {
    severity: 'warning',
    path: origin.source.path,
    line: origin.line,
    column: origin.column,
    length: 1,
    key: `provider.${id}`,
    code: 'untrusted-provider-change',
    message: 'A project cannot change a provider of this gateway; put this into your global svc.jsonc.',
  };
}
