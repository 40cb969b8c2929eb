import type { ModelLimit, ModelSettings } from '../config/settings/configured-model.ts';
import type { Model } from './model.ts';
import type { CatalogModel } from './public/catalog.ts';

/** Tokens of one answer where neither configuration nor catalog says less (spec 8). */
const DEFAULT_OUTPUT_CAP = 32_000;
const OUTPUT_CAP_VARIABLE = 'SVC_EXPERIMENTAL_OUTPUT_TOKEN_MAX';
/** Most tokens that are kept free below `limit.input`. */
const INPUT_RESERVE = 20_000;

type Environment = Readonly<Record<string, string | undefined>>;

export interface OutputCap {
  /** Tokens. */
  readonly cap: number;
  readonly warning?: string;
}

/** The cap on every answer: 32,000, or the variable where it is a positive whole number. */
export function outputCap(env: Environment): OutputCap {
  const text = env[OUTPUT_CAP_VARIABLE];
  if (text === undefined || text === '') return { cap: DEFAULT_OUTPUT_CAP };
  const value = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value > 0) return { cap: value };
  const warning = `${OUTPUT_CAP_VARIABLE} must be a whole number above 0; ${DEFAULT_OUTPUT_CAP} is used.`;
  return { cap: DEFAULT_OUTPUT_CAP, warning };
}

/** Tokens that a request asks for: `limit.output` up to the cap, the cap where it is unknown (spec 8). */
export function outputTokens({ limit }: Pick<Model, 'limit'>, cap = DEFAULT_OUTPUT_CAP): number {
  return limit.output > 0 ? Math.min(limit.output, cap) : cap;
}

/**
 * Tokens of a conversation from which its history is compacted; `undefined`: never, because no limit is known (spec 8).
 * At least a quarter of the window stays usable, and where an answer would take more, a quarter is kept for it.
 */
export function usableTokens(model: Pick<Model, 'limit'>, output: number): number | undefined {
  const { context, input } = model.limit;
  const window = input !== undefined && input > 0 ? input : context;
  if (window <= 0) return undefined;
  const reserve = input !== undefined && input > 0 ? Math.min(INPUT_RESERVE, output) : output;
  const usable = window - reserve;
  return usable < window / 4 ? window - Math.ceil(window / 4) : usable;
}

/** Whether a conversation has outgrown its model. @param output as `outputTokens` gives it. */
export function overflow(model: Pick<Model, 'limit'>, usedTokens: number, output: number): boolean {
  const usable = usableTokens(model, output);
  return usable !== undefined && usedTokens >= usable;
}

function isWhole(limit: ModelLimit | undefined): limit is Model['limit'] {
  return limit?.context !== undefined && limit.output !== undefined;
}

/** Spec 8: the person's values, then the catalog's, then 0, each by itself. */
export function mergeLimit(settings: ModelSettings | undefined, known: CatalogModel | undefined): Model['limit'] {
  const own = settings?.limit;
  if (known === undefined && isWhole(own)) return own;
  const context = own?.context ?? known?.limit.context ?? 0;
  const output = own?.output ?? known?.limit.output ?? 0;
  const catalogInput = known?.limit.input;
  // A person who sets a smaller window means it: the catalog's larger input ceiling would hide it.
  const outgrown = own?.context !== undefined && catalogInput !== undefined && catalogInput > context;
  const input = own?.input ?? (outgrown ? undefined : catalogInput);
  return input === undefined ? { context, output } : { context, output, input };
}
