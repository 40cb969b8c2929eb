import { LENGTHS, type SealedSize } from '../state/sealed-sums.ts';
import type { Sealed } from '../state/sealing.ts';
import { BUCKET_MS, bucketOf, DAY_MS, HOUR_MS } from '../state/usage-sums.ts';

/** From `since`, before `until`, in Unix milliseconds. */
export interface Span {
  readonly since: number;
  readonly until: number;
}

/** `period`: all quarters belong to this period of the report, which begins then. */
export interface PeriodSpan extends Span {
  readonly period?: number | undefined;
}

/** Returns the period of a report that contains a time. Absent: the report has no periods. */
export type PeriodAt = (at: number) => Span;

export interface SealedPart extends Sealed {
  readonly periods: readonly (number | undefined)[];
}

/** From where a report reads each part of its time. The parts do not overlap, and are the whole time together. */
export interface ReportPlan {
  /** Sealed days and hours, and for each of their units the start of its period; undefined if it is read otherwise. */
  readonly sealed: readonly SealedPart[];
  /** Whole quarters of an hour. */
  readonly quarters: readonly PeriodSpan[];
  /** Single rows. */
  readonly rows: readonly Span[];
}

/** The time of a report that whole quarters of an hour cover. Without an end, `until` is the highest number. */
function wholeQuarters({
  since,
  until = Number.MAX_SAFE_INTEGER,
}: {
  since: number;
  until?: number | undefined;
}): Span {
  const first = Math.min(until, bucketOf(since + BUCKET_MS - 1));
  return { since: first, until: Math.max(first, until === Number.MAX_SAFE_INTEGER ? until : bucketOf(until)) };
}

/**
 * Divides the time of a report. An hour of a sealed day in which a period of the report ends is read from its quarters:
 * midnight in Kolkata is 18:30 in UTC.
 */
export function planReport(
  { since, until = Number.MAX_SAFE_INTEGER }: { readonly since: number; readonly until?: number },
  sealed: readonly Sealed[],
  periodAt: PeriodAt | undefined,
): ReportPlan {
  const whole = wholeQuarters({ since, until });
  const parts: SealedPart[] = [];
  const hours = new Set<number>();
  for (const size of ['day', 'hour'] as const) {
    for (const { start, version } of sealed.filter((each) => each.size === size)) {
      if (hours.has(start) && size === 'hour') continue;
      const periods = unitPeriods(size, start, whole, periodAt);
      const used = periods.flatMap((each, unit) => (each === undefined ? [] : [start + unit * LENGTHS[size].unit]));
      // Of an hour, all quarters are read in one way.
      if (used.length === 0 || (size === 'hour' && used.length < periods.length)) continue;
      parts.push({ size, start, version, periods });
      for (const each of used) hours.add(each - (each % HOUR_MS));
    }
  }
  const quarters: PeriodSpan[] = [];
  let at = whole.since;
  for (const hour of [...hours].sort((a, b) => a - b)) {
    if (hour > at) quarters.push(...divideSpan({ since: at, until: hour }, periodAt));
    at = hour + HOUR_MS;
  }
  if (whole.until > at) quarters.push(...divideSpan({ since: at, until: whole.until }, periodAt));
  const rows = [
    { since, until: whole.since },
    { since: whole.until, until },
  ].filter((each) => each.until > each.since);
  return { sealed: parts, quarters, rows };
}

/** The start of the period of each unit; undefined if the unit is not in the range or in no single period. */
function unitPeriods(
  size: SealedSize,
  first: number,
  { since, until }: Span,
  periodAt: PeriodAt | undefined,
): (number | undefined)[] {
  const { length, unit } = LENGTHS[size];
  return Array.from({ length: length / unit }, (_, index) => {
    const start = first + index * unit;
    const end = start + unit;
    if (start < since || end > until) return undefined;
    const period = periodAt?.(start) ?? { since: first, until: end };
    return end <= period.until ? period.since : undefined;
  });
}

/** Longer times without sealed days are rare, and might have very many periods. */
const DIVIDED_MS = 100 * DAY_MS;

/** Divides at the ends of periods, so that the database has to return one sum for each. */
function divideSpan({ since, until }: Span, periodAt: PeriodAt | undefined): PeriodSpan[] {
  if (periodAt === undefined || until - since > DIVIDED_MS) return [{ since, until }];
  const spans: PeriodSpan[] = [];
  for (let at = since; at < until; ) {
    const period = periodAt(at);
    const end = Math.min(until, period.until);
    spans.push({ since: at, until: end, period: period.since });
    at = end;
  }
  return spans;
}

/** Where sealed days and hours of a report may start. */
export function sealedRange(range: { readonly since: number; readonly until?: number | undefined }): Span {
  const { since, until } = wholeQuarters(range);
  return { since: since - (since % DAY_MS), until };
}
