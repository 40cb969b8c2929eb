/** Parses `20` or `0.5`. Undefined for anything else: signs, exponents and other bases are invalid. */
export function parseDecimal(text: string): number | undefined {
  return /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
}
