import { chmodSync, closeSync, constants, mkdirSync, openSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { platformPath } from '../../base/real-path.ts';
import { svcFolder, type UserPlace } from '../../base/user-folders.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { migrate } from './migrations.ts';

/** The file for keys and the usage ledger, in the platform's data folder. */
export function stateFile(place: UserPlace, name = 'gateway.db'): string {
  return platformPath(place.platform).join(svcFolder('data', place), name);
}

/** `O_NONBLOCK` prevents waiting forever for the other end of a FIFO. Windows does not define it. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

/** Errors of a file that belongs to another user, and of file systems without permissions (SMB, FAT, some CSI drivers). */
const NO_PERMISSIONS = ['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL', 'ENOSYS'];

/**
 * Restricts the file to its owner. SQLite creates the write-ahead log and its index with the same permissions. A
 * container may run as another user of the group that may write the volume; then the owner's permissions stay.
 */
function restrictToOwner(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, APPEND, 0o600));
  try {
    chmodSync(file, 0o600);
  } catch (thrown) {
    if (!NO_PERMISSIONS.includes(errorCode(thrown))) throw thrown;
  }
}

function errorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}

/** Milliseconds that a terminal command waits while another process writes. */
const COMMAND_WAIT_MS = 5_000;
/** The same for a process that also serves streams. Failed writes are repeated later. */
const SERVING_WAIT_MS = 50;

/** Sets how long a write may block this process. */
export function waitForOthers(database: DatabaseSync, serving: boolean): void {
  database.exec(`PRAGMA busy_timeout = ${serving ? SERVING_WAIT_MS : COMMAND_WAIT_MS}`);
}

/**
 * Opens the state and creates it if needed. Commits are written to the write-ahead log without waiting for
 * the disk: no commit is lost if the process is killed; the last ones may be lost if the power fails.
 *
 * The state of an older release is migrated.
 *
 * @param file absolute path, or `:memory:`.
 * @throws SvcError configuration_error when it can't be opened.
 */
export async function openState(file: string): Promise<DatabaseSync> {
  return openDatabase(file, (database) => {
    // A commit of rows writes fewer pages if they are large, which takes less CPU. Only a new file gets them.
    database.exec('PRAGMA page_size = 16384');
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;');
    migrate(database);
  });
}

/** Opens a database that only its owner can read. @throws SvcError configuration_error when it can't be opened. */
export async function openDatabase(file: string, prepare: (database: DatabaseSync) => void): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite');
  let database: DatabaseSync | undefined;
  try {
    if (file !== ':memory:') restrictToOwner(file);
    database = new DatabaseSync(file, { timeout: COMMAND_WAIT_MS });
    prepare(database);
    return database;
  } catch (thrown) {
    database?.close();
    if (thrown instanceof SvcError) throw thrown;
    throw new SvcError({
      errorType: 'configuration_error',
      message: `The gateway’s state in ${file} can’t be opened: ${thrown instanceof Error ? thrown.message : thrown}.`,
      action: 'Check the folder’s permissions and the free space, or set XDG_DATA_HOME to another folder.',
      cause: thrown,
    });
  }
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** Whether `openDatabase` failed because the file is damaged. */
export function isDamaged(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const code = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : 0;
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** Opens a second connection to a database, which only reads. Undefined: the database is in memory. */
export async function openReader(database: DatabaseSync): Promise<DatabaseSync | undefined> {
  const file = database.prepare('PRAGMA database_list').get()?.file;
  if (typeof file !== 'string' || file === '') return undefined;
  const { DatabaseSync } = await import('node:sqlite');
  return new DatabaseSync(file, { readOnly: true, timeout: COMMAND_WAIT_MS });
}

/** Milliseconds between two checks of the state's path. */
const CHECK_MS = 1_000;

/**
 * Calls `replaced` once when the path no longer refers to the open file. From then on no other process reads the rows
 * that are written here, and a key that is revoked in the new file stays valid here. @returns a function that stops the
 * checks.
 */
export function watchState(file: string, replaced: () => void): () => void {
  const opened = statSync(file, { bigint: true });
  const timer = setInterval(async () => {
    const found = await stat(file, { bigint: true }).catch(() => undefined);
    if (found?.ino === opened.ino && found.dev === opened.dev) return;
    clearInterval(timer);
    replaced();
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
