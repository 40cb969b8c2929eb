import { parseDuration } from '../../base/duration.ts';
import type { TimeZone } from '../../base/time-zone.ts';
import { bucketOf } from '../state/usage-sums.ts';

/**
 * Parses the start or end of a report: a date, which is the start of that day in the time zone, a time, or a duration
 * before now. A duration begins at a quarter of an hour, so that the report needs no single rows.
 */
export function parseUsageTime(text: string, zone: TimeZone, now = Date.now()): number | undefined {
  const duration = parseDuration(text);
  if (duration !== undefined) return Math.max(0, duration === 0 ? now : bucketOf(now - duration));
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  return year === undefined ? at : zone.dayStart(Number(year), Number(month) - 1, Number(day));
}
