/**
 * Gateways that share limits, without HTTP: what a fleet allows together can be counted exactly only where nothing
 * happens in the background. It is the only file of the tests that knows the classes of shares and leases.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { toNano } from '../../src/base/money.ts';
import { Budget } from '../../src/gateway/limits/budget.ts';
import { BudgetBook } from '../../src/gateway/limits/budget-book.ts';
import { BudgetLeases } from '../../src/gateway/limits/budget-leases.ts';
import type { RateRule } from '../../src/gateway/limits/limit-rules.ts';
import type { CallerLimits } from '../../src/gateway/limits/limits.ts';
import { Rate, takeRequest, takeTokens } from '../../src/gateway/limits/rate.ts';
import { RateLeases } from '../../src/gateway/limits/rate-leases.ts';
import type { RateShare } from '../../src/gateway/limits/rate-share.ts';
import { RequestLimits } from '../../src/gateway/limits/request-limits.ts';
import { PostgresBudgets } from '../../src/gateway/postgres/postgres-budgets.ts';
import { PostgresConnection } from '../../src/gateway/postgres/postgres-connection.ts';
import { PostgresRates } from '../../src/gateway/postgres/postgres-rates.ts';
import { writeRows } from '../../src/gateway/postgres/postgres-rows.ts';
import { migratePostgres } from '../../src/gateway/postgres/postgres-tables.ts';
import type { UsageRow } from '../../src/gateway/state/ledger-columns.ts';
import { rowToJson } from '../../src/gateway/state/ledger-columns.ts';
import { ShareKeeper } from '../../src/gateway/workers/share-keeper.ts';
import { WorkerShares } from '../../src/gateway/workers/worker-shares.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { ledgerRow } from './ledger-row.ts';
import { query } from './postgres/postgres-server.ts';

/** Nano-USD. */
export const CENT = 10_000_000;
/** A rate per minute, or requests at a time. */
export type RateLimit = Omit<RateRule, 'scope' | 'model'>;

/** One rate of one gateway. */
export class SharedRate {
  readonly #rate: Rate;

  constructor(limit: RateLimit, shares: Readonly<Record<'requests' | 'tokens' | 'parallel', RateShare>>) {
    this.#rate = new Rate({ scope: {}, model: '*', ...limit }, shares);
  }

  /** What the product passes to its store of leases. */
  get inner(): Rate {
    return this.#rate;
  }

