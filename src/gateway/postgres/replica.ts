import { CoalescedRun } from '../../base/concurrency.ts';
import type { LedgerRetention } from '../../config/settings/settings.ts';
import { listKeys, type StoredGatewayKey } from '../access/key-store.ts';
import type { RowStore } from '../accounting/ledger.ts';
import type { Log } from '../accounting/log.ts';
import { everyHour } from '../accounting/retention.ts';
import { type AlertClaims, claimAlert, settleAlert } from '../limits/alerts.ts';
import type { SharedBudgets } from '../limits/budget-share.ts';
import { LeaseScheduler } from '../limits/lease-scheduler.ts';
import type { SharedRates } from '../limits/rate-share.ts';
import { withoutSecrets } from '../servers/server-address.ts';
import { ServerHealth } from '../servers/server-health.ts';
import { Unavailable } from '../servers/unavailable.ts';
import type { PeerReporter, SeenReplica, SharedState, SharingGateway } from '../shared-state.ts';
import { SqlAdmin, type StateAdmin } from '../state-admin.ts';
import type { Outbox } from './outbox.ts';
import type { PasswordCommand } from './password-command.ts';
import { describeServer } from './postgres-address.ts';
import { PostgresState } from './postgres-admin.ts';
import { PostgresConnection, runIn } from './postgres-connection.ts';
import { PostgresLeases } from './postgres-leases.ts';
import { removeOldRows, sealNextInPostgres } from './postgres-retention.ts';
import { migratePostgres, POSTGRES } from './postgres-tables.ts';
import { type FailoverSign, readChanges, readReplicas, sendHeartbeat } from './replicas-table.ts';
import { RowSender } from './row-sender.ts';

export interface ReplicaInput {
  /** Address of the database, with its password. Read for each connection, because passwords are rotated. */
  readonly url: () => string;
  readonly password?: PasswordCommand | undefined;
  readonly outbox: Outbox;
  readonly log: Log;
  /** Milliseconds without an answer of Postgres after which keys are no longer known. */
  readonly maxStaleMs: number;
  readonly retention: () => LedgerRetention;
  /** Whether rates are counted by all gateways together. */
  readonly sharedRates: boolean;
}

