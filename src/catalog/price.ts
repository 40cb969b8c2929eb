import type { ModelCost } from '../config/settings/configured-model.ts';
import type { Usage } from '../wire/event.ts';

/**
 * The cost of one answer in USD. `usage.input` includes cache reads and cache writes. Each has its own price; if that
 * is unknown, the input price applies, and twice the input price for writes that are kept for an hour (Anthropic,
 * "Prompt caching").
 */
export function computePrice(cost: ModelCost, usage: Usage): number {
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = usage;
  const fresh = Math.max(0, usage.input - cacheRead - cacheWrite);
  const micro =
    fresh * cost.input +
    cacheRead * (cost.cacheRead ?? cost.input) +
    (cacheWrite - cacheWrite1h) * (cost.cacheWrite ?? cost.input) +
    cacheWrite1h * (cost.cacheWrite1h ?? 2 * cost.input) +
    usage.output * cost.output;
  return micro / 1_000_000;
}

/** Whether any known price of the model is above 0. */
export function isPaid(cost: ModelCost | undefined): boolean {
  if (cost === undefined) return false;
  return [cost.input, cost.output, cost.cacheRead, cost.cacheWrite, cost.cacheWrite1h].some(
    (price) => (price ?? 0) > 0,
  );
}
