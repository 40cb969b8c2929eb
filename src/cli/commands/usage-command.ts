import { parseArgs } from 'node:util';
import { parseDuration } from '../../base/duration.ts';
import { TimeZone } from '../../base/time-zone.ts';
import { type Group, parseGroup, type UsageReport, type UsageSums } from '../../gateway/accounting/usage-report.ts';
import { parseMoment } from '../input/option-values.ts';
import { type Io, UsageError } from '../io.ts';
import { withState } from '../open-state.ts';
import { OPTIONS } from '../options.ts';
import { csv } from '../output/csv.ts';
import { table } from '../output/output.ts';

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
  const query = { since, until, by, zone, key, user, organization: org };
  const report = await withState(io, (state) => state.usage(query));
  await io.out(WRITERS[format](report, by));
  return 0;
}

const WRITERS = {
  json: (report: UsageReport) => `${JSON.stringify(report, null, 2)}\n`,
  csv: (report: UsageReport, by: readonly Group[]) => {
    const columns = [...by, ...Object.keys(report.total)];
    return csv([columns, ...report.rows.map((row) => columns.map((name) => cell(row, name)))]);
  },
  table: writeTable,
} as const;

/** Costs have nine decimals: the ledger's exact value. */
function cell(row: UsageSums, name: string): string {
  const value = row[name];
  if (name === 'cost' || name === 'byok_cost') return Number(value).toFixed(9);
  return value === null || value === undefined ? '' : String(value);
}

function writeTable({ rows, total }: UsageReport, by: readonly Group[]): string {
  const [first = 'model', ...rest] = by;
  const sum = { ...total, [first]: 'total', ...Object.fromEntries(rest.map((name) => [name, ''])) };
  const head = ['REQUESTS', 'INPUT', 'OUTPUT', 'CACHE READ', 'CACHE WRITE', 'OF IT 1H', 'COST USD'];
  return table(
    [...by.map((name) => name.toUpperCase()), ...head],
    [...rows, sum].map((row) => [
      ...by.map((name) => String(row[name] ?? '')),
      String(row.requests),
      String(row.input_tokens),
      String(row.output_tokens),
      String(row.cache_read_tokens),
      String(row.cache_write_tokens),
      String(row.cache_write_1h_tokens),
      row.cost.toFixed(6),
    ]),
  );
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

/** A date is the start of that day in the time zone. */
function parseTime(text: string, option: string, zone: TimeZone): number {
  const duration = parseDuration(text);
  if (duration !== undefined) return Date.now() - duration;
  const moment = parseMoment(text);
  if (moment === undefined) {
    throw new UsageError(`${option} must be a date (2026-01-31) or a duration before now (24h, 30d).`);
  }
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  return year === undefined ? moment : zone.dayStart(Number(year), Number(month) - 1, Number(day));
}
