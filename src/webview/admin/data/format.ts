import type { TimeZone } from '../../../base/time-zone.ts';

const language = () => document.documentElement.lang || 'en';

const number = (options: Intl.NumberFormatOptions) => {
  let format: Intl.NumberFormat | undefined;
  return (value: number) => {
    format ??= new Intl.NumberFormat(language(), options);
    return format.format(value);
  };
};

/** Cents, also of large sums. */
const cents = number({ style: 'currency', currency: 'USD', minimumFractionDigits: 2, maximumFractionDigits: 2 });
const fine = number({ style: 'currency', currency: 'USD', minimumFractionDigits: 2, maximumFractionDigits: 6 });
const tiny = number({ style: 'currency', currency: 'USD', maximumSignificantDigits: 2 });
const count = number({ maximumFractionDigits: 0 });
const short = number({ notation: 'compact', maximumFractionDigits: 1 });
const shortUsd = number({ style: 'currency', currency: 'USD', notation: 'compact', maximumSignificantDigits: 3 });
const percent = number({ style: 'percent', maximumFractionDigits: 1 });
const rate = number({ maximumSignificantDigits: 3 });
const tenths = number({ maximumFractionDigits: 1 });

/** `$12.34`. Less than half a cent is not `$0.00` but `$0.0042`. */
export const formatUsd = (value: number) => (value > 0 && value < 0.005 ? tiny(value) : cents(value));
/** With the parts of cents that single requests cost. */
export const formatFineUsd = fine;
export const formatCount = count;
/** `1.2M` */
export const formatShort = short;
/** `$1.2K` */
export const formatShortUsd = shortUsd;
export const formatPercent = percent;
export const formatRate = rate;

/** `850 ms`, `1.4 s` or `2 min` */
export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 120_000) return `${tenths(milliseconds / 1000)} s`;
  return `${tenths(milliseconds / 60_000)} min`;
}

/** Writes moments in the time zone in sight. */
export class Clock {
  readonly zone: TimeZone;
  readonly #formats = new Map<string, Intl.DateTimeFormat>();

  constructor(zone: TimeZone) {
    this.zone = zone;
  }

  /** `22 Nov 2026, 14:05:09` */
  second = (at: number) => this.#write(at, { dateStyle: 'medium', timeStyle: 'medium' });
  /** `22 Nov 2026, 14:05` */
  minute = (at: number) => this.#write(at, { dateStyle: 'medium', timeStyle: 'short' });
  /** `22 Nov 2026` */
  day = (at: number) => this.#write(at, { dateStyle: 'medium' });
  /** `22 Nov` */
  shortDay = (at: number) => this.#write(at, { day: 'numeric', month: 'short' });
  /** `14:05` */
  time = (at: number) => this.#write(at, { timeStyle: 'short' });
  /** `14:05:09` */
  timeWithSeconds = (at: number) => this.#write(at, { timeStyle: 'medium' });
  /** `2026-11-22`, for inputs and addresses. */
  date = (at: number) => this.zone.label('day', at);

  /** `UTC+05:45` */
  offset(at: number): string {
    const minutes = Math.round(this.zone.offset(at) / 60_000);
    const two = (value: number) => String(value).padStart(2, '0');
    if (minutes === 0) return 'UTC';
    const size = Math.abs(minutes);
    return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  }

  #write(at: number, options: Intl.DateTimeFormatOptions): string {
    const id = JSON.stringify(options);
    const known = this.#formats.get(id);
    const format =
      known ?? new Intl.DateTimeFormat(locale(), { ...options, timeZone: this.zone.name, hourCycle: 'h23' });
    this.#formats.set(id, format);
    return format.format(at);
  }
}

/** English dates are written with the day first and 24 hours: one form that all readers understand. */
const locale = () => (language() === 'en' ? 'en-GB' : language());
