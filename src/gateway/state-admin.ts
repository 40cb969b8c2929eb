import type { DatabaseSync } from 'node:sqlite';
import type { LimitSettings } from '../config/settings/settings.ts';
import { type FoundKeys, type KeySearch, KeyStore, type NewKey, type StoredGatewayKey } from './access/key-store.ts';
import {
  REQUEST_ROWS,
  type RequestHistoryPage,
  type RequestHistoryQuery,
  readRequestPage,
  requestPageSql,
} from './accounting/request-history.ts';
import { checkState, type StateCheck } from './accounting/state-check.ts';
import { type SessionStore, SqliteSessions } from './admin/sessions.ts';
import { BudgetBook } from './limits/budget-book.ts';
import { type BudgetRule, budgetId } from './limits/limit-rules.ts';
import { SumCache } from './reports/sum-cache.ts';
import type { UsageQuery } from './reports/usage-query.ts';
import { readUsageReport, readUsageReportSlowly, type UsageReport } from './reports/usage-report.ts';
import {
  type Actor,
  type AuditFilter,
  type AuditRow,
  auditSql,
  type Change,
  readAuditRow,
  writeAudit,
} from './state/audit-log.ts';
import type { UsageRow } from './state/ledger-columns.ts';
import { readRow } from './state/ledger-columns.ts';
import { openReader } from './state/state-database.ts';
import { transaction } from './state/transaction.ts';

/**
 * The state as operators read and change it, by commands and by the admin API. A call may wait for a server. The
 * requests of clients never use it. Each change is written to the audit log with its actor.
 */
export interface StateAdmin extends SessionStore {
  /** Creates a key and returns it. It can't be read again later. @throws SvcError when the name is taken. */
  createKey(actor: Actor, key: NewKey): Promise<string>;
  /** Replaces the budgets of a key, its rates or both. @throws SvcError for an unknown name. */
  updateKey(actor: Actor, name: string, limits: Partial<LimitSettings>): Promise<void>;
  /** Creates a new key for a name. The old one stays valid for `graceMs`. @throws SvcError for an unknown name. */
  rotateKey(actor: Actor, name: string, graceMs: number): Promise<string>;
  /** Revokes a key immediately. @param cut whether its running requests end. @throws SvcError for an unknown name. */
  revokeKey(actor: Actor, name: string, cut?: boolean): Promise<void>;
  listKeys(): Promise<readonly StoredGatewayKey[]>;
  findKey(name: string): Promise<StoredGatewayKey | undefined>;
  searchKeys(query: KeySearch): Promise<FoundKeys>;
  /** @param signal ends it: in SQLite between two parts of the ledger, in Postgres at once. */
  usage(query: UsageQuery, signal?: AbortSignal): Promise<UsageReport>;
  /** @param signal ends it in Postgres. In SQLite, no one can leave while it runs. */
  requests(query: RequestHistoryQuery, signal?: AbortSignal): Promise<RequestHistoryPage>;
  /** All rows of a request in the order of its attempts; empty if the ledger does not have it. */
  request(id: string): Promise<readonly UsageRow[]>;
  /** Nano-USD that were spent of budgets in their current windows, by `budgetId`. */
  spent(rules: readonly BudgetRule[]): Promise<ReadonlyMap<string, number>>;
  /** The newest changes first. */
  audit(filter: AuditFilter): Promise<readonly AuditRow[]>;
  /** Adds an event that changes no key. */
  record(actor: Actor, change: Change): Promise<void>;
  /** Compares each sum of the ledger with its rows. */
  check(): Promise<StateCheck>;
  close(): Promise<void>;
}

/** The state in SQLite. */
export class SqliteAdmin extends SqliteSessions implements StateAdmin {
  readonly #database: DatabaseSync;
  readonly #store: KeyStore;
  readonly #keysChanged: () => void;
  readonly #close: () => void;
  readonly #sums = new SumCache();

  /**
   * @param keysChanged is called after a change of keys, so that a gateway in this process uses it at once.
   * @param close releases the database if this object owns it.
   */
  constructor(database: DatabaseSync, keysChanged: () => void = () => undefined, close: () => void = () => undefined) {
    super(database);
    this.#database = database;
    this.#store = new KeyStore(database);
    this.#keysChanged = keysChanged;
    this.#close = close;
  }

  async createKey(actor: Actor, key: NewKey): Promise<string> {
    return this.#change(actor, (store) => store.create(key));
  }

  async updateKey(actor: Actor, name: string, limits: Partial<LimitSettings>): Promise<void> {
    this.#change(actor, (store) => store.update(name, limits));
  }

  async rotateKey(actor: Actor, name: string, graceMs: number): Promise<string> {
    return this.#change(actor, (store) => store.rotate(name, graceMs));
  }

  async revokeKey(actor: Actor, name: string, cut = false): Promise<void> {
    this.#change(actor, (store) => store.revoke(name, cut));
  }

  async listKeys(): Promise<readonly StoredGatewayKey[]> {
    return this.#store.list();
  }

  async findKey(name: string): Promise<StoredGatewayKey | undefined> {
    return this.#store.get(name);
  }

  async searchKeys(query: KeySearch): Promise<FoundKeys> {
    return this.#store.search(query);
  }

  async usage(query: UsageQuery, signal?: AbortSignal): Promise<UsageReport> {
    // A connection of its own sees one moment, while requests go on and are written.
    const reader = await openReader(this.#database);
    if (reader === undefined) return readUsageReport(this.#database, query, this.#sums);
    try {
      return await readUsageReportSlowly(reader, query, this.#sums, signal);
    } finally {
      reader.close();
    }
  }

  async requests(query: RequestHistoryQuery): Promise<RequestHistoryPage> {
    const { page, end } = requestPageSql(query);
    const read = ({ sql, values }: typeof page) => this.#database.prepare(sql).all(...values);
    return readRequestPage(query, read(page), () => read(end));
  }

  async request(id: string): Promise<readonly UsageRow[]> {
    return this.#database.prepare(REQUEST_ROWS).all(id).map(readRow);
  }

  async spent(rules: readonly BudgetRule[]): Promise<ReadonlyMap<string, number>> {
    const users = this.#store.list().flatMap(({ name, user }) => (user === undefined ? [] : [[name, user] as const]));
    const book = new BudgetBook(this.#database);
    book.update(new Map(rules.map((rule) => [budgetId(rule), rule])), new Map(users), []);
    return new Map(rules.map((rule) => [budgetId(rule), book.get(budgetId(rule))?.spent() ?? 0]));
  }

  async audit(filter: AuditFilter): Promise<readonly AuditRow[]> {
    const { sql, values } = auditSql(filter);
    return this.#database
      .prepare(sql)
      .all(...values)
      .map(readAuditRow);
  }

  async record(actor: Actor, change: Change): Promise<void> {
    writeAudit(this.#database, actor, change);
  }

  async check(): Promise<StateCheck> {
    // A running gateway may write between two reads.
    return transaction(this.#database, () => checkState(this.#database));
  }

  async close(): Promise<void> {
    this.#close();
  }

  #change<T>(actor: Actor, work: (store: KeyStore) => T): T {
    const result = work(new KeyStore(this.#database, actor));
    this.#keysChanged();
    return result;
  }
}
