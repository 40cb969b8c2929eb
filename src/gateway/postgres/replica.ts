import { CoalescedRun, EarliestTimer } from '../../base/concurrency.ts';
import type { LedgerRetention } from '../../config/settings/settings.ts';
import { listKeys, type StoredGatewayKey } from '../access/key-store.ts';
import type { RowStore } from '../accounting/ledger.ts';
import type { Log } from '../accounting/log.ts';
import { everyHour } from '../accounting/retention.ts';
import { type AlertClaims, claimAlert, settleAlert } from '../limits/alerts.ts';
import { BudgetLeases } from '../limits/budget-leases.ts';
import type { SharedBudgets } from '../limits/budget-share.ts';
import { RateLeases } from '../limits/rate-leases.ts';
import type { SharedRates } from '../limits/rate-share.ts';
import { withoutSecrets } from '../servers/server-address.ts';
import { ServerHealth } from '../servers/server-health.ts';
import { Unavailable } from '../servers/unavailable.ts';
import type { SeenReplica, SharedState, SharingGateway } from '../shared-state.ts';
import { SqlAdmin, type StateAdmin } from '../state-admin.ts';
import type { Outbox } from './outbox.ts';
import { describeServer } from './postgres-address.ts';
import { PostgresState } from './postgres-admin.ts';
import { PostgresBudgets } from './postgres-budgets.ts';
import { PostgresConnection, runIn } from './postgres-connection.ts';
import { PostgresRates } from './postgres-rates.ts';
import { removeOldRows, sealNextInPostgres } from './postgres-retention.ts';
import { migratePostgres, POSTGRES } from './postgres-tables.ts';
import { beat, type FailoverSign, listReplicas, look } from './replicas-table.ts';
import { RowSender } from './row-sender.ts';

export interface ReplicaInput {
  /** Address of the database, with its password. Read for each connection, because passwords are rotated. */
  readonly url: () => string;
  readonly outbox: Outbox;
  readonly log: Log;
  /** Milliseconds without an answer of Postgres after which keys are no longer known. */
  readonly maxStaleMs: number;
  readonly retention: () => LedgerRetention;
  /** Whether rates are counted by all gateways together. */
  readonly sharedRates: boolean;
}

/** Milliseconds between two looks for changes. A notification may get lost. */
const POLL_MS = 1_000;
/** Milliseconds after which a look for changes has failed. `maxStale: 0` means that this is not tolerated. */
const LATE_MS = 3_000;
/** Milliseconds in which rows are collected before they are sent. */
const SEND_MS = 500;
/** Milliseconds between two questions about shares. */
const ASK_MS = 100;
/** Milliseconds after which all keys are read again, and the snapshot is dated. */
const RELOAD_MS = 300_000;
const CONFIRM_MS = 10_000;
/** Milliseconds after which the connection for notifications is tested. It may be dead without an error. */
const LISTEN_MS = 5_000;
/** Milliseconds without it after the server had no free connection for needed work. */
const REST_MS = 60_000;
/** Deadlines in milliseconds. */
const DEADLINE = { poll: 1_000, keys: 5_000 } as const;
const ROWS_WAIT = {
  alert: 'state-rows',
  failed: 'rows of the ledger can’t be stored: they wait on the disk',
  answered: 'rows of the ledger are stored again',
};
const SHARES_FAIL = {
  alert: 'state-read-only',
  failed: 'the state can be read and not be written: keys are valid, and shares of budgets and rates are not renewed',
  answered: 'the state can be written again',
};
/** Milliseconds for the first connection of a replica that can start without it, and of one that can't. */
const OPEN_MS = { withKeys: 700, withoutKeys: 5_000 } as const;

/**
 * One of several gateways on a Postgres database. Keys are copied to memory, and rows are sent from the outbox. It runs
 * in the background: no request waits for it.
 */
