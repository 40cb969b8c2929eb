import type { ModelCost } from '../config/settings/configured-model.ts';
import type { Usage } from '../wire/event.ts';

/**
 * USD of one answer. `usage.input` includes what was read from and written to the cache; each has a price of its own,
 * and costs as much as other input where none is known.
 */
export function priceOf(cost: ModelCost, usage: Usage): number {
  const { cacheRead = 0, cacheWrite = 0 } = usage;
  const fresh = Math.max(0, usage.input - cacheRead - cacheWrite);
  const micro =
    fresh * cost.input +
    cacheRead * (cost.cacheRead ?? cost.input) +
    cacheWrite * (cost.cacheWrite ?? cost.input) +
    usage.output * cost.output;
  return micro / 1_000_000;
}

/** Whether a model's use costs anything, as far as its prices are known. */
export function isPaid(cost: ModelCost | undefined): boolean {
  if (cost === undefined) return false;
  return [cost.input, cost.output, cost.cacheRead, cost.cacheWrite].some((price) => (price ?? 0) > 0);
}
