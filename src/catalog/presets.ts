import type { FormatName } from '../wire/format-name.ts';
import { type CatalogData, catalogProvider } from './public/catalog.ts';
import { DEFAULT_NPM, PACKAGES, VENDORS } from './vendors.ts';

/** What is known of a vendor, as a dialog fills itself with it. */
export interface Preset {
  readonly id: string;
  readonly name: string;
  readonly api: FormatName;
  readonly baseURL: string;
  /** Empty where chat's address does for completions, or where there are none. */
  readonly fimURL: string;
  readonly fim: string;
  /** A server of the person's own: it needs no key. */
  readonly local: boolean;
}

/** Whom a person of this field meets first. */
const FIRST = ['mistral', 'codestral', 'inception', 'openai', 'anthropic', 'google', 'deepseek', 'openrouter', 'groq'];

/** Vendors whose address is known: those that many use first, the others by name, servers of one's own last. */
export function providerPresets(catalog: CatalogData): readonly Preset[] {
  const known = [...VENDORS].flatMap(([id, vendor]): Preset[] => {
    const listed = catalogProvider(catalog, vendor.catalog ?? id);
    const baseURL = vendor.base ?? listed?.api;
    if (baseURL === undefined) return [];
    const api = PACKAGES.get(vendor.npm ?? listed?.npm ?? DEFAULT_NPM)?.format ?? 'chat-completions';
    const name = vendor.name ?? listed?.name ?? id;
    const { url: fimURL = '', dialect: fim = '' } = vendor.fim ?? {};
    return [{ id, name, api, baseURL, fimURL, fim, local: vendor.local ?? false }];
  });
  const rank = ({ id, local }: Preset) => (local ? 99 : FIRST.includes(id) ? FIRST.indexOf(id) : FIRST.length);
  return known.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}
