import { randomBytes } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { defined } from '../../base/json.ts';
import { toNano, toUsd } from '../../base/money.ts';
import { BUDGET_PERIODS, LIMIT_DEFAULTS } from '../../config/settings/limit-values.ts';
import type { BudgetSettings, LimitSettings, RateSettings } from '../../config/settings/settings.ts';
import { type AdminScope, isAdminScope, type KeyState } from '../../protocol/admin-api/key-properties.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { type Actor, writeAudit } from '../state/audit-log.ts';
import { type Dialect, type Row, run, runSteps, SQLITE, type Steps } from '../state/steps.ts';
import { transaction } from '../state/transaction.ts';
import { hashKey } from './authentication.ts';

/** The properties of a key. The key itself is not stored. Times are Unix milliseconds. */
export interface StoredGatewayKey {
  readonly name: string;
  readonly organization?: string;
  /** The person or service that the key belongs to. */
  readonly user?: string;
  /** Its rights in the admin API. */
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

export interface FoundKey extends StoredGatewayKey {
  readonly state: KeyState;
}

/** Keys in the order of their names. */
export interface FoundKeys {
  readonly keys: readonly FoundKey[];
  /** Number of all keys that match. */
  readonly total: number;
}

const SPENT = '(SELECT coalesce(sum(nano), 0) FROM spent WHERE spent.key = keys.name) AS spent';

/** All keys in the order of their creation. */
export function* listKeys({ added }: Dialect, now = Date.now()): Steps<readonly FoundKey[]> {
  const keys = yield* run(`SELECT keys.*, ${SPENT}, ${stateSql(now)} AS state FROM keys ORDER BY created_at, ${added}`);
  const rows = {
    hashes: yield* run(`SELECT * FROM key_hashes ORDER BY created_at DESC, ${added} DESC`),
    budgets: yield* run('SELECT * FROM budgets'),
    rates: yield* run('SELECT * FROM rates'),
  };
  return readKeys({ keys, ...rows }, now);
}

export function* findKey(dialect: Dialect, name: string): Steps<FoundKey | undefined> {
  const [key] = yield* readFound(dialect, 'WHERE name = ?1', [name], Date.now());
  return key;
}

export function* searchKeys(dialect: Dialect, query: KeySearch, now = Date.now()): Steps<FoundKeys> {
  const { search, state, organization, user, expiresBefore, after, limit } = query;
  const values: (string | number)[] = [];
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
  const where = `WHERE ${conditions.join(' AND ')}`;
  const [count] = yield* run(`SELECT count(*) AS total FROM keys ${where}`, [...values]);
  const page = `${where} AND name > ${parameter(after ?? '')} ORDER BY name LIMIT ${limit}`;
  return { keys: yield* readFound(dialect, page, values, now), total: Number(count?.total) };
}

function* readFound(
  { added }: Dialect,
  which: string,
  values: readonly (string | number)[],
  now: number,
): Steps<readonly FoundKey[]> {
  const used = '(SELECT max(at) FROM usage WHERE usage.key = keys.name) AS used_at';
  const keys = yield* run(`SELECT keys.*, ${SPENT}, ${used}, ${stateSql(now)} AS state FROM keys ${which}`, values);
  if (keys.length === 0) return [];
  const names = keys.map(({ name }) => String(name));
  const listed = `(${names.map((_, index) => `?${index + 1}`).join(', ')})`;
  const rows = {
    hashes: yield* run(
      `SELECT * FROM key_hashes WHERE name IN ${listed} ORDER BY created_at DESC, ${added} DESC`,
      names,
    ),
    budgets: yield* run(`SELECT * FROM budgets WHERE key IN ${listed}`, names),
    rates: yield* run(`SELECT * FROM rates WHERE key IN ${listed}`, names),
  };
  return readKeys({ keys, ...rows }, now);
}

/** The state of a key. Its hashes are deleted when it expires, so that it stays expired if the clock is set back. */
function stateSql(now: number): string {
  return `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= ${now} THEN 'expired'
    ELSE (SELECT CASE count(*) WHEN 0 THEN 'expired' WHEN 1 THEN 'valid' ELSE 'rotating' END FROM key_hashes
      WHERE key_hashes.name = keys.name AND (valid_until IS NULL OR valid_until > ${now})) END`;
}

/** Creates a key and returns it. It can't be read again later. @throws SvcError when the name is taken. */
export function* createKey(actor: Actor, key: NewKey, now = Date.now()): Steps<string> {
  const { name, organization, user, admin, limits = {}, expiresAt } = key;
  const [found] = yield* run(FIND, [name]);
  if (found !== undefined) throw keyExists(name);
  const values = [name, organization ?? null, user ?? null, admin ?? null, now, expiresAt ?? null];
  yield* run(
    'INSERT INTO keys (name, organization, "user", admin, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)',
    values,
  );
  yield* setLimits(name, limits);
  const expires_at = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
  const details = defined({ organization, user, admin, expires_at, ...limits });
  yield* writeAudit(actor, { action: 'key.create', target: name, details });
  return yield* issue(name, now);
}

/** Replaces the budgets of a key, its rates or both. @throws SvcError for an unknown name. */
export function* updateKey(actor: Actor, name: string, limits: Partial<LimitSettings>): Steps<void> {
  yield* requireKey(name);
  yield* setLimits(name, limits);
  yield* writeAudit(actor, { action: 'key.change', target: name, details: { ...limits } });
}

/** Creates a new key for a name. The old key stays valid for `graceMs`. @throws SvcError for an unknown name. */
export function* rotateKey(actor: Actor, name: string, graceMs: number, now = Date.now()): Steps<string> {
  const found = yield* requireKey(name);
  if (found.revoked_at !== null) throw refused(`The key “${name}” is revoked.`);
  yield* run('UPDATE key_hashes SET valid_until = ?1 WHERE name = ?2 AND (valid_until IS NULL OR valid_until > ?1)', [
    now + graceMs,
    name,
  ]);
  yield* writeAudit(actor, { action: 'key.rotate', target: name, details: { grace_ms: graceMs } });
  return yield* issue(name, now);
}

/** Revokes a key immediately. @param cut whether its running requests end. @throws SvcError for an unknown name. */
export function* revokeKey(actor: Actor, name: string, cut: boolean, now = Date.now()): Steps<void> {
  yield* requireKey(name);
  yield* run(
    'UPDATE keys SET revoked_at = coalesce(revoked_at, ?1), cut = CASE WHEN ?2 = 1 THEN 1 ELSE cut END WHERE name = ?3',
    [now, cut ? 1 : 0, name],
  );
  yield* run('DELETE FROM key_hashes WHERE name = ?1', [name]);
  yield* writeAudit(actor, { action: 'key.revoke', target: name, details: { cut } });
}

const FIND = 'SELECT * FROM keys WHERE name = ?1';

function* requireKey(name: string): Steps<Row> {
  const [found] = yield* run(FIND, [name]);
  if (found === undefined) throw unknownKey(name);
  return found;
}

/** Of two limits for the same requests, the smaller one holds. */
function* setLimits(name: string, { budgets, rates }: Partial<LimitSettings>): Steps<void> {
  if (budgets !== undefined) yield* run('DELETE FROM budgets WHERE key = ?1', [name]);
  if (rates !== undefined) yield* run('DELETE FROM rates WHERE key = ?1', [name]);
  for (const { usd, period, timeZone, mode, model } of budgets ?? []) {
    yield* run(
      `INSERT INTO budgets VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (key, model, period, zone, mode) DO UPDATE SET ${smaller('budgets', 'nano')}`,
      [name, model, period, timeZone, mode, toNano(usd)],
    );
  }
  const least = ['requests', 'tokens', 'parallel'].map((column) => smaller('rates', column));
  for (const { requests, tokens, parallel, model } of rates ?? []) {
    yield* run(
      `INSERT INTO rates VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (key, model) DO UPDATE SET ${least.join(', ')}`,
      [name, model, requests ?? null, tokens ?? null, parallel ?? null],
    );
  }
}

/** No limit is the largest one. */
function smaller(table: string, column: string): string {
  const [held, added] = [`${table}.${column}`, `excluded.${column}`];
  return `${column} = CASE WHEN ${held} IS NULL OR ${added} < ${held} THEN ${added} ELSE ${held} END`;
}

function* issue(name: string, now: number): Steps<string> {
  const key = `svc_${randomBytes(32).toString('base64url')}`;
  yield* run('INSERT INTO key_hashes (hash, name, created_at) VALUES (?1, ?2, ?3)', [hashKey(key), name, now]);
  return key;
}

/** Changes keys in SQLite, and tells the processes that follow them. */
export function changeKeys<T>(database: DatabaseSync, steps: Steps<T>): T {
  return transaction(database, () => {
    const result = runSteps(database, steps);
    database.exec('UPDATE key_changes SET number = number + 1');
    return result;
  });
}

/** The keys in SQLite as a gateway follows them. Several processes may use one state at the same time. */
export class KeyStore {
  readonly #database: DatabaseSync;
  readonly #changes: StatementSync;
  readonly #version: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#changes = database.prepare('SELECT number FROM key_changes');
    this.#version = database.prepare('PRAGMA data_version');
  }

