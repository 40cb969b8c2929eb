import { TimeZone } from '../../base/time-zone.ts';
import { ENDPOINTS } from '../../protocol/admin-api/endpoints.ts';
import { invalidRequest } from '../../wire/errors/svc-error.ts';
import type { Models } from '../dispatch/models.ts';
import { whenLeft } from '../http/request-body.ts';
import type { Route } from '../http/router.ts';
import { writeUsageCsv } from '../reports/usage-csv.ts';
import { type Group, parseGroup, type UsageQuery } from '../reports/usage-query.ts';
import type { UsageSums } from '../reports/usage-report.ts';
import { parseUsageTime } from '../reports/usage-times.ts';
import { type Administration, route, SENT } from './call.ts';
import { isoTime } from './key-view.ts';
import { ownFilter, type SignIns } from './viewer.ts';

/** Groups of a series in one answer. `format=csv` without `step` has all. */
const MAX_GROUPS = 200;

/** Sums of the ledger: the same function as `svc usage`. */
export function usageRoutes(deps: SignIns & Models & Pick<Administration, 'reports'>): Route[] {
  return [
    route(deps, ENDPOINTS.getUsage, async ({ context, viewer, query: input }) => {
      const { step, top, organization, model, provider, user } = input;
      const reasons = input.reasons === 'true';
      const zone = readZone(input.tz);
      const by = readGroups(input.by);
      const since = readTime('since', input.since, zone) ?? 0;
      const until = readTime('until', input.until, zone);
      if (until !== undefined && until < since) throw invalidRequest('until', '“until” must be after “since”.');
      const key = ownFilter(viewer, input.key);
      const query: UsageQuery = {
        since,
        until,
        by,
        step,
        top,
        zone,
        key,
        user,
        organization,
        model,
        provider,
        reasons,
      };
      const end = until ?? Date.now();
      const compared = input.format !== 'csv' && input.compare === 'previous' && since > 0;
      const before = {
        ...query,
        step: undefined,
        reasons: undefined,
        by: [],
        since: Math.max(0, since - (end - since)),
        until: since,
      };
      const left = whenLeft(context);
      const byModel = { ...query, step: undefined, top: undefined, reasons: undefined, by: [...by, 'model' as const] };
      const needsModels = step !== undefined && input.format !== 'csv' && !by.includes('model');
      const { report, models, previous } = await deps.reports.run(viewer.name, left, async () => ({
        report: await deps.admin.usage(query, left),
        models: needsModels ? (await deps.admin.usage(byModel, left)).rows : undefined,
        previous: compared ? { ...(await deps.admin.usage(before, left)).total } : null,
      }));
      const labels = step === undefined ? by : ['start', ...by];
      if (input.format === 'csv') {
        const name = `usage-${new Date().toISOString().slice(0, 10)}.csv`;
        const headers = {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': `attachment; filename="${name}"`,
        };
        context.sendBytes(200, Buffer.from(writeUsageCsv(report, labels)), headers);
        return SENT;
      }
      const unpriced = findUnpriced(deps, by, models ?? report.series?.groups ?? []);
      const groups = report.series?.groups.slice(0, MAX_GROUPS) ?? [];
      const totals = step === undefined ? {} : { unpriced_requests: unpriced.requests };
      return {
        since: isoTime(since),
        until: new Date(end).toISOString(),
        time_zone: zone.name,
        by,
        step: step ?? null,
        rows: report.rows.map((row) => ({ ...row })),
        steps: report.series?.steps.map((row) => ({ ...row })) ?? [],
        groups: groups.map((row) => ({ ...row, unpriced_requests: unpriced.requestsOf(row) })),
        group_count: report.series?.groups.length ?? 0,
        unpriced_models: unpriced.models,
        total: { ...totals, ...report.total },
        previous,
      };
    }),
  ];
}

interface Unpriced {
  readonly models: string[];
  /** Of all groups. */
  readonly requests: number;
  readonly requestsOf: (group: UsageSums) => number;
}

/**
 * Models that have no price now and whose answers cost nothing: the sums of the ledger do not say whether a cost was known.
 *
 * @param rows sums by `by` and by model.
 */
function findUnpriced({ registry, pools }: Models, by: readonly Group[], rows: readonly UsageSums[]): Unpriced {
  const isUnpriced = (name: string) => {
    const model = pools.find(name)?.model ?? registry().models.get(name);
    return model !== undefined && model.cost === undefined;
  };
  const group = (row: UsageSums) => JSON.stringify(by.map((name) => row[name]));
  const models = new Set<string>();
  const requests = new Map<string, number>();
  let all = 0;
  for (const row of rows) {
    const answered = row.requests - row.failures;
    const { model } = row;
    if (row.cost > 0 || answered <= 0 || typeof model !== 'string' || !isUnpriced(model)) continue;
    models.add(model);
    requests.set(group(row), (requests.get(group(row)) ?? 0) + answered);
    all += answered;
  }
  return { models: [...models], requests: all, requestsOf: (row) => requests.get(group(row)) ?? 0 };
}

export function readZone(name: string): TimeZone {
  try {
    return new TimeZone(name);
  } catch {
    throw invalidRequest('tz', `The time zone “${name}” is unknown.`);
  }
}

export function readTime(param: string, text: string | undefined, zone: TimeZone): number | undefined {
  if (text === undefined) return undefined;
  const at = parseUsageTime(text, zone);
  if (at !== undefined) return at;
  throw invalidRequest(param, `“${param}” must be a date (2026-01-31), a time or a duration before now (24h, 30d).`);
}

function readGroups(text: string): Group[] {
  if (text === '') return [];
  return text.split(',').map((name) => {
    const group = parseGroup(name.trim());
    if (group !== undefined) return group;
    throw invalidRequest(
      'by',
      '“by” must be model, key, user, organization, provider, outcome, hour, day, week, month or tag:NAME, or several of them with commas.',
    );
  });
}
