import type { DatabaseSync } from 'node:sqlite';
import type { LimitSettings } from '../config/settings/settings.ts';
import { KeyStore, type NewKey, type StoredGatewayKey } from './access/key-store.ts';
import { checkState, type StateCheck } from './accounting/state-check.ts';
import { readUsageReport, type UsageQuery, type UsageReport } from './accounting/usage-report.ts';
import { BudgetBook } from './limits/budget-book.ts';
import { type BudgetRule, budgetId } from './limits/limit-rules.ts';
import { transaction } from './state/transaction.ts';

/**
 * The state as operators read and change it, by commands and by the admin API. A call may wait for a server. The
 * requests of clients never use it.
 */
export interface StateAdmin {
  /** Creates a key and returns it. It can't be read again later. @throws SvcError when the name is taken. */
  createKey(key: NewKey): Promise<string>;
  /** Replaces the budgets of a key, its rates or both. @throws SvcError for an unknown name. */
  updateKey(name: string, limits: Partial<LimitSettings>): Promise<void>;
  /** Creates a new key for a name. The old one stays valid for `graceMs`. @throws SvcError for an unknown name. */
  rotateKey(name: string, graceMs: number): Promise<string>;
  /** Revokes a key immediately. @param cut whether its running requests end. @throws SvcError for an unknown name. */
  revokeKey(name: string, cut?: boolean): Promise<void>;
  listKeys(): Promise<readonly StoredGatewayKey[]>;
  usage(query: UsageQuery): Promise<UsageReport>;
  /** Nano-USD that were spent of budgets in their current windows, by `budgetId`. */
  spent(rules: readonly BudgetRule[]): Promise<ReadonlyMap<string, number>>;
  /** Compares each sum of the ledger with its rows. */
  check(): Promise<StateCheck>;
  close(): Promise<void>;
}

/** The state in SQLite. */
export class SqliteAdmin implements StateAdmin {
  readonly #database: DatabaseSync;
  readonly #store: KeyStore;
  readonly #keysChanged: () => void;
  readonly #close: () => void;

  /**
   * @param keysChanged is called after a change of keys, so that a gateway in this process uses it at once.
   * @param close releases the database if this object owns it.
   */
  constructor(database: DatabaseSync, keysChanged: () => void = () => undefined, close: () => void = () => undefined) {
    this.#database = database;
    this.#store = new KeyStore(database);
    this.#keysChanged = keysChanged;
    this.#close = close;
  }

  async createKey(key: NewKey): Promise<string> {
    return this.#change(() => this.#store.create(key));
  }

  async updateKey(name: string, limits: Partial<LimitSettings>): Promise<void> {
    this.#change(() => this.#store.update(name, limits));
  }

  async rotateKey(name: string, graceMs: number): Promise<string> {
    return this.#change(() => this.#store.rotate(name, graceMs));
  }

  async revokeKey(name: string, cut = false): Promise<void> {
    this.#change(() => this.#store.revoke(name, cut));
  }

  async listKeys(): Promise<readonly StoredGatewayKey[]> {
    return this.#store.list();
  }

  async usage(query: UsageQuery): Promise<UsageReport> {
    return readUsageReport(this.#database, query);
  }

  async spent(rules: readonly BudgetRule[]): Promise<ReadonlyMap<string, number>> {
    const users = this.#store.list().flatMap(({ name, user }) => (user === undefined ? [] : [[name, user] as const]));
    const book = new BudgetBook(this.#database);
    book.update(new Map(rules.map((rule) => [budgetId(rule), rule])), new Map(users), []);
    return new Map(rules.map((rule) => [budgetId(rule), book.get(budgetId(rule))?.spent() ?? 0]));
  }

  async check(): Promise<StateCheck> {
    // A running gateway may write between two reads.
    return transaction(this.#database, () => checkState(this.#database));
  }

  async close(): Promise<void> {
    this.#close();
  }

  #change<T>(work: () => T): T {
    const result = work();
    this.#keysChanged();
    return result;
  }
}
