import type { Diagnostic, ProviderSettings, Settings } from '../../config/settings/settings.ts';
import { environmentKey } from '../environment-key.ts';
import type { CatalogData } from '../public/catalog.ts';

interface Known {
  readonly catalog: CatalogData;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Settings for a process that serves other users. If a trusted source configures a provider, or has a key for it, the
 * project's changes to it are ignored: a project file could set the price of an expensive model to 0, rename it, or
 * send its prompts to another address. Keys, budgets and policies of the gateway refer to the operator's configuration.
 * Providers that only the project has are kept.
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

/** `undefined`: use only the catalog's data for this provider. */
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
    message: 'A project cannot change a provider of this gateway; put this setting into your global svc.jsonc.',
  };
}
