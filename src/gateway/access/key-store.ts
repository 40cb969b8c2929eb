import { randomBytes } from 'node:crypto';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { defined } from '../../base/json.ts';
import { toNano, toUsd } from '../../base/money.ts';
import { BUDGET_PERIODS } from '../../config/settings/gateway-settings.ts';
import type { BudgetSettings, LimitSettings, RateSettings } from '../../config/settings/settings.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { type AdminScope, adminScope, type KeyState } from '../admin/api/schemas.ts';
import { type Actor, type Change, writeAudit } from '../state/audit-log.ts';
import { transaction } from '../state/transaction.ts';
import { hashKey } from './authentication.ts';

/** The properties of a key. The key itself is not stored. Times are Unix milliseconds. */
export interface StoredGatewayKey {
  readonly name: string;
  readonly organization?: string;
  /** The person or service that the key belongs to. */
  readonly user?: string;
  /** What it may do in the admin API. */
  readonly admin?: AdminScope;
  /** Nano-USD that the gateway's own credentials paid. */
  readonly spent: number;
  readonly limits: LimitSettings;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  /** Its running requests were ended when it was revoked. */
  readonly cut?: boolean;
  /** Valid hashes, newest first. More than one while the previous key of a rotation is still valid. */
  readonly hashes: readonly { readonly hash: string; readonly validUntil?: number }[];
}

export interface NewKey {
  readonly name: string;
  readonly organization?: string | undefined;
  readonly user?: string | undefined;
  readonly admin?: AdminScope | undefined;
  readonly limits?: LimitSettings | undefined;
  readonly expiresAt?: number | undefined;
}

export interface KeySearch {
  /** Part of the name, the user or the organization. */
  readonly search?: string | undefined;
  readonly state?: KeyState | undefined;
  readonly organization?: string | undefined;
  readonly user?: string | undefined;
  /** Only names after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The state of a key at ?5, as `keyState` computes it. */
const STATE = `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= ?5 THEN 'expired'
  ELSE (SELECT CASE count(*) WHEN 0 THEN 'expired' WHEN 1 THEN 'valid' ELSE 'rotating' END FROM key_hashes
    WHERE key_hashes.name = keys.name AND (valid_until IS NULL OR valid_until > ?5)) END`;

export function keyState({ revokedAt, expiresAt, hashes }: StoredGatewayKey, now = Date.now()): KeyState {
  if (revokedAt !== undefined) return 'revoked';
  if (expiresAt !== undefined && expiresAt <= now) return 'expired';
  // The hashes were deleted when the key expired, and the clock was set back after that.
  if (hashes.length === 0) return 'expired';
  return hashes.length > 1 ? 'rotating' : 'valid';
}

/** The keys in the state. Several processes may use one state at the same time. */
export class KeyStore {
  readonly #database: DatabaseSync;
  readonly #actor: Actor;

  /** @param actor is written to the audit log with each change. */
  constructor(database: DatabaseSync, actor: Actor = { who: 'gateway', source: 'process' }) {
    this.#database = database;
    this.#actor = actor;
  }

  /** Creates a key and returns it. It can't be read again later. @throws SvcError when the name is taken. */
  create({ name, organization, user, admin, limits, expiresAt }: NewKey, now = Date.now()): string {
    if (this.#find(name)) throw refused(`A key named “${name}” already exists.`, 409);
    const details = defined({ organization, user, admin, expires_at: dateOrNothing(expiresAt), ...limits });
    return this.#change({ action: 'key.create', target: name, details }, () => {
      this.#database
        .prepare('INSERT INTO keys (name, organization, user, admin, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)')
        .run(name, organization ?? null, user ?? null, admin ?? null, now, expiresAt ?? null);
      if (limits !== undefined) this.#setLimits(name, limits);
      return this.#issue(name, now);
    });
  }

