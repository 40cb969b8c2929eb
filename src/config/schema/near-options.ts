/** Checks of a provider that the schema can't make: its `options` may contain any key. */

import { nearMisses } from '../../base/near-miss.ts';
import { splitWords } from '../../base/split-words.ts';
import { child, type Entry, getEntries, nodeAt, type Place, type Tree } from '../settings/tree.ts';
import { CONNECTION_OPTIONS, FIELD_OPTIONS, FOREIGN_SECTIONS, UNUSED_OPTIONS } from './option-names.ts';

export interface OptionFinding {
  readonly path: readonly string[];
  readonly place: Place;
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly suggestion?: string | undefined;
  /** The user may have meant the address, so nothing is sent to the default one. */
  readonly breaksAddress?: boolean;
}

const plainForm = (name: string) => name.toLowerCase().replaceAll(/[-_.\s]/g, '');

/** Names that tools and people use for the address, in plain form. */
const ADDRESS_NAME =
  /^(?:api|base|server|service|gateway|proxy|provider|model)?(?:url|uri|endpoint|host|hostname|address|base|server)$/;
/** Names for the key. */
const KEY_NAME = /^(?:api|access|secret|auth|bearer)?(?:key|token)$/;

/**
 * Keys that are nearly an option, or an option one level too high. A key that could be the address stops the provider: its
 * API key must not be sent to the default address.
 *
 * @param known the options of the schema.
 */
export function checkOptions(path: readonly string[], provider: Tree, known: readonly string[]): OptionFinding[] {
  const names = [...known, ...Object.keys(CONNECTION_OPTIONS)];
  const all = new Set([...names, ...Object.keys(FIELD_OPTIONS)]);
  const options = getEntries(child(provider, 'options'));
  // With an address of its own, the key does not go to the default one.
  const isSettled = isAddress(nodeAt(provider, ['options', 'baseURL']));
  const found: OptionFinding[] = [];
  for (const [name, { key, value }] of options) {
    if (all.has(name)) continue;
    const at = { path: [...path, 'options', name], place: key };
    const suggestion = meant(name, value, names);
    if (suggestion !== undefined) found.push(mistake(at, suggestion, `Did you mean \`${suggestion}\`?`));
    else if (UNUSED_OPTIONS.has(name)) found.push(unused(at, 'This option of other tools has no effect in Svc.'));
    else if (KEY_NAME.test(plainForm(name))) {
      found.push(unused(at, 'This option is not known and has no effect. Did you mean `apiKey`?', 'apiKey'));
    } else if (!isSettled && hasAddress(value)) found.push(address(at, 'Write `baseURL` in `options` itself.'));
    else found.push(unused(at, 'This option is not known and has no effect. Fields of requests belong to a model.'));
  }
  for (const [name, { key, value }] of getEntries(provider)) {
    if (PROVIDER_KEYS.has(name)) continue;
    const at = { path: [...path, name], place: key };
    const suggestion = names.includes(name) ? name : meant(name, value, names);
    if (isTurnedOff(name, value)) found.push(address(at, 'To turn the provider off, write `null` instead of it.'));
    else if (suggestion !== undefined) found.push(mistake(at, suggestion, `Write \`${suggestion}\` in \`options\`.`));
    else if (!isSettled && hasAddress(value)) {
      const [near] = nearMisses(name, ['options']);
      found.push(address(at, near === undefined ? 'Write `baseURL` in `options`.' : 'Did you mean `options`?', near));
    }
  }
  for (const [name, { value }] of getEntries(child(provider, 'models'))) {
    found.push(...checkModel([...path, 'models', name], value));
  }
  return found;
}

/** As other tools write it. */
function isTurnedOff(name: string, value: Tree): boolean {
  const off = /^disabled?$/.test(name) ? true : /^enabled?$/.test(name) ? false : undefined;
  return off !== undefined && value.type === 'scalar' && value.value === off;
}

const RESTRICTIONS = ['disabled_providers', 'enabled_providers'];

/** The list of providers that a section is, or is meant to be. */
export function restriction(name: string): string | undefined {
  return RESTRICTIONS.find((each) => plainForm(each) === plainForm(name) || plainForm(each) === `${plainForm(name)}s`);
}

/** Addresses in a model, which has one in `provider.api`. Its options are fields of requests, which may have other addresses. */
function checkModel(path: readonly string[], model: Tree): OptionFinding[] {
  const variants = [...getEntries(child(model, 'variants'))].map(([name]) => ['variants', name]);
  return [[], ['options'], ...variants].flatMap((part) =>
    [...getEntries(nodeAt(model, part))].flatMap(([name, { key, value }]) => {
      if (!isAddressEntry(part.length === 0 && name === 'api' ? 'apiURL' : name, value)) return [];
      const message = 'The address of one model is `api` in its `provider`. Until then, this model is not available.';
      return [{ ...broken({ path: [...path, ...part, name], place: key }), message }];
    }),
  );
}

