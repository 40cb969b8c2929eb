import { nearMisses } from '../../base/near-miss.ts';
import type { Located, Origin } from '../../config/settings/origin.ts';
import type { Diagnostic, ProviderSettings, Settings, Severity } from '../../config/settings/settings.ts';
import { formatMessage } from '../../wire/errors/svc-error.ts';
import type { CatalogData } from '../public/catalog.ts';
import { PACKAGES, VENDORS } from '../vendors.ts';
import { isKnown } from './provider-catalog.ts';
import type { Registry } from './registry.ts';

/**
 * Diagnostics that need the catalog: an unknown provider without an address, a package with an unsupported format, a
 * model that its provider does not have. They are warnings, because the rest of the configuration works.
 *
 * @param unknownModel the severity of an unknown `model` or `completionModel`. The terminal refuses them.
 */
export function registryDiagnostics(
  settings: Settings,
  registry: Registry,
  catalog: CatalogData,
  unknownModel: Severity = 'warning',
): readonly Diagnostic[] {
  // The problem of the managed configuration has its own diagnostic.
  if (settings.managedProblem !== undefined) return [];
  const providers = [...settings.providers.values()].flatMap(
    (provider) => unusable(provider, settings, registry, catalog) ?? [],
  );
  const models = [
    findModel('model', settings.model, registry, catalog),
    findModel('completionModel', settings.completionModel, registry, catalog),
    findModel('nextEditModel', settings.nextEditModel, registry, catalog),
  ];
  return [
    ...providers,
    ...[...settings.providers.values()].flatMap(({ id }) => datedVersion(id, settings, registry) ?? []),
    ...models.flatMap((each) => (each === undefined ? [] : [{ ...each, severity: unknownModel }])),
    ...poolMembers(settings).flatMap(({ key, member }) => findModel(key, member, registry, catalog) ?? []),
    ...modelPatterns(settings).flatMap(({ key, member }) => findPattern(key, member, registry, catalog) ?? []),
    ...aliasTargets(settings, registry).flatMap(({ key, member }) => findModel(key, member, registry, catalog) ?? []),
  ];
}

type ConfiguredModel = Pick<Located<string>, 'value' | 'origin' | 'reference'>;

/** The references of `gateway.pools.<name>.models`. */
function poolMembers({ values }: Settings): { readonly key: string; readonly member: ConfiguredModel }[] {
  return values.at(['gateway', 'pools']).flatMap(({ path, value, origin }) => {
    if (path[3] !== 'models' || typeof value !== 'string') return [];
    return [{ key: path.join('.'), member: { value, origin } }];
  });
}

/** The models of limits and of the policies of organizations. */
function modelPatterns({ values }: Settings): { readonly key: string; readonly member: ConfiguredModel }[] {
  return values.at(['gateway']).flatMap(({ path, value, origin }) => {
    const list = path.findLast((name) => typeof name === 'string' && /^(?:budgets|rates|allow|deny)$/.test(name));
    const last = path.at(-1);
    const named =
      list === 'allow' || list === 'deny' ? path.includes('policy') : list !== undefined && last === 'model';
    return named && typeof value === 'string' ? [{ key: path.join('.'), member: { value, origin } }] : [];
  });
}

/** A pattern that matches no model: its provider is not configured or its model does not exist. */
function findPattern(
  key: string,
  pattern: ConfiguredModel,
  registry: Registry,
  catalog: CatalogData,
): Diagnostic | undefined {
  const star = pattern.value.indexOf('*');
  if (star < 0) return findModel(key, pattern, registry, catalog);
  // A star in the name of the provider matches several.
  const slash = pattern.value.indexOf('/');
  if (slash < 0 || star < slash) return undefined;
  const id = pattern.value.slice(0, slash);
  return registry.providers.has(id) ? undefined : findModel(key, pattern, registry, catalog);
}

/** The targets of `gateway.aliases` that are neither pools, models with a variant, nor models of other lists. */
function aliasTargets(
  { values, gateway }: Settings,
  registry: Registry,
): { readonly key: string; readonly member: ConfiguredModel }[] {
  const { pools, embeddingModels, transcriptionModels } = gateway;
  const known = (ref: string) => registry.find(ref) !== undefined || pools.has(ref);
  return values.at(['gateway', 'aliases']).flatMap(({ path, value, origin }) => {
    if (typeof value !== 'string' || pools.has(value)) return [];
    if (embeddingModels.has(value) || transcriptionModels.has(value)) return [];
    const colon = value.lastIndexOf(':');
    if (colon > 0 && known(value.slice(0, colon))) return [];
    return [{ key: path.join('.'), member: { value, origin } }];
  });
}

