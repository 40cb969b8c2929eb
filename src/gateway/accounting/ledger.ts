import type { DatabaseSync } from 'node:sqlite';
import type { Account } from '../access/account.ts';
import { transaction } from '../state/transaction.ts';
import { type UsageRow, UsageTables } from '../state/usage-tables.ts';

export interface LedgerRow extends UsageRow {
  readonly account: Account;
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
  #tables: UsageTables | undefined;
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
    try {
      transaction(database, () => {
        this.#tables ??= new UsageTables(database);
        this.#tables.write(batch, (error) => this.#failed(error, this.#waiting.length));
      });
    } catch (thrown) {
      this.#broken = true;
      this.#failed(thrown, this.#waiting.length);
      return false;
    }
    this.#broken = false;
    this.#waiting = this.#waiting.slice(batch.length);
    for (const { byok, cost, account } of batch) if (!byok && cost !== undefined) account.stored(cost);
    return true;
  }
}
