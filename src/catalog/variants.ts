import { isObject, mergeDeep } from '../base/json.ts';
import { requestFields } from '../config/schema/option-names.ts';
import type { ModelSettings } from '../config/settings/configured-model.ts';
import type { FormatName } from '../wire/format-name.ts';
import type { Address } from './address.ts';
import type { CatalogModel } from './public/catalog.ts';

type Fields = Readonly<Record<string, unknown>>;

const NONE: ReadonlyMap<string, Fields> = new Map();

/** The catalog's reasoning efforts as request fields of the format. The user's variants override them. */
export function resolveVariants(
  known: CatalogModel | undefined,
  settings: ModelSettings | undefined,
  address: Address,
): ReadonlyMap<string, Fields> {
  const own = withRequestFields(settings?.variants, address.format);
  if (known === undefined && (own === undefined || allOn(own))) return own ?? NONE;
  const variants = new Map<string, Fields>();
  for (const effort of known?.efforts ?? []) variants.set(effort, effortFields(effort, address));
  if (known?.budget !== undefined && address.format === 'messages') {
    // docs.anthropic.com, "Extended thinking": the budget must stay below max_tokens.
    variants.set('high', { thinking: { type: 'enabled', budget_tokens: Math.min(16_000, known.budget) } });
    variants.set('max', { thinking: { type: 'enabled', budget_tokens: Math.min(31_999, known.budget) } });
  }
  own?.forEach((fields, name) => {
    if (fields === null) variants.delete(name);
    else variants.set(name, laid(fields, variants.get(name)));
  });
  return variants;
}

function withRequestFields(variants: ModelSettings['variants'], format: FormatName): ModelSettings['variants'] {
  if (variants === undefined) return undefined;
  return new Map([...variants].map(([name, fields]) => [name, fields && requestFields(fields, format)]));
}

function allOn(variants: ReadonlyMap<string, Fields | null>): variants is ReadonlyMap<string, Fields> {
  let on = true;
  variants.forEach((fields) => {
    on &&= fields !== null;
  });
  return on;
}

function laid(over: Fields, under: Fields | undefined): Fields {
  return under === undefined || !isObject(under) ? over : mergeDeep(under, over);
}

function effortFields(effort: string, { format }: Address): Fields {
  if (format === 'responses') return { reasoning: { effort } };
  if (format === 'messages') return { output_config: { effort } };
  return { reasoning_effort: effort };
}
