import { type Prices, RATES } from '../../config/settings/configured-model.ts';

const TEXTS = new WeakMap<Prices, string>();
/** Rates that each text has. The others follow only if one of them is known. */
const ALWAYS = 5;

/**
 * The prices of an answer as a row of the ledger keeps them: USD per million tokens in the order of `RATES`, an empty
 * text for a missing one; then `;name=USD` for each call that has a price.
 */
export function writePrices(prices: Prices): string {
  const known = TEXTS.get(prices);
  if (known !== undefined) return known;
  const rates = RATES.map((kind) => prices[kind] ?? '');
  while (rates.length > ALWAYS && rates.at(-1) === '') rates.pop();
  const fees = Object.entries(prices.fees ?? {}).map(([name, usd]) => `;${name}=${usd}`);
  const text = rates.join(',') + fees.join('');
  TEXTS.set(prices, text);
  return text;
}

export function readPrices(text: string): Prices | undefined {
  const [rates = '', ...fees] = text.split(';');
  const values = rates.split(',').map((each) => (each === '' ? undefined : Number(each)));
  const [input, output] = values;
  if (input === undefined || output === undefined) return undefined;
  const known = RATES.flatMap((kind, index) => (values[index] === undefined ? [] : [[kind, values[index]] as const]));
  const read = { input, output, ...Object.fromEntries(known) };
  if (fees.length === 0) return read;
  const named = fees.map((fee) => [fee.slice(0, fee.indexOf('=')), Number(fee.slice(fee.indexOf('=') + 1))] as const);
  return { ...read, fees: Object.fromEntries(named) };
}
