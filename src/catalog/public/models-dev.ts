import { arrayOrEmpty, defined, isObject, type JsonObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';
import { withoutTrailing } from '../../base/text.ts';
import { MODALITIES, type Modality } from '../../config/settings/configured-model.ts';
import { BITS, type CatalogData, type CatalogProvider, type CatalogRow, type NamedPrices } from './catalog.ts';

/** The address of the public catalog. Its licence requires the source and licence below in copies. */
export const CATALOG_URL = 'https://models.dev/api.json';
const CATALOG_SOURCE = 'models.dev';
const CATALOG_LICENCE = 'MIT, (c) 2025 models.dev';

const amount = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

/**
 * Converts `api.json` of the public catalog to the stored form. Unused fields are removed. Invalid entries are skipped,
 * because the data comes from the network.
 *
 * @param wanted selects providers; all are converted if it is absent.
 */
export function fromModelsDev(api: unknown, wanted?: (id: string) => boolean): CatalogData {
  const providers: Record<string, CatalogProvider> = {};
  let newest = '';
  for (const [id, value] of Object.entries(objectOrEmpty(api))) {
    if (!isObject(value) || id === '__proto__' || (wanted !== undefined && !wanted(id))) continue;
    const provider = readProvider(id, value);
    if (provider === undefined) continue;
    providers[id] = provider;
    for (const row of Object.values(provider.models)) if (row[6] && row[6] > newest) newest = row[6];
  }
  return { source: CATALOG_SOURCE, licence: CATALOG_LICENCE, date: newest, providers };
}

function trimmed(address: string | undefined): string | undefined {
  return address === undefined ? undefined : withoutTrailing(address, '/');
}

/** Matches variables that contain a key, not an account or region name. */
const KEY_VARIABLE = /KEY|TOKEN|SECRET|PAT$/;

function readProvider(id: string, value: JsonObject): CatalogProvider | undefined {
  const npm = nonEmptyString(value.npm);
  if (npm === undefined) return undefined;
  const api = trimmed(nonEmptyString(value.api));
  const env = arrayOrEmpty(value.env).flatMap((name) =>
    typeof name === 'string' && KEY_VARIABLE.test(name) ? [name] : [],
  );
  const models: Record<string, CatalogRow> = {};
  for (const [key, model] of Object.entries(objectOrEmpty(value.models))) {
    const row = isObject(model) && key !== '__proto__' ? readModel(key, model) : undefined;
    if (row !== undefined) models[key] = row;
  }
  return { name: nonEmptyString(value.name) ?? id, npm, ...defined({ api }), env, models };
}

/** Models without text output are skipped: neither chat nor code completion can use them. */
function readModel(key: string, model: JsonObject): CatalogRow | undefined {
  const modalities = objectOrEmpty(model.modalities);
  const output = modalityBits(modalities.output);
  if ((output & 1) === 0 || /embed/i.test(key)) return undefined;
  const limit = objectOrEmpty(model.limit);
  const via = objectOrEmpty(model.provider);
  const npm = nonEmptyString(via.npm);
  const api = trimmed(nonEmptyString(via.api));
  const row: unknown[] = [
    nonEmptyString(model.name) ?? key,
    flags(model) | (modalityBits(modalities.input) << BITS.input) | (output << BITS.output),
    amount(limit.context),
    amount(limit.output),
    amount(limit.input),
    readCost(model.cost, objectOrEmpty(model.experimental).modes),
    /^\d{4}(-\d{2}){0,2}$/.test(nonEmptyString(model.release_date) ?? '') ? model.release_date : 0,
    readReasoning(model.reasoning_options),
    ...(npm === undefined && api === undefined ? [] : [api === undefined ? [npm] : [npm ?? '', api]]),
  ];
  while (row.length > 4 && row.at(-1) === 0) row.pop();
  return toRow(row);
}

/** Builds a row. The only place that narrows the types of its parts. */
export function toRow(parts: readonly unknown[]): CatalogRow | undefined {
  const [name, bits, context, output, input, cost, date, reasoning, via] = parts;
  if (typeof name !== 'string' || typeof bits !== 'number') return undefined;
  const numbers = Array.isArray(cost) && cost.every(isCostEntry) ? cost : 0;
  const strings = Array.isArray(via) && via.every((each) => typeof each === 'string') ? via : undefined;
  const full = [
    name,
    bits,
    amount(context),
    amount(output),
    amount(input),
    numbers,
    nonEmptyString(date) ?? 0,
    nonEmptyString(reasoning) ?? 0,
  ] as const;
  if (strings !== undefined) return [...full, strings];
  if (full[7] !== 0) return full;
  if (full[6] !== 0) return [full[0], full[1], full[2], full[3], full[4], full[5], full[6]];
  if (full[5] !== 0) return [full[0], full[1], full[2], full[3], full[4], full[5]];
  return full[4] !== 0 ? [full[0], full[1], full[2], full[3], full[4]] : [full[0], full[1], full[2], full[3]];
}

function isCostEntry(value: unknown): value is number | NamedPrices {
  if (typeof value === 'number') return true;
  if (!Array.isArray(value)) return false;
  const [name, ...prices] = value;
  return typeof name === 'string' && prices.every((price) => typeof price === 'number');
}

function flags(model: JsonObject): number {
  const hidden = model.status === 'deprecated' || model.status === 'alpha';
  return (
    (model.tool_call === true ? BITS.toolCall : 0) |
    (model.reasoning === true ? BITS.reasoning : 0) |
    (model.temperature === true ? BITS.temperature : 0) |
    (model.attachment === true ? BITS.attachment : 0) |
    (model.structured_output === true ? BITS.structuredOutput : 0) |
    (hidden ? BITS.hidden : 0)
  );
}

function modalityBits(value: unknown): number {
  const written = new Set<unknown>(arrayOrEmpty(value));
  return MODALITIES.reduce(
    (bits: number, name: Modality, index) => (written.has(name) ? bits | (1 << index) : bits),
    0,
  );
}

/** @param modes `experimental.modes`: other prices, by the fields of the request that select them. */
function readCost(value: unknown, modes: unknown): readonly (number | NamedPrices)[] | 0 {
  if (!isObject(value)) return 0;
  const named = [...readTiers(value), ...readModes(modes), ...readKinds(value)];
  return [...readPrices(value), ...named];
}

/** `[input, output, cacheRead?, cacheWrite?]`; -1 means absent. */
function readPrices(value: JsonObject): number[] {
  const cost = [amount(value.input), amount(value.output), price(value.cache_read), price(value.cache_write)];
  while (cost.length > 2 && cost.at(-1) === -1) cost.pop();
  return cost;
}

const price = (field: unknown) => (typeof field === 'number' && Number.isFinite(field) && field >= 0 ? field : -1);

/** `tiers` has any limits. The older `context_over_200k` repeats one of them with a rounded limit. */
function readTiers(cost: JsonObject): NamedPrices[] {
  const tiers = arrayOrEmpty(cost.tiers).flatMap((each): NamedPrices[] => {
    const { type = 'context', size } = objectOrEmpty(objectOrEmpty(each).tier);
    if (!isObject(each) || type !== 'context' || amount(size) === 0) return [];
    return [[String(Math.floor(amount(size))), ...readPrices(each)]];
  });
  const old = cost.context_over_200k;
  return tiers.length === 0 && isObject(old) ? [['200000', ...readPrices(old)]] : tiers;
}

/** A mode is known by the value of the field that selects it: `service_tier: "priority"`, `speed: "fast"`. */
function readModes(modes: unknown): NamedPrices[] {
  return Object.values(objectOrEmpty(modes)).flatMap((mode): NamedPrices[] => {
    const { cost, provider } = objectOrEmpty(mode);
    const { service_tier: tier, speed } = objectOrEmpty(objectOrEmpty(provider).body);
    const name = nonEmptyString(tier) ?? nonEmptyString(speed);
    return isObject(cost) && name !== undefined && /^[a-z_]+$/.test(name) ? [[name, ...readPrices(cost)]] : [];
  });
}

function readKinds(cost: JsonObject): NamedPrices[] {
  const [input, output, reasoning] = [price(cost.input_audio), price(cost.output_audio), price(cost.reasoning)];
  return [
    ...(input < 0 && output < 0 ? [] : [['audio', input, output] as const]),
    ...(reasoning < 0 || reasoning === amount(cost.output) ? [] : [['reasoning', reasoning] as const]),
  ];
}

function readReasoning(value: unknown): string | 0 {
  const options = arrayOrEmpty(value).filter(isObject);
  const effort = options.find((option) => option.type === 'effort');
  const efforts = arrayOrEmpty(effort?.values).filter((each) => typeof each === 'string' && /^[a-z]+$/.test(each));
  if (efforts.length > 0) return efforts.join(',');
  const budget = options.find((option) => option.type === 'budget_tokens');
  return budget === undefined ? 0 : `#${amount(budget.max) || 32_000}`;
}
