import { type Row, run, type Steps } from '../state/steps.ts';
import {
  type BudgetGrant,
  type BudgetRequest,
  grantOf,
  type LeaseGrants,
  type LeaseRequests,
  PART,
  type RateGrant,
  type RateRequest,
  windowId,
} from './lease.ts';
import { MINUTE_MS } from './sliding-minute.ts';

/** The differences between the databases that have leases. In its conditions, `r` is a row of `replicas`. */
export interface LeaseDialect {
  /** The time of the database. */
  readonly now: string;
  /** The same, some milliseconds ago. */
  before(milliseconds: number): string;
  /** The same, in slots of `SLOT_MS`. */
  readonly slot: string;
  /** A table of the objects in the list of JSON that is the parameter `?1`. */
  records(columns: Readonly<Record<string, 'TEXT' | 'BIGINT'>>): string;
  /** A pattern of models as windows have it, and whether the column of a model matches the column of a pattern. */
  pattern(model: string): string;
  matches(model: string, pattern: string): string;
  /** One statement for several that change tables, if that is possible. */
  together(statements: readonly string[]): readonly string[];
  /** The process gets requests. */
  readonly live: string;
  /** The leases of the process are not free: of budgets, and of the rate of the lease `l`. */
  readonly holdsBudget: string;
  /** The process has sent no heartbeat for so long that its leases of soft budgets are free. */
  readonly silent: string;
  holdsRate(minuteMs: number): string;
  /** Statements that let one transaction grant at a time. */
  readonly lockBudgets?: string;
  readonly lockRates?: string;
  /** Tells peers at once that one of them needs more. */
  readonly notify?: string;
  /** Number of processes when all have started. Absent: it is not known. */
  readonly fewest?: number;
}

/** Milliseconds in which the use of a rate is counted as one. */
export const SLOT_MS = 250;
/** Milliseconds after a heartbeat in which a process counts as one that gets requests. */
export const LIVE_MS = 10_000;
/** Milliseconds after which peers are told again that one of them needs more. */
const TOLD_MS = 1_000;

const REPLICA = { replica: 'TEXT' } as const;

/**
 * Grants leases in the tables `budget_windows`, `leases`, `rate_use` and `rate_leases`. Must run in a transaction, and
 * all windows that are requested must exist.
 */
export function* grantLeases(
  dialect: LeaseDialect,
  replica: string,
  { budgets, rates }: LeaseRequests,
  minuteMs = MINUTE_MS,
): Steps<LeaseGrants> {
  const [budgetGrants, budgetsInDemand, ofBudgets] = yield* grantBudgets(dialect, replica, budgets);
  const [rateGrants, ratesInDemand, ofRates] = yield* grantRates(dialect, replica, rates, minuteMs);
  if ((budgetsInDemand || ratesInDemand) && dialect.notify !== undefined) yield* run(dialect.notify);
  return { processes: Math.max(dialect.fewest ?? 1, ofBudgets, ofRates), budgets: budgetGrants, rates: rateGrants };
}

/** Grants, whether peers must be told that more is needed, and the number of processes. */
type Judged<Grant> = readonly [grants: readonly Grant[], tell: boolean, processes: number];

/** The columns of a window of a budget before something is spent. */
export const WINDOW_COLUMNS = {
  budget: 'TEXT',
  start_at: 'BIGINT',
  end_at: 'BIGINT',
  key: 'TEXT',
  user: 'TEXT',
  organization: 'TEXT',
  model: 'TEXT',
} as const;

export type LeasedWindow = Pick<BudgetRequest, 'budget' | 'rule' | 'window'>;

export function windowRow({ pattern }: Pick<LeaseDialect, 'pattern'>, { budget, rule, window }: LeasedWindow) {
  const { key = '', user = '', organization = '' } = rule.scope;
  const end = Number.isFinite(window.end) ? window.end : null;
  return { budget, start_at: window.start, end_at: end, key, user, organization, model: pattern(rule.model) };
}

/** Whether the model, key, user and organization of a row `s` count for a window `w`. The user is that of the key. */
export function countsFor({ matches }: Pick<LeaseDialect, 'matches'>): string {
  return `w.key IN ('', s.key) AND w.organization IN ('', s.organization) AND ${matches('s.model', 'w.model')}
    AND w."user" IN ('', coalesce((SELECT k."user" FROM keys k WHERE k.name = s.key), ''))`;
}

