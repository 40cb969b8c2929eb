import { defined, isObject, type JsonObject, listOf } from '../wire/json.ts';
import { MODALITIES, type Modality, type ModelLimit, type ModelSettings } from './configured-model.ts';
import { credentials, flag, located, number, text } from './fields.ts';
import type { Origin } from './origin.ts';
import { child, nodeAt, type ObjectTree, plain, type Tree } from './tree.ts';

/** `provider.<id>.models`, by key; one that is switched off stays, so that the catalog's is hidden too. */
export function readModels(node: Tree | undefined): ReadonlyMap<string, ModelSettings> {
  const models = new Map<string, ModelSettings>();
  if (node?.type !== 'object') return models;
  const { plain: fields, models: known } = node;
  if (known !== undefined && fields !== undefined && known.size === Object.keys(fields).length) return known;
  const add = (key: string, value: unknown, origin: Origin) => {
    if (isObject(value)) models.set(key, known?.get(key) ?? readModel(key, value, origin, node));
    else if (value === null) models.set(key, { key, origin, off: true });
  };
  if (fields === undefined || node.placeOf === undefined) {
    for (const [key, { value }] of node.entries) add(key, plain(value), value.place);
  } else for (const key in fields) add(key, fields[key], node.placeOf(key));
  return models;
}

function readModel(key: string, fields: JsonObject, origin: Origin, models: ObjectTree): ModelSettings {
  const { headers, provider } = fields;
  return {
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
    headers: isObject(headers) ? filledMap(credentials(nodeAt(models, [key, 'headers']))) : undefined,
    provider: isObject(provider) ? readPlace(nodeAt(models, [key, 'provider'])) : undefined,
    variants: readVariants(fields.variants),
    origin,
  };
}

export function filled(value: unknown): ModelSettings['options'] {
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

function modalities(value: unknown): readonly Modality[] {
  return inOrder(value) ? value : ordered(listOf(value));
}

function ordered(written: readonly unknown[]): readonly Modality[] {
  return MODALITIES.filter((modality) => written.some((item) => text(item) === modality));
}

/** As nearly every list is: nothing else in it, nothing twice. */
export function inOrder(value: unknown): value is readonly Modality[] {
  if (!Array.isArray(value)) return false;
  let next = 0;
  for (let index = 0; index < value.length; index += 1) {
    next = MODALITIES.indexOf(value[index], next) + 1;
    if (next === 0) return false;
  }
  return true;
}

function readLimit(value: unknown): ModelLimit | undefined {
  if (!isObject(value)) return undefined;
  const { context, output, input } = value;
  // What nearly all have, in one piece.
  if (typeof context === 'number' && typeof output === 'number' && input === undefined) return { context, output };
  return defined({ context: number(context), output: number(output), input: number(input) });
}

export function readCost(value: unknown): ModelSettings['cost'] {
  if (!isObject(value)) return undefined;
  const { input, output, cache_read: cacheRead, cache_write: cacheWrite } = value;
  if (typeof input === 'number' && typeof output === 'number' && cacheRead === undefined && cacheWrite === undefined)
    return { input, output };
  return defined({
    input: number(input),
    output: number(output),
    cacheRead: number(cacheRead),
    cacheWrite: number(cacheWrite),
  });
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
