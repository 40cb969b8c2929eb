import { PERIODS } from '../../base/time-zone.ts';
import { LATENCY_COLUMNS } from '../state/latency.ts';
import type { SumColumn } from '../state/sealed-sums.ts';
import { BUCKET_MS, ROW_SUMS } from '../state/usage-sums.ts';
import type { PeriodSpan, ReportPlan } from './report-plan.ts';
import { FIELDS, type UsageQuery } from './usage-query.ts';

/** The sums of a report. `usage-report.ts` reads them in this order. */
export const SUM_COLUMNS: readonly SumColumn[] = [
  ...['requests', 'input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'reasoning'].map((of) => ({ of })),
  { of: 'cost_nano' },
  { of: 'cost_nano', when: { column: 'byok', value: 1 } },
  { of: 'estimated' },
  { of: 'failures' },
  { of: 'requests', when: { column: 'outcome', value: 'refused' } },
  { of: 'requests', when: { column: 'outcome', value: 'client-gone' } },
  { of: 'output_ms' },
  ...LATENCY_COLUMNS.map((of) => ({ of })),
];

/** Names of the sums in the rows of the statement. */
export const SUM_NAMES = SUM_COLUMNS.map((_, index) => `sum_${index}`);

const sumSql = (expression: string, when: SumColumn['when']) =>
  when === undefined ? expression : `CASE WHEN ${when.column} = ${literal(when.value)} THEN ${expression} ELSE 0 END`;
const literal = (value: number | string) => (typeof value === 'number' ? String(value) : `'${value}'`);
const ROLLUP_COLUMNS = SUM_COLUMNS.map(({ of, when }) => sumSql(of, when));
/** The same columns for rows of single requests. */
const ROW_COLUMNS = SUM_COLUMNS.map(({ of, when }) => sumSql(ROW_SUMS.get(of) ?? of, when));

/** Whether a row of an answer has no cost, because no price is known. */
const UNPRICED = 'CASE WHEN cost_nano IS NULL AND input IS NOT NULL THEN 1 ELSE 0 END';
const NO_REASON = ['NULL AS reason', '0 AS unpriced'];

/**
 * A statement for SQLite and Postgres, and the values of its parameters `?1`, `?2` and so on.
 *
 * @param quarters times of whole quarters of an hour, which are read from their sums. @param rows times of single rows.
 * @param tag an expression for the value of a tag, whose name contains no quotation mark that is not doubled.
 * @param reason an expression for the reason of an estimate: only rows that are estimated or have no price, in groups by
 *   `reason` and `unpriced` too.
 */
export function usageSql(
  query: UsageQuery,
  { quarters, rows }: Pick<ReportPlan, 'quarters' | 'rows'>,
  tag: (name: string) => string,
  reason?: string,
): { readonly sql: string; readonly values: readonly string[] } {
  const { by, step, key, user, organization, model, provider } = query;
  const tags = by.filter((each) => each.startsWith('tag:'));
  // In Postgres, `user` without quotation marks is the name of the role.
  const fields = FIELDS.filter((each) => by.includes(each)).map((name) => `"${name}"`);
  const periods = step !== undefined || PERIODS.some((each) => by.includes(each));
  const filters = Object.entries({ key, user, organization, model, provider }).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name: `"${name}"`, value }],
  );
  const where = filters.map(({ name }, index) => `AND ${name} = ?${index + 1}`).join(' ');
  const tagColumns = tags.map((each, index) => [tag(each.slice(4).replaceAll("'", "''")), `tag_${index}`]);
  const part = (table: 'usage' | 'usage_rollup', at: string, spans: readonly PeriodSpan[]) => {
    const single = table === 'usage';
    const labels = [
      ...fields,
      ...(periods ? [`coalesce(column3, ${single ? `at - at % ${BUCKET_MS}` : at}) AS bucket`] : []),
      ...tagColumns.map(([value, name]) =>
        single ? `CASE WHEN tags <> '' THEN ${value} END AS ${name}` : `NULL AS ${name}`,
      ),
      ...(reason === undefined ? [] : single ? [`${reason} AS reason`, `${UNPRICED} AS unpriced`] : NO_REASON),
    ];
    const summed = (single ? ROW_COLUMNS : ROLLUP_COLUMNS).map((name, index) => `${name} AS sum_${index}`);
    // `column1` is the name of the first column in both databases. No row matches the first time, which sets the types.
    const times = [{ since: 0, until: 0, period: 0 }, ...spans].map(
      ({ since, until, period }) => `(${since}, ${until}, ${period ?? 'NULL'})`,
    );
    return `SELECT ${[...labels, ...summed].join(', ')} FROM (VALUES ${times.join(', ')}) AS times CROSS JOIN ${table}
      WHERE ${at} >= column1 AND ${at} < column2 ${where}
      ${reason !== undefined && single ? `AND (estimated = 1 OR ${UNPRICED} = 1)` : ''}`;
  };
  const names = [...fields, ...(periods ? ['bucket'] : []), ...tagColumns.map(([, name]) => name)];
  if (reason !== undefined) names.push('reason', 'unpriced');
  const sums = SUM_NAMES.map((name) => `sum(${name}) AS ${name}`);
  const sql = `SELECT ${[...names, ...sums].join(', ')} FROM (
    ${part('usage_rollup', 'bucket', quarters)} UNION ALL
    ${part('usage', 'at', rows)}) AS parts
    ${names.length === 0 ? '' : `GROUP BY ${names.join(', ')}`}`;
  return { sql, values: filters.map(({ value }) => value) };
}
