import { loadSettings } from '../config/load/load.ts';
import { openState, stateFile } from '../gateway/state/state-database.ts';
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
