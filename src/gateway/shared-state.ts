import type { StoredGatewayKey } from './access/key-store.ts';
import type { RowStore } from './accounting/ledger.ts';
import type { AlertClaims } from './limits/alerts.ts';
import type { SharedBudgets } from './limits/budget-share.ts';
import type { LeasingGateway } from './limits/lease.ts';
import type { SharedRates } from './limits/rate-share.ts';
import type { StateAdmin } from './state-admin.ts';

/** A state on a server that several gateways share. It works in the background: no request waits for it. */
export interface SharedState extends SharedLimits {
  readonly admin: StateAdmin;
  /** Keeps rows on the local disk until the server has them. */
  readonly rows: RowStore;
  readonly alerts: AlertClaims;
  /** The server can't be written; it does not answer; or it has not for so long that keys must not be used. */
  readonly status: 'ok' | 'read-only' | 'away' | 'stale';
  readonly stale: boolean;
  /** Passes the keys to the gateway, now and after each change. */
  attach(gateway: SharingGateway): void;
  follow(): void;
  /** Rows on the local disk that the server does not have yet. */
  readonly waiting: number;
  dispose(): Promise<void>;
}

/** The processes that share a state. With each heartbeat, a process reports about itself. */
export interface Peers {
  /** Begins to send reports of this process, and to read those of the others. */
  join(reporter: PeerReporter): void;
  /** The last report of each process, of the last minutes. */
  listReplicas(): Promise<readonly SeenReplica[]>;
}

export interface PeerReporter {
  /** JSON. Peers read its member `live` with each heartbeat, and the others when someone wants to see them. */
  report(): string;
  /** Called with each heartbeat. @param facts the reports of running peers with that member, by id of the process. */
  read(facts: ReadonlyMap<string, string>): void;
}

/**
 * For Postgres and SQLite: the report of a process may have the member `live`. Databases only compare reports as text,
 * because one that a database can't read as JSON would fail the heartbeats of all peers.
 */
export const MAY_HAVE_LIVE = `facts LIKE '%"live":%'`;

export interface SeenReplica {
  readonly id: string;
  /** As `PeerReporter.report` gave them. */
  readonly facts: string;
  /** Unix milliseconds. */
  readonly seenAt: number;
  /** Its heartbeats arrive. */
  readonly live: boolean;
  readonly self: boolean;
}

/**
 * Leases of budgets and rates, and heartbeats, for a process that shares its limits with peers. They are renewed in the
 * background: no request waits for it.
 */
export interface SharedLimits extends Peers {
  readonly budgets: SharedBudgets;
  /** Absent: each gateway counts alone. */
  readonly rates?: SharedRates | undefined;
  attach(gateway: LeasingGateway): void;
  /** Resolves when the gateway has its first leases, or they can’t be granted. */
  ready(): Promise<void>;
}

/** The parts of a gateway that its shared state uses. */
export interface SharingGateway extends LeasingGateway {
  /** Replaces the keys that requests may use. */
  keys(keys: readonly StoredGatewayKey[]): void;
  /** Creates the limits of keys, before requests may use them. */
  limits(keys: readonly StoredGatewayKey[]): void;
}
