import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import type { UpstreamHealth, UpstreamReport } from '../accounting/upstream-health.ts';
import type { MemberReport } from '../pools/member-health.ts';
import type { Pools } from '../pools/pools.ts';
import type { Peers } from '../shared-state.ts';

/** The health of the models that a process called. */
const healthReport = z.object({
  upstreams: z.array(
    z.object({
      model: z.string(),
      inFlight: z.number(),
      answeredAt: z.number().optional(),
      failedAt: z.number().optional(),
      lastError: z.string().optional(),
      firstByteMs: z.number().optional(),
    }),
  ),
  members: z.array(
    z.object({
      member: z.string(),
      inFlight: z.number(),
      coolingMs: z.number(),
      cause: z.string().optional(),
      failedAt: z.number().optional(),
      firstByteMs: z.number().optional(),
    }),
  ),
});

interface HealthReport {
  readonly upstreams: readonly UpstreamReport[];
  readonly members: readonly MemberReport[];
}

/** Where health is known. */
export interface HealthSources {
  readonly health: UpstreamHealth;
  readonly pools: Pools;
  /** Absent: no other process shares the state. */
  readonly peers?: Pick<Peers, 'listReplicas'> | undefined;
}

/** The member of the report of a process about itself. Another release may not have it. */
const withHealth = z.object({ health: healthReport });

/** The report of this process for its peers. */
export function describeThisHealth({ health, pools }: Pick<HealthSources, 'health' | 'pools'>): HealthReport {
  return { upstreams: health.report(), members: pools.health.report() };
}

/**
 * The reports of all processes, as one process would make them:
 *
 * - All processes call the same upstreams, so the last answer and the last failure of all of them count. A failure that
 *   one process saw does not make a model look bad after others got answers.
 * - Each process pauses a member of a pool by itself. The member is shown as cooling while any process pauses it, until
 *   the last of them does not, with the reason of that one.
 * - Running requests are added. The time to the first byte is that of the last answer; for members of pools, whose
 *   times are averages, it is the average of the processes.
 */
export async function readHealth(deps: HealthSources): Promise<HealthReport> {
  const own = describeThisHealth(deps);
  if (deps.peers === undefined) return own;
  // While the state can’t be read, the health of this process is known.
  const seen = await deps.peers.listReplicas().catch(() => []);
  const ofPeers = seen
    .filter(({ live, self }) => live && !self)
    .flatMap(({ facts }) => withHealth.safeParse(parseJson(facts)).data?.health ?? []);
  const reports = [own, ...ofPeers];
  const upstreams = Map.groupBy(
    reports.flatMap((report) => report.upstreams),
    ({ model }) => model,
  );
  const members = Map.groupBy(
    reports.flatMap((report) => report.members),
    ({ member }) => member,
  );
  return {
    upstreams: [...upstreams].map(([model, each]) => mergeUpstream(model, each)),
    members: [...members].map(([member, each]) => mergeMember(member, each)),
  };
}

function mergeUpstream(model: string, reports: readonly UpstreamReport[]): UpstreamReport {
  const failed = latest(reports, ({ failedAt }) => failedAt);
  const measured = reports.filter(({ firstByteMs }) => firstByteMs !== undefined);
  return {
    model,
    inFlight: sum(reports.map(({ inFlight }) => inFlight)),
    answeredAt: latest(reports, ({ answeredAt }) => answeredAt)?.answeredAt,
    failedAt: failed?.failedAt,
    lastError: failed?.lastError,
    firstByteMs: latest(measured, ({ answeredAt }) => answeredAt)?.firstByteMs,
  };
}

function mergeMember(member: string, reports: readonly MemberReport[]): MemberReport {
  const longest = latest(reports, ({ coolingMs }) => coolingMs);
  const times = reports.flatMap(({ firstByteMs }) => firstByteMs ?? []);
  return {
    member,
    inFlight: sum(reports.map(({ inFlight }) => inFlight)),
    coolingMs: longest?.coolingMs ?? 0,
    cause: longest?.cause,
    failedAt: longest?.failedAt,
    firstByteMs: times.length === 0 ? undefined : sum(times) / times.length,
  };
}

/** The report with the greatest time. */
function latest<T>(reports: readonly T[], time: (report: T) => number | undefined): T | undefined {
  return reports.reduce<T | undefined>(
    (last, each) => ((time(each) ?? 0) > (last === undefined ? 0 : (time(last) ?? 0)) ? each : last),
    undefined,
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
