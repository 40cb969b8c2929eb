import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { LimitSettings } from '../config/settings/settings.ts';
import {
  changeKeys,
  createKey,
  type FoundKey,
  type FoundKeys,
  findKey,
  type KeySearch,
  listKeys,
  type NewKey,
  revokeKey,
  rotateKey,
  searchKeys,
  updateKey,
} from './access/key-store.ts';
import { type SessionStore, SqlSessions } from './access/sessions.ts';
import {
  type RequestHistoryPage,
  type RequestHistoryQuery,
  readRequest,
  readRequests,
} from './accounting/request-history.ts';
import { checkState, type StateCheck } from './accounting/state-check.ts';
import { readSpent } from './limits/budget-book.ts';
import type { BudgetRule } from './limits/limit-rules.ts';
import { SumCache } from './reports/sum-cache.ts';
import type { UsageQuery } from './reports/usage-query.ts';
import { type UsageReport, usageReport } from './reports/usage-report.ts';
import { type Actor, type AuditFilter, type AuditRow, type Change, readAudit, writeAudit } from './state/audit-log.ts';
import type { UsageRow } from './state/ledger-columns.ts';
import { openReader } from './state/state-database.ts';
import { type Dialect, run, runSlowly, runSteps, SQLITE, type Steps } from './state/steps.ts';
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
  listKeys(): Promise<readonly FoundKey[]>;
  findKey(name: string): Promise<FoundKey | undefined>;
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

/** A database with a state. Each call is a transaction. */
export interface AdminDatabase {
  readonly dialect: Dialect;
  /** As `SessionStore.stateId`. */
  id(): Promise<string>;
  /** Reads, or writes anything but keys. */
  run<T>(steps: Steps<T>): Promise<T>;
  /** Changes a key, and tells all gateways. */
  changeKey<T>(name: string, steps: Steps<T>): Promise<T>;
  /** Reads much: all steps see one moment. @param signal ends it: in SQLite at a pause, in Postgres at once. */
  report<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

/** The state in SQLite or Postgres. */
export class SqlAdmin extends SqlSessions implements StateAdmin {
  readonly #database: AdminDatabase;
  readonly #sums = new SumCache();

  constructor(database: AdminDatabase) {
    super((sql, values) => database.run(run(sql, values)));
    this.#database = database;
  }

  stateId(): Promise<string> {
    return this.#database.id();
  }

  createKey(actor: Actor, key: NewKey): Promise<string> {
    return this.#database.changeKey(key.name, createKey(actor, key));
  }

  updateKey(actor: Actor, name: string, limits: Partial<LimitSettings>): Promise<void> {
    return this.#database.changeKey(name, updateKey(actor, name, limits));
  }

  rotateKey(actor: Actor, name: string, graceMs: number): Promise<string> {
    return this.#database.changeKey(name, rotateKey(actor, name, graceMs));
  }

  revokeKey(actor: Actor, name: string, cut = false): Promise<void> {
    return this.#database.changeKey(name, revokeKey(actor, name, cut));
  }

  listKeys(): Promise<readonly FoundKey[]> {
    return this.#database.run(listKeys(this.#database.dialect));
  }

  findKey(name: string): Promise<FoundKey | undefined> {
    return this.#database.run(findKey(this.#database.dialect, name));
  }

  searchKeys(query: KeySearch): Promise<FoundKeys> {
    return this.#database.run(searchKeys(this.#database.dialect, query));
  }

  usage(query: UsageQuery, signal?: AbortSignal): Promise<UsageReport> {
    return this.#database.report(usageReport(this.#database.dialect, query, this.#sums), signal);
  }

  requests(query: RequestHistoryQuery, signal?: AbortSignal): Promise<RequestHistoryPage> {
    return this.#database.report(readRequests(query), signal);
  }

  request(id: string): Promise<readonly UsageRow[]> {
    return this.#database.run(readRequest(id));
  }

  spent(rules: readonly BudgetRule[]): Promise<ReadonlyMap<string, number>> {
    return this.#database.report(readSpent(rules));
  }

  audit(filter: AuditFilter): Promise<readonly AuditRow[]> {
    return this.#database.run(readAudit(filter));
  }

  record(actor: Actor, change: Change): Promise<void> {
    return this.#database.run(writeAudit(actor, change));
  }

  check(): Promise<StateCheck> {
    return this.#database.report(checkState());
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

/**
 * The state in SQLite for operators.
 *
 * @param keysChanged is called after a change of keys, so that a gateway in this process uses it at once.
 * @param close releases the database if the result owns it.
 */
export function sqliteAdmin(
  database: DatabaseSync,
  keysChanged: () => void = () => undefined,
  close: () => void = () => undefined,
): StateAdmin {
  return new SqlAdmin(new SqliteState(database, keysChanged, close));
}

class SqliteState implements AdminDatabase {
  readonly dialect = SQLITE;
  readonly #database: DatabaseSync;
  readonly #keysChanged: () => void;
  readonly #close: () => void;

  constructor(database: DatabaseSync, keysChanged: () => void, close: () => void) {
    this.#database = database;
    this.#keysChanged = keysChanged;
    this.#close = close;
  }

  async id(): Promise<string> {
    return hash('sha256', String(this.#database.prepare('PRAGMA database_list').get()?.file)).slice(0, 12);
  }

  async run<T>(steps: Steps<T>): Promise<T> {
    return transaction(this.#database, () => runSteps(this.#database, steps), 'DEFERRED');
  }

  async changeKey<T>(_: string, steps: Steps<T>): Promise<T> {
    const result = changeKeys(this.#database, steps);
    this.#keysChanged();
    return result;
  }

  async report<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
    // A connection of its own sees one moment, while requests go on and are written.
    const reader = await openReader(this.#database);
    if (reader === undefined) return this.run(steps);
    try {
      reader.exec('BEGIN');
      return await runSlowly(reader, steps, signal);
    } finally {
      reader.close();
    }
  }

  async close(): Promise<void> {
    this.#close();
  }
}
