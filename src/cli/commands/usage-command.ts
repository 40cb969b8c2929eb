import { parseArgs } from 'node:util';
import { textTable } from '../../base/text-table.ts';
import { TimeZone } from '../../base/time-zone.ts';
import { writeUsageCsv } from '../../gateway/reports/usage-csv.ts';
import { type Group, parseGroup } from '../../gateway/reports/usage-query.ts';
import type { UsageReport, UsageSums } from '../../gateway/reports/usage-report.ts';
import { parseUsageTime } from '../../gateway/reports/usage-times.ts';
import { withConfig } from '../cli-context.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import { withGateway } from '../remote/gateway-access.ts';

/** `svc usage`: shows the gateway's requests and their cost, by fields of the ledger or periods of the calendar. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS.usage });
  const by = parseGroups(values.by ?? 'model');
  const zone = parseTimeZone(values.tz ?? 'UTC');
  const format = parseFormat(values.json === true ? 'json' : (values.format ?? 'table'));
  const since = values.since === undefined ? 0 : parseTime(values.since, '--since', zone);
  const until = values.until === undefined ? undefined : parseTime(values.until, '--until', zone);
  if (until !== undefined && until < since) throw new UsageError('--until must be after --since.');
  const { key, user, org } = values;
  const query = { since, until, by, zone, key, user, organization: org, reasons: true };
  const report = await withGateway(withConfig(io, values.config), values.gateway, (gateway) => gateway.usage(query));
  await io.out(WRITERS[format](report, by));
  return 0;
}

const WRITERS = {
  json: (report: UsageReport) => `${JSON.stringify(report, null, 2)}\n`,
  csv: writeUsageCsv,
  table: writeTable,
} as const;

/** The cost is beside the name: the end of a line is cut in a narrow window. */
const NUMBERS: Readonly<Record<string, (sums: UsageSums) => number | string>> = {
  'COST USD': describeCost,
  REQUESTS: ({ requests }) => requests,
  UNPRICED: ({ unpriced_requests: unpriced = 0 }) => unpriced,
  INPUT: ({ input_tokens: input }) => input,
  OUTPUT: ({ output_tokens: output }) => output,
  'CACHE READ': ({ cache_read_tokens: read }) => read,
  'CACHE WRITE': ({ cache_write_tokens: write }) => write,
  'OF IT 1H': ({ cache_write_1h_tokens: hour }) => hour,
};
/** Shown if one of their numbers is above 0. */
const OPTIONAL: ReadonlySet<string> = new Set(['UNPRICED', 'CACHE READ', 'CACHE WRITE', 'OF IT 1H']);

function writeTable({ rows, total }: UsageReport, by: readonly Group[]): string {
  const [first = 'model', ...rest] = by;
  const sum = { ...total, [first]: 'total', ...Object.fromEntries(rest.map((name) => [name, ''])) };
  const numbers = Object.entries(NUMBERS).filter(([name, read]) => !OPTIONAL.has(name) || read(total) !== 0);
  return textTable(
    [...by.map((name) => name.toUpperCase()), ...numbers.map(([name]) => name), 'TOKENS'],
    [...rows, sum].map((row) => [
      ...by.map((name) => String(row[name] ?? '')),
      ...numbers.map(([, read]) => String(read(row))),
      describeTokens(row),
    ]),
    numbers.map((_, column) => by.length + column),
  );
}

/** Whether the tokens are those that providers reported: `reported`, or `estimated: client_left 2`. */
function describeTokens({ requests, estimated_requests, estimate_reasons }: UsageSums): string {
  if (estimated_requests === 0) return requests === 0 ? '' : 'reported';
  return `${estimated_requests} estimated: ${estimate_reasons ?? 'unknown'}`;
}

/** The known cost. Requests to a model without a price are not free: their number is in a column of its own. */
function describeCost({ cost, unpriced_requests: unpriced = 0 }: UsageSums): string {
  return cost === 0 && unpriced > 0 ? 'unknown' : cost.toFixed(6);
}

function parseGroups(text: string): Group[] {
  return text.split(',').map((name) => {
    const group = parseGroup(name.trim());
    if (group !== undefined) return group;
    throw new UsageError(
      '--by must be model, key, user, organization, provider, outcome, hour, day, week, month or tag:NAME, or several of them with commas.',
    );
  });
}

function parseTimeZone(text: string): TimeZone {
  try {
    return new TimeZone(text);
  } catch {
    throw new UsageError(`--tz must be a time zone such as Europe/Berlin; “${text}” is unknown.`);
  }
}

function parseFormat(text: string): keyof typeof WRITERS {
  if (text === 'json' || text === 'csv' || text === 'table') return text;
  throw new UsageError('--format must be table, csv or json.');
}

function parseTime(text: string, option: string, zone: TimeZone): number {
  const moment = parseUsageTime(text, zone);
  if (moment !== undefined) return moment;
  throw new UsageError(`${option} must be a date (2026-01-31) or a duration before now (24h, 30d).`);
}