function* grantBudgets(
  dialect: LeaseDialect,
  replica: string,
  requests: readonly BudgetRequest[],
): Steps<Judged<BudgetGrant>> {
  if (requests.length === 0) return [[], false, 0];
  if (dialect.lockBudgets !== undefined) yield* run(dialect.lockBudgets);
  const windows = requests.map(({ budget, window: { start } }) => ({ replica, budget, start_at: start }));
  const rows = yield* run(readWindows(dialect), [JSON.stringify(windows)]);
  const byId = new Map(requests.map((each) => [each.id, each]));
  const processes = countProcesses(dialect, rows);
  const judged = rows.flatMap((row) =>
    judgeBudget(row, byId.get(windowId(String(row.budget), Number(row.start_at))), processes),
  );
  const written = judged.map(({ id, amount, unmet }) => ({ replica, id, amount, unmet }));
  for (const statement of writeBudgetLeases(dialect)) yield* run(statement, [JSON.stringify(written)]);
  return [judged.map(({ grant }) => grant), judged.some(({ unmet, told }) => unmet === 1 && !told), processes];
}

function judgeBudget(row: Row, request: BudgetRequest | undefined, processes: number) {
  if (request === undefined) return [];
  const { id, limit, demand, needed, waiting = 0, rule } = request;
  const [spent, granted, settled] = [Number(row.spent), Number(row.granted), Number(row.settled)];
  // A hard budget must not be exceeded, and a process that is cut off goes on with its lease.
  const peers = Number(row.peers) - (rule.hard ? 0 : Number(row.silent));
  const left = Math.max(0, granted - settled);
  const free = Math.max(0, limit - spent - peers - left);
  const amount = demand < 0 ? Math.max(demand, -left) : grantOf(request, { free, left, processes, part: PART.budget });
  const grant = { id, granted: granted + amount, settled, spent, free: free - amount, peers };
  return {
    id: Number(row.id),
    amount,
    unmet: Math.max(needed, waiting) > amount && peers > 0 ? 1 : 0,
    told: Number(row.told) === 1,
    grant,
  };
}

function readWindows(dialect: LeaseDialect): string {
  const heldByPeers = (which: string) => `coalesce((SELECT
      sum(CASE WHEN l.granted_nano > l.settled_nano THEN l.granted_nano - l.settled_nano ELSE 0 END)
      FROM leases l LEFT JOIN replicas r ON r.id = l.replica
      WHERE l.budget_window = w.id AND l.replica <> a.replica AND ${which}), 0)`;
  return `SELECT a.budget, a.start_at, w.id, w.spent_nano AS spent, coalesce(own.granted_nano, 0) AS granted,
      coalesce(own.settled_nano, 0) AS settled, ${countLive(dialect)} AS processes,
      CASE WHEN w.wanted_at > ${dialect.before(TOLD_MS)} THEN 1 ELSE 0 END AS told,
      ${heldByPeers(dialect.holdsBudget)} AS peers,
      ${heldByPeers(`${dialect.holdsBudget} AND ${dialect.silent}`)} AS silent
    FROM ${dialect.records({ ...REPLICA, budget: 'TEXT', start_at: 'BIGINT' })} a
    JOIN budget_windows w ON w.budget = a.budget AND w.start_at = a.start_at
    LEFT JOIN leases own ON own.budget_window = w.id AND own.replica = a.replica`;
}

function writeBudgetLeases(dialect: LeaseDialect): readonly string[] {
  const written = dialect.records({ ...REPLICA, id: 'BIGINT', amount: 'BIGINT', unmet: 'BIGINT' });
  return dialect.together([
    `UPDATE budget_windows AS w SET wanted_at = ${dialect.now} FROM ${written} a WHERE a.id = w.id AND a.unmet = 1`,
    `INSERT INTO leases AS l (budget_window, replica, granted_nano, settled_nano)
      SELECT a.id, a.replica, a.amount, 0 FROM ${written} a WHERE true
      ON CONFLICT (budget_window, replica) DO UPDATE SET granted_nano = l.granted_nano + excluded.granted_nano`,
  ]);
}

