/**
 * Money is an integer number of nano-USD everywhere in the gateway, so that sums are exact. Prices and limits are
 * converted at the edge.
 */
const NANO = 1_000_000_000;

/** Rounds USD to nano-USD. Values outside of the exact range become its limits. */
export function toNano(usd: number): number {
  const nano = Math.round(usd * NANO);
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(-Number.MAX_SAFE_INTEGER, nano));
}

/** USD for reports and JSON. */
export function toUsd(nano: number): number {
  return nano / NANO;
}
