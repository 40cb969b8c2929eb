import { hostname } from 'node:os';
import type { Settings } from '../../config/settings/settings.ts';
import type { ReplicaFacts } from '../../protocol/admin-api/shared-schemas.ts';
import type { Ledger } from '../accounting/ledger.ts';
import type { Metrics } from '../accounting/metrics.ts';
import type { SharedState } from '../shared-state.ts';
import { configHash } from './config-hash.ts';

/** Where this gateway listens, and whether it ends. */
export class Presence {
  address: string | undefined;
  draining = false;
  #hash: { readonly of: Settings; readonly text: string } | undefined;

  /** `configHash` of settings that rarely change. */
  configHash(settings: Settings): string {
    if (this.#hash?.of !== settings) this.#hash = { of: settings, text: configHash(settings) };
    return this.#hash.text;
  }
}

/** Parts of a process that it describes to its peers. */
export interface ThisProcess {
  /** The version of Svc. */
  readonly version: string;
  readonly settings: () => Settings;
  readonly presence: Presence;
  readonly metrics: Pick<Metrics, 'active'>;
  readonly ledger: Pick<Ledger, 'waiting' | 'broken'>;
  /** Absent: the state is local. */
  readonly shared?: Pick<SharedState, 'waiting'> | undefined;
}

/** The description of this process for its peers. */
export function describeThisReplica(deps: ThisProcess): ReplicaFacts {
  return {
    version: deps.version,
    host: hostname(),
    pid: process.pid,
    address: deps.presence.address ?? null,
    started_at: new Date(Math.round(performance.timeOrigin)).toISOString(),
    config_hash: deps.presence.configHash(deps.settings()),
    active_requests: deps.metrics.active,
    draining: deps.presence.draining,
    ledger_rows_waiting: deps.ledger.waiting + (deps.shared?.waiting ?? 0),
    ledger: deps.ledger.broken ? 'failing' : 'ok',
    memory_bytes: process.memoryUsage.rss(),
  };
}
