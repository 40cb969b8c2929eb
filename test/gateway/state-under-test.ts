import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { TimeZone } from '../../src/base/time-zone.ts';
import { hashKey } from '../../src/gateway/access/authentication.ts';
import { KeyCache } from '../../src/gateway/access/key-cache.ts';
import {
  changeKeys,
  createKey,
  findKey,
  KeyStore,
  type NewKey,
  revokeKey,
  rotateKey,
  type StoredGatewayKey,
  updateKey,
} from '../../src/gateway/access/key-store.ts';
import { Ledger } from '../../src/gateway/accounting/ledger.ts';
import { removeOld } from '../../src/gateway/accounting/retention.ts';
import { checkState, type StateCheck } from '../../src/gateway/accounting/state-check.ts';
import { GatewayState } from '../../src/gateway/gateway-state.ts';
import { Budget } from '../../src/gateway/limits/budget.ts';
import { BudgetBook } from '../../src/gateway/limits/budget-book.ts';
import { type BudgetRule, budgetId } from '../../src/gateway/limits/limit-rules.ts';
import { SumCache } from '../../src/gateway/reports/sum-cache.ts';
import type { UsageQuery } from '../../src/gateway/reports/usage-query.ts';
import { type UsageReport, usageReport } from '../../src/gateway/reports/usage-report.ts';
import type { UsageRow } from '../../src/gateway/state/ledger-columns.ts';
import { sealNext } from '../../src/gateway/state/sealing.ts';
import { openState, stateFile } from '../../src/gateway/state/state-database.ts';
import { runSteps, SQLITE, type Steps } from '../../src/gateway/state/steps.ts';
import { transaction } from '../../src/gateway/state/transaction.ts';
import { UsageTables } from '../../src/gateway/state/usage-tables.ts';
import { type StateAdmin, sqliteAdmin } from '../../src/gateway/state-admin.ts';

export { SlidingMinute } from '../../src/gateway/limits/sliding-minute.ts';
export { KeptItems } from '../../src/gateway/state/kept-items.ts';
export type { BudgetRule, GatewayState, NewKey, StoredGatewayKey, UsageQuery, UsageReport, UsageRow };
export { hashKey, stateFile };

const ACTOR = { who: 'test', source: 'process' };

/** What the gateway needs besides its state. */
type GatewayInput = Omit<ConstructorParameters<typeof GatewayState>[0], 'database'>;

/**
 * The state of a gateway in SQLite. It is the only file of these tests that knows the classes and tables behind keys,
 * ledger, limits and reports. A test that can show its property by HTTP or by a command does not need it.
 */
export class StateUnderTest {
  readonly #database: DatabaseSync;
  /** As commands and the admin API read and change it. */
  readonly admin: StateAdmin;
  readonly #tables: UsageTables;

  /** @param file absolute path; absent: in memory. */
  static async open(file = ':memory:'): Promise<StateUnderTest> {
    return new StateUnderTest(await openState(file));
  }

  private constructor(database: DatabaseSync) {
    this.#database = database;
    this.#tables = new UsageTables(database);
    this.admin = sqliteAdmin(database);
  }

  close(): void {
    this.#database.close();
  }

