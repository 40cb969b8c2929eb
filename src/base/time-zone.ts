/** Calendar periods. Weeks start on Monday. */
export const PERIODS = ['hour', 'day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MAX_OFFSETS = 1_000;

export interface CalendarPeriod {
  readonly start: number;
  readonly end: number;
}

/** Calendar arithmetic in one time zone (IANA name). All instants are Unix milliseconds. */
export class TimeZone {
  readonly name: string;
  /** Absent for UTC, which needs none: the first format of a process takes 4 MB of memory. */
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #last = new Map<Period, CalendarPeriod>();
  readonly #offsets = new Map<number, number>();

  /** @throws RangeError for an unknown name. */
  constructor(name: string) {
    this.name = name;
    if (name === 'UTC') return;
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Milliseconds that local time is ahead of UTC at an instant. */
  offset(at: number): number {
    if (this.#format === undefined) return 0;
    const second = Math.floor(at / 1000) * 1000;
    const known = this.#offsets.get(second);
    if (known !== undefined) return known;
    const found = computeOffset(this.#format, second);
    // The start of a day is computed for the day before, too, and for each use of a report.
    if (this.#offsets.size === MAX_OFFSETS) this.#offsets.clear();
    this.#offsets.set(second, found);
    return found;
  }

  /** The period that contains an instant: from `start`, before `end`. */
  periodAt(period: Period, at: number): CalendarPeriod {
    // Many budgets and rows ask for the same period.
    const last = this.#last.get(period);
    if (last !== undefined && at >= last.start && at < last.end) return last;
    const found = this.#computePeriod(period, at);
    this.#last.set(period, found);
    return found;
  }

  #computePeriod(period: Period, at: number): CalendarPeriod {
    const local = new Date(at + this.offset(at));
    const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
    switch (period) {
      case 'hour': {
        // A transition may be within an hour, so its start is counted from the minutes.
        const start = at - ((((at + this.offset(at)) % HOUR_MS) + HOUR_MS) % HOUR_MS);
        return { start, end: start + HOUR_MS };
      }
      case 'day':
        return { start: this.dayStart(year, month, day), end: this.dayStart(year, month, day + 1) };
      case 'week': {
        const monday = day - ((local.getUTCDay() + 6) % 7);
        return { start: this.dayStart(year, month, monday), end: this.dayStart(year, month, monday + 7) };
      }
      case 'month':
        return { start: this.dayStart(year, month, 1), end: this.dayStart(year, month + 1, 1) };
    }
  }

  /** The first instant of a local day. @param month from 0; days beyond the month are valid, as in `Date.UTC`. */
  dayStart(year: number, month: number, day: number): number {
    const midnight = Date.UTC(year, month, day);
    // If a transition skips midnight, the day starts later. If midnight is repeated, the first one counts.
    const candidates = [midnight - DAY_MS, midnight + DAY_MS].map((near) => midnight - this.offset(near));
    const [first = midnight, second = midnight] = candidates.sort((a, b) => a - b);
    return first + this.offset(first) >= midnight ? first : second;
  }

  /** `2026-03-29`, `2026-03` for a month, or `2026-03-29T02:00+02:00` for an hour; the day of a week is its Monday. */
  label(period: Period, at: number): string {
    const { start } = this.periodAt(period, at);
    const offset = this.offset(start);
    const text = new Date(start + offset).toISOString();
    if (period === 'month') return text.slice(0, 7);
    return period === 'hour' ? text.slice(0, 16) + offsetText(offset) : text.slice(0, 10);
  }
}

function computeOffset(format: Intl.DateTimeFormat, second: number): number {
  const parts = new Map(format.formatToParts(second).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - second;
}

export function isTimeZone(name: string): boolean {
  try {
    new TimeZone(name);
    return true;
  } catch {
    return false;
  }
}

/** `+05:45` */
function offsetText(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
