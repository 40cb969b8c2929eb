import type { Credential, Located, Origin } from './origin.ts';

export const MODALITIES = ['text', 'image', 'audio', 'video', 'pdf'] as const;
export type Modality = (typeof MODALITIES)[number];

export interface ModelLimit {
  /** Tokens. */
  readonly context?: number;
  readonly output?: number;
  readonly input?: number;
}

/** The kinds of tokens that can have a price. */
export const RATES = [
  ...(['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const),
  ...(['inputAudio', 'outputAudio', 'outputImage', 'reasoning'] as const),
] as const;

/** USD per million tokens. */
interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Writes that are kept for an hour. */
  readonly cacheWrite1h?: number;
  readonly inputAudio?: number;
  readonly outputAudio?: number;
  readonly outputImage?: number;
  /** If it is not the price of `output`. */
  readonly reasoning?: number;
}

/** The prices of one answer. */
export interface Prices extends Rates {
  /** USD per call of a tool that the vendor runs, by its name, such as `web_search`. */
  readonly fees?: Readonly<Record<string, number>>;
}

/** The prices of a whole request with more input tokens than `above`. */
export interface PriceTier extends Rates {
  readonly above: number;
}

/** A tier in the configuration. A price that it lacks is that of the model. */
export type ConfiguredTier = Partial<Rates> & Pick<PriceTier, 'above'>;

/** How the prices change: all by a factor, or to these prices (USD per million tokens). */
export interface ServedPrices extends Partial<Rates> {
  readonly factor?: number;
}

/** The prices of a model. */
export interface ModelCost extends Prices {
  /** In ascending order of `above`. */
  readonly tiers?: readonly PriceTier[];
  /**
   * By the service that the answer names: a service tier (`flex`, `priority`, `batch`), a speed (`fast`) or a region (`us`).
   */
  readonly served?: Readonly<Record<string, ServedPrices>>;
}

/** `provider.<id>.models.<key>` after merging. A field is `undefined` if no source sets it. */
export interface ModelSettings {
  readonly key: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly toolCall?: boolean | undefined;
  readonly reasoning?: boolean | undefined;
  readonly temperature?: boolean | undefined;
  readonly attachment?: boolean | undefined;
  /** The format for next edits. */
  readonly edit?: string | undefined;
  readonly modalities?: { readonly input: readonly Modality[]; readonly output: readonly Modality[] } | undefined;
  readonly limit?: ModelLimit | undefined;
  readonly cost?: (Partial<Omit<ModelCost, 'tiers'>> & { readonly tiers?: readonly ConfiguredTier[] }) | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: ReadonlyMap<string, Credential> | undefined;
  readonly provider?: { readonly npm?: Located<string>; readonly api?: Located<string> } | undefined;
  /** Enabled variants and disabled ones (`null`). */
  readonly variants?: ReadonlyMap<string, Readonly<Record<string, unknown>> | null> | undefined;
  readonly origin: Origin;
  /** The entry is `null`: the model is hidden, also if it is in the catalog. */
  readonly off?: true;
}
