import { type ModelCost, type Prices, RATES, type ServedPrices } from '../config/settings/configured-model.ts';
import type { Usage } from '../wire/event.ts';

/** One term of the cost of an answer. */
export interface PriceTerm {
  readonly kind: 'input' | 'cache_read' | 'cache_write' | 'cache_write_1h' | 'input_audio' | PriceOutputKind | 'calls';
  /** Tokens; for `calls`, the number of calls. */
  readonly count: number;
  /** USD per million tokens or calls. */
  readonly price: number;
}
type PriceOutputKind = 'output' | 'reasoning' | 'output_audio' | 'output_image';

/**
 * The prices of one answer: those of the tier of its input, changed by the service that the provider reports. `usage.input`
 * includes cached tokens, and so do the limits of tiers (OpenAI, Google and xAI, pricing pages: the whole request has
 * the price of its tier). Returns `cost` itself if nothing changes it.
 */
export function chargedPrices(cost: ModelCost, { input, served }: Pick<Usage, 'input' | 'served'>): Prices {
  let prices: Prices = cost;
  for (const tier of cost.tiers ?? []) if (input > tier.above) prices = { ...withoutRates(cost), ...tier };
  for (const name of served ?? []) {
    const rule = cost.served !== undefined && Object.hasOwn(cost.served, name) ? cost.served[name] : undefined;
    if (rule !== undefined) prices = scaled(prices, rule, cost);
  }
  return prices;
}

/** A tier without a price for cached input has no price of its own for it: that of the input applies. */
function withoutRates({ fees }: ModelCost): Pick<Prices, 'fees'> {
  return fees === undefined ? {} : { fees };
}

/** Changes each price as the rule changes the prices of the model. Missing kinds change as the input does. */
function scaled(prices: Prices, rule: ServedPrices, base: ModelCost): Prices {
  const changed: { -readonly [K in keyof Prices]: Prices[K] } = { ...prices };
  const factor = rule.factor ?? 1;
  for (const kind of RATES) {
    const price = prices[kind];
    if (price === undefined) continue;
    const own = rule[kind];
    // The rule states the price of this kind, and no tier has changed it.
    if (own !== undefined && price === base[kind]) changed[kind] = own * factor;
    else changed[kind] = price * factor * ratio(rule, base, kind);
  }
  return changed;
}

function ratio(rule: ServedPrices, base: ModelCost, kind: (typeof RATES)[number]): number {
  const [own, usual] = [rule[kind], base[kind]];
  if (own !== undefined && usual !== undefined && usual > 0) return own / usual;
  return rule.input !== undefined && base.input > 0 ? rule.input / base.input : 1;
}

/**
 * The terms of the cost of an answer at the prices of `chargedPrices`. `usage.input` includes cache reads, cache writes
 * and audio. Each has its own price; if that is unknown, the input price applies, and twice the input price for writes
 * that are kept for an hour (Anthropic, "Prompt caching"). In the same way, `usage.output` includes reasoning, audio and
 * images.
 */
export function priceTerms(prices: Prices, usage: Usage): readonly PriceTerm[] {
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, inputAudio = 0 } = usage;
  const { outputAudio = 0, outputImage = 0 } = usage;
  const reasoning = prices.reasoning === undefined ? 0 : (usage.reasoning ?? 0);
  const calls = Object.entries(usage.calls ?? {});
  const terms: readonly PriceTerm[] = [
    { kind: 'input', count: usage.input - cacheRead - cacheWrite - inputAudio, price: prices.input },
    { kind: 'input_audio', count: inputAudio, price: prices.inputAudio ?? prices.input },
    { kind: 'cache_read', count: cacheRead, price: prices.cacheRead ?? prices.input },
    { kind: 'cache_write', count: cacheWrite - cacheWrite1h, price: prices.cacheWrite ?? prices.input },
    { kind: 'cache_write_1h', count: cacheWrite1h, price: prices.cacheWrite1h ?? 2 * prices.input },
    { kind: 'output', count: usage.output - reasoning - outputAudio - outputImage, price: prices.output },
    { kind: 'reasoning', count: reasoning, price: prices.reasoning ?? prices.output },
    { kind: 'output_audio', count: outputAudio, price: prices.outputAudio ?? prices.output },
    { kind: 'output_image', count: outputImage, price: prices.outputImage ?? prices.output },
    ...calls.map(([name, count]) => ({ kind: 'calls' as const, count, price: 1_000_000 * feeOf(prices, name) })),
  ];
  return terms.filter(({ count, price, kind }) => count > 0 && (kind !== 'calls' || price > 0));
}

/** USD per call. */
function feeOf({ fees }: Prices, name: string): number {
  return fees !== undefined && Object.hasOwn(fees, name) ? (fees[name] ?? 0) : 0;
}

/** The cost of one answer in USD. */
export function computePrice(cost: ModelCost, usage: Usage): number {
  const micro = priceTerms(chargedPrices(cost, usage), usage).reduce((sum, { count, price }) => sum + count * price, 0);
  return micro / 1_000_000;
}

/** The highest price per million tokens of any kind of input, and of any kind of output that a request asks for. */
export function highestInput(prices: Prices, { audio, longCache }: { audio: boolean; longCache: boolean }): number {
  return Math.max(
    prices.input,
    prices.cacheWrite ?? 0,
    longCache ? (prices.cacheWrite1h ?? 2 * prices.input) : 0,
    audio ? (prices.inputAudio ?? 0) : 0,
  );
}

/** Whether any known price per token is above 0. */
export function isPaid(cost: ModelCost | undefined): boolean {
  if (cost === undefined) return false;
  const known = [cost, ...(cost.tiers ?? [])].flatMap((prices) => RATES.map((kind) => prices[kind]));
  return known.some((price) => (price ?? 0) > 0);
}
