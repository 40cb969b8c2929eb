import { SvcError } from '../../wire/errors/svc-error.ts';
import { withoutSecrets } from '../servers/server-address.ts';
import { Unavailable } from '../servers/unavailable.ts';
import type { SharedState } from '../shared-state.ts';
import { SqlAdmin, type StateAdmin } from '../state-admin.ts';
import { Outbox } from './outbox.ts';
import { PasswordCommand } from './password-command.ts';
import { describeServer } from './postgres-address.ts';
import { PostgresState } from './postgres-admin.ts';
import { PostgresConnection } from './postgres-connection.ts';
import { migratePostgres } from './postgres-tables.ts';
import { Replica, type ReplicaInput } from './replica.ts';

/** Milliseconds until the first answer of the server. */
const OPEN_MS = 5_000;

/** Opens the state in Postgres for commands. @throws SvcError configuration_error if it can't be used. */
export async function openPostgres(url: string, password?: readonly string[]): Promise<StateAdmin> {
  return new SqlAdmin(new PostgresState(await connectPostgres(url, password)));
}

/**
 * A connection to a state of this release.
 *
 * @param password the program that prints the password, with its arguments.
 * @throws SvcError configuration_error if it can't be used.
 */
export async function connectPostgres(url: string, password?: readonly string[]): Promise<PostgresConnection> {
  const connection = new PostgresConnection(url, {
    connectMs: OPEN_MS,
    password: new PasswordCommand(() => password),
  });
  try {
    await migratePostgres(connection, OPEN_MS);
    return connection;
  } catch (thrown) {
    connection.close();
    throw unusable(url, thrown);
  }
}

export interface SharedStateInput extends Omit<ReplicaInput, 'outbox' | 'password'> {
  /** The program that prints the password, with its arguments. */
  readonly passwordCommand: () => readonly string[] | undefined;
  /** The path of the outbox with this number. */
  readonly outbox: (number: number) => string;
}

/** Opens the state in Postgres for a gateway. @throws SvcError configuration_error if it can't be used. */
export async function openReplica({
  outbox: fileOf,
  passwordCommand,
  ...input
}: SharedStateInput): Promise<SharedState> {
  const { url } = input;
  // An address that can't be read must not create files.
  describeServer(url());
  const outbox = await Outbox.open(fileOf);
  const replica = new Replica({ ...input, outbox, password: new PasswordCommand(passwordCommand) });
  try {
    await replica.open();
  } catch (thrown) {
    outbox.close();
    throw unusable(url(), thrown);
  }
  return replica;
}

/** The error about a state that can't be opened. It contains no credential. */
function unusable(url: string, thrown: unknown): SvcError {
  if (thrown instanceof SvcError && !(thrown instanceof Unavailable)) return thrown;
  const reason = thrown instanceof Unavailable ? thrown.reason : withoutSecrets(thrown, url);
  return new SvcError({
    errorType: 'configuration_error',
    message: `The gateway’s state at ${describeServer(url)} can’t be opened: ${reason}.`,
    action: 'Check gateway.state in svc.jsonc, and whether the database is running and accepts this user.',
    cause: reason,
  });
}