  /** Replaces the budgets of a key, its rates or both. @throws SvcError for an unknown name. */
  update(name: string, limits: Partial<LimitSettings>): void {
    if (!this.#find(name)) throw unknownKey(name);
    this.#change({ action: 'key.change', target: name, details: defined({ ...limits }) }, () => {
      if (limits.budgets) this.#database.prepare('DELETE FROM budgets WHERE key = ?').run(name);
      if (limits.rates) this.#database.prepare('DELETE FROM rates WHERE key = ?').run(name);
      this.#setLimits(name, limits);
    });
  }

  /** Creates a new key for a name. The old key stays valid for `graceMs`. @throws SvcError for an unknown name. */
  rotate(name: string, graceMs: number, now = Date.now()): string {
    const found = this.#find(name);
    if (!found) throw unknownKey(name);
    if (found.revoked_at !== null) throw refused(`The key “${name}” is revoked.`);
    return this.#change({ action: 'key.rotate', target: name, details: { grace_ms: graceMs } }, () => {
      this.#database
        .prepare('UPDATE key_hashes SET valid_until = min(coalesce(valid_until, ?1), ?1) WHERE name = ?2')
        .run(now + graceMs, name);
      return this.#issue(name, now);
    });
  }

  /** Revokes a key immediately. @param cut whether its running requests end. @throws SvcError for an unknown name. */
  revoke(name: string, cut = false, now = Date.now()): void {
    if (!this.#find(name)) throw unknownKey(name);
    this.#change({ action: 'key.revoke', target: name, details: { cut } }, () => {
      this.#database
        .prepare('UPDATE keys SET revoked_at = coalesce(revoked_at, ?), cut = max(cut, ?) WHERE name = ?')
        .run(now, cut ? 1 : 0, name);
      this.#database.prepare('DELETE FROM key_hashes WHERE name = ?').run(name);
    });
  }

  /** Deletes expired hashes and those in `seen`, so that they stay invalid if the clock is set back. */
  dropExpired(seen: Iterable<string>, now = Date.now()): void {
    this.#change(undefined, () => {
      const expired = 'valid_until <= ?1 OR name IN (SELECT name FROM keys WHERE expires_at <= ?1)';
      this.#database.prepare(`DELETE FROM key_hashes WHERE ${expired}`).run(now);
      const one = this.#database.prepare('DELETE FROM key_hashes WHERE hash = ?');
      for (const hash of seen) one.run(hash);
    });
  }

  list(now = Date.now()): readonly StoredGatewayKey[] {
    return this.#describe(this.#database.prepare('SELECT * FROM keys ORDER BY created_at, rowid').all(), now);
  }

  get(name: string, now = Date.now()): StoredGatewayKey | undefined {
    return this.#describe(this.#database.prepare('SELECT * FROM keys WHERE name = ?').all(name), now)[0];
  }

  /** Keys in the order of their names. @returns also the number of all keys that match. */
  search(query: KeySearch, now = Date.now()): { readonly keys: readonly StoredGatewayKey[]; readonly total: number } {
    const { search, state, organization, user, after, limit } = query;
    const where = `(?1 IS NULL OR instr(lower(name || ' ' || coalesce(user, '') || ' ' || coalesce(organization, '')), lower(?1)))
      AND (?2 IS NULL OR organization = ?2) AND (?3 IS NULL OR user = ?3)
      AND (?4 IS NULL OR ?4 = ${STATE})`;
    const values = [search ?? null, organization ?? null, user ?? null, state ?? null, now] as const;
    const { total } =
      this.#database.prepare(`SELECT count(*) AS total FROM keys WHERE ${where} AND ?5 > 0`).get(...values) ?? {};
    const rows = this.#database
      .prepare(`SELECT * FROM keys WHERE ${where} AND name > ?6 ORDER BY name LIMIT ?7`)
      .all(...values, after ?? '', limit);
    return { keys: this.#describe(rows, now), total: Number(total) };
  }

  /** Valid keys that expire before a moment, the first to expire first. */
  expiring(
    before: number,
    limit: number,
    now = Date.now(),
  ): readonly { readonly name: string; readonly expiresAt: number }[] {
    const sql = `SELECT name, expires_at FROM keys WHERE revoked_at IS NULL AND expires_at > ? AND expires_at < ?
      ORDER BY expires_at LIMIT ?`;
    const rows = this.#database.prepare(sql).all(now, before, limit);
    return rows.map(({ name, expires_at }) => ({ name: String(name), expiresAt: Number(expires_at) }));
  }

  /** When each of some keys was used last, as far as the ledger still has the rows. Unix milliseconds. */
  lastUsed(names: readonly string[]): ReadonlyMap<string, number> {
    const last = this.#database.prepare('SELECT max(at) AS at FROM usage WHERE key = ?');
    return new Map(
      names.flatMap((name) => {
        const at = last.get(name)?.at;
        return typeof at === 'number' ? [[name, at] as const] : [];
      }),
    );
  }

  #describe(rows: readonly Readonly<Record<string, SQLOutputValue>>[], now: number): readonly StoredGatewayKey[] {
    const names = JSON.stringify(rows.map(({ name }) => name));
    const related = (columns: string, table: string, key: string, order = '') =>
      Map.groupBy(
        this.#database
          .prepare(`SELECT ${columns} FROM ${table} WHERE ${key} IN (SELECT value FROM json_each(?)) ${order}`)
          .all(names),
        (row) => String(row[key]),
      );
    const hashes = related('hash, name, valid_until', 'key_hashes', 'name', 'ORDER BY created_at DESC, rowid DESC');
    const budgets = related('*', 'budgets', 'key');
    const rates = related('*', 'rates', 'key');
    const spent = related('key, nano', 'spent', 'key');
    return rows.map((row) => {
      const name = String(row.name);
      return {
        name,
        spent: (spent.get(name) ?? []).reduce((sum, { nano }) => sum + Number(nano), 0),
        createdAt: Number(row.created_at),
        ...(row.organization === null ? {} : { organization: String(row.organization) }),
        ...(row.user === null ? {} : { user: String(row.user) }),
        ...defined({ admin: adminScope.safeParse(row.admin).data }),
        limits: { budgets: (budgets.get(name) ?? []).map(readBudget), rates: (rates.get(name) ?? []).map(readRate) },
        ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
        ...(row.revoked_at === null ? {} : { revokedAt: Number(row.revoked_at) }),
        ...(row.cut === 1 ? { cut: true } : {}),
        hashes: (hashes.get(name) ?? [])
          .filter(({ valid_until }) => valid_until === null || Number(valid_until) > now)
          .map(({ hash, valid_until }) => ({
            hash: String(hash),
            ...(valid_until === null ? {} : { validUntil: Number(valid_until) }),
          })),
      };
    });
  }

  /** A number that changes when a key has changed. */
  changes(): number {
    return Number(this.#database.prepare('SELECT number FROM key_changes').get()?.number ?? 0);
  }

  /** A number that changes when another connection has written anything. It is cheaper to read than `changes`. */
  version(): number {
    return Number(this.#database.prepare('PRAGMA data_version').get()?.data_version ?? 0);
  }

  /** @param change for the audit log; absent: nobody made it. */
  #change<T>(change: Change | undefined, work: () => T): T {
    return transaction(this.#database, () => {
      if (change) writeAudit(this.#database, this.#actor, change);
      this.#database.exec('UPDATE key_changes SET number = number + 1');
      return work();
    });
  }

  #find(name: string) {
    return this.#database.prepare('SELECT * FROM keys WHERE name = ?').get(name);
  }

  #setLimits(name: string, { budgets = [], rates = [] }: Partial<LimitSettings>): void {
    const budget = this.#database.prepare('INSERT OR REPLACE INTO budgets VALUES (?, ?, ?, ?, ?, ?)');
    for (const { usd, period, timeZone, mode, model } of budgets) {
      budget.run(name, model, period, timeZone, mode, toNano(usd));
    }
    const rate = this.#database.prepare('INSERT OR REPLACE INTO rates VALUES (?, ?, ?, ?, ?)');
    for (const { requests, tokens, parallel, model } of rates) {
      rate.run(name, model, requests ?? null, tokens ?? null, parallel ?? null);
    }
  }

  #issue(name: string, now: number): string {
    const key = `svc_${randomBytes(32).toString('base64url')}`;
    this.#database
      .prepare('INSERT INTO key_hashes (hash, name, created_at) VALUES (?, ?, ?)')
      .run(hashKey(key), name, now);
    return key;
  }
}

function readBudget(row: Readonly<Record<string, SQLOutputValue>>): BudgetSettings {
  return {
    usd: toUsd(Number(row.nano)),
    period: BUDGET_PERIODS.find((period) => period === row.period) ?? 'total',
    timeZone: String(row.zone),
    mode: row.mode === 'hard' ? 'hard' : 'soft',
    model: String(row.model),
  };
}

function readRate({ requests, tokens, parallel, model }: Readonly<Record<string, SQLOutputValue>>): RateSettings {
  const number = (value: SQLOutputValue | undefined) => (typeof value === 'number' ? value : undefined);
  return {
    ...defined({ requests: number(requests), tokens: number(tokens), parallel: number(parallel) }),
    model: String(model),
  };
}

function dateOrNothing(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

export function unknownKey(name: string): SvcError {
  return refused(`There is no key named “${name.slice(0, 100)}”.`, 404);
}

function refused(message: string, status = 400): SvcError {
  return new SvcError({ status, errorType: 'invalid_request', message, action: 'See “svc keys list”.' });
}
