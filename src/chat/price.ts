import type { Model } from '../catalog/model.ts';
import type { Usage } from '../wire/event.ts';

const MILLION = 1_000_000;

/** USD of an answer; undefined where the model's price is not known. Cached input without a price of its own is plain input. */
export function priceOf(cost: Model['cost'], usage: Usage): number | undefined {
  if (cost === undefined) return undefined;
  const { cacheRead = 0, cacheWrite = 0 } = usage;
  const plain = Math.max(0, usage.input - cacheRead - cacheWrite);
  const sum =
    plain * cost.input +
    cacheRead * (cost.cacheRead ?? cost.input) +
    cacheWrite * (cost.cacheWrite ?? cost.input) +
    usage.output * cost.output;
  return sum / MILLION;
}

export function addUsage(a: Usage | undefined, b: Usage): Usage {
  if (a === undefined) return b;
  const sum = (x: number | undefined, y: number | undefined) =>
    x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0);
  const cacheRead = sum(a.cacheRead, b.cacheRead);
  const cacheWrite = sum(a.cacheWrite, b.cacheWrite);
  const reasoning = sum(a.reasoning, b.reasoning);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}
