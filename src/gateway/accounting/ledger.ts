import type { DatabaseSync } from 'node:sqlite';
import type { Spend } from '../limits/budget.ts';
import { BudgetBook } from '../limits/budget-book.ts';
import type { UsageRow } from '../state/ledger-columns.ts';
import { transaction } from '../state/transaction.ts';
import { UsageTables } from '../state/usage-tables.ts';
import { ClientUsers } from './client-users.ts';

/** Where rows are written instead of the tables of a state. */
export interface RowStore {
  /** @throws an error if the rows are not stored. */
  write(rows: readonly UsageRow[]): void;
  /** Keeps rows in memory that could not be written, because a server may still take them. False: there is no room. */
  keep?(rows: readonly UsageRow[]): boolean;
  /** Number of rows that are kept in memory. */
  readonly kept?: number;
}

export interface LedgerOptions {
  readonly store?: RowStore | undefined;
  /** Counts spending. */
  readonly book?: BudgetBook;
  /** Milliseconds for which rows are collected before a write, default 250. */
  readonly batchMs?: number;
  /** Milliseconds until a failed batch is tried again, default 2,000. */
  readonly retryMs?: number;
}

/** Maximum number of rows in a write, so that a batch does not delay a stream. */
const BATCH_ROWS = 500;
/** Maximum number of rows that wait while the disk can't be written. Beyond it, new requests are refused. */
const MAX_WAITING = 50_000;
/** Rows of refused requests that are kept per second; the second is for requests without a valid key. */
const MAX_REFUSED = 100;
const MAX_UNKNOWN = 10;

/**
 * Writes usage to the state. Rows are kept in memory when an answer ends and written in batches. Budgets
 * count the cost immediately. Rows that can't be written wait for another attempt.
 */
export class Ledger {
  readonly users = new ClientUsers();
  readonly #database: DatabaseSync | undefined;
  readonly #store: RowStore | undefined;
  readonly #book: BudgetBook;
  readonly #batchMs: number;
  readonly #retryMs: number;
  readonly #failed: (thrown: unknown, waiting: number) => void;
  #waiting: UsageRow[] = [];
  #timer: NodeJS.Timeout | undefined;
  #tables: UsageTables | undefined;
  #broken = false;
  /** Rows of refused requests in a second. */
  #refused = { second: 0, rows: 0 };

  constructor(
    database: DatabaseSync | undefined,
    failed: (thrown: unknown, waiting: number) => void,
    { book = new BudgetBook(undefined), batchMs = 250, retryMs = 2_000, store }: LedgerOptions = {},
  ) {
    this.#database = database;
    this.#store = store;
    this.#failed = failed;
    this.#book = book;
    this.#batchMs = batchMs;
    this.#retryMs = retryMs;
  }

  /** Number of rows that are not written yet. */
  get waiting(): number {
    return this.#waiting.length + (this.#store?.kept ?? 0);
  }

  /** Whether the last write failed. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Costs that are not written yet. */
  get unwritten(): readonly Spend[] {
    return this.#waiting.flatMap((row) => spendOf(row) ?? []);
  }

  /** Whether so many rows wait that further requests can't be accounted for. */
  get full(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  record(row: UsageRow): void {
    const spend = spendOf(row);
    if (spend !== undefined) this.#book.spend(spend);
    if (this.#database === undefined && this.#store === undefined) return;
    this.#waiting.push(row);
    if (this.#timer === undefined) this.#schedule(this.#batchMs);
    else if (this.#waiting.length === BATCH_ROWS && !this.#broken) this.#schedule(0);
  }

  /**
   * Records a row that cost nothing. Of refused requests, only a part is kept if there are many: a client that repeats
   * them all the time must not fill the disk.
   */
  recordFree(row: UsageRow): void {
    if (this.#waiting.length >= MAX_WAITING / 2) return;
    if (row.outcome === 'refused' && !this.#mayKeepRefused(row.key === '' ? MAX_UNKNOWN : MAX_REFUSED)) return;
    this.record(row);
  }

  #mayKeepRefused(most: number): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#refused.second) this.#refused = { second, rows: 0 };
    if (this.#refused.rows >= most) return false;
    this.#refused.rows += 1;
    return true;
  }

  /** Writes all waiting rows. @returns whether they are written, or kept for a server. */
  flush(): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0) {
      const before = this.#waiting.length;
      if (!this.#write(before) && this.#waiting.length === before) return false;
    }
    return true;
  }

  #schedule(delay: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const written = this.#write(BATCH_ROWS);
      if (this.#waiting.length > 0) this.#schedule(written ? 0 : this.#retryMs);
    }, delay);
  }

  #write(most: number): boolean {
    const batch = this.#waiting.slice(0, most);
    if (batch.length === 0) return true;
    try {
      if (this.#store !== undefined) this.#store.write(batch);
      else if (this.#database !== undefined) this.#writeTables(this.#database, batch);
    } catch (thrown) {
      this.#broken = true;
      this.#failed(thrown, this.waiting);
      if (this.#store?.keep?.(batch) === true) this.#waiting = this.#waiting.slice(batch.length);
      return false;
    }
    this.#broken = false;
    this.#waiting = this.#waiting.slice(batch.length);
    return true;
  }

  #writeTables(database: DatabaseSync, batch: readonly UsageRow[]): void {
    const last = transaction(database, () => {
      this.#tables ??= new UsageTables(database);
      // The rows of other processes must not be taken for those of this batch.
      this.#book.follow();
      this.#tables.write(batch, (error) => this.#failed(error, this.#waiting.length));
      return this.#book.stored();
    });
    this.#book.committed(last);
  }
}

/** The cost of a row if the gateway's own credential paid. */
function spendOf({ at, key, organization, model, byok, cost }: UsageRow): Spend | undefined {
  return byok || !cost ? undefined : { at, key, organization, model, nano: cost };
}
