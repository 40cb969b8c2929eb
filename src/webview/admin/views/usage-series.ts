import type { UsageAnswer, UsageRow, UsageSums } from '../../../protocol/admin-api/schemas.ts';
import type { Range } from '../data/period.ts';
import type { PlotColor, PlotSeries } from '../parts/plot-canvas.ts';

/** More groups could not be told apart by their colours. */
export const GROUPS_SHOWN = 7;
const COLORS: readonly PlotColor[] = [0, 1, 2, 3, 4, 5, 6, 7];

/** One value for each bucket. Without a row it is `missing`. */
export function seriesOf(
  rows: readonly UsageRow[],
  buckets: readonly Range[],
  value: (row: UsageSums, bucket: Range) => number | null,
  missing: number | null = 0,
): (number | null)[] {
  const found = new Map(rows.map((row) => [Date.parse(String(row.start)), row]));
  return buckets.map((bucket) => {
    const row = found.get(bucket.since);
    return row === undefined ? missing : value(row, bucket);
  });
}

/** The cost of the groups that have one. The rows have the most expensive groups; the others are one series. */
export function costSeries(
  answer: UsageAnswer,
  buckets: readonly Range[],
  words: { readonly unnamed: string; readonly others: string },
): readonly PlotSeries[] {
  const rows = Map.groupBy(answer.rows, (row) => labelOf(answer, row, words.unnamed));
  const named = answer.groups
    .filter(({ cost }) => cost > 0)
    .slice(0, GROUPS_SHOWN)
    .map((group) => labelOf(answer, group, words.unnamed))
    .map((name) => ({ name, values: seriesOf(rows.get(name) ?? [], buckets, ({ cost }) => cost) }));
  const all = seriesOf(answer.steps, buckets, ({ cost }) => cost);
  const rest = all.map((cost, index) => named.reduce((left, { values }) => left - (values[index] ?? 0), cost ?? 0));
  const others = answer.groups.filter(({ cost }) => cost > 0).length > GROUPS_SHOWN;
  // Differences of floating point numbers are not exactly 0.
  const series = others ? [...named, { name: words.others, values: rest.map((cost) => Math.max(0, cost)) }] : named;
  return series.map((each, index) => ({ ...each, color: COLORS[index] ?? 7 }));
}

/** The name of a row's group. */
export function labelOf({ by }: UsageAnswer, row: UsageRow, unnamed: string): string {
  const label = row[by[0] ?? ''];
  return label === null || label === undefined ? unnamed : String(label);
}
