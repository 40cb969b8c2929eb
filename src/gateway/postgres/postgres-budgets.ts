import type { BudgetAnswer, BudgetQuestion, BudgetStore } from '../limits/budget-leases.ts';
import { type PostgresConnection, type Row, SCHEMA, type Sql } from './postgres-connection.ts';
import { lock } from './postgres-tables.ts';

const DEADLINE_MS = 1_000;

/** Leases of budgets in Postgres. They are settled in the transaction that stores the rows. */
export class PostgresBudgets implements BudgetStore {
  readonly #connection: PostgresConnection;
  readonly #replica: string;

  constructor(connection: PostgresConnection, replica: string) {
    this.#connection = connection;
    this.#replica = replica;
  }

  async ask(questions: readonly BudgetQuestion[]): Promise<readonly BudgetAnswer[]> {
    const rows = await this.#connection.transaction(DEADLINE_MS, (sql) => grant(sql, this.#replica, questions));
    return rows.map((row) => ({
      id: String(row.budget),
      start: Number(row.start_at),
      granted: Number(row.granted),
      settled: Number(row.settled),
      spent: Number(row.spent),
      free: Number(row.free),
      others: Number(row.others),
    }));
  }
}

/** Creates windows that do not exist yet, with their earlier spending. */
const CREATE = `INSERT INTO budget_windows
    (budget, start_at, end_at, key, "user", organization, model, spent_nano)
  SELECT w.*, CASE WHEN w.start_at = 0
    THEN (SELECT coalesce(sum(nano), 0) FROM spent s WHERE w.key IN ('', s.key)
      AND w.organization IN ('', s.organization) AND s.model LIKE w.model
      AND w."user" IN ('', coalesce((SELECT k."user" FROM keys k WHERE k.name = s.key), '')))
    ELSE (SELECT coalesce(sum(cost_nano), 0) FROM usage_rollup s WHERE w.key IN ('', s.key) AND s.byok = 0
      AND w.organization IN ('', s.organization) AND s.model LIKE w.model
      AND w."user" IN ('', coalesce((SELECT k."user" FROM keys k WHERE k.name = s.key), ''))
      AND s.bucket >= w.start_at AND s.bucket < w.end_at) END
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
    AS w (budget, start_at, end_at, key, "user", organization, model)
  ON CONFLICT (budget, start_at) DO NOTHING`;

/**
 * Grants at most half of an equal part of the rest, in all grants together, so that little is held when little is
 * left; but the need of a request, if it is there. Leases of a replica that ended are not held, nor those of one
 * that was not seen for a day.
 */
const GRANT = `WITH asked AS (
    SELECT * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
      AS a (budget, start_at, max_nano, want, needed)),
  live AS (
    SELECT greatest(1, count(*)) AS n FROM replicas
    WHERE released_at IS NULL AND seen_at > now() - interval '10 seconds'),
  held AS (
    SELECT a.*, w.id, coalesce(w.wanted_at > now() - interval '1 second', false) AS noticed, w.spent_nano AS spent, coalesce(own.granted_nano, 0) AS granted,
      coalesce(own.settled_nano, 0) AS settled, greatest(coalesce(own.granted_nano - own.settled_nano, 0), 0) AS own,
      coalesce((SELECT sum(greatest(l.granted_nano - l.settled_nano, 0)) FROM leases l
        LEFT JOIN replicas r ON r.id = l.replica
        WHERE l.budget_window = w.id AND l.replica <> $1
          AND coalesce(r.released_at, r.seen_at + interval '1 day', now() + interval '1 day') > now()), 0)::bigint AS others
    FROM asked a JOIN budget_windows w USING (budget, start_at)
    LEFT JOIN leases own ON own.budget_window = w.id AND own.replica = $1),
  freed AS (SELECT *, greatest(0, max_nano - spent - others - own) AS free FROM held),
  given AS (
    SELECT *, CASE WHEN want < 0 THEN greatest(want, -own)
      ELSE least(free, greatest(needed, least(want, greatest(0, (free + own) / (2 * n) - own)))) END AS amount
    FROM freed, live),
  written AS (
    INSERT INTO leases AS l (budget_window, replica, granted_nano, settled_nano) SELECT id, $1, amount, 0 FROM given
    ON CONFLICT (budget_window, replica) DO UPDATE SET granted_nano = l.granted_nano + excluded.granted_nano),
  noted AS (
    UPDATE budget_windows w SET wanted_at = now() FROM given g WHERE g.id = w.id AND g.needed > g.amount AND g.others > 0)
  SELECT budget, start_at, granted + amount AS granted, settled, spent, free - amount AS free, others,
    needed > amount AND others > 0 AND NOT noticed AS wants FROM given`;

async function grant(sql: Sql, replica: string, questions: readonly BudgetQuestion[]): Promise<readonly Row[]> {
  await lock(sql, 'money');
  const fresh = questions.filter(({ budget, window }) => budget.share?.window(window.start) === undefined);
  if (fresh.length > 0) {
    const rules = fresh.map(({ budget }) => budget.rule);
    await sql(CREATE, [
      fresh.map(({ id }) => id),
      fresh.map(({ window }) => window.start),
      fresh.map(({ window }) => (Number.isFinite(window.end) ? window.end : null)),
      rules.map(({ scope }) => scope.key ?? ''),
      rules.map(({ scope }) => scope.user ?? ''),
      rules.map(({ scope }) => scope.organization ?? ''),
      rules.map(({ model }) => model.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%')),
    ]);
  }
  const granted = await sql(GRANT, [
    replica,
    questions.map(({ id }) => id),
    questions.map(({ window }) => window.start),
    questions.map(({ budget }) => budget.rule.nano),
    questions.map(({ want }) => Math.round(want)),
    questions.map(({ needed }) => Math.round(needed)),
  ]);
  if (granted.some(({ wants }) => wants === true)) await sql(`NOTIFY ${SCHEMA}`);
  return granted;
}
