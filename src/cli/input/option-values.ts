import { parseDuration } from '../../base/duration.ts';

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
