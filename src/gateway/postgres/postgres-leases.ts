import type { LeaseGrants, LeaseRequests, LeaseStore } from '../limits/lease.ts';
import {
  countsFor,
  grantLeases,
  type LeaseDialect,
  LIVE_MS,
  SLOT_MS,
  WINDOW_COLUMNS,
  windowRow,
} from '../limits/lease-steps.ts';
import { MINUTE_MS } from '../limits/sliding-minute.ts';
import { run, type Steps } from '../state/steps.ts';
import { type PostgresConnection, SCHEMA } from './postgres-connection.ts';
import { lockSql } from './postgres-tables.ts';

const DEADLINE_MS = 1_000;
/**
 * Milliseconds without a heartbeat after which the leases of soft budgets are free, and those of rates after their
 * window. A process that was only frozen uses none of them then (`FROZEN_MS`).
 */
const LATE_MS = 15_000;

/**
 * Leases of budgets are settled in the transaction that stores the rows. Those of a replica that ended are free, and
 * those of one that was not seen for a day, or for some seconds if the budget is soft; leases of rates after more than a
 * minute.
 */
export const POSTGRES_LEASES: LeaseDialect = {
  now: 'now()',
  before: (milliseconds) => `now() - interval '${milliseconds} milliseconds'`,
  slot: `floor(extract(epoch FROM clock_timestamp()) * ${1_000 / SLOT_MS})::bigint`,
  records: (columns) => {
    const types = Object.entries(columns).map(([name, type]) => `"${name}" ${type}`);
    return `(SELECT * FROM json_to_recordset(?1::json) AS list (${types.join(', ')}))`;
  },
  pattern: (model) => model.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%'),
  matches: (model, pattern) => `${model} LIKE ${pattern}`,
  together: (statements) => {
    const last = statements.at(-1) ?? '';
    const parts = statements.slice(0, -1).map((statement, index) => `part_${index} AS (${statement})`);
    return [`WITH ${parts.join(', ')} ${last}`];
  },
  live: `r.released_at IS NULL AND r.seen_at > now() - interval '${LIVE_MS} milliseconds'`,
  holdsBudget: "coalesce(r.released_at, r.seen_at + interval '1 day', now() + interval '1 day') > now()",
  silent: `r.seen_at < now() - interval '${LATE_MS} milliseconds'`,
  holdsRate: (minuteMs) =>
    `r.released_at IS NULL AND r.seen_at > now() - interval '${LATE_MS + minuteMs} milliseconds'`,
  lockBudgets: lockSql('money'),
  lockRates: lockSql('rates'),
  notify: `NOTIFY ${SCHEMA}`,
};

/** Creates windows that do not exist yet, with their earlier spending. */
const CREATE = `INSERT INTO budget_windows
    (budget, start_at, end_at, key, "user", organization, model, spent_nano)
  SELECT w.*, CASE WHEN w.start_at = 0
    THEN (SELECT coalesce(sum(nano), 0) FROM spent s WHERE ${countsFor(POSTGRES_LEASES)})
    ELSE (SELECT coalesce(sum(cost_nano), 0) FROM usage_rollup s WHERE ${countsFor(POSTGRES_LEASES)} AND s.byok = 0
      AND s.bucket >= w.start_at AND s.bucket < w.end_at) END
  FROM ${POSTGRES_LEASES.records(WINDOW_COLUMNS)} AS w ON CONFLICT (budget, start_at) DO NOTHING`;

function* grant(replica: string, requests: LeaseRequests, minuteMs: number): Steps<LeaseGrants> {
  const created = requests.budgets.filter(({ isNew }) => isNew);
  if (created.length > 0) {
    yield* run(lockSql('money'));
    yield* run(CREATE, [JSON.stringify(created.map((each) => windowRow(POSTGRES_LEASES, each)))]);
  }
  return yield* grantLeases(POSTGRES_LEASES, replica, requests, minuteMs);
}

/** Leases in Postgres. */
export class PostgresLeases implements LeaseStore {
  readonly #connection: PostgresConnection;
  readonly #replica: string;
  readonly #minuteMs: number;
  readonly #deadlineMs: number;

  /**
   * @param minuteMs the window of each rate, a multiple of 250. All gateways on one database have the same.
   * @param deadlineMs time limit of a grant.
   */
  constructor(connection: PostgresConnection, replica: string, minuteMs = MINUTE_MS, deadlineMs = DEADLINE_MS) {
    this.#connection = connection;
    this.#replica = replica;
    this.#minuteMs = minuteMs;
    this.#deadlineMs = deadlineMs;
  }

  grant(requests: LeaseRequests): Promise<LeaseGrants> {
    return this.#connection.run(this.#deadlineMs, grant(this.#replica, requests, this.#minuteMs));
  }
}
