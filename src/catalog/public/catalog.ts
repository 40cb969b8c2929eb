import { MODALITIES, type Modality, type ModelCost } from '../../config/settings/configured-model.ts';

/**
 * The catalog's own shape: rows are arrays, because a snapshot of thousands of models is read at
 * every start and most rows are never looked at. `readRow` unpacks one.
 */
export interface CatalogData {
  /** Where the facts are from and under which licence. */
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
  /** Environment variables that hold the key. */
  readonly env: readonly string[];
  readonly models: Readonly<Record<string, CatalogRow>>;
}

/**
 * `[name, bits, context, output, input, cost, releaseDate, reasoning, via]`; 0 stands for absent.
 * `cost` is `[input, output, cacheRead?, cacheWrite?]`, -1 for an absent one. `reasoning` is the efforts joined
 * by commas, or `#<most budget tokens>`. `via` is `[npm, api?]` where a model differs from its provider.
 */
export type CatalogRow = readonly [
  name: string,
  bits: number,
  context: number,
  output: number,
  input?: number,
  cost?: readonly number[] | 0,
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
  /** Deprecated or not for everyone: known, but not offered by itself. */
  readonly hidden: boolean;
  readonly modalities: { readonly input: readonly Modality[]; readonly output: readonly Modality[] };
  readonly limit: { readonly context: number; readonly output: number; readonly input?: number };
  readonly cost?: ModelCost;
  readonly releaseDate?: string;
  readonly efforts: readonly string[];
  /** Most tokens of thinking, where the model takes a budget instead of an effort. */
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
  /** Shift of the five input modalities; the five of the output are above them. */
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

function readCost([input = 0, output = 0, cacheRead = -1, cacheWrite = -1]: readonly number[]): ModelCost {
  return { input, output, ...(cacheRead >= 0 ? { cacheRead } : {}), ...(cacheWrite >= 0 ? { cacheWrite } : {}) };
}

export const EMPTY_CATALOG: CatalogData = { source: '', licence: '', date: '', providers: {} };

/** A provider of the catalog by id; ids come from files, so `constructor` must not find one. */
export function catalogProvider(catalog: CatalogData, id: string): CatalogProvider | undefined {
  return Object.hasOwn(catalog.providers, id) ? catalog.providers[id] : undefined;
}

export function catalogModel(provider: CatalogProvider | undefined, id: string): CatalogModel | undefined {
  const row = provider !== undefined && Object.hasOwn(provider.models, id) ? provider.models[id] : undefined;
  return row === undefined ? undefined : readRow(row);
}
