import { loadSettings } from '../config/load/load.ts';
import type { GatewaySettings } from '../config/settings/settings.ts';
import type { Log } from '../gateway/gateway-deps.ts';
import type { GatewayStateInput } from '../gateway/gateway-state.ts';
import { openState, stateFile, waitForOthers, watchState } from '../gateway/state/state-database.ts';
import { SqliteAdmin, type StateAdmin } from '../gateway/state-admin.ts';
import { requireManaged, terminalInput } from './cli-context.ts';
import type { Io } from './io.ts';

/** Calls `work` with the gateway's state. @throws SvcError configuration_error if it can't be opened. */
export async function withState<T>(io: Io, work: (state: StateAdmin) => Promise<T>): Promise<T> {
  const settings = await loadSettings(terminalInput(io));
  requireManaged(settings);
  const state = await openAdmin(io, settings.gateway.state?.secret.reveal());
  try {
    return await work(state);
  } finally {
    await state.close();
  }
}

async function openAdmin(io: Io, postgres: string | undefined): Promise<StateAdmin> {
  if (postgres !== undefined) {
    const { openPostgres } = await import('../gateway/postgres/open-postgres.ts');
    return openPostgres(postgres);
  }
  const database = await openState(stateFile(io));
  return new SqliteAdmin(database, undefined, () => database.close());
}

/** The state of a gateway. */
export interface OpenedState {
  readonly state: Pick<GatewayStateInput, 'database' | 'shared'>;
  /** Whether waiting for other processes would delay streams. */
  serving(on: boolean): void;
  close(): Promise<void>;
}

const STATE_REPLACED =
  'the state was removed or replaced: its keys and usage take effect when the gateway is restarted';

/** Opens the state for `svc serve`. @throws SvcError configuration_error if it can't be opened. */
export async function openGatewayState(io: Io, current: () => GatewaySettings, log: Log): Promise<OpenedState> {
  const settings = current();
  if (settings.state !== undefined) {
    const { openReplica } = await import('../gateway/postgres/open-postgres.ts');
    const shared = await openReplica({
      url: settings.state.secret.reveal(),
      outbox: (number) => stateFile(io, `gateway-outbox-${number}.db`),
      log,
      maxStaleMs: settings.maxStale,
      retention: () => current().retention,
    });
    return { state: { shared }, serving: () => undefined, close: () => shared.dispose() };
  }
  const database = await openState(stateFile(io));
  const unwatch = watchState(stateFile(io), () => log.error({ alert: 'state-replaced' }, STATE_REPLACED));
  return {
    state: { database },
    serving: (on) => waitForOthers(database, on),
    close: async () => {
      unwatch();
      database.close();
    },
  };
}
