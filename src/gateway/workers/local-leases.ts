import { rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Log } from '../accounting/log.ts';
import type { Budget } from '../limits/budget.ts';
import { spentBefore } from '../limits/budget-book.ts';
import type { SharedBudgets } from '../limits/budget-share.ts';
import {
  type BudgetRequest,
  type LeaseGrants,
  type LeaseRequests,
  type LeaseStore,
  type LeasingGateway,
  windowId,
} from '../limits/lease.ts';
import { LeaseScheduler } from '../limits/lease-scheduler.ts';
import {
  countsFor,
  grantLeases,
  type LeaseDialect,
  LIVE_MS,
  SLOT_MS,
  WINDOW_COLUMNS,
  windowRow,
} from '../limits/lease-steps.ts';
import type { SharedRates } from '../limits/rate-share.ts';
import { MINUTE_MS } from '../limits/sliding-minute.ts';
import { ServerHealth } from '../servers/server-health.ts';
import { MAY_HAVE_LIVE, type PeerReporter, type SeenReplica, type SharedLimits } from '../shared-state.ts';
import { isDamaged, openDatabase, waitForOthers } from '../state/state-database.ts';
import { PreparedStatements, run, runSteps, type Steps } from '../state/steps.ts';
import { transaction } from '../state/transaction.ts';

/** Milliseconds between two heartbeats, and after which the demand of peers is noticed. */
const HEARTBEAT_MS = 500;
/** Milliseconds between two requests for leases. */
const RENEW_MS = 20;
/** Milliseconds in which the use of rates is collected. */
const REPORT_MS = 100;
/** Milliseconds in which leases may be spent without a heartbeat: peers take them as free a little later. */
const USABLE_MS = LIVE_MS - 2_000;
/** Milliseconds after the window of a rate in which the leases of a killed worker are held. */
const LATE_MS = 2_000;
/** Milliseconds for which the need of a peer is known. */
const DEMAND_MS = 3_000;
/** Milliseconds of failures after which the file counts as one that can’t be written. It may be locked for a moment. */
const LOST_MS = 2_000;
/** Milliseconds after the end of a window until it is removed. */
const WINDOW_KEPT_MS = 3_600_000;

/** The tables have the columns of those in Postgres (`postgres-tables.ts`). Times are those of the monotonic clock. */
const TABLES = `
CREATE TABLE IF NOT EXISTS replicas (id TEXT PRIMARY KEY, seen_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS budget_windows (
  id INTEGER PRIMARY KEY, budget TEXT NOT NULL, start_at INTEGER NOT NULL, end_at INTEGER, key TEXT NOT NULL,
  "user" TEXT NOT NULL, organization TEXT NOT NULL, model TEXT NOT NULL, spent_nano INTEGER NOT NULL, wanted_at INTEGER,
  UNIQUE (budget, start_at)
) STRICT;
CREATE INDEX IF NOT EXISTS windows_by_scope ON budget_windows (key, "user", organization);
CREATE TABLE IF NOT EXISTS leases (
  budget_window INTEGER NOT NULL REFERENCES budget_windows (id) ON DELETE CASCADE, replica TEXT NOT NULL,
  granted_nano INTEGER NOT NULL, settled_nano INTEGER NOT NULL, PRIMARY KEY (budget_window, replica)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rate_use (
  rate TEXT NOT NULL, slot INTEGER NOT NULL, amount INTEGER NOT NULL, PRIMARY KEY (rate, slot)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rate_leases (
  rate TEXT NOT NULL, replica TEXT NOT NULL, held INTEGER NOT NULL, wanted_at INTEGER, PRIMARY KEY (rate, replica)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counted (seq INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS reserve (space BLOB NOT NULL) STRICT;
INSERT INTO counted SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM counted);
`;
/** A file of an earlier release does not have it. */
const REPORTS = 'ALTER TABLE replicas ADD COLUMN facts TEXT';

