import { defined } from '../base/json.ts';
import { DEFAULT_NPM } from '../config/settings/defaults.ts';
import type { FormatName } from '../wire/format-name.ts';
import { environmentKey } from './environment-key.ts';
import { vendorAddress } from './ollama-address.ts';
import { type CatalogData, catalogProvider } from './public/catalog.ts';
import { PACKAGES, VENDORS } from './vendors.ts';

/** Known values of a vendor, as defaults for the provider dialog. */
export interface Preset {
  readonly id: string;
  readonly name: string;
  readonly api: FormatName;
  readonly baseURL: string;
  /** Empty if code completion uses the chat address, or if the vendor has no code completion. */
  readonly fimURL: string;
  readonly fim: string;
  /** A local server of the user. */
  readonly local: boolean;
  readonly needsKey: boolean;
  /** The page on which users make keys. */
  readonly keysURL?: string;
  /** The environment variable that contains the key already. */
  readonly environment?: string;
}

/** The most common vendors, in the order in which the dialog shows them. */
const FIRST = ['mistral', 'codestral', 'inception', 'openai', 'anthropic', 'google', 'deepseek', 'openrouter', 'groq'];

/**
 * The vendors with a known address: common vendors first, the others by name, local servers last.
 * @param env may contain keys, and the address of Ollama.
 */
export function providerPresets(
  catalog: CatalogData,
  env: Readonly<Record<string, string | undefined>>,
): readonly Preset[] {
  const known = [...VENDORS].flatMap(([id, vendor]): Preset[] => {
    const listed = catalogProvider(catalog, vendor.catalog ?? id);
    const address = vendor.base ?? listed?.api;
    if (address === undefined) return [];
    const at = (url: string) => (url === '' ? '' : vendorAddress(id, url, env));
    const api = PACKAGES.get(vendor.npm ?? listed?.npm ?? DEFAULT_NPM)?.format ?? 'chat-completions';
    const name = vendor.name ?? listed?.name ?? id;
    const { url: fimURL = '', dialect: fim = '' } = vendor.fim ?? {};
    const { local = false, needsKey = !local, keys } = vendor;
    const environment = environmentKey(id, undefined, { catalog, env })?.origin.source.path.slice(1);
    const preset = { id, name, api, baseURL: at(address), fimURL: at(fimURL), fim, local, needsKey };
    return [{ ...preset, ...defined({ keysURL: keys, environment }) }];
  });
  const rank = ({ id, local }: Preset) => (local ? 99 : FIRST.includes(id) ? FIRST.indexOf(id) : FIRST.length);
  return known.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}