/** A slot is counted while a part of it is younger than a minute. */
function* grantRates(
  dialect: LeaseDialect,
  replica: string,
  requests: readonly RateRequest[],
  minuteMs: number,
): Steps<Judged<RateGrant>> {
  if (requests.length === 0) return [[], false, 0];
  if (dialect.lockRates !== undefined) yield* run(dialect.lockRates);
  const used = requests.map((each) => ({ replica, rate: each.id, used: each.used }));
  const rows = yield* run(readRates(dialect, minuteMs), [JSON.stringify(used)]);
  const byId = new Map(requests.map((each) => [each.id, each]));
  const processes = countProcesses(dialect, rows);
  const judged = rows.flatMap((row) => judgeRate(row, byId.get(String(row.rate)), processes));
  const written = judged.map(({ grant: { id, amount }, request, slot, unmet }) => ({
    replica,
    rate: id,
    used: request.used,
    slot,
    held: request.held + amount,
    unmet,
  }));
  for (const statement of writeRateLeases(dialect, minuteMs)) yield* run(statement, [JSON.stringify(written)]);
  return [judged.map(({ grant }) => grant), judged.some(({ unmet, told }) => unmet === 1 && !told), processes];
}

function judgeRate(row: Row, request: RateRequest | undefined, processes: number) {
  if (request === undefined) return [];
  const { id, limit, held, left, needed } = request;
  const peers = Number(row.peers);
  const free = Math.max(0, limit - Number(row.total) - peers - held);
  const amount = grantOf(request, { free, left, processes, part: PART.rate });
  const grant = { id, amount, free: free - amount, peers, waitMs: Number(row.wait) * SLOT_MS };
  const unmet = needed > amount && peers > 0 ? 1 : 0;
  return { request, grant, slot: Number(row.slot), unmet, told: Number(row.told) === 1 };
}

function readRates(dialect: LeaseDialect, minuteMs: number): string {
  const slots = minuteMs / SLOT_MS;
  const use = `FROM rate_use u WHERE u.rate = a.rate AND u.slot >= clock.slot - ${slots}`;
  return `SELECT a.rate, clock.slot, a.used + coalesce((SELECT sum(u.amount) ${use}), 0) AS total,
      coalesce((SELECT min(u.slot) ${use}), clock.slot) + ${slots} + 1 - clock.slot AS wait,
      ${countLive(dialect)} AS processes,
      coalesce((SELECT sum(l.held) FROM rate_leases l JOIN replicas r ON r.id = l.replica
        WHERE l.rate = a.rate AND l.replica <> a.replica AND ${dialect.holdsRate(minuteMs)}), 0) AS peers,
      (SELECT count(*) FROM rate_leases l
        WHERE l.rate = a.rate AND l.replica = a.replica AND l.wanted_at > ${dialect.before(TOLD_MS)}) AS told
    FROM ${dialect.records({ ...REPLICA, rate: 'TEXT', used: 'BIGINT' })} a, (SELECT ${dialect.slot} AS slot) AS clock`;
}

function writeRateLeases(dialect: LeaseDialect, minuteMs: number): readonly string[] {
  const written = dialect.records({
    ...REPLICA,
    rate: 'TEXT',
    used: 'BIGINT',
    slot: 'BIGINT',
    held: 'BIGINT',
    unmet: 'BIGINT',
  });
  return dialect.together([
    `DELETE FROM rate_use WHERE EXISTS (SELECT 1 FROM ${written} a
      WHERE a.rate = rate_use.rate AND rate_use.slot < a.slot - ${minuteMs / SLOT_MS})`,
    `INSERT INTO rate_use AS u (rate, slot, amount) SELECT a.rate, a.slot, a.used FROM ${written} a WHERE a.used <> 0
      ON CONFLICT (rate, slot) DO UPDATE SET amount = u.amount + excluded.amount`,
    `INSERT INTO rate_leases (rate, replica, held, wanted_at)
      SELECT a.rate, a.replica, a.held, CASE WHEN a.unmet = 1 THEN ${dialect.now} END FROM ${written} a WHERE true
      ON CONFLICT (rate, replica) DO UPDATE SET held = excluded.held, wanted_at = excluded.wanted_at`,
  ]);
}

function countProcesses({ fewest = 1 }: LeaseDialect, [row]: readonly Row[]): number {
  return Math.max(fewest, Number(row?.processes ?? 0));
}

function countLive({ live }: LeaseDialect): string {
  return `(SELECT count(*) FROM replicas r WHERE ${live})`;
}