  /** @returns whether a request may start. */
  take(): boolean {
    return takeRequest([this.#rate]) === undefined;
  }

  /** Milliseconds until a request may start; it starts if it may now. */
  takeOrWait(): number {
    return takeRequest([this.#rate])?.waitMs ?? 0;
  }

  takeTokens(amount: number): boolean {
    return takeTokens([this.#rate], amount) === undefined;
  }

  /** An estimate was wrong by this many tokens. */
  correctTokens(amount: number): void {
    this.#rate.add('tokens', amount);
  }

  /** A running request ends. */
  end(): void {
    this.#rate.run(-1);
  }

  /** Running requests. */
  get active(): number {
    return this.#rate.active;
  }

  /** Requests of the last minute. */
  get used(): number {
    return this.#rate.requests.used();
  }

  /** Requests that may be sent without a question. */
  get left(): number {
    return this.#rate.shares?.requests.left ?? 0;
  }

  /** When the server answered about tokens; of the monotonic clock. */
  get tokensAnsweredAt(): number {
    return this.#rate.shares?.tokens.answeredAt ?? 0;
  }
}

async function migrate(url: string): Promise<void> {
  const connection = new PostgresConnection(url);
  await migratePostgres(connection, 5_000);
  connection.close();
}

async function join(url: string, id: string): Promise<void> {
  await query(url, `INSERT INTO svc.replicas VALUES ('${id}', 'test', now(), NULL)`);
}

/** A gateway with one budget in Postgres. Nothing happens in the background. */
export class BudgetReplica {
  readonly id = randomUUID();
  readonly #connection: PostgresConnection;
  readonly #leases: BudgetLeases;
  readonly #book: BudgetBook;
  readonly #rows: UsageRow[] = [];
  #refused: SvcError | undefined;

  /** Gateways that know each other, on an empty database. */
  static async start(
    url: string,
    count: number,
    { usd = 1, hard = true, period = 'total' as 'total' | 'day', used = true, unusedMs = 60_000 } = {},
  ): Promise<BudgetReplica[]> {
    await migrate(url);
    const replicas = Array.from({ length: count }, () => new BudgetReplica(url, usd, hard, period, unusedMs));
    for (const { id } of replicas) await join(url, id);
    for (const each of replicas) {
      // The first request asks for a share.
      if (used) each.begin();
      await each.ask();
    }
    return replicas;
  }

  private constructor(url: string, usd: number, hard: boolean, period: 'total' | 'day', unusedMs: number) {
    this.#connection = new PostgresConnection(url);
    const store = new PostgresBudgets(this.#connection, this.id);
    this.#leases = new BudgetLeases(
      store,
      () => undefined,
      () => undefined,
      unusedMs,
    );
    this.#book = new BudgetBook(undefined, undefined, this.#leases);
    const rule = { scope: { key: 'k' }, model: '*', period, timeZone: 'UTC', nano: toNano(usd), hard };
    this.#book.update(new Map([['b', rule]]), new Map(), []);
  }

  close(): void {
    this.#connection.close();
  }

  /** Starts a request. @returns a function that ends it, or undefined if it is refused. */
  begin(estimate = CENT): ((cost?: number) => void) | undefined {
    const budget = this.#book.get('b');
    const limits: CallerLimits = { budgets: budget === undefined ? [] : [budget], general: [], ofModels: [] };
    const request = new RequestLimits(
      limits,
      () => undefined,
      () => false,
    );
    try {
      request.reserve('p/m', { nano: estimate });
    } catch (thrown) {
      assert.ok(thrown instanceof SvcError);
      this.#refused = thrown;
      return undefined;
    }
    return (cost = estimate) => {
      const row = ledgerRow({ cost, at: Date.now(), requestId: randomUUID() });
      this.#rows.push(row);
      this.#book.spend({ at: row.at, key: 'k', organization: '', model: 'p/m', nano: cost });
      request.release();
    };
  }

  /** Status and `Retry-After` of the last refusal. */
  get refusal() {
    return [this.#refused?.status, this.#refused?.retryAfterMs];
  }

  /** Nano-USD that all gateways have spent, as far as this one knows. */
  get spent(): number | undefined {
    return this.#book.get('b')?.spent();
  }

  ask(): Promise<void> {
    this.#leases.answeredAt = performance.now();
    return this.#leases.ask(this.#book.all, true, () => undefined);
  }

  /** Stores the rows of ended requests, also twice. */
  async store(): Promise<void> {
    const rows = this.#rows.splice(0).map(rowToJson);
    for (let times = 0; times < 2; times += 1) {
      await this.#connection.transaction(5_000, (sql) => writeRows(sql, rows, this.id));
    }
  }

  /** What a look for changes finds. */
  async look(): Promise<void> {
    const rows = await this.#connection.transaction(5_000, (sql) =>
      sql("SELECT start_at FROM budget_windows WHERE wanted_at > now() - interval '3 seconds'"),
    );
    this.#leases.wanted = new Set(rows.map(({ start_at }) => `${start_at} b`));
    await this.ask();
  }
}

/** A gateway with one rate in Postgres. Nothing happens in the background. */
export class RateReplica {
  readonly id = randomUUID();
  readonly rate: SharedRate;
  /** Milliseconds after which it wanted to ask. */
  readonly wakes: number[] = [];
  /** When Postgres was lost; of the monotonic clock. */
  lostAt: number | undefined;
  readonly #connection: PostgresConnection;
  readonly #leases: RateLeases;

  /** Three gateways that know each other, on an empty database. */
  static async start(url: string, limit: RateLimit, minuteMs?: number): Promise<readonly RateReplica[]> {
    await migrate(url);
    const replicas = Array.from({ length: 3 }, () => new RateReplica(url, limit, minuteMs));
    for (const { id } of replicas) await join(url, id);
    for (const each of replicas) await each.ask();
    return replicas;
  }

  private constructor(url: string, limit: RateLimit, minuteMs?: number) {
    this.#connection = new PostgresConnection(url);
    this.#leases = new RateLeases(new PostgresRates(this.#connection, this.id, minuteMs), {
      lostAt: () => this.lostAt,
      wake: (delay) => this.wakes.push(delay),
      ...(minuteMs === undefined ? {} : { minuteMs }),
    });
    this.rate = new SharedRate(limit, this.#leases.shares('r'));
  }

  close(): void {
    this.#connection.close();
  }

  ask(): Promise<void> {
    return this.#leases.ask(new Map([['r', this.rate.inner]]), true);
  }

  /** What a look for changes does and finds. A gateway that does not look is taken for ended after 75 seconds. */
  async look(): Promise<void> {
    const rows = await this.#connection.transaction(5_000, async (sql) => {
      await sql('UPDATE replicas SET seen_at = now() WHERE id = $1', [this.id]);
      const wanted = "SELECT rate FROM rate_leases WHERE wanted_at > now() - interval '3 seconds' AND replica <> $1";
      return sql(wanted, [this.id]);
    });
    this.#leases.wanted = new Set(rows.map(({ rate }) => String(rate)));
    await this.ask();
  }
}

/** The primary and three workers in this process, with one rate and one hard budget of 1 USD. */
export class TestWorkers {
  static readonly IDS: readonly number[] = [1, 2, 3];
  /** The budget in the state. */
  readonly #stored = new Budget({
    scope: { key: 'k' },
    model: '*',
    period: 'total',
    timeZone: 'UTC',
    nano: toNano(1),
    hard: true,
  });
  readonly #keeper: ShareKeeper;
  readonly #workers = new Map<number, TestWorker>();

  constructor(requests = 600) {
    const budgets = { follow: () => undefined, find: () => this.#stored };
    this.#keeper = new ShareKeeper(TestWorkers.IDS.length, budgets, (id, wanted) =>
      this.#workers.get(id)?.shares.wanted(wanted),
    );
    for (const id of TestWorkers.IDS) {
      this.#keeper.join(id);
      const shares = new WorkerShares(async (questions) => this.#keeper.ask(id, questions));
      this.#workers.set(id, new TestWorker(this.#stored, shares, requests));
    }
  }

  of(id: number): TestWorker {
    const found = this.#workers.get(id);
    assert.ok(found);
    return found;
  }

  /** A worker is killed. */
  async leave(id: number): Promise<void> {
    this.#keeper.leave(id);
    await this.of(id).shares.dispose();
    this.#workers.delete(id);
  }

  async ask(): Promise<void> {
    for (const { shares } of this.#workers.values()) await shares.ready();
  }

  async dispose(): Promise<void> {
    for (const { shares } of this.#workers.values()) await shares.dispose();
  }
}

class TestWorker {
  readonly shares: WorkerShares;
  readonly rate: SharedRate;
  readonly #budget: Budget;
  readonly #stored: Budget;
  /** Spent, but not in the state yet. */
  #unwritten = 0;

  constructor(stored: Budget, shares: WorkerShares, requests: number) {
    this.#stored = stored;
    this.shares = shares;
    this.rate = new SharedRate({ requests }, shares.rates.shares('r'));
    this.#budget = new Budget(stored.rule, undefined, shares.budgets.share('b'));
    shares.attach(() => new Map([['r', this.rate.inner]]));
    shares.attachBudgets({
      budgets: () => new Map([['b', this.#budget]]),
      spent: () => undefined,
      unwritten: () => this.#unwritten,
    });
  }

  /** @returns whether a request of a cent may start. */
  spend(): boolean {
    if (!this.#budget.allows(CENT)) {
      this.#budget.share?.need(CENT);
      return false;
    }
    this.#budget.add({ at: Date.now(), nano: CENT });
    this.#unwritten += CENT;
    return true;
  }

  /** What the ledger does a quarter of a second later. */
  write(): void {
    this.#stored.add({ at: Date.now(), nano: this.#unwritten });
    this.#unwritten = 0;
  }
}

/** The number of workers that the first one learns before the others have started. */
export function workersKnownToFirst(count: number): number {
  const keeper = new ShareKeeper(count, { follow: () => undefined, find: () => undefined }, () => undefined);
  keeper.join(1);
  return keeper.ask(1, { rates: [], budgets: [] }).workers;
}
