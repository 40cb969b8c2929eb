/**
 * Gateways that share limits, without HTTP: what a fleet allows together can be counted exactly only where nothing
 * happens in the background. It is the only file of the tests that knows the classes of shares and leases.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { toNano } from '../../src/base/money.ts';
import { Budget } from '../../src/gateway/limits/budget.ts';
import { BudgetBook } from '../../src/gateway/limits/budget-book.ts';
import { BudgetLeases } from '../../src/gateway/limits/budget-leases.ts';
import type { LeaseStore, LeasingGateway } from '../../src/gateway/limits/lease.ts';
import type { RateRule } from '../../src/gateway/limits/limit-rules.ts';
import type { CallerLimits } from '../../src/gateway/limits/limits.ts';
import { Rate, takeRequest, takeTokens } from '../../src/gateway/limits/rate.ts';
import { RateLeases } from '../../src/gateway/limits/rate-leases.ts';
import type { RateShare } from '../../src/gateway/limits/rate-share.ts';
import { RequestLimits } from '../../src/gateway/limits/request-limits.ts';
import { PostgresConnection } from '../../src/gateway/postgres/postgres-connection.ts';
import { PostgresLeases } from '../../src/gateway/postgres/postgres-leases.ts';
import { writeRows } from '../../src/gateway/postgres/postgres-rows.ts';
import { migratePostgres } from '../../src/gateway/postgres/postgres-tables.ts';
import { sendHeartbeat } from '../../src/gateway/postgres/replicas-table.ts';
import type { UsageRow } from '../../src/gateway/state/ledger-columns.ts';
import { rowToJson } from '../../src/gateway/state/ledger-columns.ts';
import { openState } from '../../src/gateway/state/state-database.ts';
import { transaction } from '../../src/gateway/state/transaction.ts';
import { UsageTables } from '../../src/gateway/state/usage-tables.ts';
import { LocalLeases } from '../../src/gateway/workers/local-leases.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { ledgerRow } from './ledger-row.ts';
import { query } from './postgres/postgres-server.ts';

/** For a machine that is busy. */
const DEADLINE_MS = 60_000;
/** Nano-USD. */
export const CENT = 10_000_000;
const NONE: LeasingGateway = { budgets: () => new Map(), rates: () => new Map(), spent: () => undefined };
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

  /** Requests that may be sent without a grant. */
  get left(): number {
    return this.#rate.shares?.requests.left ?? 0;
  }

  /** When the server answered about tokens; of the monotonic clock. */
  get tokensAnsweredAt(): number {
    return this.#rate.shares?.tokens.answeredAt ?? 0;
  }
}

async function migrate(url: string): Promise<void> {
  const connection = new PostgresConnection(url, { connectMs: DEADLINE_MS });
  await migratePostgres(connection, DEADLINE_MS);
  connection.close();
}

async function join(url: string, id: string): Promise<void> {
  await query(url, `INSERT INTO svc.replicas VALUES ('${id}', 'test', now(), NULL)`);
}

