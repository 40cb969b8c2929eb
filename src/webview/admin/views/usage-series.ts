import type { UsageAnswer, UsageRow, UsageSums } from '../../../gateway/admin/api/schemas.ts';
import type { Range } from '../data/period.ts';
import type { PlotSeries } from '../parts/plot.tsx';
import type { PlotColor } from '../parts/plot-canvas.ts';

/** More groups would not be told apart by their colours. */
const GROUPS = 7;
const COLORS: readonly PlotColor[] = [0, 1, 2, 3, 4, 5, 6, 7];

/** The rows of a series by the start of their step. */
function byStart(rows: readonly UsageRow[]): ReadonlyMap<number, UsageRow> {
  return new Map(rows.map((row) => [Date.parse(String(row.start)), row]));
}

/** One value for each bucket. Without a row it is `missing`. */
export function seriesOf(
  rows: readonly UsageRow[],
  buckets: readonly Range[],
  value: (row: UsageSums, bucket: Range) => number | null,
  missing: number | null = 0,
): (number | null)[] {
  const found = byStart(rows);
  return buckets.map((bucket) => {
    const row = found.get(bucket.since);
    return row === undefined ? missing : value(row, bucket);
  });
}

export interface Group {
  readonly name: string;
  readonly sums: GroupSums;
}

/** Sums that can be added. */
export interface GroupSums {
  readonly requests: number;
  readonly failures: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost: number;
}

/** The groups of an answer with the sums of all steps, the most expensive first. */
export function groupsOf({ rows, by }: UsageAnswer, unnamed: string): readonly Group[] {
  const groups = Map.groupBy(rows, (row) => labelOf(row, by[0] ?? '', unnamed));
  return [...groups]
    .map(([name, list]) => ({ name, sums: addUp(list) }))
    .sort((a, b) => b.sums.cost - a.sums.cost || b.sums.requests - a.sums.requests);
}

export function addUp(rows: readonly UsageSums[]): GroupSums {
  const sum = (value: (row: UsageSums) => number) => rows.reduce((total, row) => total + value(row), 0);
  return {
    requests: sum(({ requests }) => requests),
    failures: sum(({ failures }) => failures),
    input: sum(({ input_tokens }) => input_tokens),
    cached: sum(({ cache_read_tokens }) => cache_read_tokens),
    output: sum(({ output_tokens }) => output_tokens),
    cost: sum(({ cost }) => cost),
  };
}

/** The cost of each group. The small ones are one series. */
export function costSeries(
  answer: UsageAnswer,
  groups: readonly Group[],
  buckets: readonly Range[],
  words: { readonly unnamed: string; readonly others: string },
): readonly PlotSeries[] {
  const paid = groups.filter(({ sums }) => sums.cost > 0);
  const large = paid.slice(0, paid.length > GROUPS + 1 ? GROUPS : GROUPS + 1).map(({ name }) => name);
  const names = paid.length > large.length ? [...large, words.others] : large;
  const known = new Set(large);
  const rows = Map.groupBy(answer.rows, (row) => {
    const label = labelOf(row, answer.by[0] ?? '', words.unnamed);
    return known.has(label) ? label : words.others;
  });
  return names.map((name, index) => {
    const sums = Map.groupBy(rows.get(name) ?? [], (row) => Date.parse(String(row.start)));
    const values = buckets.map(({ since }) => (sums.get(since) ?? []).reduce((total, { cost }) => total + cost, 0));
    return { name, color: COLORS[index] ?? 7, values };
  });
}

function labelOf(row: UsageRow, by: string, unnamed: string): string {
  const label = row[by];
  return label === null || label === undefined ? unnamed : String(label);
}
