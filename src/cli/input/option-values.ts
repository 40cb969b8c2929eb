const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses `0`, `90s`, `30m`, `24h` or `7d` to milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (amount === undefined || (unit === undefined && amount !== '0')) return undefined;
  return Number(amount) * UNITS[(unit ?? 's') as keyof typeof UNITS];
}

/** Parses a date, or a duration from `now`, to Unix milliseconds. */
export function parseMoment(text: string, now = Date.now()): number | undefined {
  const duration = parseDuration(text);
  if (duration !== undefined) return now + duration;
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : date;
}

/** Parses `20` or `0.5`. Undefined for anything else: signs, exponents and other bases are invalid. */
export function parseDecimal(text: string): number | undefined {
  return /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
}
