import { nearMisses } from '../../base/near-miss.ts';
import { matchesModelPattern } from '../../catalog/model-pattern.ts';
import type { OrganizationSettings } from '../../config/settings/settings.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { allows } from '../access/organization.ts';
import type { Models } from './models.ts';

/** Facts that decide which model a name means. */
export type Names = Pick<Models, 'registry' | 'pools' | 'settings'>;

/** Maximum number of similar names in an error. */
const MAX_NEAR = 3;

/**
 * Resolves the name of a model that a client sent: an alias, a whole name, a pattern of `gateway.aliases`, or a name
 * without a provider that exactly one provider has. The target of an alias is never an alias.
 *
 * @param find finds a model by its whole name.
 * @param more whole names that are not in the registry.
 */
export function resolveName<T>(
  names: Names,
  name: string,
  find: (ref: string) => T | undefined,
  more: readonly string[] = [],
): T | undefined {
  const alias = names.settings().gateway.aliases.get(name);
  if (alias !== undefined) return find(alias);
  const found = find(name);
  if (found !== undefined) return found;
  const target = patternTarget(names, name);
  if (target !== undefined) return find(target);
  const [only, second] = refsOf(names, name, more);
  return only === undefined || second !== undefined ? undefined : find(only);
}

/** The target of the pattern that matches with the most characters besides `*`; of equal ones, the first. */
function patternTarget({ settings }: Pick<Names, 'settings'>, name: string): string | undefined {
  let best: { readonly target: string; readonly fixed: number } | undefined;
  for (const [pattern, target] of settings().gateway.aliases) {
    if (!pattern.includes('*') || !matchesModelPattern(pattern, name)) continue;
    const fixed = pattern.replaceAll('*', '').length;
    if (best === undefined || fixed > best.fixed) best = { target, fixed };
  }
  return best?.target;
}

/**
 * Models that providers have under a name without a provider. Providers of a project that was not allowed are used only
 * by their whole name. A name that begins with a configured provider is never another provider's.
 */
function refsOf({ registry, settings }: Names, name: string, more: readonly string[]): readonly string[] {
  const { providers } = registry();
  const slash = name.indexOf('/');
  if (slash > 0 && providers.has(name.slice(0, slash))) return [];
  const refs = new Set(registry().named(name));
  for (const ref of more) if (ref.slice(ref.indexOf('/') + 1) === name) refs.add(ref);
  return [...refs].filter((ref) => {
    const id = ref.slice(0, ref.indexOf('/'));
    const provider = providers.get(id);
    return provider !== undefined && settings().providers.get(id)?.trust !== 'untrusted';
  });
}

/** The aliases that are no patterns, with their targets. */
export function exactAliases({ settings }: Pick<Names, 'settings'>): readonly (readonly [string, string])[] {
  return [...settings().gateway.aliases].filter(([name]) => !name.includes('*'));
}

/**
 * The error for a name that means no model. It lists similar names that the organization may use.
 *
 * @param more whole names that are not in the registry.
 */
export function unknownModel(
  names: Names,
  name: string,
  organization: OrganizationSettings | undefined,
  more: readonly string[] = [],
): SvcError {
  const shown = name.slice(0, 200);
  const make = (message: string, action: string) =>
    new SvcError({ errorType: 'model_not_found', message, action, param: 'model' });
  const alias = names.settings().gateway.aliases.get(name) ?? patternTarget(names, name);
  if (alias !== undefined) {
    return make(
      `“${shown}” is an alias of ${alias}, and this gateway has no such model.`,
      'Correct gateway.aliases in svc.jsonc, or configure the provider.',
    );
  }
  const refs = refsOf(names, name, more).filter((ref) => allows(organization, ref));
  if (refs.length > 1) {
    return make(
      `Several providers have a model “${shown}”: ${refs.slice(0, MAX_NEAR).join(', ')}.`,
      'Send the name with its provider, or set an alias for it in gateway.aliases.',
    );
  }
  const near = nearNames(names, name, organization, more);
  const hint = near.length === 0 ? '' : ` Similar: ${near.join(', ')}.`;
  return make(`There is no model “${shown}” at this gateway.${hint}`, 'GET /models lists the available models.');
}

/** Similar names. A name without a provider is compared with names without a provider too. */
function nearNames(
  names: Names,
  name: string,
  organization: OrganizationSettings | undefined,
  more: readonly string[],
): readonly string[] {
  const { registry, pools } = names;
  const refs = new Set([...pools.all.keys(), ...more]);
  for (const [ref, { endpoint }] of registry().models) if (endpoint.problem === undefined) refs.add(ref);
  const byName = new Map<string, string>();
  const add = (key: string, shown: string) => void (byName.has(key) || byName.set(key, shown));
  for (const [alias, target] of exactAliases(names)) if (allows(organization, target)) add(alias, alias);
  for (const ref of refs) {
    if (!allows(organization, ref)) continue;
    add(ref, ref);
    if (!name.includes('/')) add(ref.slice(ref.indexOf('/') + 1), ref);
  }
  const near = nearMisses(name, byName.keys(), MAX_NEAR);
  return [...new Set(near.map((each) => byName.get(each) ?? each))];
}
