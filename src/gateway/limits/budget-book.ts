import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { TimeZone } from '../../base/time-zone.ts';
import { run, type Steps } from '../state/steps.ts';
import { Budget, type BudgetWindow, countsSpend, type Spend } from './budget.ts';
import type { SharedBudgets } from './budget-share.ts';
import { type BudgetRule, budgetId } from './limit-rules.ts';

const NEW_ROWS = `SELECT at, key, organization, model, cost_nano AS nano FROM usage
  WHERE seq > ? AND seq <= ? AND byok = 0 AND cost_nano > 0`;

/**
 * The spending of each budget: the sum of the ledger's rows. Rows of this process count at once, those of other
 * processes when they are followed. Each row counts once, because rows are numbered in the order of their commits.
 */
export class BudgetBook {
  readonly #database: DatabaseSync | undefined;
  readonly #last: StatementSync | undefined;
  readonly #newRows: StatementSync | undefined;
  readonly #crossed: (budget: Budget) => void;
  readonly #shared: SharedBudgets | undefined;
  #budgets = new Map<string, Budget>();
  /** The budgets by the narrowest member of their scope. */
  #byScope = byScope([]);
  #users: ReadonlyMap<string, string> = new Map();
  readonly #zones = new Map<string, TimeZone>();
  /** All rows up to this number are counted. */
  #seen = 0;

  /**
   * @param crossed is called when the spending of a budget has changed.
   * @param shared if several processes spend without knowing of each other.
   */
  constructor(
    database: DatabaseSync | undefined,
    crossed: (budget: Budget) => void = () => undefined,
    shared?: SharedBudgets,
  ) {
    this.#shared = shared;
    this.#database = database;
    this.#last = database?.prepare('SELECT max(seq) AS last FROM usage');
    this.#newRows = database?.prepare(NEW_ROWS);
    this.#crossed = crossed;
  }

  get(id: string): Budget | undefined {
    return this.#budgets.get(id);
  }

  get all(): ReadonlyMap<string, Budget> {
    return this.#budgets;
  }

  /**
   * Replaces the budgets and reads the spending of new ones.
   *
   * @param users the users of the keys.
   * @param waiting costs of this process that are not stored yet.
   */
  update(rules: ReadonlyMap<string, BudgetRule>, users: ReadonlyMap<string, string>, waiting: readonly Spend[]): void {
    this.follow();
    this.#users = users;
    const budgets = new Map<string, Budget>();
    const fresh: Budget[] = [];
    for (const [id, rule] of rules) {
      const known = this.#budgets.get(id);
      const budget = known ?? new Budget(rule, this.#zone(rule.timeZone), this.#shared?.share(id, rule.hard));
      budget.rule = rule;
      budgets.set(id, budget);
      if (known === undefined) fresh.push(budget);
    }
    this.#budgets = budgets;
    this.#byScope = byScope([...budgets.values()]);
    if (fresh.length > 0) this.#restore(fresh, waiting);
    for (const budget of budgets.values()) this.#crossed(budget);
  }

  /** A time zone takes long to create, and teams have few. */
  #zone(name: string): TimeZone {
    const zone = this.#zones.get(name) ?? new TimeZone(name);
    this.#zones.set(name, zone);
    return zone;
  }

