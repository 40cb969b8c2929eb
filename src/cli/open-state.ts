import { openState, stateFile } from '../gateway/state/state-database.ts';
import { SqliteAdmin, type StateAdmin } from '../gateway/state-admin.ts';
import type { Io } from './io.ts';

/** Calls `work` with the gateway's state. @throws SvcError configuration_error if it can't be opened. */
export async function withState<T>(io: Io, work: (state: StateAdmin) => Promise<T>): Promise<T> {
  const database = await openState(stateFile(io));
  const state = new SqliteAdmin(database, undefined, () => database.close());
  try {
    return await work(state);
  } finally {
    await state.close();
  }
}
