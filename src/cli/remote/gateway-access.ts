import { loadSettings } from '../../config/load/load.ts';
import type { LimitSettings } from '../../config/settings/settings.ts';
import type { NewKey } from '../../gateway/access/key-store.ts';
import { describeKey } from '../../gateway/admin/key-view.ts';
import { budgetId, budgetRule } from '../../gateway/limits/limit-rules.ts';
import type { UsageQuery } from '../../gateway/reports/usage-query.ts';
import type { UsageReport } from '../../gateway/reports/usage-report.ts';
import type { Actor } from '../../gateway/state/audit-log.ts';
import type { StateAdmin } from '../../gateway/state-admin.ts';
import type { Key } from '../../protocol/admin-api/schemas.ts';
import { terminalInput } from '../cli-context.ts';
import { terminalActor } from '../input/terminal-actor.ts';
import type { Io } from '../io.ts';
import { withState } from '../open-state.ts';
import { AdminClient, type GatewayAccess } from './admin-client.ts';

/** Calls `work` with the gateway at an address, or with the state of this machine. */
export async function withGateway<T>(
  io: Io,
  address: string | undefined,
  work: (gateway: GatewayAccess) => Promise<T>,
): Promise<T> {
  if (address === undefined) return withState(io, (state) => work(new LocalGateway(state, terminalActor(io))));
  const { localOnly } = await loadSettings(terminalInput(io));
  const client = new AdminClient(address, io, localOnly);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

class LocalGateway implements GatewayAccess {
  readonly #state: StateAdmin;
  readonly #actor: Actor;

  constructor(state: StateAdmin, actor: Actor) {
    this.#state = state;
    this.#actor = actor;
  }

  async listKeys(): Promise<readonly Key[]> {
    const keys = await this.#state.listKeys();
    const rules = keys.flatMap(({ name, limits }) => limits.budgets.map((budget) => budgetRule(budget, { key: name })));
    const spent = rules.length === 0 ? new Map<string, number>() : await this.#state.spent(rules);
    const known = new Map(rules.map((rule) => [budgetId(rule), spent.get(budgetId(rule)) ?? 0]));
    return keys.map((key) => describeKey(key, (id) => known.get(id) ?? 0));
  }

  createKey(key: NewKey): Promise<string> {
    return this.#state.createKey(this.#actor, key);
  }

  updateKey(name: string, limits: Partial<LimitSettings>): Promise<void> {
    return this.#state.updateKey(this.#actor, name, limits);
  }

  rotateKey(name: string, graceMs: number): Promise<string> {
    return this.#state.rotateKey(this.#actor, name, graceMs);
  }

  revokeKey(name: string, cut: boolean): Promise<void> {
    return this.#state.revokeKey(this.#actor, name, cut);
  }

  usage(query: UsageQuery): Promise<UsageReport> {
    return this.#state.usage(query);
  }
}
