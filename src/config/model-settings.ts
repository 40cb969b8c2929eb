import { defined, isObject, listOf, objectOf } from '../wire/json.ts';
import { credentials, flag, located, number, text } from './fields.ts';
import { MODALITIES, type Modality, type ModelCost, type ModelLimit, type ModelSettings } from './settings.ts';
import { child, entriesOf, isNull, type ObjectTree, plain, type Tree } from './tree.ts';

/** `provider.<id>.models`, by key; one that is switched off stays, so that the catalog's is hidden too. */
export function readModels(node: Tree | undefined): ReadonlyMap<string, ModelSettings> {
  const models = new Map<string, ModelSettings>();
  for (const [key, { value }] of entriesOf(node)) {
    if (value.type === 'object') models.set(key, readModel(key, value));
    else if (isNull(value)) models.set(key, { key, origin: value.place, off: true });
  }
  return models;
}

function readModel(key: string, node: ObjectTree): ModelSettings {
  const fields = plain(node);
  return defined({
    key,
    id: text(fields.id),
    name: text(fields.name),
    toolCall: flag(fields.tool_call),
    reasoning: flag(fields.reasoning),
    temperature: flag(fields.temperature),
    attachment: flag(fields.attachment),
    modalities: readModalities(fields.modalities),
    limit: readLimit(fields.limit),
    cost: readCost(fields.cost),
    options: filled(fields.options),
    headers: isObject(fields.headers) ? filledMap(credentials(child(node, 'headers'))) : undefined,
    provider: isObject(fields.provider) ? readPlace(child(node, 'provider')) : undefined,
    variants: readVariants(fields.variants),
    origin: node.place,
  });
}

function filled(value: unknown): ModelSettings['options'] {
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
  const { input, output } = objectOf(value);
  if (input === undefined || output === undefined) return undefined;
  return { input: modalities(input), output: modalities(output) };
}

function modalities(value: unknown): readonly Modality[] {
  if (inOrder(value)) return value;
  const written = listOf(value);
  return MODALITIES.filter((modality) => written.some((item) => text(item) === modality));
}

/** As nearly every list is: nothing else in it, nothing twice. */
function inOrder(value: unknown): value is readonly Modality[] {
  if (!Array.isArray(value)) return false;
  let last = -1;
  for (const item of value) {
    const at = MODALITIES.indexOf(item);
    if (at <= last) return false;
    last = at;
  }
  return true;
}

function readLimit(value: unknown): ModelLimit | undefined {
  if (!isObject(value)) return undefined;
  return defined({ context: number(value.context), output: number(value.output), input: number(value.input) });
}

function readCost(value: unknown): Partial<ModelCost> | undefined {
  if (!isObject(value)) return undefined;
  return defined({
    input: number(value.input),
    output: number(value.output),
    cacheRead: number(value.cache_read),
    cacheWrite: number(value.cache_write),
  });
}

function readVariants(value: unknown): ModelSettings['variants'] {
  if (!isObject(value)) return undefined;
  const variants = new Map<string, Readonly<Record<string, unknown>> | null>();
  for (const [name, fields] of Object.entries(value)) {
    variants.set(name, isObject(fields) && fields.disabled !== true ? without(fields, 'disabled') : null);
  }
  return variants;
}

function without(fields: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  if (!Object.hasOwn(fields, key)) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
}
