import { randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { z } from 'zod';
import type { StoredGatewayKey } from '../access/key-store.ts';
import { adminScope } from '../admin/api/schemas.ts';
import { openDatabase } from '../state/state-database.ts';
import { transaction } from '../state/transaction.ts';
import type { UsageRow } from '../state/usage-tables.ts';
import { rowToJson } from './postgres-rows.ts';

const TABLES = `
CREATE TABLE IF NOT EXISTS outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, replica TEXT NOT NULL, row TEXT NOT NULL,
  sent_at INTEGER, refused INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS outbox_waiting ON outbox (seq) WHERE sent_at IS NULL;
CREATE INDEX IF NOT EXISTS outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS snapshot (
  id INTEGER PRIMARY KEY CHECK (id = 1), at INTEGER NOT NULL, server TEXT NOT NULL, keys TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS replicas (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS timelines (id INTEGER PRIMARY KEY CHECK (id = 1), timeline TEXT NOT NULL) STRICT;
`;

/** Rows of one replica that Postgres does not have yet. */
export interface WaitingRows {
  readonly replica: string;
  /** Numbers of the rows. */
  readonly first: number;
  readonly last: number;
  /** Results of `rowToJson`. */
  readonly rows: readonly string[];
}

/** The keys that a replica knew at a time. */
export interface KeySnapshot {
  /** Unix milliseconds. */
  readonly at: number;
  readonly keys: readonly StoredGatewayKey[];
}

/** How many processes of a machine may use one folder. */
const MAX_FILES = 100;
/** Milliseconds for which rows are kept after they were sent. A standby that takes over may lack the last ones. */
const KEPT_MS = 15 * 60_000;

/**
 * What a replica keeps on its own disk: rows that Postgres does not have yet, and the last known keys. One process uses
 * a file at a time; the next one that takes the file sends what is left.
 */
export class Outbox {
  /** The id of this process as a replica. A restarted process is another replica, because it spends other leases. */
  readonly replica = randomUUID();
  /** Replicas that used this file before and whose end Postgres does not know. */
  readonly earlier: readonly string[];
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #next: StatementSync;
  /** Number of rows that wait. */
  #waiting: number;

  /** Opens the first file of the folder that no process uses. @throws SvcError configuration_error if none can be. */
  static async open(fileOf: (number: number) => string): Promise<Outbox> {
    for (let number = 1; ; number += 1) {
      try {
        const database = await openDatabase(fileOf(number), (opened) => {
          // The lock ends with the process, also if it is killed.
          opened.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL');
          opened.exec('PRAGMA synchronous = NORMAL');
          transaction(opened, () => opened.exec(TABLES));
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
    this.#insert = database.prepare('INSERT INTO outbox (replica, row) VALUES (?, ?)');
    this.#next = database.prepare(
      'SELECT seq, replica, row FROM outbox WHERE sent_at IS NULL AND seq > ? ORDER BY seq LIMIT ?',
    );
    this.#waiting = Number(
      database.prepare('SELECT count(*) AS waiting FROM outbox WHERE sent_at IS NULL').get()?.waiting,
    );
  }

  /** Number of rows that Postgres does not have yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** @throws an error if the disk can't be written. */
  write(rows: readonly UsageRow[]): void {
    transaction(this.#database, () => {
      for (const row of rows) this.#insert.run(this.replica, rowToJson(row));
    });
    this.#waiting += rows.length;
  }

  /** The oldest rows that wait, of one replica. */
  next(limit: number, after = 0): WaitingRows | undefined {
    const found = this.#next.all(after, limit).map(({ seq, replica, row }) => ({
      seq: Number(seq),
      replica: String(replica),
      row: String(row),
    }));
    const [first] = found;
    if (first === undefined) return undefined;
    const own = found.filter(({ replica }) => replica === first.replica);
    const last = own.at(-1) ?? first;
    return { replica: first.replica, first: first.seq, last: last.seq, rows: own.map(({ row }) => row) };
  }

  /** @param refused Postgres can't store them. */
  sent({ replica, first, last, rows }: WaitingRows, refused = false, now = Date.now()): void {
    this.#database
      .prepare(
        'UPDATE outbox SET sent_at = ?, refused = ? WHERE seq BETWEEN ? AND ? AND replica = ? AND sent_at IS NULL',
      )
      .run(now, refused ? 1 : 0, first, last, replica);
    this.#waiting -= rows.length;
  }

  /** Sends what was sent in the last minutes once more. Postgres counts each row once. */
  sendAgain(): void {
    const { changes } = this.#database
      .prepare('UPDATE outbox SET sent_at = NULL WHERE sent_at IS NOT NULL AND refused = 0')
      .run();
    this.#waiting += Number(changes);
  }

  dropOld(now = Date.now()): void {
    this.#database.prepare('DELETE FROM outbox WHERE sent_at < ? AND refused = 0').run(now - KEPT_MS);
  }

  /** Postgres knows that a replica ended, so its leases can be taken back. */
  ended(replica: string): void {
    this.#database.prepare('DELETE FROM replicas WHERE id = ?').run(replica);
  }

  /** Identifies the server and the standby that took over last. */
  get timeline(): string | undefined {
    const row = this.#database.prepare('SELECT timeline FROM timelines').get();
    return row === undefined ? undefined : String(row.timeline);
  }

  set timeline(timeline: string) {
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
    admin: adminScope.exactOptional(),
    spent: z.number(),
    limits: z.object({
      budgets: z.array(
        z.object({
          usd: z.number(),
          period: z.enum(['total', 'day', 'week', 'month']),
          timeZone: z.string(),
          mode: z.enum(['soft', 'hard']),
          model: z.string(),
        }),
      ),
      rates: z.array(
        z.object({
          requests: z.number().exactOptional(),
          tokens: z.number().exactOptional(),
          parallel: z.number().exactOptional(),
          model: z.string(),
        }),
      ),
    }),
    createdAt: z.number(),
    expiresAt: z.number().exactOptional(),
    revokedAt: z.number().exactOptional(),
    cut: z.boolean().exactOptional(),
    hashes: z.array(z.object({ hash: z.string(), validUntil: z.number().exactOptional() })),
  }),
);