  list(): readonly StoredGatewayKey[] {
    return runSteps(this.#database, listKeys(SQLITE));
  }

  /** Deletes expired hashes and those in `seen`, so that they stay invalid if the clock is set back. */
  dropExpired(seen: Iterable<string>, now = Date.now()): void {
    changeKeys(this.#database, dropHashes(seen, now));
  }

  /** A number that changes when a key has changed. */
  changes(): number {
    return Number(this.#changes.get()?.number ?? 0);
  }

  /** A number that changes when another connection has written anything. It is cheaper to read than `changes`. */
  version(): number {
    return Number(this.#version.get()?.data_version ?? 0);
  }
}

function* dropHashes(seen: Iterable<string>, now: number): Steps<void> {
  const expired = 'valid_until <= ?1 OR name IN (SELECT name FROM keys WHERE expires_at <= ?1)';
  yield* run(`DELETE FROM key_hashes WHERE ${expired}`, [now]);
  for (const hash of seen) yield* run('DELETE FROM key_hashes WHERE hash = ?1', [hash]);
}

const KEY_STATES: readonly KeyState[] = ['valid', 'rotating', 'expired', 'revoked'];

/** Rows of the tables of a state. */
interface KeyRows {
  /** With the spending of each key, and its state. */
  readonly keys: readonly Row[];
  /** Newest first. */
  readonly hashes: readonly Row[];
  readonly budgets: readonly Row[];
  readonly rates: readonly Row[];
}

/** @param now hashes that are valid only before are left out. */
function readKeys({ keys, hashes, budgets, rates }: KeyRows, now: number): readonly FoundKey[] {
  const valid = hashes.filter((row) => row.valid_until === null || Number(row.valid_until) > now);
  const hashesOf = Map.groupBy(valid, (row) => String(row.name));
  const budgetsOf = Map.groupBy(budgets, ({ key }) => String(key));
  const ratesOf = Map.groupBy(rates, ({ key }) => String(key));
  return keys.map((row) => ({
    name: String(row.name),
    state: KEY_STATES.find((state) => state === row.state) ?? 'expired',
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

function keyExists(name: string): SvcError {
  return refused(`A key named “${name}” already exists.`, 409);
}

export function unknownKey(name: string): SvcError {
  return refused(`There is no key named “${name.slice(0, 100)}”.`, 404);
}

function refused(message: string, status = 400): SvcError {
  return new SvcError({ status, errorType: 'invalid_request', message, action: 'See “svc keys list”.' });
}
