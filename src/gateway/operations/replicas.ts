import { parseJson } from '../../base/json.ts';
import { type Replica, type ReplicaFacts, replicaFacts } from '../../protocol/admin-api/shared-schemas.ts';
import type { Peers, SharedState } from '../shared-state.ts';
import { describeThisReplica, type ThisProcess } from './presence.ts';

export interface Processes extends ThisProcess {
  /** Absent: the state is local. */
  readonly shared?: Pick<SharedState, 'waiting'> | undefined;
  /** Absent: no other process shares the state. */
  readonly peers?: Pick<Peers, 'listReplicas'> | undefined;
}

/** All processes that share the state, this one first. Reports of another release that can't be read are left out. */
export async function listReplicas(deps: Processes): Promise<Replica[]> {
  const facts = describeThisReplica(deps);
  const self = { ...facts, id: processName(facts), self: true, seen_at: new Date().toISOString() };
  const seen = (await deps.peers?.listReplicas()) ?? [];
  const peers = seen.flatMap(({ id, facts, seenAt, self: own }) => {
    const read = readFacts(facts);
    return own || !read ? [] : [{ ...read, id, self: false, seen_at: new Date(seenAt).toISOString() }];
  });
  return [self, ...peers.sort((a, b) => (a.started_at < b.started_at ? -1 : 1))];
}

function processName({ host, pid }: ReplicaFacts): string {
  return `${host}:${pid}`;
}

function readFacts(text: string): ReplicaFacts | undefined {
  return replicaFacts.safeParse(parseJson(text)).data;
}
