import { setImmediate } from 'node:timers/promises';
import { toNano } from '../../base/money.ts';
import type { LimitSettings } from '../../config/settings/settings.ts';
import { hashKey } from '../access/authentication.ts';
import {
  type FoundKeys,
  KEYS_WITH_USE,
  type KeySearch,
  keyChanged,
  keyCreated,
  keyExists,
  keyRevocation,
  keyRevoked,
  keyRotated,
  type NewKey,
  newKey,
  readKeys,
  type StoredGatewayKey,
  searchSql,
  unknownKey,
} from '../access/key-store.ts';
import {
  REQUEST_ROWS,
  type RequestHistoryPage,
  type RequestHistoryQuery,
  readRequestPage,
  requestPageSql,
} from '../accounting/request-history.ts';
import {
  BUCKET_DIFFERENCES,
  describeCheck,
  SPENT_DIFFERENCES,
  type StateCheck,
  TOTALS,
} from '../accounting/state-check.ts';
import { SqlSessions } from '../admin/sessions.ts';
import { Budget } from '../limits/budget.ts';
import { addUp, spentSql } from '../limits/budget-book.ts';
import { type BudgetRule, budgetId } from '../limits/limit-rules.ts';
import { type SealedPart, sealedRange } from '../reports/report-plan.ts';
import { SumCache } from '../reports/sum-cache.ts';
import type { UsageQuery } from '../reports/usage-query.ts';
import { planUsage, sealedQuery, type UsageReport, UsageSum } from '../reports/usage-report.ts';
import { usageSql } from '../reports/usage-sql.ts';
import {
  type Actor,
  type AuditFilter,
  type AuditRow,
  auditSql,
  auditValues,
  type Change,
  INSERT_AUDIT,
  readAuditRow,
} from '../state/audit-log.ts';
import type { UsageRow } from '../state/ledger-columns.ts';
import { readRow } from '../state/ledger-columns.ts';
import type { StateAdmin } from '../state-admin.ts';
import { type PostgresConnection, type Row, SCHEMA, type Sql } from './postgres-connection.ts';
import { readSealedParts, sealedTimes } from './postgres-sealing.ts';
import { lock } from './postgres-tables.ts';

/** Milliseconds of a change, and of a report about a large ledger. */
const CHANGE_MS = 5_000;
const REPORT_MS = 60_000;

/** The state in Postgres. A change of a key is announced to all replicas. */
export class PostgresAdmin extends SqlSessions implements StateAdmin {
  readonly #connection: PostgresConnection;
  readonly #sums = new SumCache();
  #stateId: string | undefined;

  constructor(connection: PostgresConnection) {
    super((text, values) => connection.transaction(CHANGE_MS, (sql) => sql(toPostgres(text), values)));
    this.#connection = connection;
  }

