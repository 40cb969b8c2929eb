import { PERIODS, type Period, type TimeZone } from '../../base/time-zone.ts';

/** Fields of the ledger by which usage can be grouped. */
export const FIELDS = ['model', 'key', 'user', 'organization', 'provider', 'outcome'] as const;
type Field = (typeof FIELDS)[number];

/** A group: a field, a period of the calendar, or the value of one tag (`tag:project`). */
export type Group = Field | Period | `tag:${string}`;

/** The length of the parts of a series. */
const STEPS = ['quarter', ...PERIODS] as const;
export type Step = (typeof STEPS)[number];

export interface UsageQuery {
  /** Unix milliseconds. */
  readonly since: number;
  /** Unix milliseconds, not included. */
  readonly until?: number | undefined;
  readonly by: readonly Group[];
  /** For periods; UTC by default. */
  readonly zone?: TimeZone;
  /** Only the rows with these values. */
  readonly key?: string | undefined;
  readonly user?: string | undefined;
  readonly organization?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** Divides the time: each row then has the `start` of its part. */
  readonly step?: Step | undefined;
  /** Also counts why usage is estimated. Reads all rows of the time. */
  readonly reasons?: boolean | undefined;
  /** With `step`: rows only of this many groups, those with the highest cost. */
  readonly top?: number | undefined;
}

export function parseGroup(text: string): Group | undefined {
  if (/^tag:[^"\\]{1,64}$/.test(text)) return `tag:${text.slice(4)}`;
  return [...FIELDS, ...PERIODS].find((each) => each === text);
}