  /** Counts a cost of this process. */
  spend(spend: Spend): void {
    if (this.#budgets.size === 0) return;
    const { key, organization } = spend;
    const user = this.#users.get(key);
    const { general, keys, users, organizations } = this.#byScope;
    this.#add(general, spend, user);
    this.#add(keys.get(key), spend, user);
    this.#add(organizations.get(organization), spend, user);
    this.#add(users.get(user), spend, user);
  }

  /** The part of some costs that a budget counts in the window that begins at `start`. */
  sum(budget: Budget, start: number, spends: readonly Spend[]): number {
    return spends.reduce(
      (sum, each) => (each.at >= start && budget.counts(each, this.#users.get(each.key)) ? sum + each.nano : sum),
      0,
    );
  }

  /** Counts the rows that other processes have stored since the last call. */
  follow(): void {
    if (this.#newRows === undefined) return;
    const last = this.#lastRow();
    if (last > this.#seen && this.#budgets.size > 0) {
      for (const row of this.#newRows.iterate(this.#seen, last)) this.spend(readSpend(row, Number(row.at)));
    }
    this.#seen = last;
  }

  /** The rows that this process has just stored were counted before. Must run in the transaction that stored them. */
  stored(): number {
    return this.#lastRow();
  }

  /** Must run when that transaction is committed. */
  committed(last: number): void {
    this.#seen = last;
  }

  #add(budgets: readonly Budget[] | undefined, spend: Spend, user: string | undefined): void {
    for (const budget of budgets ?? []) {
      if (!budget.counts(spend, user)) continue;
      budget.add(spend);
      this.#crossed(budget);
    }
  }

  #lastRow(): number {
    return Number(this.#last?.get()?.last ?? 0);
  }

  /** One query for each start of a window, because teams have many budgets and few time zones. */
  #restore(budgets: readonly Budget[], waiting: readonly Spend[]): void {
    const database = this.#database;
    if (database !== undefined) {
      database.exec('BEGIN');
      try {
        // Rows that were stored since `follow` are part of the sums of new budgets; the others still need them.
        this.follow();
        for (const [start, group] of Map.groupBy(budgets, (budget) => budget.window().start)) {
          const sums = addUp(group, start, database.prepare(spentSql(start)).iterate(start), this.#users);
          for (const [budget, nano] of sums) budget.restore(nano);
        }
      } finally {
        database.exec('COMMIT');
      }
    }
    for (const each of waiting) {
      const user = this.#users.get(each.key);
      for (const budget of budgets) if (budget.counts(each, user)) budget.add(each);
    }
  }
}

function byScope(budgets: readonly Budget[]) {
  const group = (member: 'key' | 'user' | 'organization', list: readonly Budget[]) =>
    Map.groupBy(
      list.filter(({ rule }) => rule.scope[member] !== undefined),
      ({ rule }) => rule.scope[member],
    );
  const ofAll = budgets.filter(({ rule: { scope } }) => scope.key === undefined && scope.user === undefined);
  return {
    general: ofAll.filter(({ rule }) => rule.scope.organization === undefined),
    keys: group('key', budgets),
    users: group('user', budgets),
    organizations: group('organization', ofAll),
  };
}

/** Nano-USD that were spent of budgets in their current windows, by `budgetId`. */
export function* readSpent(rules: readonly BudgetRule[]): Steps<ReadonlyMap<string, number>> {
  const windows = rules.map((rule) => ({ rule, window: new Budget(rule).window() }));
  const spent = yield* spentBefore(windows);
  return new Map(rules.map((rule, index) => [budgetId(rule), spent[index] ?? 0]));
}

/** Nano-USD that were spent of budgets in windows that have not ended. */
export function* spentBefore(
  windows: readonly { readonly rule: BudgetRule; readonly window: BudgetWindow }[],
): Steps<readonly number[]> {
  const keys = yield* run('SELECT name, "user" FROM keys WHERE "user" IS NOT NULL');
  const users = new Map(keys.map(({ name, user }) => [String(name), String(user)]));
  const found = new Map<unknown, number>();
  for (const [start, group] of Map.groupBy(windows, ({ window }) => window.start)) {
    for (const [each, nano] of addUp(group, start, yield* run(spentSql(start), [start]), users)) found.set(each, nano);
  }
  return windows.map((each) => found.get(each) ?? 0);
}

/** A statement for SQLite and Postgres: the spending since a time, which is the parameter `?1`. */
function spentSql(start: number): string {
  const groups = 'key, organization, model';
  // The sums of buckets may be merged when they are old.
  return start === 0
    ? `SELECT ${groups}, sum(nano) AS nano FROM spent WHERE ?1 = 0 GROUP BY ${groups}`
    : `SELECT ${groups}, sum(cost_nano) AS nano FROM usage_rollup
        WHERE bucket >= ?1 AND byok = 0 AND cost_nano > 0 GROUP BY ${groups}`;
}

/** Nano-USD of each budget. @param rows those of `spentSql`. @param users the users of the keys. */
function addUp<T extends { readonly rule: BudgetRule }>(
  budgets: readonly T[],
  start: number,
  rows: Iterable<Readonly<Record<string, unknown>>>,
  users: ReadonlyMap<string, string>,
): ReadonlyMap<T, number> {
  const sums = new Map(budgets.map((budget) => [budget, 0]));
  for (const row of rows) {
    const spend = readSpend(row, start);
    const user = users.get(spend.key);
    for (const budget of budgets) {
      if (countsSpend(budget.rule, spend, user)) sums.set(budget, (sums.get(budget) ?? 0) + spend.nano);
    }
  }
  return sums;
}

function readSpend(row: Readonly<Record<string, unknown>>, at: number): Spend {
  const { key, organization, model, nano } = row;
  return { at, key: String(key), organization: String(organization), model: String(model), nano: Number(nano) };
}
