import { toNano } from '../../base/money.ts';
import type { LimitSettings } from '../../config/settings/settings.ts';
import { hashKey } from '../access/authentication.ts';
import {
  keyExists,
  keyRevoked,
  type NewKey,
  newKey,
  readKeys,
  type StoredGatewayKey,
  unknownKey,
} from '../access/key-store.ts';
import {
  BUCKET_DIFFERENCES,
  describeCheck,
  SPENT_DIFFERENCES,
  type StateCheck,
  TOTALS,
} from '../accounting/state-check.ts';
import { sumUp, type UsageQuery, type UsageReport, usageSql } from '../accounting/usage-report.ts';
import { Budget } from '../limits/budget.ts';
import { addUp, spentSql } from '../limits/budget-book.ts';
import { type BudgetRule, budgetId } from '../limits/limit-rules.ts';
import type { StateAdmin } from '../state-admin.ts';
import { type PostgresConnection, type Row, SCHEMA, type Sql } from './postgres-connection.ts';
import { lock } from './postgres-tables.ts';

/** Milliseconds of a change, and of a report about a large ledger. */
const CHANGE_MS = 5_000;
const REPORT_MS = 60_000;

/** The state in Postgres. A change of a key is announced to all replicas. */
export class PostgresAdmin implements StateAdmin {
  readonly #connection: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  createKey({ name, organization, user, limits, expiresAt }: NewKey): Promise<string> {
    return this.#change(name, async (sql, found) => {
      if (found !== undefined) throw keyExists(name);
      await sql('INSERT INTO keys (name, organization, "user", created_at, expires_at) VALUES ($1, $2, $3, $4, $5)', [
        ...[name, organization ?? null, user ?? null, Date.now(), expiresAt ?? null],
      ]);
      await setLimits(sql, name, limits ?? {});
      return issue(sql, name);
    });
  }

  updateKey(name: string, limits: Partial<LimitSettings>): Promise<void> {
    return this.#change(name, async (sql, found) => {
      if (found === undefined) throw unknownKey(name);
      await setLimits(sql, name, limits);
    });
  }

  rotateKey(name: string, graceMs: number): Promise<string> {
    return this.#change(name, async (sql, found) => {
      if (found === undefined) throw unknownKey(name);
      if (found.revoked_at !== null) throw keyRevoked(name);
      await sql('UPDATE key_hashes SET valid_until = least(coalesce(valid_until, $1), $1) WHERE name = $2', [
        ...[Date.now() + graceMs, name],
      ]);
      return issue(sql, name);
    });
  }

  revokeKey(name: string, cut = false): Promise<void> {
    return this.#change(name, async (sql, found) => {
      if (found === undefined) throw unknownKey(name);
      await sql('UPDATE keys SET revoked_at = coalesce(revoked_at, $1), cut = greatest(cut, $2) WHERE name = $3', [
        ...[Date.now(), cut ? 1 : 0, name],
      ]);
      await sql('DELETE FROM key_hashes WHERE name = $1', [name]);
    });
  }

  listKeys(): Promise<readonly StoredGatewayKey[]> {
    return this.#connection.transaction(CHANGE_MS, listKeys);
  }

  async usage(query: UsageQuery): Promise<UsageReport> {
    const { sql: text, values } = usageSql(query, (name) => `tags::json ->> '${name}'`);
    return sumUp(query, await this.#connection.transaction(REPORT_MS, (sql) => sql(toPostgres(text), values)));
  }

  async spent(rules: readonly BudgetRule[]): Promise<ReadonlyMap<string, number>> {
    const budgets = rules.map((rule) => new Budget(rule));
    const users = await this.#users();
    const found = new Map<string, number>();
    for (const [start, group] of Map.groupBy(budgets, (budget) => budget.window().start)) {
      const rows = await this.#connection.transaction(REPORT_MS, (sql) => sql(toPostgres(spentSql(start)), [start]));
      for (const [{ rule }, nano] of addUp(group, start, rows, users)) found.set(budgetId(rule), nano);
    }
    return found;
  }

  check(): Promise<StateCheck> {
    return this.#connection.transaction(REPORT_MS, async (sql) => {
      await sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      const [retained] = await sql('SELECT since FROM retained');
      const buckets = await sql(toPostgres(BUCKET_DIFFERENCES), [Number(retained?.since)]);
      const spent = await sql(SPENT_DIFFERENCES);
      const [totals] = await sql(TOTALS);
      return describeCheck(buckets, spent, totals);
    });
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  async #users(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#connection.transaction(CHANGE_MS, (sql) =>
      sql('SELECT name, "user" FROM keys WHERE "user" IS NOT NULL'),
    );
    return new Map(rows.map(({ name, user }) => [String(name), String(user)]));
  }

  /**
   * The lock makes the numbers of changes follow the order of commits: a replica that asks for newer numbers would
   * otherwise miss one that was committed late.
   */
  #change<T>(name: string, work: (sql: Sql, found: Row | undefined) => Promise<T>): Promise<T> {
    return this.#connection.transaction(CHANGE_MS, async (sql) => {
      await lock(sql, 'changes');
      const [found] = await sql('SELECT * FROM keys WHERE name = $1', [name]);
      const result = await work(sql, found);
      await announce(sql, 'key', name);
      return result;
    });
  }
}

/** Tells all replicas about a change. The transaction must have the lock of changes. */
export async function announce(sql: Sql, kind: string, id: string): Promise<void> {
  await sql('INSERT INTO changes (kind, id) VALUES ($1, $2)', [kind, id]);
  await sql(`NOTIFY ${SCHEMA}`);
}

/** Must run in a transaction. */
export async function listKeys(sql: Sql): Promise<readonly StoredGatewayKey[]> {
  return readKeys({
    keys: await sql(
      `SELECT keys.*, (SELECT coalesce(sum(nano), 0) FROM spent WHERE spent.key = keys.name) AS spent
        FROM keys ORDER BY created_at, number`,
    ),
    hashes: await sql('SELECT hash, name, valid_until FROM key_hashes ORDER BY created_at DESC, number DESC'),
    budgets: await sql('SELECT * FROM budgets'),
    rates: await sql('SELECT * FROM rates'),
  });
}

async function setLimits(sql: Sql, name: string, { budgets, rates }: Partial<LimitSettings>): Promise<void> {
  if (budgets !== undefined) await sql('DELETE FROM budgets WHERE key = $1', [name]);
  if (rates !== undefined) await sql('DELETE FROM rates WHERE key = $1', [name]);
  for (const { usd, period, timeZone, mode, model } of budgets ?? []) {
    await sql(
      `INSERT INTO budgets VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (key, model, period, zone, mode) DO UPDATE SET nano = excluded.nano`,
      [name, model, period, timeZone, mode, toNano(usd)],
    );
  }
  for (const { requests, tokens, parallel, model } of rates ?? []) {
    await sql(
      `INSERT INTO rates VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key, model)
        DO UPDATE SET requests = excluded.requests, tokens = excluded.tokens, parallel = excluded.parallel`,
      [name, model, requests ?? null, tokens ?? null, parallel ?? null],
    );
  }
}

async function issue(sql: Sql, name: string): Promise<string> {
  const key = newKey();
  await sql('INSERT INTO key_hashes (hash, name, created_at) VALUES ($1, $2, $3)', [hashKey(key), name, Date.now()]);
  return key;
}

/** Names the parameters as Postgres does. */
export function toPostgres(sql: string): string {
  return sql.replaceAll(/\?(\d)/g, '$$$1');
}
