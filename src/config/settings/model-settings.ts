import { arrayOrEmpty, defined, isObject, type JsonObject, objectOrEmpty } from '../../base/json.ts';
import {
  type ConfiguredTier,
  MODALITIES,
  type Modality,
  type ModelLimit,
  type ModelSettings,
} from './configured-model.ts';
import { credentials, flag, located, number, text } from './fields.ts';
import { child, isNull, type ObjectTree, plain, type Tree } from './tree.ts';

/** `provider.<id>.models` by key. A disabled model is kept, so that it also hides the catalog's model. */
export function readModels(node: Tree | undefined): ReadonlyMap<string, ModelSettings> {
  const models = new Map<string, ModelSettings>();
  if (node?.type !== 'object') return models;
  for (const [key, { value }] of node.entries) {
    if (value.type === 'object') models.set(key, readModel(key, value));
    else if (isNull(value)) models.set(key, { key, origin: value.place, off: true });
  }
  return models;
}

function readModel(key: string, node: ObjectTree): ModelSettings {
  const fields = plain(node);
  const { headers, provider } = fields;
  return {
    key,
    id: text(fields.id),
    name: text(fields.name),
    toolCall: flag(fields.tool_call),
    reasoning: flag(fields.reasoning),
    temperature: flag(fields.temperature),
    attachment: flag(fields.attachment),
    edit: text(fields.edit),
    modalities: readModalities(fields.modalities),
    limit: readLimit(fields.limit),
    cost: readCost(fields.cost),
    options: withCatalogDefaults(fields.options),
    headers: isObject(headers) ? filledMap(credentials(child(node, 'headers'))) : undefined,
    provider: isObject(provider) ? readPlace(child(node, 'provider')) : undefined,
    variants: readVariants(fields.variants),
    origin: node.place,
  };
}

function withCatalogDefaults(value: unknown): ModelSettings['options'] {
  return isObject(value) && Object.keys(value).length > 0 ? value : undefined;
}

function filledMap<T extends ReadonlyMap<string, unknown>>(map: T): T | undefined {
  return map.size === 0 ? undefined : map;
}

function readPlace(node: Tree | undefined): ModelSettings['provider'] {
  const place = defined({ npm: located(child(node, 'npm')), api: located(child(node, 'api')) });
  return place.npm === undefined && place.api === undefined ? undefined : place;
}

function readModalities(value: unknown): ModelSettings['modalities'] {
  if (!isObject(value)) return undefined;
  const { input, output } = value;
  if (input === undefined || output === undefined) return undefined;
  return { input: modalities(input), output: modalities(output) };
}

/** Without duplicates, in the order of `MODALITIES`. */
function modalities(value: unknown): readonly Modality[] {
  const written = arrayOrEmpty(value).map(text);
  return MODALITIES.filter((modality) => written.includes(modality));
}

function readLimit(value: unknown): ModelLimit | undefined {
  if (!isObject(value)) return undefined;
  const { context, output, input } = value;
  return defined({ context: number(context), output: number(output), input: number(input) });
}

function readCost(value: unknown): ModelSettings['cost'] {
  if (!isObject(value)) return undefined;
  return defined({
    ...readRates(value),
    tiers: readTiers(value.tiers) ?? readLongContext(value.context_over_200k),
    served: readByName(value.served, (rule) => {
      const fields = objectOrEmpty(rule);
      return defined({ ...readRates(fields), factor: number(fields.factor) });
    }),
    fees: readByName(value.fees, number),
  });
}

function readRates(fields: JsonObject) {
  return defined({
    input: number(fields.input),
    output: number(fields.output),
    cacheRead: number(fields.cache_read),
    cacheWrite: number(fields.cache_write),
    cacheWrite1h: number(fields.cache_write_1h),
    inputAudio: number(fields.input_audio),
    outputAudio: number(fields.output_audio),
    outputImage: number(fields.output_image),
    reasoning: number(fields.reasoning),
  });
}

/** models.dev and opencode: prices of requests with more than 200,000 tokens of input. */
function readLongContext(value: unknown): readonly ConfiguredTier[] | undefined {
  return isObject(value) ? readTiers([{ ...value, above: 200_000 }]) : undefined;
}

function readTiers(value: unknown): readonly ConfiguredTier[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const tiers = value.filter(isObject).map((tier) => ({ ...readRates(tier), above: number(tier.above) ?? 0 }));
  return tiers.sort((a, b) => a.above - b.above);
}

function readByName<T>(
  value: unknown,
  read: (item: unknown) => T | undefined,
): Readonly<Record<string, T>> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).flatMap(([name, item]) => {
    const found = read(item);
    return found === undefined ? [] : [[name.toLowerCase(), found] as const];
  });
  return Object.fromEntries(entries);
}

function readVariants(value: unknown): ModelSettings['variants'] {
  if (!isObject(value)) return undefined;
  const variants = new Map<string, Readonly<Record<string, unknown>> | null>();
  for (const name in value) {
    const fields = value[name];
    variants.set(name, isObject(fields) && fields.disabled !== true ? without(fields, 'disabled') : null);
  }
  return variants;
}

function without(fields: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  if (!Object.hasOwn(fields, key)) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
}
