import { parseJson } from '../../base/json.ts';
import { type Replica, type ReplicaFacts, replicaFacts } from '../../protocol/admin-api/shared-schemas.ts';
import type { SharedState } from '../shared-state.ts';
import { describeThisReplica, type ThisProcess } from './presence.ts';

export interface Processes extends ThisProcess {
  /** Absent: the state is local. */
  readonly shared?: Pick<SharedState, 'waiting' | 'listReplicas'> | undefined;
  /** The descriptions of all workers of this gateway, this one included. Absent: there is one process. */
  readonly workers?: { replicas(): Promise<readonly string[]> } | undefined;
}

/** All processes that share the state, this one first. Reports of another release that can't be read are left out. */
export async function listReplicas(deps: Processes): Promise<Replica[]> {
  const facts = describeThisReplica(deps);
  const self = { ...facts, id: processName(facts), self: true, seen_at: new Date().toISOString() };
  const seen = (await deps.shared?.listReplicas()) ?? [];
  const peers = seen.flatMap(({ id, facts, seenAt, self: own }) => {
    const read = readFacts(facts);
    return own || !read ? [] : [{ ...read, id, self: false, seen_at: new Date(seenAt).toISOString() }];
  });
  // With Postgres, each worker is a gateway of its own, and was seen there.
  const workers = deps.shared === undefined ? await deps.workers?.replicas() : undefined;
  for (const text of workers ?? []) {
    const read = readFacts(text);
    if (read && read.pid !== facts.pid)
      peers.push({ ...read, id: processName(read), self: false, seen_at: self.seen_at });
  }
  return [self, ...peers.sort((a, b) => (a.started_at < b.started_at ? -1 : 1))];
}

function processName({ host, pid }: ReplicaFacts): string {
  return `${host}:${pid}`;
}

function readFacts(text: string): ReplicaFacts | undefined {
  return replicaFacts.safeParse(parseJson(text)).data;
}