  /** By the objects of the server, because replicas may name its address in different ways. */
  async stateId(): Promise<string> {
    if (this.#stateId !== undefined) return this.#stateId;
    const sql = `SELECT d.oid AS database, n.oid AS schema FROM pg_database d, pg_namespace n
      WHERE d.datname = current_database() AND n.nspname = '${SCHEMA}'`;
    const [row] = await this.#read(sql, []);
    this.#stateId = `${row?.database}_${row?.schema}`;
    return this.#stateId;
  }

  createKey(actor: Actor, key: NewKey): Promise<string> {
    const { name, organization, user, admin, limits, expiresAt } = key;
    return this.#change(actor, keyCreated(key), async (sql, found) => {
      if (found !== undefined) throw keyExists(name);
      await sql(
        'INSERT INTO keys (name, organization, "user", admin, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)',
        [...[name, organization ?? null, user ?? null, admin ?? null, Date.now(), expiresAt ?? null]],
      );
      await setLimits(sql, name, limits ?? {});
      return issue(sql, name);
    });
  }

  updateKey(actor: Actor, name: string, limits: Partial<LimitSettings>): Promise<void> {
    return this.#change(actor, keyChanged(name, limits), async (sql, found) => {
      if (found === undefined) throw unknownKey(name);
      await setLimits(sql, name, limits);
    });
  }

  rotateKey(actor: Actor, name: string, graceMs: number): Promise<string> {
    return this.#change(actor, keyRotated(name, graceMs), async (sql, found) => {
      if (found === undefined) throw unknownKey(name);
      if (found.revoked_at !== null) throw keyRevoked(name);
      await sql('UPDATE key_hashes SET valid_until = least(coalesce(valid_until, $1), $1) WHERE name = $2', [
        ...[Date.now() + graceMs, name],
      ]);
      return issue(sql, name);
    });
  }

  revokeKey(actor: Actor, name: string, cut = false): Promise<void> {
    return this.#change(actor, keyRevocation(name, cut), async (sql, found) => {
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

  async findKey(name: string): Promise<StoredGatewayKey | undefined> {
    return this.#connection.transaction(CHANGE_MS, async (sql) => {
      const [key] = await readFound(sql, await sql(`${KEYS_WITH_USE} WHERE name = $1`, [name]));
      return key;
    });
  }

  searchKeys(query: KeySearch): Promise<FoundKeys> {
    const { where, values, page, pageValues } = searchSql(query, Date.now());
    return this.#connection.transaction(CHANGE_MS, async (sql) => {
      const [count] = await sql(toPostgres(`SELECT count(*) AS total FROM keys WHERE ${where}`), values);
      const rows = await sql(toPostgres(`${KEYS_WITH_USE} WHERE ${where} ${page}`), pageValues);
      return { keys: await readFound(sql, rows), total: Number(count?.total) };
    });
  }

  requests(query: RequestHistoryQuery, signal?: AbortSignal): Promise<RequestHistoryPage> {
    const { page, end } = requestPageSql(query);
    const read = async (sql: Sql) => {
      const rows = await sql(toPostgres(page.sql), page.values);
      const last = rows.length > query.limit ? [] : await sql(toPostgres(end.sql), end.values);
      return readRequestPage(query, rows, () => last);
    };
    return this.#connection.transaction(REPORT_MS, read, { signal });
  }

  async request(id: string): Promise<readonly UsageRow[]> {
    return (await this.#read(REQUEST_ROWS, [id])).map(readRow);
  }

  async audit(filter: AuditFilter): Promise<readonly AuditRow[]> {
    const { sql, values } = auditSql(filter);
    return (await this.#read(sql, values)).map(readAuditRow);
  }

  async record(actor: Actor, change: Change): Promise<void> {
    await this.#read(INSERT_AUDIT, auditValues(actor, change));
  }

  #read(text: string, values: readonly (string | number)[]): Promise<readonly Row[]> {
    return this.#connection.transaction(CHANGE_MS, (sql) => sql(toPostgres(text), values));
  }

  async usage(query: UsageQuery, signal?: AbortSignal): Promise<UsageReport> {
    const { since, until } = sealedRange(query);
    const tag = (name: string) => `tags::json ->> '${name}'`;
    const make = async (sql: Sql) => {
      const plan = planUsage(query, await sealedTimes(sql, since, until));
      const report = new UsageSum(query);
      const sums = sealedQuery(query);
      const unknown: SealedPart[] = [];
      for (const part of plan.sealed) {
        const known = this.#sums.find(part, sums);
        if (known === undefined) unknown.push(part);
        else report.add(known);
        await setImmediate();
        signal?.throwIfAborted();
      }
      for await (const { part, sums: sealed } of readSealedParts(sql, unknown)) {
        signal?.throwIfAborted();
        report.add(this.#sums.sum(part, sums, sealed));
      }
      const { sql: text, values } = usageSql(query, plan, tag);
      report.add(await sql(toPostgres(text), values));
      if (query.reasons === true) {
        const rows = [{ since: query.since, until: query.until ?? Number.MAX_SAFE_INTEGER }];
        const found = usageSql(query, { quarters: [], rows }, tag, "details::json ->> 'estimated'");
        report.addReasons(await sql(toPostgres(found.sql), found.values));
      }
      return report.end();
    };
    return this.#connection.transaction(REPORT_MS, make, { snapshot: true, signal });
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
    const compare = async (sql: Sql) => {
      const [retained] = await sql('SELECT since FROM retained');
      const buckets = await sql(toPostgres(BUCKET_DIFFERENCES), [Number(retained?.since)]);
      const spent = await sql(SPENT_DIFFERENCES);
      const [totals] = await sql(TOTALS);
      return describeCheck(buckets, spent, totals);
    };
    return this.#connection.transaction(REPORT_MS, compare, { snapshot: true });
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
  #change<T>(actor: Actor, change: Change, work: (sql: Sql, found: Row | undefined) => Promise<T>): Promise<T> {
    return this.#connection.transaction(CHANGE_MS, async (sql) => {
      await lock(sql, 'changes');
      const [found] = await sql('SELECT * FROM keys WHERE name = $1', [change.target]);
      const result = await work(sql, found);
      await sql(toPostgres(INSERT_AUDIT), auditValues(actor, change));
      await announce(sql, 'key', change.target);
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

/** @param keys rows of `KEYS_WITH_USE`. */
async function readFound(sql: Sql, keys: readonly Row[]): Promise<readonly StoredGatewayKey[]> {
  const names = [keys.map(({ name }) => name)];
  return readKeys({
    keys,
    hashes: await sql('SELECT * FROM key_hashes WHERE name = ANY ($1) ORDER BY created_at DESC, number DESC', names),
    budgets: await sql('SELECT * FROM budgets WHERE key = ANY ($1)', names),
    rates: await sql('SELECT * FROM rates WHERE key = ANY ($1)', names),
  });
}

/** Of two limits for the same requests, the smaller one holds. `least` ignores null. */
async function setLimits(sql: Sql, name: string, { budgets, rates }: Partial<LimitSettings>): Promise<void> {
  if (budgets !== undefined) await sql('DELETE FROM budgets WHERE key = $1', [name]);
  if (rates !== undefined) await sql('DELETE FROM rates WHERE key = $1', [name]);
  for (const { usd, period, timeZone, mode, model } of budgets ?? []) {
    await sql(
      `INSERT INTO budgets VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (key, model, period, zone, mode) DO UPDATE SET nano = least(budgets.nano, excluded.nano)`,
      [name, model, period, timeZone, mode, toNano(usd)],
    );
  }
  for (const { requests, tokens, parallel, model } of rates ?? []) {
    await sql(
      `INSERT INTO rates VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key, model)
        DO UPDATE SET requests = least(rates.requests, excluded.requests), tokens = least(rates.tokens, excluded.tokens),
          parallel = least(rates.parallel, excluded.parallel)`,
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
  return sql.replaceAll(/\?(\d+)/g, '$$$1');
}
