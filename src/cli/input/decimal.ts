/** Reads `20` or `0.5`: no sign, no exponent, no other base; undefined for anything else. */
export function parseDecimal(text: string): number | undefined {
  return /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
}
