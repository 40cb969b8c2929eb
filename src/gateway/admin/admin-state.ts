import type { DatabaseSync } from 'node:sqlite';
import type { LimitSettings } from '../../config/settings/settings.ts';
import { type KeySearch, KeyStore, type NewKey, type StoredGatewayKey } from '../access/key-store.ts';
import {
  type RequestHistoryPage,
  type RequestHistoryQuery,
  readRequest,
  readRequests,
} from '../accounting/request-history.ts';
import { readUsageReport, type UsageQuery, type UsageReport } from '../accounting/usage-report.ts';
import { type Actor, type AuditFilter, type AuditRow, type Change, readAudit, writeAudit } from '../state/audit-log.ts';
import type { UsageRow } from '../state/usage-tables.ts';
import { Sessions, type StoredSession } from './sessions.ts';
import { SignInLimit } from './sign-in-limit.ts';

/** What the admin API reads and writes in the state. */
export class AdminState {
  readonly signIns = new SignInLimit();
  readonly #database: DatabaseSync;
  readonly #keys: KeyStore;
  readonly #sessions: Sessions;
  readonly #changed: () => void;

  /** @param changed is called when keys have changed. */
  constructor(database: DatabaseSync, changed: () => void) {
    this.#database = database;
    this.#keys = new KeyStore(database);
    this.#sessions = new Sessions(database);
    this.#changed = changed;
  }

  async searchKeys(query: KeySearch): Promise<ReturnType<KeyStore['search']>> {
    return this.#keys.search(query);
  }

  async findKey(name: string): Promise<StoredGatewayKey | undefined> {
    return this.#keys.get(name);
  }

  async expiringKeys(before: number, limit: number): Promise<ReturnType<KeyStore['expiring']>> {
    return this.#keys.expiring(before, limit);
  }

  async lastUsed(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#keys.lastUsed(names);
  }

  /** @returns the key, which can't be read again. */
  async createKey(actor: Actor, key: NewKey): Promise<string> {
    return this.#change(actor, (store) => store.create(key));
  }

  async changeKey(actor: Actor, name: string, limits: Partial<LimitSettings>): Promise<void> {
    this.#change(actor, (store) => store.update(name, limits));
  }

  async rotateKey(actor: Actor, name: string, graceMs: number): Promise<string> {
    return this.#change(actor, (store) => store.rotate(name, graceMs));
  }

  async revokeKey(actor: Actor, name: string, cut: boolean): Promise<void> {
    this.#change(actor, (store) => store.revoke(name, cut));
  }

  async usage(query: UsageQuery): Promise<UsageReport> {
    return readUsageReport(this.#database, query);
  }

  async requests(query: RequestHistoryQuery): Promise<RequestHistoryPage> {
    return readRequests(this.#database, query);
  }

  /** All rows of a request. */
  async request(id: string): Promise<readonly UsageRow[]> {
    return readRequest(this.#database, id);
  }

  async audit(filter: AuditFilter): Promise<readonly AuditRow[]> {
    return readAudit(this.#database, filter);
  }

  async record(actor: Actor, change: Change): Promise<void> {
    writeAudit(this.#database, actor, change);
  }

  async startSession(keyHash: string, expiresAt: number): Promise<string> {
    return this.#sessions.start(keyHash, expiresAt);
  }

  async findSession(token: string): Promise<StoredSession | undefined> {
    return this.#sessions.find(token);
  }

  async endSession(token: string): Promise<void> {
    this.#sessions.end(token);
  }

  async createLink(): Promise<ReturnType<Sessions['createLink']>> {
    return this.#sessions.createLink();
  }

  async useLink(token: string): Promise<boolean> {
    return this.#sessions.useLink(token);
  }

  #change<T>(actor: Actor, work: (store: KeyStore) => T): T {
    const result = work(new KeyStore(this.#database, actor));
    this.#changed();
    return result;
  }
}
