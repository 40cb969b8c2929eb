import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { loadSettings } from '../config/load/load.ts';
import type { Credential } from '../config/settings/origin.ts';
import type { GatewaySettings } from '../config/settings/settings.ts';
import type { Log } from '../gateway/accounting/log.ts';
import type { GatewayStateInput } from '../gateway/gateway-state.ts';
import { openState, stateFile, waitForOthers, watchState } from '../gateway/state/state-database.ts';
import { type StateAdmin, sqliteAdmin } from '../gateway/state-admin.ts';
import { requireManaged, terminalInput } from './cli-context.ts';
import { type Io, UsageError } from './io.ts';

/** Calls `work` with the gateway's state. @throws SvcError configuration_error if it can't be opened. */
export async function withState<T>(io: Io, work: (state: StateAdmin) => Promise<T>): Promise<T> {
  const settings = await loadSettings(terminalInput(io));
  requireManaged(settings);
  const state = await openAdmin(io, settings.gateway);
  try {
    return await work(state);
  } finally {
    await state.close();
  }
}

async function openAdmin(io: Io, { state, statePasswordCommand }: GatewaySettings): Promise<StateAdmin> {
  if (state !== undefined) {
    const { openPostgres } = await import('../gateway/postgres/open-postgres.ts');
    return openPostgres(state.secret.reveal(), statePasswordCommand);
  }
  const database = await openState(stateFile(io));
  return sqliteAdmin(database, undefined, () => database.close());
}

/**
 * Copies a state to an empty one. Each is `sqlite`, `postgres` for the database of the configuration, an address that
 * begins with `postgres:`, or the path of a SQLite file.
 *
 * @throws SvcError invalid_request if it can't be copied.
 */
export async function copyState(io: Io, from: string, to: string): Promise<void> {
  const settings = await loadSettings(terminalInput(io));
  requireManaged(settings);
  const addressOf = (name: string) => {
    if (/^postgres(ql)?:/.test(name)) return name;
    if (name !== 'postgres') return undefined;
    const configured = settings.gateway.state?.secret.reveal();
    if (configured === undefined) throw new UsageError('gateway.state in svc.jsonc names no Postgres database.');
    return configured;
  };
  const [source, target] = [addressOf(from), addressOf(to)];
  const address = source ?? target;
  if (address === undefined || (source !== undefined && target !== undefined)) {
    throw new UsageError('One of both states must be SQLite and the other one Postgres.');
  }
  const file = source === undefined ? from : to;
  const { connectPostgres } = await import('../gateway/postgres/open-postgres.ts');
  const { copyToPostgres, copyToSqlite } = await import('../gateway/postgres/copy-state.ts');
  const named = address === settings.gateway.state?.secret.reveal();
  const connection = await connectPostgres(address, named ? settings.gateway.statePasswordCommand : undefined);
  const database = await openState(file === 'sqlite' ? stateFile(io) : path.resolve(io.cwd, file));
  try {
    if (source === undefined) await copyToPostgres(database, connection);
    else await copyToSqlite(connection, database);
  } finally {
    database.close();
    connection.close();
  }
}

/** The state of a gateway. */
export interface OpenedState {
  readonly state: Pick<GatewayStateInput, 'database' | 'shared' | 'leases'>;
  /** Whether waiting for other processes would delay streams. */
  serving(on: boolean): void;
  close(): Promise<void>;
}

const STATE_REPLACED =
  'the state was removed or replaced: its keys and usage take effect when the gateway is restarted';

/**
 * Opens the state for `svc serve`.
 *
 * @param workers number of workers, if this is one of several.
 * @throws SvcError configuration_error if it can't be opened.
 */
export async function openGatewayState(
  io: Io,
  current: () => GatewaySettings,
  log: Log,
  workers?: number,
): Promise<OpenedState> {
  const opened = await openStored(io, current, log);
  // With Postgres, each worker is a gateway of its own.
  if (workers === undefined || opened.state.database === undefined) return opened;
  try {
    const { LocalLeases } = await import('../gateway/workers/local-leases.ts');
    const leases = await LocalLeases.open({
      file: stateFile(io, 'gateway-leases.db'),
      state: stateFile(io),
      log,
      replica: randomUUID(),
      workers,
    });
    return {
      ...opened,
      state: { ...opened.state, leases },
      close: async () => {
        leases.dispose();
        await opened.close();
      },
    };
  } catch (thrown) {
    await opened.close();
    throw thrown;
  }
}

async function openStored(io: Io, current: () => GatewaySettings, log: Log): Promise<OpenedState> {
  const settings = current();
  if (settings.state !== undefined) {
    const { openReplica } = await import('../gateway/postgres/open-postgres.ts');
    const { describeServer } = await import('../gateway/postgres/postgres-address.ts');
    const shared = await openReplica({
      url: currentAddress(settings.state, () => current().state, describeServer),
      passwordCommand: () => current().statePasswordCommand,
      outbox: (number) => stateFile(io, `gateway-outbox-${number}.db`),
      log,
      maxStaleMs: settings.maxStale,
      sharedRates: settings.rateStore === 'state',
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

/**
 * The address of a server as it is now: a rotated password takes effect with the next connection. Another server takes
 * effect with the next start, because the gateway would have two states.
 */
function currentAddress(
  first: Credential,
  current: () => Credential | undefined,
  describe: (url: string) => string,
): () => string {
  const started = first.secret.reveal();
  const server = describe(started);
  return () => {
    const url = current()?.secret.reveal();
    try {
      return url !== undefined && describe(url) === server ? url : started;
    } catch {
      // It can't be read. The problem of the configuration is reported where it is loaded.
      return started;
    }
  };
}
