import { isObject, type JsonObject } from '../wire/json.ts';
import type { ModelLimit, ModelSettings } from './configured-model.ts';
import { filled, inOrder, readCost } from './model-settings.ts';
import type { Origin } from './origin.ts';

/** Counts the keys that were read. */
export interface Tally {
  keys: number;
}

/**
 * Reads a model as nearly all are written: every part is what the schema wants, none is unknown, no text may hold a
 * reference. It is read and checked in one go, and its parts are taken as they are. `undefined` for any other, which
 * goes the long way (survey.ts, validate.ts, model-settings.ts); both ways give the same.
 */
export function readPlainModel(
  key: string,
  fields: JsonObject,
  origin: Origin,
  tally: Tally,
): ModelSettings | undefined {
  const { id, name, tool_call: toolCall, reasoning, temperature, attachment, modalities, limit } = fields;
  const { cost, options } = fields;
  if (!isPlainText(id) || !isPlainText(name)) return undefined;
  if (!isFlag(toolCall) || !isFlag(reasoning) || !isFlag(temperature) || !isFlag(attachment)) return undefined;
  if (limit !== undefined && !isLimit(limit, tally)) return undefined;
  if (cost !== undefined && !isCost(cost, tally)) return undefined;
  if (modalities !== undefined && !areModalities(modalities, tally)) return undefined;
  if (options !== undefined && !isFlat(options, tally)) return undefined;
  const variants = fields.variants === undefined ? undefined : readVariants(fields.variants, tally);
  if (variants === null || !isKnown(fields, tally)) return undefined;
  return {
    key,
    id,
    name,
    toolCall,
    reasoning,
    temperature,
    attachment,
    modalities,
    limit,
    cost: cost === undefined ? undefined : costOf(cost),
    options: filled(options),
    headers: undefined,
    provider: undefined,
    variants,
    origin,
  };
}

const KNOWN: ReadonlySet<string> = new Set([
  'id',
  'name',
  'tool_call',
  'reasoning',
  'temperature',
  'attachment',
  'modalities',
  'limit',
  'cost',
  'options',
  'variants',
]);

function isKnown(fields: JsonObject, tally: Tally): boolean {
  let keys = 0;
  for (const key in fields) {
    if (!KNOWN.has(key)) return false;
    keys += 1;
  }
  tally.keys += keys;
  return true;
}

function isPlainText(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '' && !value.includes('{'));
}

function isFlag(value: unknown): value is boolean | undefined {
  return value === undefined || typeof value === 'boolean';
}

function isLimit(value: unknown, tally: Tally): value is ModelLimit {
  if (!isObject(value)) return false;
  for (const key in value) {
    if ((key !== 'context' && key !== 'output' && key !== 'input') || !isAmount(value[key])) return false;
    tally.keys += 1;
  }
  return true;
}

interface WrittenCost {
  readonly input?: number;
  readonly output?: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
}

function isCost(value: unknown, tally: Tally): value is WrittenCost {
  if (!isObject(value)) return false;
  for (const key in value) {
    if (key !== 'input' && key !== 'output' && key !== 'cache_read' && key !== 'cache_write') return false;
    if (!isAmount(value[key])) return false;
    tally.keys += 1;
  }
  return true;
}

function costOf(cost: WrittenCost): ModelSettings['cost'] {
  return cost.cache_read === undefined && cost.cache_write === undefined ? cost : readCost(cost);
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_VALUE;
}

function areModalities(value: unknown, tally: Tally): value is NonNullable<ModelSettings['modalities']> {
  if (!isObject(value) || !inOrder(value.input) || !inOrder(value.output)) return false;
  let keys = 0;
  for (const _key in value) keys += 1;
  tally.keys += keys;
  return keys === 2;
}

/** Whether an object holds nothing but texts, numbers and booleans, and no text may hold a reference. */
function isFlat(value: unknown, tally: Tally): value is JsonObject {
  if (!isObject(value)) return false;
  for (const key in value) {
    const field = value[key];
    if (typeof field === 'object' || (typeof field === 'string' && field.includes('{'))) return false;
    tally.keys += 1;
  }
  return true;
}

/** `null` where one may be switched off, or is not flat. */
function readVariants(value: unknown, tally: Tally): NonNullable<ModelSettings['variants']> | null {
  if (!isObject(value)) return null;
  const variants = new Map<string, JsonObject>();
  for (const name in value) {
    const fields = value[name];
    if (!isFlat(fields, tally) || fields.disabled !== undefined) return null;
    tally.keys += 1;
    variants.set(name, fields);
  }
  return variants;
}
