/** Checks of a provider that the schema can't make: its `options` may contain any key. */

import { nearMisses } from '../../base/near-miss.ts';
import { splitWords } from '../../base/split-words.ts';
import { child, getEntries, type Place, type Tree } from '../settings/tree.ts';
import { CONNECTION_OPTIONS, FIELD_OPTIONS, UNUSED_OPTIONS } from './option-names.ts';

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
  const found: OptionFinding[] = [];
  for (const [name, { key, value }] of options) {
    if (all.has(name)) continue;
    const at = { path: [...path, 'options', name], place: key };
    const suggestion = meant(name, value, names);
    if (suggestion !== undefined) found.push(mistake(at, suggestion, `Did you mean \`${suggestion}\`?`));
    else if (UNUSED_OPTIONS.has(name)) found.push(unused(at, 'This option of other tools has no effect in Svc.'));
    else if (KEY_NAME.test(plainForm(name))) {
      found.push(unused(at, 'This option is not known and has no effect. Did you mean `apiKey`?', 'apiKey'));
    } else found.push(unused(at, 'This option is not known and has no effect. Fields of requests belong to a model.'));
  }
  for (const [name, { key, value }] of getEntries(provider)) {
    if (PROVIDER_KEYS.has(name)) continue;
    const suggestion = names.includes(name) ? name : meant(name, value, names);
    if (suggestion === undefined) continue;
    found.push(mistake({ path: [...path, name], place: key }, suggestion, `Write \`${suggestion}\` in \`options\`.`));
  }
  return found;
}

/** Keys of a provider that are like an option, and its own. */
const PROVIDER_KEYS: ReadonlySet<string> = new Set(
  splitWords('name npm api env fim edit options models whitelist blacklist id'),
);

type At = Pick<OptionFinding, 'path' | 'place'>;

function mistake(at: At, suggestion: string, hint: string): OptionFinding {
  const breaksAddress = suggestion === 'baseURL' || suggestion === 'fimURL' || suggestion === 'resourceName';
  const consequence = breaksAddress ? ' Until then, nothing is sent to this provider.' : '';
  const message = `This key is not known. ${hint}${consequence}`;
  return { ...at, severity: 'error', code: 'unknown-option', message, suggestion, breaksAddress };
}

function unused(at: At, message: string, suggestion?: string): OptionFinding {
  return { ...at, severity: 'warning', code: 'unknown-key', message, suggestion };
}

/** The option that a key is meant to be. */
function meant(name: string, value: Tree, known: readonly string[]): string | undefined {
  const form = plainForm(name);
  const same = known.find((each) => plainForm(each) === form);
  if (same !== undefined) return same;
  const isAddress = value.type === 'scalar' && typeof value.value === 'string' && /^https?:\/\//i.test(value.value);
  if (form.startsWith('fim') && (isAddress || ADDRESS_NAME.test(form.slice(3)))) return 'fimURL';
  if (ADDRESS_NAME.test(form) || isAddress) return 'baseURL';
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
