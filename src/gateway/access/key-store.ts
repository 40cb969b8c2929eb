import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { defined } from '../../base/json.ts';
import { toNano, toUsd } from '../../base/money.ts';
import { BUDGET_PERIODS } from '../../config/settings/gateway-settings.ts';
import type { BudgetSettings, LimitSettings, RateSettings } from '../../config/settings/settings.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { transaction } from '../state/transaction.ts';
import { hashKey } from './authentication.ts';

/** The properties of a key. The key itself is not stored. Times are Unix milliseconds. */
export interface StoredGatewayKey {
  readonly name: string;
  readonly organization?: string;
  /** The person or service that the key belongs to. */
  readonly user?: string;
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
  readonly limits?: LimitSettings | undefined;
  readonly expiresAt?: number | undefined;
}

/** The keys in the state. Several processes may use one state at the same time. */
export class KeyStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Creates a key and returns it. It can't be read again later. @throws SvcError when the name is taken. */
  create({ name, organization, user, limits, expiresAt }: NewKey, now = Date.now()): string {
    if (this.#find(name)) throw keyExists(name);
    return this.#change(() => {
      this.#database
        .prepare('INSERT INTO keys (name, organization, user, created_at, expires_at) VALUES (?, ?, ?, ?, ?)')
        .run(name, organization ?? null, user ?? null, now, expiresAt ?? null);
      if (limits !== undefined) this.#setLimits(name, limits);
      return this.#issue(name, now);
    });
  }

  /** Replaces the budgets of a key, its rates or both. @throws SvcError for an unknown name. */
  update(name: string, limits: Partial<LimitSettings>): void {
    if (!this.#find(name)) throw unknownKey(name);
    this.#change(() => {
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
    return this.#change(() => {
      this.#database
        .prepare('UPDATE key_hashes SET valid_until = min(coalesce(valid_until, ?1), ?1) WHERE name = ?2')
        .run(now + graceMs, name);
      return this.#issue(name, now);
    });
  }

  /** Revokes a key immediately. @param cut whether its running requests end. @throws SvcError for an unknown name. */
  revoke(name: string, cut = false, now = Date.now()): void {
    if (!this.#find(name)) throw unknownKey(name);
    this.#change(() => {
      this.#database
        .prepare('UPDATE keys SET revoked_at = coalesce(revoked_at, ?), cut = max(cut, ?) WHERE name = ?')
        .run(now, cut ? 1 : 0, name);
      this.#database.prepare('DELETE FROM key_hashes WHERE name = ?').run(name);
    });
  }

  /** Deletes expired hashes and those in `seen`, so that they stay invalid if the clock is set back. */
  dropExpired(seen: Iterable<string>, now = Date.now()): void {
    this.#change(() => {
      const expired = 'valid_until <= ?1 OR name IN (SELECT name FROM keys WHERE expires_at <= ?1)';
      this.#database.prepare(`DELETE FROM key_hashes WHERE ${expired}`).run(now);
      const one = this.#database.prepare('DELETE FROM key_hashes WHERE hash = ?');
      for (const hash of seen) one.run(hash);
    });
  }

  list(now = Date.now()): readonly StoredGatewayKey[] {
    const all = (sql: string) => this.#database.prepare(sql).all();
    return readKeys(
      {
        keys: all(
          `SELECT keys.*, (SELECT coalesce(sum(nano), 0) FROM spent WHERE spent.key = keys.name) AS spent
            FROM keys ORDER BY created_at, rowid`,
        ),
        hashes: all('SELECT hash, name, valid_until FROM key_hashes ORDER BY created_at DESC, rowid DESC'),
        budgets: all('SELECT * FROM budgets'),
        rates: all('SELECT * FROM rates'),
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

  #change<T>(work: () => T): T {
    return transaction(this.#database, () => {
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
    limits: {
      budgets: (budgetsOf.get(String(row.name)) ?? []).map(readBudget),
      rates: (ratesOf.get(String(row.name)) ?? []).map(readRate),
    },
    ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
    ...(row.revoked_at === null ? {} : { revokedAt: Number(row.revoked_at) }),
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
    period: BUDGET_PERIODS.find((period) => period === row.period) ?? 'total',
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

export function keyExists(name: string): SvcError {
  return refused(`A key named “${name}” already exists.`);
}

export function unknownKey(name: string): SvcError {
  return refused(`There is no key named “${name}”.`);
}

export function keyRevoked(name: string): SvcError {
  return refused(`The key “${name}” is revoked.`);
}

function refused(message: string): SvcError {
  return new SvcError({ errorType: 'invalid_request', message, action: 'See “svc keys list”.' });
}
