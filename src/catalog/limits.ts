import type { ModelLimit, ModelSettings } from '../config/settings/configured-model.ts';
import type { Model } from './model.ts';
import type { CatalogModel } from './public/catalog.ts';

/** Default maximum of output tokens, unless configuration or catalog set a lower value (spec 8). */
const DEFAULT_OUTPUT_CAP = 32_000;
const OUTPUT_CAP_VARIABLE = 'SVC_EXPERIMENTAL_OUTPUT_TOKEN_MAX';
/** Maximum of the tokens that are kept free below `limit.input`. */
const INPUT_RESERVE = 20_000;

type Environment = Readonly<Record<string, string | undefined>>;

export interface OutputCap {
  /** Tokens. */
  readonly cap: number;
  readonly warning?: string;
}

/** The maximum of output tokens of every answer: 32,000, or the variable if it is a positive integer. */
export function outputCap(env: Environment): OutputCap {
  const text = env[OUTPUT_CAP_VARIABLE];
  if (text === undefined || text === '') return { cap: DEFAULT_OUTPUT_CAP };
  const value = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value > 0) return { cap: value };
  const warning = `${OUTPUT_CAP_VARIABLE} must be a whole number above 0; ${DEFAULT_OUTPUT_CAP} is used.`;
  return { cap: DEFAULT_OUTPUT_CAP, warning };
}

/**
 * The output tokens that a request allows: `limit.output` up to the cap, or the cap if the limit is unknown (spec 8). A
 * known window bounds the requested output if no output limit is known: servers such as vLLM refuse a request whose prompt and
 * answer exceed it.
 *
 * @param prompt estimates the tokens of the prompt; absent: it is not known yet.
 */
export function outputTokens(
  { limit }: Pick<Model, 'limit'>,
  cap = DEFAULT_OUTPUT_CAP,
  prompt: () => number = () => 0,
): number {
  if (limit.output > 0) return Math.min(limit.output, cap);
  return limit.context > 0 ? Math.min(cap, Math.max(1, limit.context - prompt())) : cap;
}

/**
 * The number of tokens at which a conversation is compacted. `undefined`: never, because no limit is known (spec 8). If
 * the answer would leave less than a quarter of the window, only a quarter is reserved for the answer.
 */
export function usableTokens(model: Pick<Model, 'limit'>, output: number): number | undefined {
  const { context, input } = model.limit;
  const window = input !== undefined && input > 0 ? input : context;
  if (window <= 0) return undefined;
  const reserve = input !== undefined && input > 0 ? Math.min(INPUT_RESERVE, output) : output;
  const usable = window - reserve;
  return usable < window / 4 ? window - Math.ceil(window / 4) : usable;
}

/** Whether the conversation is too large for its model. @param output the result of `outputTokens`. */
export function overflow(model: Pick<Model, 'limit'>, usedTokens: number, output: number): boolean {
  const usable = usableTokens(model, output);
  return usable !== undefined && usedTokens >= usable;
}

function hasAllLimits(limit: ModelLimit | undefined): limit is Model['limit'] {
  return limit?.context !== undefined && limit.output !== undefined;
}

/** Merges each limit separately: the user's value, then the catalog's, then 0 (spec 8). */
export function mergeLimit(settings: ModelSettings | undefined, known: CatalogModel | undefined): Model['limit'] {
  const own = settings?.limit;
  if (known === undefined && hasAllLimits(own)) return own;
  const context = own?.context ?? known?.limit.context ?? 0;
  const output = own?.output ?? known?.limit.output ?? 0;
  const catalogInput = known?.limit.input;
  // If the user sets a smaller window, the catalog's larger input limit must not override it.
  const exceedsContext = own?.context !== undefined && catalogInput !== undefined && catalogInput > context;
  const input = own?.input ?? (exceedsContext ? undefined : catalogInput);
  return input === undefined ? { context, output } : { context, output, input };
}