function unusable(
  provider: ProviderSettings,
  settings: Settings,
  registry: Registry,
  catalog: CatalogData,
): Diagnostic | undefined {
  const { id, npm } = provider;
  const built = registry.providers.get(id);
  const text = built?.endpoint.problem;
  // An invalid address has its own diagnostic. A model may have its own address.
  if (built === undefined || text === undefined || provider.problem !== undefined) return undefined;
  const callable = [...built.models.values()].some(({ endpoint }) => endpoint.problem === undefined);
  if (callable) return undefined;
  const problem = formatMessage(text);
  if (npm !== undefined && !npm.reference && !PACKAGES.has(npm.value)) {
    const near = nearMisses(npm.value, PACKAGES.keys()).find((name) => !npm.value.startsWith(`${name}-`));
    const at = { origin: npm.origin, length: npm.value.length + 2 };
    return warning(at, `provider.${id}.npm`, 'unknown-package', problem, near);
  }
  const key = settings.values.keyAt(['provider', id]);
  const at = { origin: key ?? provider.origin, length: key?.length ?? 1 };
  if (isKnown(id, catalog)) return warning(at, `provider.${id}`, 'provider-incomplete', problem);
  const [near] = nearMisses(id, [...Object.keys(catalog.providers), ...VENDORS.keys()]);
  return warning(at, `provider.${id}`, 'unknown-provider', withHint(problem, near), near);
}

/** Azure's v1 API refuses a dated `api-version` (learn.microsoft.com, "Azure OpenAI v1 API"). */
function datedVersion(id: string, settings: Settings, registry: Registry): Diagnostic | undefined {
  const endpoint = registry.providers.get(id)?.endpoint;
  const [written] = settings.values.at(['provider', id, 'options', 'apiVersion']);
  if (endpoint?.kind !== 'azure' || typeof written?.value !== 'string' || !/^\d{4}-/.test(written.value))
    return undefined;
  if (endpoint.options.useDeploymentBasedUrls === true || endpoint.baseURL?.includes('/deployments')) return undefined;
  const at = { origin: written.origin, length: written.value.length + 2 };
  const message =
    'The v1 API of Azure refuses dated versions. Remove `apiVersion`, or set `useDeploymentBasedUrls` to true.';
  return warning(at, `provider.${id}.options.apiVersion`, 'dated-version', message);
}

/** A configured model that does not exist: its provider is unknown or has other models. */
function findModel(
  key: string,
  configured: ConfiguredModel | undefined,
  registry: Registry,
  catalog: CatalogData,
): Diagnostic | undefined {
  if (configured === undefined || configured.reference || registry.find(configured.value)) return undefined;
  const { value } = configured;
  if (!value.includes('/')) return withProvider(key, configured, registry);
  const id = value.slice(0, value.indexOf('/'));
  const provider = registry.providers.get(id);
  const at = { origin: configured.origin, length: value.length + 2 };
  if (provider === undefined) {
    // The provider is known but has no key yet. The name is not the problem.
    if (isKnown(id, catalog)) return undefined;
    const [near] = nearMisses(id, [...registry.providers.keys(), ...Object.keys(catalog.providers)]);
    const nearest = near === undefined ? undefined : near + value.slice(id.length);
    return warning(at, key, 'unknown-provider', withHint(`There is no provider \`${id}\`.`, nearest), nearest);
  }
  // A provider without configured models lists them at run time, so they are not known here.
  if (provider.models.size === 0) return undefined;
  const [near] = nearMisses(
    value,
    [...provider.models.values()].map(({ ref }) => ref),
  );
  return warning(at, key, 'unknown-model', withHint(`There is no model \`${value}\`.`, near), near);
}

/** A model without its provider is an error of its own. The models with this id are known only here. */
function withProvider(key: string, { value, origin }: ConfiguredModel, registry: Registry): Diagnostic | undefined {
  const wanted = value.toLowerCase();
  const named = [...registry.models.values()].filter((model) => model.key.toLowerCase() === wanted);
  const [model] = named;
  if (model === undefined || named.length > 1) return undefined;
  const at = { origin, length: value.length + 2 };
  return warning(at, key, 'unknown-model', withHint(`\`${value}\` has no provider.`, model.ref), model.ref);
}

function withHint(message: string, near: string | undefined): string {
  return near === undefined ? message : `${message} Did you mean \`${near}\`?`;
}

function warning(
  { origin, length }: { readonly origin: Origin; readonly length: number },
  key: string,
  code: string,
  message: string,
  suggestion?: string,
): Diagnostic {
  const { source, line, column } = origin;
  const diagnostic: Diagnostic = { severity: 'warning', path: source.path, line, column, length, key, code, message };
  return suggestion === undefined ? diagnostic : { ...diagnostic, suggestion };
}
