import { csv } from '../../base/csv.ts';
import type { UsageReport, UsageSums } from './usage-report.ts';

/** A report as CSV: the labels, then the sums. Costs have nine decimals, which is the ledger's exact value. */
export function writeUsageCsv({ rows, total }: UsageReport, labels: readonly string[]): string {
  const columns = [...labels, ...Object.keys(total)];
  return csv([columns, ...rows.map((row) => columns.map((name) => cell(row, name)))]);
}

function cell(row: UsageSums, name: string): string {
  const value = row[name];
  if (name === 'cost' || name === 'byok_cost') return Number(value).toFixed(9);
  return value === null || value === undefined ? '' : String(value);
}
