import type { Credential, Located, Origin } from './origin.ts';

export const MODALITIES = ['text', 'image', 'audio', 'video', 'pdf'] as const;
export type Modality = (typeof MODALITIES)[number];

export interface ModelLimit {
  /** Tokens. */
  readonly context?: number;
  readonly output?: number;
  readonly input?: number;
}

/** USD per million tokens. */
export interface ModelCost {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Writes that are kept for an hour. */
  readonly cacheWrite1h?: number;
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
  readonly cost?: Partial<ModelCost> | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: ReadonlyMap<string, Credential> | undefined;
  readonly provider?: { readonly npm?: Located<string>; readonly api?: Located<string> } | undefined;
  /** Enabled variants and disabled ones (`null`). */
  readonly variants?: ReadonlyMap<string, Readonly<Record<string, unknown>> | null> | undefined;
  readonly origin: Origin;
  /** The entry is `null`: the model is hidden, also if it is in the catalog. */
  readonly off?: true;
}
