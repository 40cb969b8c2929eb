const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses `0`, `90s`, `30m`, `24h` or `7d` to milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (amount === undefined || (unit === undefined && amount !== '0')) return undefined;
  return Number(amount) * UNITS[(unit ?? 's') as keyof typeof UNITS];
}
