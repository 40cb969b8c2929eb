import type { Located } from '../../config/settings/origin.ts';
import { digestValue, type WaitingChange } from '../../config/settings/project-part.ts';
import type { Diagnostic, ModelChoices, ProviderSettings, Settings } from '../../config/settings/settings.ts';
import { environmentKey } from '../environment-key.ts';
import { type CatalogData, catalogProvider } from '../public/catalog.ts';

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

export interface WithoutWaiting {
  readonly settings: Settings;
  /** In the order of the sources; empty if the project is allowed or changes nothing that needs an answer. */
  readonly waiting: readonly WaitingChange[];
}

interface KnownWithKeys extends Known {
  /** Whether the user has stored a key for the provider. */
  readonly hasStoredKey?: ((id: string) => boolean) | undefined;
}

/**
 * Settings for requests while the project's folder is not allowed (docs/configuration.md, "Trust"): its changes to
 * providers of the user wait, its own providers are used only when the user names them, and it chooses among the
 * models of the user.
 */
export function withoutWaitingChanges(settings: Settings, known: KnownWithKeys): WithoutWaiting {
  if (settings.projectAllowed ?? true) return { settings, waiting: [] };
  const waiting: WaitingChange[] = [];
  const providers = new Map<string, ProviderSettings>();
  const namedOnly = new Set<string>();
  for (const [id, provider] of settings.providers) {
    const { permitted } = provider;
    const usersOwn = provider.trust === 'mixed' || environmentKey(id, provider, known) || known.hasStoredKey?.(id);
    if (permitted !== undefined && usersOwn) {
      waiting.push(...(provider.waiting ?? []));
      providers.set(id, permitted);
    } else {
      if (provider.trust === 'untrusted') namedOnly.add(id);
      providers.set(id, provider);
    }
  }
  // Only then the user misses them.
  const own = [...providers].filter(([id]) => namedOnly.has(id));
  if (own.length === providers.size) {
    waiting.push(
      ...own.map(([id, { origin, waiting: parts = [] }]) => {
        const digest = digestValue(parts.map((part) => [part.key, part.digest]));
        return { key: `provider.${id}`, path: ['provider', id], origin, digest };
      }),
    );
  }
  const usable = (ref: string) => !namedOnly.has(providerOf(ref)) && !isAdded(ref, settings, known);
  const { model, completionModel, nextEditModel, ...rest } = settings;
  const choices = { model, completionModel, nextEditModel };
  const users = settings.ownChoices ?? {};
  const kept: Record<string, Located<string>> = {};
  for (const key of CHOICES) {
    const written = choices[key];
    if (written === undefined) continue;
    if (written.origin.source.trusted || usable(written.value)) kept[key] = written;
    else {
      waiting.push({ key, path: [key], origin: written.origin, digest: digestValue(written.value) });
      const instead = users[key];
      if (instead !== undefined) kept[key] = instead;
    }
  }
  return { settings: { ...rest, ...kept, providers, namedOnly }, waiting };
}

const CHOICES = ['model', 'completionModel', 'nextEditModel'] as const satisfies readonly (keyof ModelChoices)[];

function providerOf(ref: string): string {
  return ref.split('/', 1)[0] ?? '';
}

/** Whether only the project has this model of a provider of the user. */
function isAdded(ref: string, { providers }: Settings, { catalog }: Known): boolean {
  const id = providerOf(ref);
  const key = ref.slice(id.length + 1);
  const { permitted, trusted, models } = providers.get(id) ?? {};
  if (permitted === undefined || !models?.has(key) || trusted?.models.has(key)) return false;
  return catalogProvider(catalog, id)?.models?.[key] === undefined;
}

/** Identifies the subject of an answer: the keys with their values. */
export function digestWaiting(waiting: readonly WaitingChange[]): string {
  return digestValue(waiting.map(({ key, digest }) => [key, digest]));
}

/** One line for the user: the change that waits, and its place. */
export function describeWaiting(waiting: readonly WaitingChange[]): string | undefined {
  const [first] = waiting;
  if (first === undefined) return undefined;
  const shown = waiting.slice(0, 5).map(({ key }) => key);
  const more = waiting.length > shown.length ? ` and ${waiting.length - shown.length} more` : '';
  return `${first.origin.source.path} is not allowed yet, so these settings are not used: ${shown.join(', ')}${more}.`;
}