/**
 * The providers with an address in a section whose name is nearly `provider`, or that are sections themselves: their API
 * keys, which may come from the environment, must not be sent to the default addresses.
 *
 * @param known the sections of the schema.
 */
export function checkSection(name: string, section: Entry, known: readonly string[]): OptionFinding[] {
  if (known.includes(name) || FOREIGN_SECTIONS.has(name) || PROVIDER_KEYS.has(name)) return [];
  const list = restriction(name);
  if (list !== undefined) {
    const message = `This key is not known. Did you mean \`${list}\`? Until then, no provider is used.`;
    return [{ path: [name], place: section.key, severity: 'error', code: 'unknown-key', message, suggestion: list }];
  }
  const isNear = nearMisses(name, ['provider']).length > 0;
  const providers = isNear ? [...getEntries(section.value)] : [[name, section] as const];
  return providers.flatMap(([id, { key, value }]) => {
    const path = isNear ? [name, id] : [name];
    return hasAddress(value) ? [address({ path, place: key }, 'Write it in `provider`.')] : [];
  });
}

/** Names for the address of an API alone. */
const API_ADDRESS =
  /^(?:openai|anthropic)?(?:api|base|apibase|server)(?:url|uri|endpoint|host|base)$|^(?:end|entry)point$/;

/** A host has a dot or a port, unless a scheme or a reference says that it is an address. */
const ADDRESS = /^\s*(?:[a-z][a-z0-9+.-]*:\/\/|\{(?:env|file):|[^\s/.:]*[.:][^\s])/i;

function isAddressEntry(name: string, tree: Tree): boolean {
  return API_ADDRESS.test(plainForm(name)) && isAddress(tree);
}

function isAddress(tree: Tree | undefined): boolean {
  return tree?.type === 'scalar' && typeof tree.value === 'string' && ADDRESS.test(tree.value);
}

/** Levels of an unknown key that are searched. */
const DEPTH = 3;

function hasAddress(tree: Tree, depth = DEPTH): boolean {
  return [...getEntries(tree)].some(
    ([name, { value }]) => isAddressEntry(name, value) || (depth > 0 && hasAddress(value, depth - 1)),
  );
}

/** Keys of a provider that are like an option, and its own. */
const PROVIDER_KEYS: ReadonlySet<string> = new Set(
  splitWords('name npm api env fim edit options models whitelist blacklist id'),
);

type At = Pick<OptionFinding, 'path' | 'place'>;

function mistake(at: At, suggestion: string, hint: string): OptionFinding {
  const breaksAddress = suggestion === 'baseURL' || suggestion === 'fimURL' || suggestion === 'resourceName';
  if (breaksAddress) return address(at, hint, suggestion);
  const message = `This key is not known. ${hint}`;
  return { ...at, severity: 'error', code: 'unknown-option', message, suggestion };
}

function address(at: At, hint: string, suggestion?: string): OptionFinding {
  const message = `This key is not known. ${hint} Until then, nothing is sent to this provider.`;
  return { ...broken(at), message, suggestion };
}

function broken(at: At) {
  return { ...at, severity: 'error', code: 'unknown-option', breaksAddress: true } as const;
}

function unused(at: At, message: string, suggestion?: string): OptionFinding {
  return { ...at, severity: 'warning', code: 'unknown-key', message, suggestion };
}

/** The option that a key is meant to be. */
function meant(name: string, value: Tree, known: readonly string[]): string | undefined {
  const form = plainForm(name);
  const same = known.find((each) => plainForm(each) === form);
  if (same !== undefined) return same;
  const isURL = value.type === 'scalar' && typeof value.value === 'string' && /^https?:\/\//i.test(value.value);
  if (form.startsWith('fim') && (isURL || ADDRESS_NAME.test(form.slice(3)))) return 'fimURL';
  if (ADDRESS_NAME.test(form) || isURL) return 'baseURL';
  // One letter more, less or other. Longer distances would hit other words.
  const [near] = nearMisses(name, known);
  return near !== undefined && isOneLetterOff(form, plainForm(near)) ? near : undefined;
}

function isOneLetterOff(a: string, b: string): boolean {
  if (a.length < 5 || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [left, right] = [a.length - start - end, b.length - start - end];
  const swapped = left === 2 && right === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
  return Math.max(left, right) <= 1 || swapped;
}
