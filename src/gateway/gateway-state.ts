import type { DatabaseSync } from 'node:sqlite';
import type { GatewaySettings } from '../config/settings/settings.ts';
import { KeyCache } from './access/key-cache.ts';
import { KeyStore, type StoredGatewayKey } from './access/key-store.ts';
import { SignInLimit } from './access/sign-in-limit.ts';
import { Ledger } from './accounting/ledger.ts';
import type { Log } from './accounting/log.ts';
import { keepRetention } from './accounting/retention.ts';
import { UpstreamHealth } from './accounting/upstream-health.ts';
import { RunningRequests } from './http/running-requests.ts';
import { alertBody, type BudgetAlert, BudgetAlerts, claimInSqlite, NO_CLAIMS } from './limits/alerts.ts';
import { BudgetBook } from './limits/budget-book.ts';
import type { LeasingGateway } from './limits/lease.ts';
import { Limits } from './limits/limits.ts';
import { postWebhook } from './limits/webhook.ts';
import { LiveRequests } from './operations/live-requests.ts';
import { Presence } from './operations/presence.ts';
import { ReportQueue } from './reports/report-queue.ts';
import type { SharedLimits, SharedState } from './shared-state.ts';
import { type StateAdmin, sqliteAdmin } from './state-admin.ts';

export interface GatewayStateInput {
  /** The local state. Absent if `shared` is there. */
  readonly database?: DatabaseSync;
  readonly shared?: SharedState;
  /** Leases from a local file. Absent: this process counts alone, unless it has `shared`. */
  readonly leases?: SharedLimits | undefined;
  readonly settings: () => GatewaySettings;
  /** Keys from the process that starts the gateway. */
  readonly fixedKeys: readonly string[];
  readonly log: Log;
  /** For the webhook of alerts. */
  readonly fetch: typeof globalThis.fetch;
}

/** Keys, limits and ledger of a gateway over one state. */
export class GatewayState {
  readonly keys: KeyCache;
  readonly limits: Limits;
  readonly ledger: Ledger;
  readonly book: BudgetBook;
  readonly running = new RunningRequests();
  readonly live = new LiveRequests();
  readonly health = new UpstreamHealth();
  readonly signIns = new SignInLimit();
  readonly reports = new ReportQueue();
  readonly presence = new Presence();
  /** For the operator's requests. Its changes take effect in this process at once. */
  readonly admin: StateAdmin;
  readonly #input: GatewayStateInput;
  readonly #alerts: BudgetAlerts;
  #stopRetention: (() => void) | undefined;

  constructor(input: GatewayStateInput) {
    const { database, shared, leases, settings, fixedKeys, log } = input;
    this.#input = input;
    this.#alerts = new BudgetAlerts(
      shared?.alerts ?? (database === undefined ? NO_CLAIMS : claimInSqlite(database)),
      (alert, again) => this.#report(alert, again),
      this.#failed('budget alerts'),
    );
    const limits = leases ?? shared;
    // With leases, the spending of peers is known from the grants.
    const book = new BudgetBook(
      limits === undefined ? database : undefined,
      (budget) => this.#alerts.note(budget),
      limits?.budgets,
    );
    this.book = book;
    this.ledger = new Ledger(database, (thrown, waiting) => log.error({ error: reason(thrown), waiting }, 'ledger'), {
      book,
      store: shared?.rows,
    });
    this.limits = new Limits(book, settings(), () => this.ledger.unwritten, limits?.rates);
    this.keys = new KeyCache(database === undefined ? undefined : new KeyStore(database), fixedKeys, {
      reloaded: (keys) => {
        this.#limit(keys);
        this.#cut(keys);
      },
      written: () => book.follow(),
      stale: () => shared?.stale === true,
    });
    const leasing: LeasingGateway = {
      budgets: () => book.all,
      rates: () => this.limits.rates,
      spent: (budget) => this.#alerts.note(budget),
    };
    shared?.attach({
      ...leasing,
      keys: (keys) => this.keys.replace(keys),
      limits: (keys) => this.#limit(keys),
    });
    leases?.attach({ ...leasing, unstored: (budget, start) => book.sum(budget, start, this.ledger.unwritten) });
    this.admin = shared?.admin ?? sqliteAdmin(requireDatabase(database), () => this.keys.reload());
  }

  #limit(keys: readonly StoredGatewayKey[]): void {
    this.limits.setKeys(keys.map(({ name, ...rest }) => ({ ...rest, key: name })));
  }

  /** Must be called when the configuration has changed. */
  configure(): void {
    this.limits.configure(this.#input.settings());
  }

  /** Follows changes by other processes, and removes old rows. */
  follow(): void {
    const { database, shared, settings } = this.#input;
    this.keys.follow(this.#failed('could not reload the keys'));
    shared?.follow();
    if (database === undefined) return;
    this.#stopRetention = keepRetention(
      database,
      () => settings().retention,
      this.#failed('could not remove old rows of the ledger'),
    );
  }

  dispose(): void {
    this.keys.dispose();
    this.#alerts.dispose();
    this.#stopRetention?.();
  }

  /** Ends the running requests of keys that were revoked with `--cut`. */
  #cut(keys: readonly StoredGatewayKey[]): void {
    for (const { name, cut } of keys) {
      const requests = cut ? this.running.cut(name) : 0;
      if (requests > 0) this.#input.log.info({ key: name, requests }, 'requests of a revoked key were cut off');
    }
  }

  async #report(alert: BudgetAlert, again: boolean): Promise<void> {
    const { log, settings, fetch } = this.#input;
    const { text, event, ...fields } = alertBody(alert);
    if (!again) log.warn({ alert: event, ...fields }, String(text));
    const webhook = settings().alertWebhook?.secret.reveal();
    if (webhook !== undefined) await postWebhook(fetch, webhook, { event, text, ...fields });
  }

  #failed(what: string): (thrown: unknown) => void {
    return (thrown) => this.#input.log.error({ error: reason(thrown) }, what);
  }
}

function requireDatabase(database: DatabaseSync | undefined): DatabaseSync {
  if (database === undefined) throw new TypeError('A gateway needs a state.');
  return database;
}

function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
