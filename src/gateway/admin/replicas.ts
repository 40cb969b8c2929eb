import { hostname } from 'node:os';
import { parseJson } from '../../base/json.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { type Replica, type ReplicaFacts, replicaFacts } from './api/schemas.ts';
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

/** What this process tells the others. */
export function describeThisReplica(deps: GatewayDeps): ReplicaFacts {
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

/** All processes that share the state, this one first. What another release says and can't be read is left out. */
export async function listReplicas(deps: GatewayDeps): Promise<Replica[]> {
  const facts = describeThisReplica(deps);
  const self = { ...facts, id: processName(facts), self: true, seen_at: new Date().toISOString() };
  const seen = (await deps.shared?.listReplicas()) ?? [];
  const others = seen.flatMap(({ id, facts, seenAt, self: own }) => {
    const read = readFacts(facts);
    return own || !read ? [] : [{ ...read, id, self: false, seen_at: new Date(seenAt).toISOString() }];
  });
  // With Postgres, each worker is a gateway of its own, and was seen there.
  const workers = deps.shared === undefined ? await deps.workers?.replicas() : undefined;
  for (const text of workers ?? []) {
    const read = readFacts(text);
    if (read && read.pid !== facts.pid)
      others.push({ ...read, id: processName(read), self: false, seen_at: self.seen_at });
  }
  return [self, ...others.sort((a, b) => (a.started_at < b.started_at ? -1 : 1))];
}

function processName({ host, pid }: ReplicaFacts): string {
  return `${host}:${pid}`;
}

function readFacts(text: string): ReplicaFacts | undefined {
  return replicaFacts.safeParse(parseJson(text)).data;
}
