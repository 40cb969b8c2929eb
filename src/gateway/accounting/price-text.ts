import type { ModelCost } from '../../config/settings/configured-model.ts';

const TEXTS = new WeakMap<ModelCost, string>();

/** The prices of a model as a row of the ledger keeps them: USD per million tokens, an empty text for a missing one. */
export function writePrices(cost: ModelCost): string {
  const known = TEXTS.get(cost);
  if (known !== undefined) return known;
  const text = [cost.input, cost.output, cost.cacheRead, cost.cacheWrite, cost.cacheWrite1h].join(',');
  TEXTS.set(cost, text);
  return text;
}

export function readPrices(text: string): ModelCost | undefined {
  const [input, output, cacheRead, cacheWrite, cacheWrite1h] = text
    .split(',')
    .map((each) => (each === '' ? undefined : Number(each)));
  if (input === undefined || output === undefined) return undefined;
  return {
    ...{ input, output },
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(cacheWrite1h === undefined ? {} : { cacheWrite1h }),
  };
}
