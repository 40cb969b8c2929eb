import { randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import * as z from 'zod';
import { limits } from '../../config/schema/limits.ts';
import { ADMIN_SCOPES } from '../../protocol/admin-api/key-properties.ts';
import type { StoredGatewayKey } from '../access/key-store.ts';
import type { UsageRow } from '../state/ledger-columns.ts';
import { rowToJson } from '../state/ledger-columns.ts';
import { openDatabase } from '../state/state-database.ts';
import { transaction } from '../state/transaction.ts';

const TABLES = `
CREATE TABLE IF NOT EXISTS batches (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, replica TEXT NOT NULL, count INTEGER NOT NULL, rows TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS sent (last INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS refused (replica TEXT NOT NULL, row TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS snapshot (
  id INTEGER PRIMARY KEY CHECK (id = 1), at INTEGER NOT NULL, server TEXT NOT NULL, keys TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS replicas (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS timelines (id INTEGER PRIMARY KEY CHECK (id = 1), timeline TEXT NOT NULL) STRICT;
`;
/** Moves rows from the earlier format. Sent ones are sent again, because Postgres counts each row once. */
const MOVE_ROWS = `
INSERT INTO batches (replica, count, rows)
  SELECT replica, count(*), group_concat(row, char(10)) FROM outbox WHERE refused = 0 GROUP BY replica, seq / 500;
INSERT INTO refused SELECT replica, row FROM outbox WHERE refused = 1;
DROP TABLE outbox;
`;

/** Batches of one replica that Postgres does not have yet. */
export interface WaitingRows {
  readonly replica: string;
  /** Number of the batch before them. */
  readonly after: number;
  /** Numbers of the batches. */
  readonly first: number;
  readonly last: number;
  /** Results of `rowToJson`. */
  readonly rows: readonly string[];
  /** They are in memory only, because the disk could not be written. */
  readonly unwritten?: true;
}

/** The keys that a replica knew at a time. */
export interface KeySnapshot {
  /** Unix milliseconds. */
  readonly at: number;
  readonly keys: readonly StoredGatewayKey[];
}

/** How many processes of a machine may use one folder. */
const MAX_FILES = 100;
/** Maximum number of rows in a batch. */
const BATCH_ROWS = 500;
/** Maximum number of rows in memory. They are sent twice a second if the server can be written. */
const MAX_UNWRITTEN = 5_000;
/** Milliseconds for which rows are kept after they were sent. A standby that takes over may lack the last ones. */
const KEPT_MS = 15 * 60_000;

/**
 * The part of a replica on its own disk: rows that Postgres does not have yet, and the last known keys. One process uses
 * a file at a time; the next one that takes the file sends the rest.
 *
 * Rows are stored in batches as they were written, and batches are sent in their order. So the cost of a row is that of
 * its text, and a single number shows which batches were sent.
 */
export class Outbox {
  /** The id of this process as a replica. A restarted process is another replica, because it spends other leases. */
  readonly replica = randomUUID();
  /** Replicas that used this file before and whose end Postgres does not know. */
  readonly earlier: readonly string[];
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #next: StatementSync;
  #timeline: string | undefined;
  /** Number of the last batch that was sent. */
  #sentUpTo: number;
  /** Number of rows on the disk that wait. */
  #waiting: number;
  /** Rows that wait in memory. Replaced, never changed, so that rows that are being sent are known again. */
  #unwritten: readonly string[] = [];
  /** The rows of the result of `next` that is being sent. */
  #sending: readonly string[] = [];
  #unwrittenLimit = MAX_UNWRITTEN;

  /** Opens the first file of the folder that no process uses. @throws SvcError configuration_error if none can be. */
  static async open(fileOf: (number: number) => string): Promise<Outbox> {
    for (let number = 1; ; number += 1) {
      try {
        const database = await openDatabase(fileOf(number), (opened) => {
          // The lock ends with the process, also if it is killed.
          opened.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL');
          opened.exec('PRAGMA synchronous = NORMAL');
          transaction(opened, () => createTables(opened));
        });
        return new Outbox(database);
      } catch (thrown) {
        if (number >= MAX_FILES || !isBusy(thrown)) throw thrown;
      }
    }
  }

  private constructor(database: DatabaseSync) {
    this.#database = database;
    this.earlier = database
      .prepare('SELECT id FROM replicas')
      .all()
      .map(({ id }) => String(id));
    database.prepare('INSERT INTO replicas (id) VALUES (?)').run(this.replica);
    this.#insert = database.prepare('INSERT INTO batches (replica, count, rows) VALUES (?, ?, ?)');
    this.#next = database.prepare('SELECT seq, replica, rows FROM batches WHERE seq > ? ORDER BY seq');
    this.#sentUpTo = Number(database.prepare('SELECT coalesce(max(last), 0) AS last FROM sent').get()?.last);
    this.#waiting = this.#countWaiting();
    const timeline = database.prepare('SELECT timeline FROM timelines').get()?.timeline;
    this.#timeline = timeline === undefined ? undefined : String(timeline);
  }

  /** Number of rows that Postgres does not have yet. */
  get waiting(): number {
    return this.#waiting + this.#unwritten.length;
  }

  get kept(): number {
    return this.#unwritten.length;
  }

  /** @throws an error if the disk can't be written. */
  write(rows: readonly UsageRow[]): void {
    const all = [...this.#unwritten, ...rows.map(rowToJson)];
    transaction(this.#database, () => this.#insertRows(this.replica, all));
    this.#waiting += all.length;
    // Those that are being sent are sent again from the disk. Postgres counts each row once.
    this.#unwritten = [];
    this.#sending = [];
  }

  keep(rows: readonly UsageRow[]): boolean {
    if (this.#unwritten.length + rows.length > MAX_UNWRITTEN) return false;
    this.#unwritten = [...this.#unwritten, ...rows.map(rowToJson)];
    return true;
  }

  /** The oldest batches that wait, of one replica. @param limit of rows, unless the first batch has more. */
  next(limit: number): WaitingRows | undefined {
    const waiting: string[] = [];
    let found: Omit<WaitingRows, 'rows'> | undefined;
    for (const { seq, replica: name, rows: text } of this.#next.iterate(this.#sentUpTo)) {
      const [last, replica, rows] = [Number(seq), String(name), String(text).split('\n')];
      if (found !== undefined && (replica !== found.replica || waiting.length + rows.length > limit)) break;
      found = { replica, after: this.#sentUpTo, first: found?.first ?? last, last };
      waiting.push(...rows);
    }
    return found === undefined ? this.#nextUnwritten(limit) : { ...found, rows: waiting };
  }

  #nextUnwritten(limit: number): WaitingRows | undefined {
    const rows = this.#unwritten.slice(0, Math.min(limit, this.#unwrittenLimit));
    this.#sending = rows;
    const { replica } = this;
    return rows.length === 0 ? undefined : { replica, after: 0, first: 0, last: 0, rows, unwritten: true };
  }

  /** Postgres has the result of `next`. @throws an error if the disk can't be written: the next process repeats it. */
  sent({ after, last, rows, unwritten }: WaitingRows, now = Date.now()): void {
    if (unwritten) return this.#forget(rows);
    // Meanwhile `sendAgain` was called.
    if (after !== this.#sentUpTo) return;
    this.#sentUpTo = last;
    this.#waiting -= rows.length;
    this.#database.prepare('INSERT INTO sent VALUES (?, ?)').run(last, now);
  }

  /**
   * Postgres can't store a row of the result of `next`. Several rows of one batch are sent again as two batches.
   *
   * @returns whether it is a single row. It is set aside.
   */
  refused({ replica, first, rows, unwritten }: WaitingRows): boolean {
    const half = Math.ceil(rows.length / 2);
    if (unwritten) {
      this.#unwrittenLimit = half;
      if (rows.length === 1) this.#forget(rows);
      return rows.length === 1;
    }
    transaction(this.#database, () => {
      this.#database.prepare('DELETE FROM batches WHERE seq = ?').run(first);
      if (rows.length === 1) this.#database.prepare('INSERT INTO refused VALUES (?, ?)').run(replica, rows[0] ?? '');
      else for (const part of [rows.slice(0, half), rows.slice(half)]) this.#insertRows(replica, part);
    });
    if (rows.length === 1) this.#waiting -= 1;
    return rows.length === 1;
  }

  /** Rows of the memory were stored, or can't be. */
  #forget(rows: readonly string[]): void {
    if (this.#sending === rows) this.#unwritten = this.#unwritten.slice(rows.length);
    this.#sending = [];
    this.#unwrittenLimit = MAX_UNWRITTEN;
  }

  /** Sends the rows of the last minutes once more. Postgres counts each row once. */
  sendAgain(): void {
    this.#sentUpTo = 0;
    this.#waiting = this.#countWaiting();
    this.#database.exec('DELETE FROM sent');
  }

  dropOld(now = Date.now()): void {
    const before = now - KEPT_MS;
    transaction(this.#database, () => {
      const old = 'SELECT max(last) FROM sent WHERE at < ?';
      this.#database.prepare(`DELETE FROM batches WHERE seq <= (${old})`).run(before);
      this.#database.prepare('DELETE FROM sent WHERE at < ?').run(before);
    });
  }

  #insertRows(replica: string, rows: readonly string[]): void {
    for (let from = 0; from < rows.length; from += BATCH_ROWS) {
      const batch = rows.slice(from, from + BATCH_ROWS);
      this.#insert.run(replica, batch.length, batch.join('\n'));
    }
  }

  #countWaiting(): number {
    const count = this.#database.prepare('SELECT coalesce(sum(count), 0) AS rows FROM batches WHERE seq > ?');
    return Number(count.get(this.#sentUpTo)?.rows);
  }

  /** Postgres knows that a replica ended, so its leases can be taken back. */
  ended(replica: string): void {
    this.#database.prepare('DELETE FROM replicas WHERE id = ?').run(replica);
  }

  /** Identifies the server and the standby that took over last. */
  get timeline(): string | undefined {
    return this.#timeline;
  }

  set timeline(timeline: string) {
    this.#timeline = timeline;
    this.#database.prepare('INSERT OR REPLACE INTO timelines VALUES (1, ?)').run(timeline);
  }

  saveKeys(keys: readonly StoredGatewayKey[], server: string, at = Date.now()): void {
    this.#database.prepare('INSERT OR REPLACE INTO snapshot VALUES (1, ?, ?, ?)').run(at, server, JSON.stringify(keys));
  }

  /** The keys of the snapshot are still those of the server. */
  keysConfirmed(at = Date.now()): void {
    this.#database.prepare('UPDATE snapshot SET at = ?').run(at);
  }

  /** @param server keys of another one are not used. */
  readKeys(server: string): KeySnapshot | undefined {
    const row = this.#database.prepare('SELECT at, keys FROM snapshot WHERE server = ?').get(server);
    if (row === undefined) return undefined;
    const parsed = KEYS.safeParse(JSON.parse(String(row.keys)));
    return parsed.success ? { at: Number(row.at), keys: parsed.data } : undefined;
  }

  close(): void {
    this.#database.close();
  }
}

function createTables(database: DatabaseSync): void {
  database.exec(TABLES);
  const earlier = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'outbox'").get();
  if (earlier !== undefined) database.exec(MOVE_ROWS);
}

const SQLITE_BUSY = 5;

function isBusy(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const code = cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : 0;
  return (code & 0xff) === SQLITE_BUSY;
}

const KEYS = z.array(
  z.object({
    name: z.string(),
    organization: z.string().exactOptional(),
    user: z.string().exactOptional(),
    admin: z.enum(ADMIN_SCOPES).exactOptional(),
    spent: z.number(),
    limits,
    createdAt: z.number(),
    expiresAt: z.number().exactOptional(),
    revokedAt: z.number().exactOptional(),
    cut: z.boolean().exactOptional(),
    hashes: z.array(z.object({ hash: z.string(), validUntil: z.number().exactOptional() })),
  }),
);