  /** Keys, limits and ledger of a gateway process over this state. */
  gateway(input: GatewayInput): GatewayState {
    return new GatewayState({ ...input, database: this.#database });
  }

  /** Stores rows of the ledger in one commit. */
  write(...rows: readonly UsageRow[]): void {
    transaction(this.#database, () => this.#tables.write(rows, (error) => assert.fail(error)));
  }

  /** Rows of the ledger in the order of their commits, with `cost` in USD. @param after their number `seq`. */
  rows(after = 0): readonly Record<string, unknown>[] {
    return this.#database.prepare('SELECT *, cost_nano / 1e9 AS cost FROM usage WHERE seq > ? ORDER BY seq').all(after);
  }

  /** The users of each key in a table of sums. */
  users(table: 'spent' | 'usage_rollup'): readonly Record<string, unknown>[] {
    return this.#database.prepare(`SELECT DISTINCT key, user FROM ${table} ORDER BY key, user`).all();
  }

  get rowCount(): number {
    return this.#number('SELECT count(*) FROM usage');
  }

  /** Number of sums by quarter of an hour, of the requests in them, and what was spent in nano-USD. */
  sums(): { readonly buckets: number; readonly requests: number; readonly nano: number } {
    return {
      buckets: this.#number('SELECT count(*) FROM usage_rollup'),
      requests: this.#number('SELECT sum(requests) FROM usage_rollup'),
      nano: this.#number('SELECT sum(nano) FROM spent'),
    };
  }

  /** @param memory sums that earlier reports have read. */
  report(query: UsageQuery, memory = new SumCache()): UsageReport {
    return this.#run(usageReport(SQLITE, query, memory));
  }

  /** Compares each sum with its rows. */
  check(): StateCheck {
    return this.#run(checkState());
  }

  /** Seals the hours and days that are over at a time. */
  sealUntil(end: number): void {
    transaction(this.#database, () => {
      while (this.#run(sealNext(SQLITE, end)));
    });
  }

  get sealedDays(): number {
    return this.#number('SELECT count(*) FROM usage_sealed WHERE length = 86400000');
  }

  /** Removes all rows and sums that are too old at a time. @param age milliseconds. */
  removeOld(age: { readonly usage: number; readonly rollup: number }, now: number): void {
    while (transaction(this.#database, () => this.#run(removeOld(SQLITE, age, now))));
  }

  createKey(key: NewKey): string {
    return changeKeys(this.#database, createKey(ACTOR, key));
  }

  updateKey(name: string, limits: Parameters<typeof updateKey>[2]): void {
    changeKeys(this.#database, updateKey(ACTOR, name, limits));
  }

  rotateKey(name: string, graceMs: number): string {
    return changeKeys(this.#database, rotateKey(ACTOR, name, graceMs));
  }

  revokeKey(name: string, cut = false): void {
    changeKeys(this.#database, revokeKey(ACTOR, name, cut));
  }

  keys(): readonly StoredGatewayKey[] {
    return this.#store.list();
  }

  key(name: string): StoredGatewayKey | undefined {
    return this.#run(findKey(SQLITE, name));
  }

  /** The keys as a gateway process holds them. @param seen collects which changes it read. */
  heldKeys(seen: string[] = []): HeldKeys {
    return new HeldKeys(
      new KeyCache(this.#store, [], {
        reloaded: (all) => seen.push(`${all.length} keys`),
        written: () => seen.push('written'),
      }),
    );
  }

  /** A process that records rows. @param rules its budgets. @param users the users of its keys. */
  process(
    rules: readonly BudgetRule[] = [ALL],
    users: ReadonlyMap<string, string> = new Map(),
    options: LedgerTimes = {},
  ): LedgerProcess {
    return new LedgerProcess(this.#database, rules, users, options);
  }

  /** No page can be added to the file. @param more pages that are still free. */
  fillDisk(more = 0): void {
    this.#database.exec(`PRAGMA max_page_count = ${this.#number('PRAGMA page_count') + more}`);
  }

  freeDisk(): void {
    this.#database.exec('PRAGMA max_page_count = 1000000');
  }

  /** Milliseconds that a write waits for another process. */
  waitAtMost(milliseconds: number): void {
    this.#database.exec(`PRAGMA busy_timeout = ${milliseconds}`);
  }

  /** Takes the write lock. @returns a function that releases it. */
  lock(): () => void {
    this.#database.exec('BEGIN IMMEDIATE');
    return () => this.#database.exec('ROLLBACK');
  }

  /** Rows, or what was spent, can't be written. @returns a function that repairs it. */
  withoutTable(table: 'usage' | 'spent'): () => void {
    this.#database.exec(`ALTER TABLE ${table} RENAME TO away`);
    return () => this.#database.exec(`ALTER TABLE away RENAME TO ${table}`);
  }

  /** The contents of sealed sums are lost. */
  breakSealed(): void {
    this.#database.exec("UPDATE usage_sealed SET sums = x'00'");
  }

  /** Removes sealed hours and days. @param kept of ten. */
  dropSealed(kept: number): void {
    this.#database.exec(`DELETE FROM usage_sealed WHERE start / 3600000 % 10 >= ${kept}`);
  }

  /** Makes the sums of a key wrong: one nano-USD too much, or its rows are missing. */
  damage(key: string, how: 'sum' | 'rows'): void {
    const sql = how === 'sum' ? 'UPDATE spent SET nano = nano + 1 WHERE key = ?' : 'DELETE FROM usage WHERE key = ?';
    assert.ok(this.#database.prepare(sql).run(key).changes > 0);
  }

  /** Signs all sessions out and makes all links too old. */
  expireSessions(): void {
    this.#database.exec('UPDATE admin_sessions SET expires_at = 1; UPDATE admin_links SET expires_at = 1');
  }

  /** As if a later release had written it. */
  setVersion(version: number, minReader: number): void {
    this.#database.exec(`UPDATE schema SET version = ${version}, min_reader = ${minReader}`);
  }

  copyTo(file: string): void {
    this.#database.exec(`VACUUM INTO '${file}'`);
  }

  #run<T>(steps: Steps<T>): T {
    return runSteps(this.#database, steps);
  }

  get #store(): KeyStore {
    return new KeyStore(this.#database);
  }

  #number(sql: string): number {
    return Number(Object.values(this.#database.prepare(sql).get() ?? {})[0] ?? 0);
  }
}

/** The keys that a process holds. */
export class HeldKeys {
  readonly #keys: KeyCache;

  constructor(keys: KeyCache) {
    this.#keys = keys;
  }

  accepts(key: string): boolean {
    return this.#keys.find(hashKey(key)) !== undefined;
  }

  get size(): number {
    return this.#keys.size;
  }

  readAgain(): void {
    this.#keys.reload();
  }

  /** Looks for changes of other processes, as a gateway does each second. */
  follow(): void {
    this.#keys.follow((thrown) => assert.fail(String(thrown)));
    this.#keys.dispose();
  }
}

/** Milliseconds. */
interface LedgerTimes {
  readonly batchMs?: number;
  readonly retryMs?: number;
  /** Is called for each failed write. */
  readonly failed?: () => void;
}

/** One budget for all requests. */
const ALL: BudgetRule = { scope: {}, model: '*', period: 'total', timeZone: 'UTC', nano: 1, hard: false };

/** Ledger and budgets of a process. */
export class LedgerProcess {
  readonly #book: BudgetBook;
  readonly #ledger: Ledger;
  readonly #rules: readonly BudgetRule[];
  readonly #users: ReadonlyMap<string, string>;
  /** Errors of writes. */
  readonly failures: string[] = [];

  constructor(
    database: DatabaseSync,
    rules: readonly BudgetRule[],
    users: ReadonlyMap<string, string>,
    { failed, ...times }: LedgerTimes,
  ) {
    this.#rules = rules;
    this.#users = users;
    this.#book = new BudgetBook(database);
    this.#ledger = new Ledger(
      database,
      (thrown) => {
        this.failures.push(String(thrown));
        failed?.();
      },
      { book: this.#book, ...times },
    );
    this.setBudgets();
  }

  record(...rows: readonly UsageRow[]): void {
    for (const row of rows) this.#ledger.record(row);
  }

  /** @returns whether all rows are written. */
  flush(): boolean {
    return this.#ledger.flush();
  }

  get waiting(): number {
    return this.#ledger.waiting;
  }

  get broken(): boolean {
    return this.#ledger.broken;
  }

  /** Counts the rows of other processes. */
  follow(): void {
    this.#book.follow();
  }

  /** Its budgets change, as by a change of the configuration. */
  setBudgets(rules: readonly BudgetRule[] = this.#rules): void {
    this.#book.update(new Map(rules.map((rule) => [budgetId(rule), rule])), this.#users, this.#ledger.unwritten);
  }

  /** Nano-USD that were spent of a budget. */
  spent(rule: BudgetRule = ALL): number | undefined {
    return this.#book.get(budgetId(rule))?.spent();
  }

  counts(rule: BudgetRule, spend: Parameters<Budget['counts']>[0], user: string | undefined): boolean {
    return this.#book.get(budgetId(rule))?.counts(spend, user) ?? false;
  }
}

export function newBudget(rule: BudgetRule): Budget {
  return new Budget(rule, new TimeZone(rule.timeZone));
}

/** Sums that reports have read. @param bytes the most that it holds. */
export function reportMemory(bytes?: number): SumCache {
  return new SumCache(bytes);
}
