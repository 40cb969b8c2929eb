import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { defined } from '../../base/json.ts';
import { toNano, toUsd } from '../../base/money.ts';
import { BUDGET_PERIODS, LIMIT_DEFAULTS } from '../../config/settings/limit-values.ts';
import type { BudgetSettings, LimitSettings, RateSettings } from '../../config/settings/settings.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { type Actor, type Change, writeAudit } from '../state/audit-log.ts';
import { transaction } from '../state/transaction.ts';
import { hashKey } from './authentication.ts';
import { type AdminScope, isAdminScope, type KeyState } from './key-properties.ts';

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
  /** The last row of the ledger that is still kept. */
  readonly usedAt?: number;
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
  /** Only keys that are still valid and expire before this time. */
  readonly expiresBefore?: number | undefined;
  /** Only names after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Keys in the order of their names. */
export interface FoundKeys {
  readonly keys: readonly StoredGatewayKey[];
  /** Number of all keys that match. */
  readonly total: number;
}

/** Each key with what it spent. For SQLite and Postgres. */
const SPENT = '(SELECT coalesce(sum(nano), 0) FROM spent WHERE spent.key = keys.name) AS spent';
export const KEYS = `SELECT keys.*, ${SPENT} FROM keys`;
export const KEYS_WITH_USE = `SELECT keys.*, ${SPENT},
  (SELECT max(at) FROM usage WHERE usage.key = keys.name) AS used_at FROM keys`;

/** Conditions for a search and its page, for SQLite and Postgres, with the values of their parameters `?1` and so on. */
export function searchSql(query: KeySearch, now: number) {
  const { search, state, organization, user, expiresBefore, after, limit } = query;
  const values: (string | number | null)[] = [];
  const parameter = (value: string | number) => `?${values.push(value)}`;
  const conditions = ['1 = 1'];
  if (organization !== undefined) conditions.push(`organization = ${parameter(organization)}`);
  if (user !== undefined) conditions.push(`"user" = ${parameter(user)}`);
  if (search !== undefined) {
    // A pattern without special characters: every character of the search means itself.
    const pattern = parameter(`%${search.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`);
    const text = `lower(name || ' ' || coalesce("user", '') || ' ' || coalesce(organization, ''))`;
    conditions.push(`${text} LIKE ${pattern} ESCAPE '\\'`);
  }
  if (state !== undefined) conditions.push(`${stateSql(now)} = ${parameter(state)}`);
  if (expiresBefore !== undefined) {
    conditions.push(`revoked_at IS NULL AND expires_at > ${now} AND expires_at < ${parameter(expiresBefore)}`);
  }
  const where = conditions.join(' AND ');
  const page = `AND name > ?${values.length + 1} ORDER BY name LIMIT ${limit}`;
  return { where, values, page, pageValues: [...values, after ?? ''] };
}

/** The state of a key, as `keyState` computes it. */
function stateSql(now: number): string {
  return `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= ${now} THEN 'expired'
    ELSE (SELECT CASE count(*) WHEN 0 THEN 'expired' WHEN 1 THEN 'valid' ELSE 'rotating' END FROM key_hashes
      WHERE key_hashes.name = keys.name AND (valid_until IS NULL OR valid_until > ${now})) END`;
}

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
  create(key: NewKey, now = Date.now()): string {
    const { name, organization, user, admin, limits, expiresAt } = key;
    if (this.#find(name)) throw keyExists(name);
    return this.#change(keyCreated(key), () => {
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
    this.#change(keyChanged(name, limits), () => {
      if (limits.budgets) this.#database.prepare('DELETE FROM budgets WHERE key = ?').run(name);
      if (limits.rates) this.#database.prepare('DELETE FROM rates WHERE key = ?').run(name);
      this.#setLimits(name, limits);
    });
  }

  /** Creates a new key for a name. The old key stays valid for `graceMs`. @throws SvcError for an unknown name. */
  rotate(name: string, graceMs: number, now = Date.now()): string {
    const found = this.#find(name);
    if (!found) throw unknownKey(name);
    if (found.revoked_at !== null) throw keyRevoked(name);
    return this.#change(keyRotated(name, graceMs), () => {
      this.#database
        .prepare('UPDATE key_hashes SET valid_until = min(coalesce(valid_until, ?1), ?1) WHERE name = ?2')
        .run(now + graceMs, name);
      return this.#issue(name, now);
    });
  }

  /** Revokes a key immediately. @param cut whether its running requests end. @throws SvcError for an unknown name. */
  revoke(name: string, cut = false, now = Date.now()): void {
    if (!this.#find(name)) throw unknownKey(name);
    this.#change(keyRevocation(name, cut), () => {
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
    return this.#read(`${KEYS} ORDER BY created_at, rowid`, [], now);
  }

  get(name: string, now = Date.now()): StoredGatewayKey | undefined {
    return this.#read(`${KEYS_WITH_USE} WHERE name = ?`, [name], now)[0];
  }

  search(query: KeySearch, now = Date.now()): FoundKeys {
    const { where, values, page, pageValues } = searchSql(query, now);
    const total = this.#database.prepare(`SELECT count(*) AS total FROM keys WHERE ${where}`).get(...values)?.total;
    return { keys: this.#read(`${KEYS_WITH_USE} WHERE ${where} ${page}`, pageValues, now), total: Number(total) };
  }

  #read(sql: string, values: readonly (string | number | null)[], now: number): readonly StoredGatewayKey[] {
    const keys = this.#database.prepare(sql).all(...values);
    const names = JSON.stringify(keys.map(({ name }) => name));
    const of = (select: string) =>
      this.#database.prepare(select.replace('NAMES', '(SELECT value FROM json_each(?))')).all(names);
    return readKeys(
      {
        keys,
        hashes: of('SELECT * FROM key_hashes WHERE name IN NAMES ORDER BY created_at DESC, rowid DESC'),
        budgets: of('SELECT * FROM budgets WHERE key IN NAMES'),
        rates: of('SELECT * FROM rates WHERE key IN NAMES'),
      },
      now,
    );
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
    // Of two limits for the same requests, the smaller one holds.
    const budget = this.#database.prepare(
      `INSERT INTO budgets VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (key, model, period, zone, mode) DO UPDATE SET nano = min(nano, excluded.nano)`,
    );
    for (const { usd, period, timeZone, mode, model } of budgets) {
      budget.run(name, model, period, timeZone, mode, toNano(usd));
    }
    const smaller = ['requests', 'tokens', 'parallel'].map(
      (name) => `${name} = min(coalesce(${name}, excluded.${name}), coalesce(excluded.${name}, ${name}))`,
    );
    const rate = this.#database.prepare(
      `INSERT INTO rates VALUES (?, ?, ?, ?, ?) ON CONFLICT (key, model) DO UPDATE SET ${smaller.join(', ')}`,
    );
    for (const { requests, tokens, parallel, model } of rates) {
      rate.run(name, model, requests ?? null, tokens ?? null, parallel ?? null);
    }
  }

  #issue(name: string, now: number): string {
    const key = newKey();
    this.#database
      .prepare('INSERT INTO key_hashes (hash, name, created_at) VALUES (?, ?, ?)')
      .run(hashKey(key), name, now);
    return key;
  }
}

