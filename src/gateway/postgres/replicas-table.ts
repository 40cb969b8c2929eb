import { hostname } from 'node:os';
import { windowId } from '../limits/lease.ts';
import { MAY_HAVE_LIVE, type SeenReplica } from '../shared-state.ts';
import { SCHEMA, type Sql } from './postgres-connection.ts';
import { POSTGRES_LEASES } from './postgres-leases.ts';

/** For how long a replica that ended without a word is listed. */
const LISTED = '5 minutes';

/** Peers of the replica `$1` whose heartbeats arrive. */
const LIVE_PEERS = `FROM ${SCHEMA}.replicas r WHERE ${POSTGRES_LEASES.live} AND r.id <> $1`;

/** The values that a replica reads each second. */
export interface Changes {
  /** The number of the last change of keys. */
  readonly last: number;
  /** The other replicas that live. */
  readonly peers: number;
  /** Another value after a standby has taken over. */
  readonly server: string;
  /** The windows of budgets of which another replica needs more, by `windowId`, and such rates. */
  readonly windowsInDemand: ReadonlySet<string>;
  readonly ratesInDemand: ReadonlySet<string>;
  /** The reports of running peers that have the member `live`. */
  readonly live: ReadonlyMap<string, string>;
}

/**
 * How a failover is noticed. `control`: by the timeline, which only changes then. `start`: by the time of the server's
 * start, for servers that refuse the functions of `control` to this role. A restart then counts as a failover, and the
 * last rows are sent once more for nothing.
 */
export type FailoverSign = 'control' | 'start';

const SERVER: Readonly<Record<FailoverSign, string>> = {
  control: `(SELECT system_identifier FROM pg_control_system()) || ' ' ||
    (SELECT timeline_id FROM pg_control_checkpoint())`,
  start: 'pg_postmaster_start_time()::text',
};

/** Reads only, so that a server that can't be written still tells which keys are valid. */
export async function readChanges(sql: Sql, replica: string, sign: FailoverSign): Promise<Changes> {
  const [row] = await sql(
    `SELECT (SELECT coalesce(max(seq), 0) FROM ${SCHEMA}.changes) AS last,
      (SELECT json_agg(json_build_array(w.budget, w.start_at)) FROM ${SCHEMA}.budget_windows w
        WHERE w.wanted_at > now() - interval '3 seconds') AS windows,
      (SELECT json_agg(rate) FROM ${SCHEMA}.rate_leases
        WHERE wanted_at > now() - interval '3 seconds' AND replica <> $1) AS rates,
      (SELECT count(*) ${LIVE_PEERS}) AS peers,
      (SELECT json_object_agg(id, facts) ${LIVE_PEERS} AND ${MAY_HAVE_LIVE}) AS live,
      ${SERVER[sign]} AS server`,
    [replica],
  );
  return {
    last: Number(row?.last),
    peers: Number(row?.peers),
    server: String(row?.server),
    windowsInDemand: readWindows(row?.windows),
    ratesInDemand: new Set(Array.isArray(row?.rates) ? row.rates.map(String) : []),
    live: new Map(Object.entries(row?.live ?? {}).map(([id, report]) => [id, String(report)])),
  };
}

/**
 * @param facts the report of the replica about itself, as JSON.
 * @returns whether the one before was so long ago that peers may have its leases of soft budgets. The clock of the
 * database knows it also after this machine was suspended.
 */
export async function sendHeartbeat(sql: Sql, replica: string, facts: string | undefined): Promise<boolean> {
  const [row] = await sql(
    `WITH before AS (SELECT ${POSTGRES_LEASES.silent} AS silent FROM ${SCHEMA}.replicas r WHERE r.id = $1)
      INSERT INTO ${SCHEMA}.replicas (id, name, seen_at, facts) VALUES ($1, $2, now(), $3)
      ON CONFLICT (id) DO UPDATE SET seen_at = now(), facts = excluded.facts
      RETURNING (SELECT silent FROM before) AS late`,
    [replica, hostname(), facts ?? null],
  );
  return row?.late === true;
}

/** The replicas that live or died a short time ago. @param self the replica that calls. */
export async function readReplicas(sql: Sql, self: string): Promise<readonly SeenReplica[]> {
  const rows = await sql(
    `SELECT id, facts, extract(epoch FROM seen_at) * 1000 AS seen, ${POSTGRES_LEASES.live} AS live FROM ${SCHEMA}.replicas r
      WHERE facts IS NOT NULL AND released_at IS NULL AND seen_at > now() - interval '${LISTED}' ORDER BY id`,
  );
  return rows.map(({ id, facts, seen, live }) => ({
    id: String(id),
    facts: String(facts),
    seenAt: Math.round(Number(seen)),
    live: live === true,
    self: id === self,
  }));
}

function readWindows(value: unknown): ReadonlySet<string> {
  const pairs = Array.isArray(value) ? value : [];
  return new Set(pairs.flatMap((pair) => (Array.isArray(pair) ? windowId(String(pair[0]), Number(pair[1])) : [])));
}