/** A time zone in which it is about noon, so that no day ends while a test runs. */
function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead < 0 ? '+' : '-'}${Math.abs(ahead)}`;
}

/** A gateway with one budget in Postgres. Nothing happens in the background. */
export class BudgetReplica {
  readonly id = randomUUID();
  readonly #url: string;
  readonly #connection: PostgresConnection;
  readonly #store: LeaseStore;
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
      // The first request requests a lease.
      if (used) each.begin();
      await each.renew();
    }
    return replicas;
  }

  private constructor(url: string, usd: number, hard: boolean, period: 'total' | 'day', unusedMs: number) {
    this.#url = url;
    this.#connection = new PostgresConnection(url, { connectMs: DEADLINE_MS });
    this.#store = new PostgresLeases(this.#connection, this.id, undefined, DEADLINE_MS);
    this.#leases = new BudgetLeases({ wake: () => undefined, lostAt: () => undefined, unusedMs });
    this.#book = new BudgetBook(undefined, undefined, this.#leases);
    const rule = { scope: { key: 'k' }, model: '*', period, timeZone: noonZone(), nano: toNano(usd), hard };
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

  /** For longer than a heartbeat may be late; its requests are those of before. */
  async freeze(): Promise<void> {
    this.#leases.answered(performance.now() - 20_000, false);
    await query(this.#url, `UPDATE svc.replicas SET seen_at = now() - interval '20 seconds' WHERE id = '${this.id}'`);
  }

  /** @param fails whether the answer about the leases is lost. */
  async renew(fails = false): Promise<void> {
    const late = await this.#connection.call(DEADLINE_MS, (sql) => sendHeartbeat(sql, this.id, undefined));
    this.#leases.answered(performance.now(), late);
    const round = this.#leases.begin({ ...NONE, budgets: () => this.#book.all }, true);
    if (fails) return round.failed();
    const { budgets } = await this.#store.grant({ budgets: round.requests, rates: [] });
    round.granted(budgets, performance.now());
  }

  /** Stores the rows of ended requests, also twice. */
  async store(): Promise<void> {
    const rows = this.#rows.splice(0).map(rowToJson);
    for (let times = 0; times < 2; times += 1) {
      await this.#connection.transaction(DEADLINE_MS, (sql) => writeRows(sql, rows, this.id));
    }
  }

  /** Returns what peers need, and renews its leases. */
  async heartbeat(): Promise<void> {
    const rows = await this.#connection.transaction(DEADLINE_MS, (sql) =>
      sql("SELECT start_at FROM budget_windows WHERE wanted_at > now() - interval '3 seconds'"),
    );
    this.#leases.inDemand = new Set(rows.map(({ start_at }) => `${start_at} b`));
    await this.renew();
  }
}

/** A gateway with one rate in Postgres. Nothing happens in the background. */
export class RateReplica {
  readonly id = randomUUID();
  readonly rate: SharedRate;
  /** Milliseconds after which its leases were to be renewed. */
  readonly wakes: number[] = [];
  /** When Postgres was lost; of the monotonic clock. */
  lostAt: number | undefined;
  readonly #connection: PostgresConnection;
  readonly #store: LeaseStore;
  readonly #leases: RateLeases;

  /** Three gateways that know each other, on an empty database. */
  static async start(url: string, limit: RateLimit, minuteMs?: number): Promise<readonly RateReplica[]> {
    await migrate(url);
    const replicas = Array.from({ length: 3 }, () => new RateReplica(url, limit, minuteMs));
    for (const { id } of replicas) await join(url, id);
    for (const each of replicas) await each.renew();
    return replicas;
  }

  private constructor(url: string, limit: RateLimit, minuteMs?: number) {
    this.#connection = new PostgresConnection(url, { connectMs: DEADLINE_MS });
    this.#store = new PostgresLeases(this.#connection, this.id, minuteMs, DEADLINE_MS);
    this.#leases = new RateLeases({
      lostAt: () => this.lostAt,
      wake: (delay) => this.wakes.push(delay),
      ...(minuteMs === undefined ? {} : { minuteMs }),
    });
    this.rate = new SharedRate(limit, this.#leases.shares('r'));
  }

  close(): void {
    this.#connection.close();
  }

  async renew(): Promise<void> {
    this.#leases.answeredAt = performance.now();
    const round = this.#leases.begin({ ...NONE, rates: () => new Map([['r', this.rate.inner]]) }, true);
    if (round.requests.length === 0) return;
    const { rates, processes } = await this.#store.grant({ budgets: [], rates: round.requests });
    this.#leases.processes = processes;
    round.granted(rates, performance.now());
  }

  /** Returns what peers need, and renews its leases. Without it, a gateway counts as ended after 75 seconds. */
  async heartbeat(): Promise<void> {
    const rows = await this.#connection.transaction(DEADLINE_MS, async (sql) => {
      await sql('UPDATE replicas SET seen_at = now() WHERE id = $1', [this.id]);
      const wanted = "SELECT rate FROM rate_leases WHERE wanted_at > now() - interval '3 seconds' AND replica <> $1";
      return sql(wanted, [this.id]);
    });
    this.#leases.inDemand = new Set(rows.map(({ rate }) => String(rate)));
    await this.renew();
  }
}

/** Three workers in this process, with one rate and one hard budget of 1 USD in a local state. */
export class TestWorkers {
  static readonly IDS: readonly number[] = [1, 2, 3];
  /** Of the log. */
  readonly lines: string[] = [];
  readonly #note = (_: unknown, line: string) => void this.lines.push(line);
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #workers = new Map<number, TestWorker>();
  readonly #stopped = new Set<number>();

  /** @param folder for the state. */
  static async start(folder: string, requests = 600): Promise<TestWorkers> {
    const state = path.join(folder, 'gateway.db');
    const workers = new TestWorkers(await openState(state), path.join(folder, 'gateway-leases.db'));
    for (const id of TestWorkers.IDS) {
      const leases = await LocalLeases.open({
        file: workers.#file,
        state,
        log: { debug: () => undefined, info: workers.#note, warn: workers.#note, error: workers.#note },
        replica: String(id),
        workers: TestWorkers.IDS.length,
      });
      workers.#workers.set(id, new TestWorker(workers.#database, leases, requests));
      // The first one has its leases before the others start.
      await leases.renew();
    }
    return workers;
  }

  private constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#file = file;
  }

  of(id: number): TestWorker {
    const found = this.#workers.get(id);
    assert.ok(found);
    return found;
  }

  /** A worker ends. */
  leave(id: number): void {
    this.of(id).leases.dispose();
    this.#workers.delete(id);
  }

  /** All renew their leases. */
  async renew(): Promise<void> {
    for (const [id, { leases }] of this.#workers) if (!this.#stopped.has(id)) await leases.renew();
  }

  /** A worker is stopped as by SIGSTOP, so that it does not renew its leases. After two minutes, it goes on. */
  async whileStopped(id: number, work: () => Promise<void>): Promise<void> {
    this.#stopped.add(id);
    const leases = new DatabaseSync(this.#file);
    leases.prepare('UPDATE replicas SET seen_at = seen_at - 120000 WHERE id = ?').run(String(id));
    await work();
    // No peer needs more in the last seconds.
    leases.exec('UPDATE budget_windows SET wanted_at = NULL; UPDATE rate_leases SET wanted_at = NULL');
    leases.close();
    this.#stopped.delete(id);
  }

  /** Another process stores rows that cost so many cents. */
  store(cents: number): void {
    storeRow(this.#database, cents * CENT);
  }

  /** Nano-USD in the state. */
  get stored(): number {
    return Number(this.#database.prepare('SELECT sum(nano) AS nano FROM spent').get()?.nano ?? 0);
  }

  dispose(): void {
    for (const { leases } of this.#workers.values()) leases.dispose();
    this.#database.close();
  }
}

class TestWorker {
  readonly leases: LocalLeases;
  readonly rate: SharedRate;
  readonly #budget: Budget;
  readonly #database: DatabaseSync;
  /** Spent, but not in the state yet. */
  #unstored = 0;

  constructor(database: DatabaseSync, leases: LocalLeases, requests: number) {
    this.#database = database;
    this.leases = leases;
    this.rate = new SharedRate({ requests }, leases.rates.shares('r'));
    const rule = {
      scope: { key: 'k' },
      model: '*',
      period: 'total',
      timeZone: 'UTC',
      nano: toNano(1),
      hard: true,
    } as const;
    this.#budget = new Budget(rule, undefined, leases.budgets.share('b', rule.hard));
    leases.attach({
      budgets: () => new Map([['b', this.#budget]]),
      rates: () => new Map([['r', this.rate.inner]]),
      spent: () => undefined,
      unstored: () => this.#unstored,
    });
  }

  /** @returns whether a request of a cent may start. */
  spend(): boolean {
    if (!this.#budget.allows(CENT)) {
      this.#budget.share?.need(CENT);
      return false;
    }
    this.#budget.add({ at: Date.now(), nano: CENT });
    this.#unstored += CENT;
    return true;
  }

  /** A reload lowers the limits. */
  lower({ requests, cents }: Readonly<Record<'requests' | 'cents', number>>): void {
    this.rate.inner.rule = { ...this.rate.inner.rule, requests };
    this.#budget.rule = { ...this.#budget.rule, nano: cents * CENT };
  }

  /** Nano-USD of the budget that peers hold, as far as this worker knows. */
  get heldByPeers(): number | undefined {
    return this.#budget.share?.window(this.#budget.window().start)?.peers;
  }

  /** What the ledger does a quarter of a second later. */
  write(): void {
    if (this.#unstored === 0) return;
    storeRow(this.#database, this.#unstored);
    this.#unstored = 0;
  }
}

function storeRow(database: DatabaseSync, cost: number): void {
  const row = ledgerRow({ cost, at: Date.now(), requestId: randomUUID() });
  transaction(database, () => new UsageTables(database).write([row], assert.fail));
}