export class Replica implements SharedState {
  readonly admin: StateAdmin;
  readonly #outbox: Outbox;
  readonly #input: ReplicaInput;
  readonly #server: string;
  /** Whether keys can be read. */
  readonly #health: ServerHealth;
  /** Whether this replica can say that it lives, and get shares. */
  readonly #writing: ServerHealth;
  readonly #storing: ServerHealth;
  /** For changes and leases, and for rows, so that a large batch delays no change. */
  readonly #control: PostgresConnection;
  /** For notifications alone, so that a look for changes does not depend on it. A pooler may refuse `LISTEN`. */
  readonly #listener: PostgresConnection;
  readonly #rows: PostgresConnection;
  readonly #adminConnection: PostgresConnection;
  readonly #leases: BudgetLeases;
  readonly #rateLeases: RateLeases;
  readonly #sender: RowSender;
  #gateway: SharingGateway | undefined;
  #keys: readonly StoredGatewayKey[] = [];
  /** Number of the last change that the keys contain. */
  #seen = -1;
  /** When the keys were last known to be those of Postgres; of the monotonic clock. */
  #confirmed = Number.NEGATIVE_INFINITY;
  #loaded = 0;
  #dated = 0;
  #listened = Number.NEGATIVE_INFINITY;
  #stale = false;
  #pollTimer: NodeJS.Timeout | undefined;
  readonly #renewal = new EarliestTimer(() => {
    this.#asked = performance.now();
    if (!this.#health.away && !this.#writing.away) void this.#askForShares(false);
  });
  #asked = Number.NEGATIVE_INFINITY;
  #stopRetention: (() => void) | undefined;
  #sendTimer: NodeJS.Timeout | undefined;
  readonly #polls = new CoalescedRun(() => this.#poll());
  #disposed = false;
  #facts: (() => string) | undefined;
  #failoverSign: FailoverSign = 'control';
  replicas = 1;

  constructor(input: ReplicaInput) {
    this.#input = input;
    this.#outbox = input.outbox;
    this.#server = describeServer(input.url());
    this.#health = new ServerHealth(input.log, this.#server, 'state-away');
    this.#writing = new ServerHealth(input.log, this.#server, SHARES_FAIL);
    this.#storing = new ServerHealth(input.log, this.#server, ROWS_WAIT);
    const full = () => this.#restListener();
    this.#control = new PostgresConnection(input.url, { full });
    this.#listener = new PostgresConnection(input.url, { notified: () => this.look(), full });
    this.#rows = new PostgresConnection(input.url, { full });
    const lostAt = () => this.#health.awayAt ?? this.#writing.awayAt;
    this.#leases = new BudgetLeases(
      new PostgresBudgets(this.#control, input.outbox.replica),
      () => this.#askSoon(0),
      lostAt,
    );
    this.#rateLeases = new RateLeases(new PostgresRates(this.#control, input.outbox.replica), {
      lostAt,
      wake: (delay) => this.#askSoon(delay),
    });
    this.#adminConnection = new PostgresConnection(input.url, { full });
    this.#sender = new RowSender({
      ...input,
      connection: this.#rows,
      health: this.#health,
      stored: () => this.#storing.answered(),
      failed: (thrown) => this.#fails(this.#storing, thrown),
    });
    this.admin = new SqlAdmin(new PostgresState(this.#adminConnection));
  }

  /** @throws SvcError configuration_error if neither Postgres nor a copy of its keys can be read. */
  async open(): Promise<void> {
    const snapshot = this.#outbox.readKeys(this.#server);
    const connectMs = snapshot === undefined ? OPEN_MS.withoutKeys : OPEN_MS.withKeys;
    this.#control.connectMs = connectMs;
    try {
      await migratePostgres(this.#control, connectMs);
      await this.#load();
    } catch (thrown) {
      if (snapshot === undefined || !(thrown instanceof Unavailable) || thrown.refused) {
        this.#control.close();
        throw thrown;
      }
      this.#health.failed(thrown.reason);
      const ageMs = Math.max(0, Date.now() - snapshot.at);
      this.#input.log.warn({ ageSeconds: Math.round(ageMs / 1000) }, 'starting with the last known keys');
      this.#keys = snapshot.keys;
      this.#confirmed = performance.now() - ageMs;
    } finally {
      this.#control.connectMs = undefined;
    }
  }

  get rows(): RowStore {
    return this.#outbox;
  }

  readonly alerts: AlertClaims = {
    claim: (id, until) => this.#control.run(DEADLINE.poll, claimAlert(id, until)),
    settle: (id, delivered) => this.#control.run(DEADLINE.poll, settleAlert(id, delivered)),
  };

  get budgets(): SharedBudgets {
    return this.#leases;
  }

  get rates(): SharedRates | undefined {
    return this.#input.sharedRates ? this.#rateLeases : undefined;
  }

  attach(gateway: SharingGateway): void {
    this.#gateway = gateway;
    gateway.keys(this.#keys);
  }

  async ready(): Promise<void> {
    if (this.#health.away) return;
    // Shares of a replica that has not said that it lives do not count for others.
    if (await this.#beat()) await this.#askForShares(true);
  }

  /** Whether the keys are so old that they must not be used. */
  get stale(): boolean {
    return performance.now() - this.#confirmed > Math.max(this.#input.maxStaleMs, LATE_MS);
  }

  get status(): SharedState['status'] {
    if (this.stale) return 'stale';
    if (this.#health.away) return 'away';
    return this.#writing.away || this.#storing.away ? 'read-only' : 'ok';
  }

  get waiting(): number {
    return this.#outbox.waiting;
  }

  describe(facts: () => string): void {
    this.#facts = facts;
    this.look();
  }

  listReplicas(): Promise<readonly SeenReplica[]> {
    return this.#adminConnection.call(DEADLINE.keys, (sql) => listReplicas(sql, this.#outbox.replica));
  }

  /** Begins to follow changes and to send rows. */
  follow(): void {
    this.look();
    this.#pollTimer = setInterval(() => this.look(), POLL_MS).unref();
    this.#sendTimer = setInterval(() => void this.#sender.send(), SEND_MS).unref();
    this.#stopRetention = everyHour(
      async () =>
        !this.#health.away &&
        ((await removeOldRows(this.#rows, this.#input.retention())) || (await sealNextInPostgres(this.#rows))),
      (thrown) => this.#failed(thrown),
    );
  }

  /** Looks for changes now, or once more if it is looking. */
  look(): void {
    if (!this.#disposed) void this.#polls.run();
  }

  #askSoon(delay: number): void {
    if (this.#disposed || this.#gateway === undefined) return;
    this.#renewal.start(Math.max(this.#asked + ASK_MS - performance.now(), delay));
  }

  /** @param all whether to look at all budgets, and not only at those that have changed. */
  async #askForShares(all: boolean): Promise<void> {
    const gateway = this.#gateway;
    if (gateway === undefined) return;
    try {
      await this.#leases.ask(gateway.budgets(), all, (budget) => gateway.spent(budget));
      if (this.#input.sharedRates) await this.#rateLeases.ask(gateway.rates(), all);
      this.#writing.answered();
    } catch (thrown) {
      this.#fails(this.#writing, thrown);
    }
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    clearInterval(this.#pollTimer);
    this.#renewal.stop();
    this.#stopRetention?.();
    clearInterval(this.#sendTimer);
    await this.#sender.end();
    for (const each of [this.#control, this.#listener, this.#rows, this.#adminConnection]) each.close();
    this.#outbox.close();
  }

  async #poll(): Promise<void> {
    const asked = performance.now();
    try {
      const changes = await this.#lookForChanges();
      if (changes !== this.#seen || asked - this.#loaded > RELOAD_MS) {
        const known = new Set(this.#keys.map(({ name }) => name));
        await this.#load();
        await this.#publish(known);
      }
      this.#confirm(asked);
      this.#health.answered();
      this.#listen(asked);
    } catch (thrown) {
      this.#failed(thrown);
      return;
    }
    if (!(await this.#beat())) return;
    this.#leases.answeredAt = asked;
    await this.#askForShares(true);
  }

  #listen(now: number): void {
    if (now - this.#listened < LISTEN_MS) return;
    this.#listened = now;
    // If it fails, changes are found by looking for them.
    this.#listener.call(DEADLINE.poll, (sql) => sql('SELECT 1')).catch(() => undefined);
  }

  /** Revoked keys are refused at once. A new key has its share of budgets before a request may use it. */
  async #publish(known: ReadonlySet<string>): Promise<void> {
    const gateway = this.#gateway;
    if (gateway === undefined) return;
    const old = this.#keys.filter(({ name }) => known.has(name));
    gateway.keys(old);
    if (old.length === this.#keys.length) return;
    gateway.limits(this.#keys);
    await this.#askForShares(true);
    gateway.keys(this.#keys);
  }

  /** Says that this replica lives. @returns whether it could. */
  async #beat(): Promise<boolean> {
    try {
      await this.#control.call(DEADLINE.poll, (sql) => beat(sql, this.#outbox.replica, this.#facts?.()));
      return true;
    } catch (thrown) {
      this.#fails(this.#writing, thrown);
      return false;
    }
  }

  /** @returns the number of the last change. */
  async #lookForChanges(): Promise<number> {
    const ask = () => this.#control.call(DEADLINE.poll, (sql) => look(sql, this.#outbox.replica, this.#failoverSign));
    const seen = await ask().catch((thrown: unknown) => {
      if (thrown instanceof Unavailable || this.#failoverSign === 'start') throw thrown;
      // The first question may have failed for another reason. The second one then fails for it, too.
      this.#failoverSign = 'start';
      this.#input.log.info({ error: this.#text(thrown) }, 'a failover is noticed by the start of the server');
      return ask();
    });
    const { changes, others, server, wantedWindows, wantedRates } = seen;
    this.replicas = others + 1;
    this.#rateLeases.replicas = this.replicas;
    this.#noticeFailover(server);
    this.#leases.wanted = wantedWindows;
    this.#rateLeases.wanted = wantedRates;
    return changes;
  }

  async #load(): Promise<void> {
    const asked = performance.now();
    const { seen, keys } = await this.#control.transaction(DEADLINE.keys, async (sql) => {
      // A change that is committed after this statement is read next time.
      const [last] = await sql('SELECT coalesce(max(seq), 0) AS seq FROM changes');
      return { seen: Number(last?.seq), keys: await runIn(sql, listKeys(POSTGRES)) };
    });
    this.#seen = seen;
    this.#loaded = asked;
    this.#keys = keys;
    this.#confirmed = asked;
    this.#dated = asked;
    this.#save(() => this.#outbox.saveKeys(keys, this.#server));
  }

  #confirm(asked: number): void {
    this.#confirmed = asked;
    if (this.#stale) this.#input.log.info({}, 'the keys are current again');
    this.#stale = false;
    if (asked - this.#dated < CONFIRM_MS) return;
    this.#dated = asked;
    this.#save(() => {
      this.#outbox.keysConfirmed();
      this.#outbox.dropOld();
    });
  }

  /** Notes for a later start. They must not stop a change of keys when the disk is full. */
  #save(write: () => void): void {
    try {
      write();
    } catch (thrown) {
      this.#input.log.error({ error: String(thrown) }, 'the outbox can’t be written');
    }
  }

  #text(thrown: unknown): string {
    return thrown instanceof Unavailable ? thrown.reason : withoutSecrets(thrown, this.#input.url());
  }

  /** A kind of work fails. An error of the server about a statement is no reason to call the server away. */
  #fails(health: ServerHealth, thrown: unknown): void {
    const error = this.#text(thrown);
    const silent = thrown instanceof Unavailable && !thrown.answered;
    if (health === this.#health) health.failed(error);
    else if (silent) void this.#failsUnlessAway(health, error);
    else if (!this.#health.away) health.failed(error);
  }

  /** Without an answer, the whole server may be away, which the next look for changes tells. */
  async #failsUnlessAway(health: ServerHealth, error: string): Promise<void> {
    if (!this.#disposed) await this.#polls.run();
    if (!this.#disposed && !this.#health.away) health.failed(error);
  }

  /** Needed work comes first: changes are found each second without notifications, too. */
  #restListener(): void {
    this.#listener.rest();
    this.#listened = performance.now() + REST_MS - LISTEN_MS;
  }

  #failed(thrown: unknown): void {
    this.#fails(this.#health, thrown);
    if (!this.stale || this.#stale) return;
    this.#stale = true;
    this.#input.log.error({ alert: 'state-stale' }, 'the keys are too old: requests with stored keys are refused');
  }

  /** A standby that took over may lack the last rows. */
  #noticeFailover(timeline: string): void {
    const before = this.#outbox.timeline;
    if (before === timeline) return;
    if (before !== undefined) {
      this.#input.log.warn({}, 'another server has taken over: the last rows are sent again');
      this.#save(() => this.#outbox.sendAgain());
    }
    this.#save(() => {
      this.#outbox.timeline = timeline;
    });
  }
}
