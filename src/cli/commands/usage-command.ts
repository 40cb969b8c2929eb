import { parseArgs } from 'node:util';
import { readUsageReport } from '../../gateway/accounting/usage-report.ts';
import { openState, stateFile } from '../../gateway/state/state-database.ts';
import { parseDuration, parseMoment } from '../input/option-values.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import { table } from '../output/output.ts';

/** `svc usage`: shows the gateway's requests and their cost, by key, model, organization or day. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS.usage });
  const by = values.by ?? 'model';
  if (by !== 'model' && by !== 'key' && by !== 'organization' && by !== 'day') {
    throw new UsageError('--by must be model, key, organization or day.');
  }
  const database = await openState(stateFile(io));
  try {
    const since = values.since === undefined ? 0 : parseSince(values.since);
    const report = readUsageReport(database, { since, key: values.key, by });
    if (values.json) {
      await io.out(`${JSON.stringify(report, null, 2)}\n`);
      return 0;
    }
    const rows = [...report.rows, { ...report.total, [by]: 'total' }].map((row) => [
      String(row[by] ?? ''),
      String(row.requests),
      String(row.input_tokens),
      String(row.output_tokens),
      String(row.cache_read_tokens),
      String(row.cache_write_tokens),
      String(row.cache_write_1h_tokens),
      row.cost.toFixed(6),
    ]);
    const head = [by.toUpperCase(), 'REQUESTS', 'INPUT', 'OUTPUT', 'CACHE READ', 'CACHE WRITE', 'OF IT 1H', 'COST USD'];
    await io.out(table(head, rows));
    return 0;
  } finally {
    database.close();
  }
}

function parseSince(text: string): number {
  const duration = parseDuration(text);
  const moment = duration === undefined ? parseMoment(text) : Date.now() - duration;
  if (moment !== undefined) return moment;
  throw new UsageError('--since must be a date (2026-01-31) or a duration before now (24h, 30d).');
}
