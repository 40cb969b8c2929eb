import {
  MODALITIES,
  type Modality,
  type ModelCost,
  type PriceTier,
  type RATES,
  type ServedPrices,
} from '../../config/settings/configured-model.ts';

/**
 * The stored form of the catalog. Rows are arrays, because each start reads a snapshot of thousands of models and uses
 * few of them. `readRow` decodes a row.
 */
export interface CatalogData {
  /** The origin of the data. `licence` is its licence. */
  readonly source: string;
  readonly licence: string;
  /** ISO date of the newest entry. */
  readonly date: string;
  readonly providers: Readonly<Record<string, CatalogProvider>>;
}

export interface CatalogProvider {
  readonly name: string;
  readonly npm: string;
  readonly api?: string;
  /** Environment variables that may contain the key. */
  readonly env: readonly string[];
  readonly models: Readonly<Record<string, CatalogRow>>;
}

/** `[name, ...prices]`, -1 means absent. */
export type NamedPrices = readonly [name: string, ...prices: number[]];

/**
 * `[name, bits, context, output, input, cost, releaseDate, reasoning, via]`; 0 means absent. `cost` is `[input, output,
 * cacheRead?, cacheWrite?, …]`, -1 means absent. Lists with a name may follow: `['272000', input, output, …]` has the
 * prices above that number of input tokens, `['audio', input, output]` those of audio, `['reasoning', price]` that of
 * reasoning, any other name those of a service that the answer names (`['priority', input, output, …]`). `reasoning` is the effort names joined by commas, or `#<maximum budget
 * tokens>`. `via` is `[npm, api?]` if the model differs from its provider.
 */
export type CatalogRow = readonly [
  name: string,
  bits: number,
  context: number,
  output: number,
  input?: number,
  cost?: readonly (number | NamedPrices)[] | 0,
  releaseDate?: string | 0,
  reasoning?: string | 0,
  via?: readonly string[],
];

export interface CatalogModel {
  readonly name: string;
  readonly toolCall: boolean;
  readonly reasoning: boolean;
  readonly temperature: boolean;
  readonly attachment: boolean;
  readonly structuredOutput: boolean;
  /** Deprecated or not generally available: known, but only offered if configured. */
  readonly hidden: boolean;
  readonly modalities: { readonly input: readonly Modality[]; readonly output: readonly Modality[] };
  readonly limit: { readonly context: number; readonly output: number; readonly input?: number };
  readonly cost?: ModelCost;
  readonly releaseDate?: string;
  readonly efforts: readonly string[];
  /** Maximum thinking tokens, if the model takes a budget instead of an effort. */
  readonly budget?: number;
  readonly npm?: string;
  readonly api?: string;
}

export const BITS = {
  toolCall: 1,
  reasoning: 2,
  temperature: 4,
  attachment: 8,
  structuredOutput: 16,
  hidden: 32,
  /** Bit offset of the five input modalities. The five output modalities follow. */
  input: 8,
  output: 13,
} as const;

export function readRow(row: CatalogRow): CatalogModel {
  const [name, bits, context, output, input, cost, releaseDate, reasoning, via] = row;
  const efforts = reasoning && !reasoning.startsWith('#') ? reasoning.split(',') : [];
  return {
    name,
    toolCall: (bits & BITS.toolCall) !== 0,
    reasoning: (bits & BITS.reasoning) !== 0,
    temperature: (bits & BITS.temperature) !== 0,
    attachment: (bits & BITS.attachment) !== 0,
    structuredOutput: (bits & BITS.structuredOutput) !== 0,
    hidden: (bits & BITS.hidden) !== 0,
    modalities: { input: modalities(bits >> BITS.input), output: modalities(bits >> BITS.output) },
    limit: input ? { context, output, input } : { context, output },
    ...(cost ? { cost: readCost(cost) } : {}),
    ...(releaseDate ? { releaseDate } : {}),
    efforts,
    ...(reasoning?.toString().startsWith('#') ? { budget: Number(reasoning.toString().slice(1)) } : {}),
    ...(via?.[0] ? { npm: via[0] } : {}),
    ...(via?.[1] ? { api: via[1] } : {}),
  };
}

function modalities(bits: number): readonly Modality[] {
  return MODALITIES.filter((_, index) => (bits >> index) & 1);
}

function readCost(entries: readonly (number | NamedPrices)[]): ModelCost {
  const named = entries.filter((entry) => typeof entry !== 'number');
  const cost = readRates(entries.filter((entry) => typeof entry === 'number'));
  if (named.length === 0) return cost;
  const tiers: PriceTier[] = [];
  const served: Record<string, ServedPrices> = {};
  let more: Partial<ModelCost> = {};
  for (const [name, ...prices] of named) {
    const [first = -1, second = -1] = prices;
    if (/^\d+$/.test(name)) tiers.push({ ...readRates(prices), above: Number(name) });
    else if (name === 'audio') {
      more = { ...more, ...known('inputAudio', first), ...known('outputAudio', second) };
    } else if (name === 'reasoning') more = { ...more, ...known('reasoning', first) };
    else served[name] = readRates(prices);
  }
  return {
    ...cost,
    ...more,
    ...(tiers.length === 0 ? {} : { tiers: tiers.sort((a, b) => a.above - b.above) }),
    ...(Object.keys(served).length === 0 ? {} : { served }),
  };
}

function readRates([input = 0, output = 0, cacheRead = -1, cacheWrite = -1]: readonly number[]) {
  return { input, output, ...known('cacheRead', cacheRead), ...known('cacheWrite', cacheWrite) };
}

function known(kind: (typeof RATES)[number], price: number): Partial<ModelCost> {
  return price >= 0 ? { [kind]: price } : {};
}

export const EMPTY_CATALOG: CatalogData = { source: '', licence: '', date: '', providers: {} };

/** Finds a provider by id. Ids come from files, so inherited members such as `constructor` must not match. */
export function catalogProvider(catalog: CatalogData, id: string): CatalogProvider | undefined {
  return Object.hasOwn(catalog.providers, id) ? catalog.providers[id] : undefined;
}

export function catalogModel(provider: CatalogProvider | undefined, id: string): CatalogModel | undefined {
  const row = provider !== undefined && Object.hasOwn(provider.models, id) ? provider.models[id] : undefined;
  return row === undefined ? undefined : readRow(row);
}
