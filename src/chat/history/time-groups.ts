const DAY_MS = 24 * 60 * 60 * 1000;

/** When a conversation was last changed, in calendar days of the user. */
export type TimeGroup = 'today' | 'yesterday' | 'week' | 'older';

/** @param time Unix milliseconds. */
export function timeGroup(time: number, now: number): TimeGroup {
  const days = Math.round((startOfDay(now) - startOfDay(time)) / DAY_MS);
  if (days <= 0) return 'today';
  if (days === 1) return 'yesterday';
  return days < 7 ? 'week' : 'older';
}

/** A short time: `14:05` today, the day of the week within a week, else the date. @param locale a BCP 47 tag. */
export function shortTime(time: number, now: number, locale: string): string {
  const date = new Date(time);
  switch (timeGroup(time, now)) {
    case 'today':
    case 'yesterday':
      return date.toLocaleTimeString(locale, { hour: 'numeric', minute: '2-digit' });
    case 'week':
      return date.toLocaleDateString(locale, { weekday: 'short' });
    case 'older': {
      const sameYear = date.getFullYear() === new Date(now).getFullYear();
      return date.toLocaleDateString(locale, {
        day: 'numeric',
        month: 'short',
        ...(sameYear ? {} : { year: 'numeric' as const }),
      });
    }
  }
}

function startOfDay(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}