/** Milliseconds after which changes are read. A notification may get lost. */
const POLL_MS = 1_000;
/** Milliseconds after which a read of changes has failed. `maxStale: 0` means that this is not tolerated. */
const LATE_MS = 3_000;
/** Milliseconds in which rows are collected before they are sent. */
const SEND_MS = 500;
/** Milliseconds between two requests for leases. */
const RENEW_MS = 100;
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
const LEASES_FAIL = {
  alert: 'state-read-only',
  failed: 'the state can be read and not be written: keys are valid, and leases of budgets and rates are not renewed',
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
  /** Whether this replica can send heartbeats and get leases. */
  readonly #writing: ServerHealth;
  readonly #storing: ServerHealth;
  /** For changes and leases, and for rows, so that a large batch delays no change. */
  readonly #control: PostgresConnection;
  /** For notifications alone, so that changes are read without it. A pooler may refuse `LISTEN`. */
  readonly #listener: PostgresConnection;
  readonly #rows: PostgresConnection;
  readonly #adminConnection: PostgresConnection;
  readonly #leases: LeaseScheduler;
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
  #stopRetention: (() => void) | undefined;
  #sendTimer: NodeJS.Timeout | undefined;
  readonly #polls = new CoalescedRun(() => this.#poll());
  #disposed = false;
  #reporter: PeerReporter | undefined;
  #failoverSign: FailoverSign = 'control';

  constructor(input: ReplicaInput) {
    this.#input = input;
    this.#outbox = input.outbox;
    this.#server = describeServer(input.url());
    this.#health = new ServerHealth(input.log, this.#server, 'state-away');
    this.#writing = new ServerHealth(input.log, this.#server, LEASES_FAIL);
    this.#storing = new ServerHealth(input.log, this.#server, ROWS_WAIT);
    const options = { full: () => this.#restListener(), password: input.password };
    this.#control = new PostgresConnection(input.url, options);
    this.#listener = new PostgresConnection(input.url, { ...options, notified: () => this.readChanges() });
    this.#rows = new PostgresConnection(input.url, options);
    this.#leases = new LeaseScheduler(new PostgresLeases(this.#control, input.outbox.replica), {
      intervalMs: RENEW_MS,
      lostAt: () => this.#health.awayAt ?? this.#writing.awayAt,
      failed: (thrown) => this.#fails(this.#writing, thrown),
    });
    this.#adminConnection = new PostgresConnection(input.url, options);
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
    return this.#leases.budgets;
  }

  get rates(): SharedRates | undefined {
    return this.#input.sharedRates ? this.#leases.rates : undefined;
  }

  attach(gateway: SharingGateway): void {
    this.#gateway = gateway;
    this.#leases.attach(gateway);
    gateway.keys(this.#keys);
  }

  async ready(): Promise<void> {
    if (this.#health.away) return;
    // Leases of a replica without a heartbeat do not count for peers.
    if (await this.#sendHeartbeat()) await this.#renewLeases();
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

  join(reporter: PeerReporter): void {
    this.#reporter = reporter;
    this.readChanges();
  }

  async listReplicas(): Promise<readonly SeenReplica[]> {
    // A page must not wait for each deadline.
    if (this.#health.away) throw new Unavailable('it did not answer');
    return this.#adminConnection.call(DEADLINE.keys, (sql) => readReplicas(sql, this.#outbox.replica));
  }

  /** Begins to follow changes and to send rows. */
  follow(): void {
    this.readChanges();
    this.#pollTimer = setInterval(() => this.readChanges(), POLL_MS).unref();
    this.#sendTimer = setInterval(() => void this.#sender.send(), SEND_MS).unref();
    this.#stopRetention = everyHour(
      async () =>
        !this.#health.away &&
        ((await removeOldRows(this.#rows, this.#input.retention())) || (await sealNextInPostgres(this.#rows))),
      (thrown) => this.#failed(thrown),
    );
  }

  /** Reads changes now, or once more if it is reading them. */
  readChanges(): void {
    if (!this.#disposed) void this.#polls.run();
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    clearInterval(this.#pollTimer);
    this.#leases.stop();
    this.#stopRetention?.();
    clearInterval(this.#sendTimer);
    await this.#sender.end();
    for (const each of [this.#control, this.#listener, this.#rows, this.#adminConnection]) each.close();
    this.#outbox.close();
  }

  async #poll(): Promise<void> {
    const readAt = performance.now();
    try {
      const changes = await this.#readChanges();
      if (changes !== this.#seen || readAt - this.#loaded > RELOAD_MS) {
        const known = new Set(this.#keys.map(({ name }) => name));
        await this.#load();
        await this.#publish(known);
      }
      this.#confirm(readAt);
      this.#health.answered();
      this.#listen(readAt);
    } catch (thrown) {
      this.#failed(thrown);
      return;
    }
    if (await this.#sendHeartbeat()) await this.#renewLeases();
  }

  #listen(now: number): void {
    if (now - this.#listened < LISTEN_MS) return;
    this.#listened = now;
    // If it fails, changes are found each second.
    this.#listener.call(DEADLINE.poll, (sql) => sql('SELECT 1')).catch(() => undefined);
  }

  /** Revoked keys are refused at once. A new key has its leases of budgets before a request may use it. */
  async #publish(known: ReadonlySet<string>): Promise<void> {
    const gateway = this.#gateway;
    if (gateway === undefined) return;
    const old = this.#keys.filter(({ name }) => known.has(name));
    gateway.keys(old);
    if (old.length === this.#keys.length) return;
    gateway.limits(this.#keys);
    await this.#renewLeases();
    gateway.keys(this.#keys);
  }

  async #renewLeases(): Promise<void> {
    if (await this.#leases.renew(true)) this.#writing.answered();
  }

  /** @returns whether it could. */
  async #sendHeartbeat(): Promise<boolean> {
    const at = performance.now();
    try {
      const late = await this.#control.call(DEADLINE.poll, (sql) =>
        sendHeartbeat(sql, this.#outbox.replica, this.#reporter?.report()),
      );
      this.#leases.answered(at, late);
      return true;
    } catch (thrown) {
      this.#fails(this.#writing, thrown);
      return false;
    }
  }

  /** @returns the number of the last change. */
  async #readChanges(): Promise<number> {
    const read = (sign: FailoverSign) =>
      this.#control.call(DEADLINE.poll, (sql) => readChanges(sql, this.#outbox.replica, sign));
    const seen = await read(this.#failoverSign).catch(async (thrown: unknown) => {
      if (thrown instanceof Unavailable || this.#failoverSign === 'start') throw thrown;
      // The first read may have failed for another reason. The second one then fails for it, too.
      const changes = await read('start');
      this.#failoverSign = 'start';
      this.#input.log.info({ error: this.#text(thrown) }, 'a failover is noticed by the start of the server');
      return changes;
    });
    const { last, peers, server, windowsInDemand, ratesInDemand, live } = seen;
    this.#reporter?.read(live);
    this.#leases.rates.processes = peers + 1;
    this.#noticeFailover(server);
    this.#leases.inDemand(windowsInDemand, ratesInDemand);
    return last;
  }

  async #load(): Promise<void> {
    const readAt = performance.now();
    const { seen, keys } = await this.#control.transaction(DEADLINE.keys, async (sql) => {
      // A change that is committed after this statement is read next time.
      const [last] = await sql('SELECT coalesce(max(seq), 0) AS seq FROM changes');
      return { seen: Number(last?.seq), keys: await runIn(sql, listKeys(POSTGRES)) };
    });
    this.#seen = seen;
    this.#loaded = readAt;
    this.#keys = keys;
    this.#confirmed = readAt;
    this.#dated = readAt;
    this.#save(() => this.#outbox.saveKeys(keys, this.#server));
  }

  #confirm(readAt: number): void {
    this.#confirmed = readAt;
    if (this.#stale) this.#input.log.info({}, 'the keys are current again');
    this.#stale = false;
    if (readAt - this.#dated < CONFIRM_MS) return;
    this.#dated = readAt;
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

  /** A kind of work fails. A server that refuses a statement is there. */
  #fails(health: ServerHealth, thrown: unknown): void {
    const error = this.#text(thrown);
    const silent = thrown instanceof Unavailable && !thrown.answered;
    if (health === this.#health) health.failed(error);
    else if (silent) void this.#failsUnlessAway(health, error);
    else if (!this.#health.away) health.failed(error);
  }

  /** Without an answer, the whole server may be unreachable, which the next read of changes shows. */
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