/** A new random key. */
export function newKey(): string {
  return `svc_${randomBytes(32).toString('base64url')}`;
}

type Row = Readonly<Record<string, unknown>>;

/** Rows of the tables of a state. */
export interface KeyRows {
  /** With what each key spent. */
  readonly keys: readonly Row[];
  /** Newest first. */
  readonly hashes: readonly Row[];
  readonly budgets: readonly Row[];
  readonly rates: readonly Row[];
}

/** @param now hashes that are valid only before are left out. */
export function readKeys({ keys, hashes, budgets, rates }: KeyRows, now = Date.now()): readonly StoredGatewayKey[] {
  const valid = hashes.filter((row) => row.valid_until === null || Number(row.valid_until) > now);
  const hashesOf = Map.groupBy(valid, (row) => String(row.name));
  const budgetsOf = Map.groupBy(budgets, ({ key }) => String(key));
  const ratesOf = Map.groupBy(rates, ({ key }) => String(key));
  return keys.map((row) => ({
    name: String(row.name),
    spent: Number(row.spent),
    createdAt: Number(row.created_at),
    ...(row.organization === null ? {} : { organization: String(row.organization) }),
    ...(row.user === null ? {} : { user: String(row.user) }),
    ...(isAdminScope(row.admin) ? { admin: row.admin } : {}),
    limits: {
      budgets: (budgetsOf.get(String(row.name)) ?? []).map(readBudget),
      rates: (ratesOf.get(String(row.name)) ?? []).map(readRate),
    },
    ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
    ...(row.revoked_at === null ? {} : { revokedAt: Number(row.revoked_at) }),
    ...(row.used_at === null || row.used_at === undefined ? {} : { usedAt: Number(row.used_at) }),
    ...(row.cut === 1 ? { cut: true } : {}),
    hashes: (hashesOf.get(String(row.name)) ?? []).map(({ hash, valid_until }) => ({
      hash: String(hash),
      ...(valid_until === null ? {} : { validUntil: Number(valid_until) }),
    })),
  }));
}

function readBudget(row: Row): BudgetSettings {
  return {
    usd: toUsd(Number(row.nano)),
    period: BUDGET_PERIODS.find((period) => period === row.period) ?? LIMIT_DEFAULTS.period,
    timeZone: String(row.zone),
    mode: row.mode === 'hard' ? 'hard' : 'soft',
    model: String(row.model),
  };
}

function readRate({ requests, tokens, parallel, model }: Row): RateSettings {
  const number = (value: unknown) => (value === null ? undefined : Number(value));
  return {
    ...defined({ requests: number(requests), tokens: number(tokens), parallel: number(parallel) }),
    model: String(model),
  };
}

export function keyCreated({ name, organization, user, admin, limits, expiresAt }: NewKey): Change {
  const expires_at = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
  return { action: 'key.create', target: name, details: defined({ organization, user, admin, expires_at, ...limits }) };
}

export function keyChanged(name: string, limits: Partial<LimitSettings>): Change {
  return { action: 'key.change', target: name, details: { ...limits } };
}

export function keyRotated(name: string, graceMs: number): Change {
  return { action: 'key.rotate', target: name, details: { grace_ms: graceMs } };
}

export function keyRevocation(name: string, cut: boolean): Change {
  return { action: 'key.revoke', target: name, details: { cut } };
}

export function keyExists(name: string): SvcError {
  return refused(`A key named “${name}” already exists.`, 409);
}

export function unknownKey(name: string): SvcError {
  return refused(`There is no key named “${name.slice(0, 100)}”.`, 404);
}

export function keyRevoked(name: string): SvcError {
  return refused(`The key “${name}” is revoked.`);
}

function refused(message: string, status = 400): SvcError {
  return new SvcError({ status, errorType: 'invalid_request', message, action: 'See “svc keys list”.' });
}
