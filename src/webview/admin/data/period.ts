import type { TimeZone } from '../../../base/time-zone.ts';

const QUARTER_MS = 900_000;
/** Periods that end now, in milliseconds. */
const LENGTHS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000, '30d': 30 * 86_400_000 } as const;
const CALENDAR = ['today', 'week', 'month', 'last-month'] as const;

export const PERIOD_NAMES = ['1h', '24h', '7d', '30d', ...CALENDAR, 'custom'] as const;
export type PeriodName = (typeof PERIOD_NAMES)[number];

const STEPS = ['quarter', 'hour', 'day'] as const;
export type Step = (typeof STEPS)[number];

/** A range of time, in Unix milliseconds. `until` is not included. */
export interface Range {
  readonly since: number;
  readonly until: number;
}

/** The period in sight. */
export interface Period extends Range {
  readonly name: PeriodName;
  readonly step: Step;
}

/** The parameters of the address. Days are dates (`2026-11-22`); the last day is included. */
export interface PeriodQuery {
  readonly period: string;
  readonly since: string;
  readonly until: string;
}

export function readPeriod(query: PeriodQuery, zone: TimeZone, now: number): Period {
  const name = PERIOD_NAMES.find((each) => each === query.period) ?? '24h';
  const range = readRange(name, query, zone, now) ?? { since: now - LENGTHS['24h'], until: now };
  return { ...range, name, step: stepFor(range.until - range.since) };
}

function readRange(name: PeriodName, query: PeriodQuery, zone: TimeZone, now: number): Range | undefined {
  switch (name) {
    case '1h':
    case '24h':
    case '7d':
    case '30d':
      return { since: now - LENGTHS[name], until: now };
    case 'today':
      return { since: zone.periodAt('day', now).start, until: now };
    case 'week':
      return { since: zone.periodAt('week', now).start, until: now };
    case 'month':
      return { since: zone.periodAt('month', now).start, until: now };
    case 'last-month': {
      const until = zone.periodAt('month', now).start;
      return { since: zone.periodAt('month', until - 1).start, until };
    }
    case 'custom': {
      const [first = '', last = first] = [query.since, query.until].filter((day) => day !== '').sort();
      const since = startOfDay(first, zone, 0);
      const until = startOfDay(last, zone, 1);
      return since !== undefined && until !== undefined && since < until ? { since, until } : undefined;
    }
  }
}

function stepFor(length: number): Step {
  if (length <= 6 * LENGTHS['1h']) return 'quarter';
  return length <= 3 * LENGTHS['24h'] ? 'hour' : 'day';
}

/** @param add days. */
function startOfDay(date: string, zone: TimeZone, add: number): number | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date) ?? [];
  return year === undefined ? undefined : zone.dayStart(Number(year), Number(month) - 1, Number(day) + add);
}

/** The steps of a period, also those without requests. The first one may start before it. */
export function bucketsOf({ since, until, step }: Range & { readonly step: Step }, zone: TimeZone): Range[] {
  const buckets: Range[] = [];
  for (let at = since; at < until; ) {
    const bucket = bucketAt(step, at, zone);
    buckets.push(bucket);
    at = bucket.until;
  }
  return buckets;
}

function bucketAt(step: Step, at: number, zone: TimeZone): Range {
  if (step === 'quarter') {
    const since = at - (at % QUARTER_MS);
    return { since, until: since + QUARTER_MS };
  }
  const { start, end } = zone.periodAt(step, at);
  return { since: start, until: end };
}
