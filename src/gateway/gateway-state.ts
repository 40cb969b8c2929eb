import type { DatabaseSync } from 'node:sqlite';
import type { GatewaySettings } from '../config/settings/settings.ts';
import { KeyCache } from './access/key-cache.ts';
import { KeyStore, type StoredGatewayKey } from './access/key-store.ts';
import { Ledger } from './accounting/ledger.ts';
import { keepRetention } from './accounting/retention.ts';
import { UpstreamHealth } from './accounting/upstream-health.ts';
import { AdminState } from './admin/admin-state.ts';
import { LiveRequests } from './admin/live-requests.ts';
import type { Log } from './gateway-deps.ts';
import { RunningRequests } from './http/running-requests.ts';
import { alertBody, type BudgetAlert, BudgetAlerts } from './limits/alerts.ts';
import { BudgetBook } from './limits/budget-book.ts';
import { Limits } from './limits/limits.ts';
import { postWebhook } from './limits/webhook.ts';

export interface GatewayStateInput {
  readonly database: DatabaseSync;
  readonly settings: () => GatewaySettings;
  /** Keys from the process that starts the gateway. */
  readonly fixedKeys: readonly string[];
  readonly log: Log;
  /** For the webhook of alerts. */
  readonly fetch: typeof globalThis.fetch;
}

/** Keys, limits and ledger of a gateway over one database. */
export class GatewayState {
  readonly keys: KeyCache;
  readonly limits: Limits;
  readonly ledger: Ledger;
  readonly store: KeyStore;
  readonly admin: AdminState;
  readonly running = new RunningRequests();
  readonly live = new LiveRequests();
  readonly health = new UpstreamHealth();
  readonly #input: GatewayStateInput;
  readonly #alerts: BudgetAlerts;
  #stopRetention: (() => void) | undefined;

  constructor(input: GatewayStateInput) {
    const { database, settings, fixedKeys, log } = input;
    this.#input = input;
    this.#alerts = new BudgetAlerts(database, (alert) => void this.#report(alert), this.#failed('budget alerts'));
    const book = new BudgetBook(database, (budget) => this.#alerts.note(budget));
    this.ledger = new Ledger(database, (thrown, waiting) => log.error({ error: reason(thrown), waiting }, 'ledger'), {
      book,
    });
    this.limits = new Limits(book, settings(), () => this.ledger.unwritten);
    this.store = new KeyStore(database);
    this.keys = new KeyCache(this.store, fixedKeys, {
      reloaded: (keys) => {
        this.limits.setKeys(keys.map(({ name, ...rest }) => ({ ...rest, key: name })));
        this.#cut(keys);
      },
      written: () => book.follow(),
    });
    this.admin = new AdminState(database, () => this.keys.reload());
  }

  /** Must be called when the configuration has changed. */
  configure(): void {
    this.limits.configure(this.#input.settings());
  }

  /** Follows changes by other processes, and removes old rows. */
  follow(): void {
    const { database, settings } = this.#input;
    this.keys.follow(this.#failed('could not reload the keys'));
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

  async #report(alert: BudgetAlert): Promise<void> {
    const { log, settings, fetch } = this.#input;
    const { text, event, ...fields } = alertBody(alert);
    log.warn({ alert: event, ...fields }, String(text));
    const webhook = settings().alertWebhook?.secret.reveal();
    if (webhook === undefined) return;
    await postWebhook(fetch, webhook, { event, text, ...fields }).catch(this.#failed('budget alerts'));
  }

  #failed(what: string): (thrown: unknown) => void {
    return (thrown) => this.#input.log.error({ error: reason(thrown) }, what);
  }
}

function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