/** Pages of the write-ahead log, which is written again from its start. */
const LOG_PAGES = 256;
/** Leases can be renewed when the disk is full, because file and log have their sizes already. */
const RESERVE_SPACE = `
PRAGMA main.wal_autocheckpoint = ${LOG_PAGES};
INSERT INTO reserve VALUES (zeroblob(${(LOG_PAGES + 64) * 4_096}));
DELETE FROM reserve;
PRAGMA main.wal_checkpoint;
`;

/**
 * All processes of the machine have the same clock. On macOS and Windows it goes on while the machine sleeps: workers that
 * wake up have lost their leases, as one that was stopped.
 */
const within = (milliseconds: string) => `r.seen_at BETWEEN monotonic_ms() - ${milliseconds} AND monotonic_ms()`;

const LOCAL: LeaseDialect = {
  now: 'monotonic_ms()',
  before: (milliseconds) => `monotonic_ms() - ${milliseconds}`,
  slot: `monotonic_ms() / ${SLOT_MS}`,
  records: (columns) => {
    const members = Object.keys(columns).map((name) => `value ->> '${name}' AS "${name}"`);
    return `(SELECT ${members.join(', ')} FROM json_each(?1))`;
  },
  pattern: (model) => model.replaceAll(/[[?]/g, '[$&]'),
  matches: (model, pattern) => `${model} GLOB ${pattern}`,
  together: (statements) => statements,
  live: within(String(LIVE_MS)),
  holdsBudget: within(String(LIVE_MS)),
  silent: 'false',
  // The requests of a killed worker have ended with it; those that it counted stay counted.
  holdsRate: (minuteMs) => within(`CASE WHEN l.rate LIKE 'parallel %' THEN ${LIVE_MS} ELSE ${minuteMs + LATE_MS} END`),
};

/** Counts the rows since the last call for all windows. */
const COUNT_ROWS = `UPDATE budget_windows SET spent_nano = spent_nano + sums.nano FROM (
    SELECT w.id, sum(s.nano) AS nano
    FROM (SELECT key, organization, model, at, cost_nano AS nano FROM usage
      WHERE seq > ?1 AND seq <= ?2 AND byok = 0 AND cost_nano <> 0) s
    JOIN budget_windows w ON ${countsFor(LOCAL)} AND s.at >= w.start_at AND (w.end_at IS NULL OR s.at < w.end_at)
    GROUP BY w.id) AS sums
  WHERE sums.id = budget_windows.id`;

const WINDOW = LOCAL.records({ budget: 'TEXT', start_at: 'BIGINT' });

const ADD_WINDOWS = `INSERT INTO budget_windows (budget, start_at, end_at, key, "user", organization, model, spent_nano)
  SELECT * FROM ${LOCAL.records({ ...WINDOW_COLUMNS, spent_nano: 'BIGINT' })} WHERE true ON CONFLICT (budget, start_at) DO NOTHING`;

/** The worker knows which of its rows are in the state. Before its first grant, it may have spent without a lease. */
const SETTLE = `INSERT INTO leases (budget_window, replica, granted_nano, settled_nano)
  SELECT w.id, a.replica, a.used, a.stored
  FROM ${LOCAL.records({ replica: 'TEXT', budget: 'TEXT', start_at: 'BIGINT', used: 'BIGINT', stored: 'BIGINT' })} a
  JOIN budget_windows w ON w.budget = a.budget AND w.start_at = a.start_at WHERE true
  ON CONFLICT (budget_window, replica) DO UPDATE SET settled_nano = excluded.settled_nano`;

const LEASES_FAIL = {
  alert: 'leases-failing',
  failed: 'leases of budgets and rates can’t be renewed',
  answered: 'leases of budgets and rates are renewed again',
};

interface Heartbeat {
  /** Whether peers may have been granted the leases of this worker. */
  readonly lost: boolean;
  /** Of which windows and rates a peer needs more. */
  readonly windows: ReadonlySet<string>;
  readonly rates: ReadonlySet<string>;
  /** The reports of running peers that have the member `live`. */
  readonly live: ReadonlyMap<string, string>;
}

export interface LocalLeasesInput {
  /** The file of the leases. All workers on one state have the same. */
  readonly file: string;
  /** The file of the state, which is open. */
  readonly state: string;
  readonly log: Log;
  /** Identifies this process. */
  readonly replica: string;
  /** Number of workers when all have started. */
  readonly workers: number;
  /** Milliseconds of the window of each rate, default 60,000. */
  readonly minuteMs?: number;
}

/**
 * The leases and heartbeats of a worker of this machine, as those of a replica with Postgres. They are in a file beside
 * the state, so that rows of the ledger and leases do not wait for each other. Without running workers, it is worth
 * nothing.
 */
export class LocalLeases implements SharedLimits, LeaseStore {
  readonly #input: LocalLeasesInput;
  #database: DatabaseSync;
  #statements: PreparedStatements;
  /** Number of the open file. */
  #file: bigint | undefined;
  readonly #health: ServerHealth;
  readonly #leases: LeaseScheduler;
  readonly #minuteMs: number;
  readonly #heartbeat: NodeJS.Timeout;
  #gateway: LeasingGateway | undefined;
  #reporter: PeerReporter | undefined;
  #answeredAt = performance.now();

  /** @throws SvcError configuration_error when the file can't be opened. */
  static async open(input: LocalLeasesInput): Promise<LocalLeases> {
    const leases = new LocalLeases(input, await openLeases(input));
    leases.#join();
    return leases;
  }

  private constructor(input: LocalLeasesInput, database: DatabaseSync) {
    this.#input = input;
    this.#database = database;
    this.#statements = new PreparedStatements(database);
    this.#minuteMs = input.minuteMs ?? MINUTE_MS;
    this.#health = new ServerHealth(input.log, basename(input.file), LEASES_FAIL);
    this.#leases = new LeaseScheduler(this, {
      intervalMs: RENEW_MS,
      reportMs: REPORT_MS,
      usableMs: USABLE_MS,
      minuteMs: this.#minuteMs,
      lostAt: () => this.#health.awayAt,
      failed: (thrown) => this.#failed(thrown),
    });
    this.#heartbeat = setInterval(() => void this.renew(), HEARTBEAT_MS).unref();
  }

  get budgets(): SharedBudgets {
    return this.#leases.budgets;
  }

  get rates(): SharedRates {
    return this.#leases.rates;
  }

  attach(gateway: LeasingGateway): void {
    this.#gateway = gateway;
    this.#leases.attach(gateway);
  }

  ready(): Promise<void> {
    return this.renew();
  }

  join(reporter: PeerReporter): void {
    this.#reporter = reporter;
    void this.renew();
  }

  async listReplicas(): Promise<readonly SeenReplica[]> {
    const age = 'monotonic_ms() - seen_at AS age';
    const rows = runSteps(
      this.#statements,
      run(`SELECT id, facts, ${age} FROM replicas r WHERE facts IS NOT NULL AND ${LOCAL.live} ORDER BY id`),
    );
    return rows.map(({ id, facts, age }) => ({
      id: String(id),
      facts: String(facts),
      seenAt: Date.now() - Number(age),
      live: true,
      self: id === this.#input.replica,
    }));
  }

  /** Sends a heartbeat, and renews all leases. */
  async renew(): Promise<void> {
    try {
      await this.#followFile();
      const at = performance.now();
      const { lost, windows, rates, live } = this.#run(this.#sendHeartbeat());
      if (lost) this.#leases.forget();
      this.#leases.inDemand(windows, rates);
      this.#leases.answered(at);
      this.#reporter?.read(live);
    } catch (thrown) {
      return this.#failed(thrown);
    }
    if (await this.#leases.renew(true)) this.#answered();
  }

  async grant(requests: LeaseRequests): Promise<LeaseGrants> {
    const grants = this.#run(this.#grant(requests));
    this.#answered();
    return grants;
  }

  /** The leases are free at once. The rows of the ledger must be written before. */
  dispose(): void {
    clearInterval(this.#heartbeat);
    this.#leases.stop();
    try {
      this.#run(this.#leave());
    } catch (thrown) {
      // They are free a few seconds later.
      this.#input.log.warn({ error: String(thrown) }, 'leases could not be returned');
    }
    this.#database.close();
  }

  #run<T>(steps: Steps<T>): T {
    return transaction(this.#database, () => runSteps(this.#statements, steps));
  }

  #answered(): void {
    this.#answeredAt = performance.now();
    this.#health.answered();
  }

  #failed(thrown: unknown): void {
    if (performance.now() - this.#answeredAt > LOST_MS) this.#health.failed(String(thrown));
  }

  #join(): void {
    this.#run(this.#addSelf());
    this.#file = fileNumber(this.#input.file);
    waitForOthers(this.#database, true);
  }

  /** If the file was removed or replaced, workers that start later have another one. */
  async #followFile(): Promise<void> {
    if (this.#file !== undefined && fileNumber(this.#input.file) === this.#file) return;
    const opened = await openLeases(this.#input);
    // Meanwhile this worker has ended, or another call has opened it.
    if (!this.#database.isOpen || fileNumber(this.#input.file) === this.#file) return opened.close();
    this.#database.close();
    this.#database = opened;
    this.#statements = new PreparedStatements(opened);
    this.#join();
    this.#leases.forget();
    this.#input.log.warn({}, 'the file of the leases was replaced: leases are requested again');
  }

  *#addSelf(): Steps<void> {
    // Of processes that were killed, and of the time before the machine was started.
    yield* run(`DELETE FROM replicas AS r WHERE NOT (${within(String(this.#minuteMs + LATE_MS))})`);
    yield* run(`DELETE FROM rate_use WHERE slot > ${LOCAL.slot}`);
    for (const table of ['leases', 'rate_leases'])
      yield* run(`DELETE FROM ${table} WHERE replica NOT IN (SELECT id FROM replicas)`);
    const live = yield* run(`SELECT 1 FROM replicas r WHERE ${LOCAL.live} LIMIT 1`);
    // Without workers, rows were not counted, and the state may have been replaced.
    if (live.length === 0) {
      yield* run('DELETE FROM budget_windows');
      yield* run('UPDATE counted SET seq = (SELECT coalesce(max(seq), 0) FROM usage)');
    }
    yield* this.#sendHeartbeat();
  }

  *#sendHeartbeat(): Steps<Heartbeat> {
    const own = [this.#input.replica];
    const [self] = yield* run(`SELECT 1 FROM replicas r WHERE r.id = ?1 AND ${LOCAL.live}`, own);
    const lost = self === undefined;
    if (lost) yield* this.#deleteLeases();
    yield* run(
      `INSERT INTO replicas (id, seen_at, facts) VALUES (?1, ${LOCAL.now}, ?2)
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, facts = excluded.facts`,
      [...own, this.#reporter?.report() ?? null],
    );
    yield* countRows();
    const inDemand = `wanted_at > ${LOCAL.before(DEMAND_MS)}`;
    const windows = yield* run(`SELECT budget, start_at FROM budget_windows WHERE ${inDemand}`);
    const rates = yield* run(`SELECT rate FROM rate_leases WHERE ${inDemand} AND replica <> ?1`, own);
    const live = yield* run(
      `SELECT id, facts FROM replicas r WHERE ${LOCAL.live} AND id <> ?1 AND ${MAY_HAVE_LIVE}`,
      own,
    );
    return {
      lost,
      windows: new Set(windows.map(({ budget, start_at }) => windowId(String(budget), Number(start_at)))),
      rates: new Set(rates.map(({ rate }) => String(rate))),
      live: new Map(live.map(({ id, facts }) => [String(id), String(facts)])),
    };
  }

  *#grant(requests: LeaseRequests): Steps<LeaseGrants> {
    const { replica, workers } = this.#input;
    if (requests.budgets.length > 0) {
      yield* countRows();
      yield* this.#addWindows(requests.budgets);
      const leases = requests.budgets.map(({ budget, window: { start }, used, stored }) => ({
        replica,
        budget,
        start_at: start,
        used,
        stored,
      }));
      yield* run(SETTLE, [JSON.stringify(leases)]);
    }
    return yield* grantLeases({ ...LOCAL, fewest: workers }, replica, requests, this.#minuteMs);
  }

  /** Adds the windows that are requested, and with them those of all other budgets: the sums are read once. */
  *#addWindows(requests: readonly BudgetRequest[]): Steps<void> {
    const list = requests.map(({ budget, window: { start } }) => ({ budget, start_at: start }));
    const missing = yield* run(
      `SELECT 1 FROM ${WINDOW} a WHERE NOT EXISTS
        (SELECT 1 FROM budget_windows w WHERE w.budget = a.budget AND w.start_at = a.start_at) LIMIT 1`,
      [JSON.stringify(list)],
    );
    if (missing.length === 0) return;
    const now = Date.now();
    yield* run('DELETE FROM budget_windows WHERE end_at < ?1', [now - WINDOW_KEPT_MS]);
    const budgets = this.#gateway?.budgets() ?? new Map<string, Budget>();
    const current = [...budgets].map(([id, budget]) => ({ budget: id, rule: budget.rule, window: budget.window(now) }));
    const windows = [...requests, ...current];
    const spent = yield* spentBefore(windows);
    const rows = windows.map((each, index) => ({ ...windowRow(LOCAL, each), spent_nano: spent[index] ?? 0 }));
    yield* run(ADD_WINDOWS, [JSON.stringify(rows)]);
  }

  /** Requests and tokens of the lease may have been used and not reported. */
  *#leave(): Steps<void> {
    const own = [this.#input.replica];
    yield* run(
      `INSERT INTO rate_use AS u (rate, slot, amount)
        SELECT rate, ${LOCAL.slot}, held FROM rate_leases WHERE replica = ?1 AND rate NOT LIKE 'parallel %' AND held > 0
        ON CONFLICT (rate, slot) DO UPDATE SET amount = u.amount + excluded.amount`,
      own,
    );
    yield* this.#deleteLeases();
    yield* run('DELETE FROM replicas WHERE id = ?1', own);
  }

  *#deleteLeases(): Steps<void> {
    for (const table of ['leases', 'rate_leases'])
      yield* run(`DELETE FROM ${table} WHERE replica = ?1`, [this.#input.replica]);
  }
}

/** A damaged file is replaced: its content is worth nothing. @throws as `openDatabase`. */
async function openLeases(input: LocalLeasesInput): Promise<DatabaseSync> {
  const open = () =>
    openDatabase(input.file, (opened) => {
      opened.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON');
      opened.function('monotonic_ms', () => process.hrtime.bigint() / 1_000_000n);
      opened.prepare('ATTACH DATABASE ? AS state').run(`${pathToFileURL(input.state).href}?mode=ro`);
      transaction(opened, () => addTables(opened));
      opened.exec(RESERVE_SPACE);
    });
  try {
    return await open();
  } catch (thrown) {
    if (!isDamaged(thrown)) throw thrown;
    input.log.warn({ error: String(thrown) }, 'the file of the leases is damaged, and is replaced');
    for (const end of ['', '-wal', '-shm']) rmSync(`${input.file}${end}`, { force: true });
    return open();
  }
}

function addTables(database: DatabaseSync): void {
  database.exec(TABLES);
  const known = database.prepare("SELECT 1 FROM pragma_table_info('replicas') WHERE name = 'facts'").get();
  if (known === undefined) database.exec(REPORTS);
}

function fileNumber(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Each row counts once, because rows are numbered in the order of their commits. */
function* countRows(): Steps<void> {
  const [row] = yield* run('SELECT seq, (SELECT coalesce(max(seq), 0) FROM usage) AS last FROM counted');
  const [seen, last] = [Number(row?.seq), Number(row?.last)];
  if (last === seen) return;
  yield* run(COUNT_ROWS, [seen, last]);
  yield* run('UPDATE counted SET seq = ?1', [last]);
}
