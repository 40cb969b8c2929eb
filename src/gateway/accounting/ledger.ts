import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Usage } from '../../wire/event.ts';
import type { Account } from '../access/account.ts';

/** One answered request. Contains numbers and names, no content. */
export interface LedgerRow {
  /** Unix milliseconds. */
  readonly at: number;
  readonly requestId: string;
  readonly key: string;
  readonly account: Account;
  readonly organization: string | undefined;
  readonly endpoint: string;
  readonly model: string;
  readonly byok: boolean;
  readonly outcome: string;
  readonly usage: Usage | undefined;
  /** USD; undefined if the model's prices are not known. */
  readonly cost: number | undefined;
  /** The upstream did not report the usage. */
  readonly estimated: boolean;
  readonly durationMs: number;
  readonly firstByteMs: number;
}

export interface LedgerTimes {
  /** Milliseconds for which rows are collected before a write, default 250. */
  readonly batchMs?: number;
  /** Milliseconds until a failed batch is tried again, default 2,000. */
  readonly retryMs?: number;
}

/** Maximum number of rows in a write, so that a batch does not delay a stream. */
const BATCH_ROWS = 500;
/** Maximum number of rows that wait while the disk can't be written. Beyond it, new requests are refused. */
const MAX_WAITING = 50_000;

const INSERT = `INSERT INTO usage (at, request_id, key, organization, endpoint, model, byok, outcome, input, output,
  cache_read, cache_write, cache_write_1h, reasoning, cost, estimated, duration_ms, first_byte_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * Writes usage to the state. Rows are kept in memory when an answer ends and written in batches. The account
 * counts the cost immediately. Rows that can't be written wait for another attempt.
 */
export class Ledger {
  readonly #database: DatabaseSync | undefined;
  readonly #times: Required<LedgerTimes>;
  readonly #failed: (thrown: unknown, waiting: number) => void;
  #waiting: LedgerRow[] = [];
  #timer: NodeJS.Timeout | undefined;
  #insert: StatementSync | undefined;
  #broken = false;

  constructor(
    database: DatabaseSync | undefined,
    failed: (thrown: unknown, waiting: number) => void,
    times: LedgerTimes = {},
  ) {
    this.#database = database;
    this.#failed = failed;
    this.#times = { batchMs: 250, retryMs: 2_000, ...times };
  }

  /** Number of rows that are not written yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether the last write failed. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Whether so many rows wait that further requests can't be accounted for. */
  get full(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  record(row: LedgerRow): void {
    if (!row.byok && row.cost !== undefined) row.account.spend(row.cost);
    if (this.#database === undefined) return;
    this.#waiting.push(row);
    if (this.#timer === undefined) this.#schedule(this.#times.batchMs);
    else if (this.#waiting.length === BATCH_ROWS && !this.#broken) this.#schedule(0);
  }

  /** Writes all waiting rows. @returns whether they are written. */
  flush(): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0) if (!this.#write(this.#waiting.length)) return false;
    return true;
  }

  #schedule(delay: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const written = this.#write(BATCH_ROWS);
      if (this.#waiting.length > 0) this.#schedule(written ? 0 : this.#times.retryMs);
    }, delay);
  }

  #write(most: number): boolean {
    const database = this.#database;
    const batch = this.#waiting.slice(0, most);
    if (database === undefined || batch.length === 0) return true;
    const spent = new Map<Account, { key: string; cost: number }>();
    try {
      database.exec('BEGIN IMMEDIATE');
      this.#insert ??= database.prepare(INSERT);
      for (const row of batch) {
        const refused = insertRow(this.#insert, row);
        if (refused) this.#failed(refused, this.#waiting.length);
        if (row.byok || row.cost === undefined || row.cost === 0) continue;
        const before = spent.get(row.account)?.cost ?? 0;
        spent.set(row.account, { key: row.key, cost: before + row.cost });
      }
      const spend = database.prepare('UPDATE keys SET spent = spent + ? WHERE name = ?');
      for (const { key, cost } of spent.values()) spend.run(cost, key);
      database.exec('COMMIT');
    } catch (thrown) {
      if (database.isTransaction) database.exec('ROLLBACK');
      this.#broken = true;
      this.#failed(thrown, this.#waiting.length);
      return false;
    }
    this.#broken = false;
    this.#waiting = this.#waiting.slice(batch.length);
    for (const [account, { cost }] of spent) account.stored(cost);
    return true;
  }
}

const SQLITE_CONSTRAINT = 19;

/** @returns an error if the row can never be written. It must not block later rows, and its cost still counts. */
function insertRow(insert: StatementSync, row: LedgerRow): Error | undefined {
  try {
    runInsert(insert, row);
    return undefined;
  } catch (thrown) {
    // The last byte of an extended code is the primary code (sqlite.org/rescode.html).
    const code = thrown instanceof Error && 'errcode' in thrown ? Number(thrown.errcode) : 0;
    if (!(thrown instanceof Error) || (code & 0xff) !== SQLITE_CONSTRAINT) throw thrown;
    return new Error(`the row of ${row.requestId} can’t be written: ${thrown.message}`, { cause: thrown });
  }
}

function runInsert(insert: StatementSync, row: LedgerRow): void {
  const { usage } = row;
  insert.run(
    row.at,
    row.requestId,
    row.key,
    row.organization ?? null,
    row.endpoint,
    row.model,
    row.byok ? 1 : 0,
    row.outcome,
    usage?.input ?? null,
    usage?.output ?? null,
    usage?.cacheRead ?? null,
    usage?.cacheWrite ?? null,
    usage?.cacheWrite1h ?? null,
    usage?.reasoning ?? null,
    row.cost ?? null,
    row.estimated ? 1 : 0,
    Math.round(row.durationMs),
    Math.round(row.firstByteMs),
  );
}
