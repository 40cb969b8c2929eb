import type { Budget, BudgetWindow } from '../limits/budget.ts';
import { BudgetShare, type SharedBudgets } from '../limits/budget-share.ts';
import type { PostgresConnection, Row, Sql } from './postgres-connection.ts';
import { lock } from './postgres-tables.ts';

/** Nano-USD that a replica asks for if it does not know what requests cost. */
const BASE_NANO = 250_000_000;
/** A replica asks for what it spends in this time, and for this many of its largest requests. */
const AHEAD_MS = 5_000;
const AHEAD_REQUESTS = 4;
/** Milliseconds before the end of a window in which the share of the next one is requested. */
const NEXT_MS = 30_000;
/** Milliseconds after the last answer of Postgres in which shares may be spent. */
const USABLE_MS = 600_000;
/** Milliseconds without a request after which others may have the whole share. */
const IDLE_MS = 2_000;
const DEADLINE_MS = 1_000;

/** What a replica wants of one window of a budget. */
interface Question {
  readonly id: string;
  readonly budget: Budget;
  readonly window: BudgetWindow;
  /** Nano-USD more; negative if some are given back. */
  readonly want: number;
  /** What a refused request needs at least. */
  readonly needed: number;
}

/**
 * Shares of budgets as leases in Postgres. A lease is subtracted from the budget when it is granted, and it is settled
 * in the transaction that stores the rows. So the sum of what is spent and of what is leased never exceeds a budget,
 * whatever happens to replicas and connections.
 */
export class Leases implements SharedBudgets {
  readonly #connection: PostgresConnection;
  readonly #replica: string;
  readonly #wake: () => void;
  /** Also of budgets that were removed, because their leases still exist. */
  readonly #shares = new Map<string, BudgetShare>();
  /** Budgets of which something was spent or needed. */
  #changed = new Set<string>();
  #asking: Promise<void> = Promise.resolve();
  /** Windows of which another replica needs more, by `windowId`. */
  wanted: ReadonlySet<string> = new Set();
  /** When Postgres answered last; of the monotonic clock. */
  answeredAt = Number.NEGATIVE_INFINITY;

  /** @param wake is called when more may be needed. */
  constructor(connection: PostgresConnection, replica: string, wake: () => void) {
    this.#connection = connection;
    this.#replica = replica;
    this.#wake = wake;
  }

  share(id: string): BudgetShare {
    const found = this.#shares.get(id);
    if (found !== undefined) return found;
    const changed = () => {
      this.#changed.add(id);
      this.#wake();
    };
    const share = new BudgetShare(() => performance.now() - this.answeredAt < USABLE_MS, changed);
    this.#shares.set(id, share);
    changed();
    return share;
  }

  /**
   * Asks for what budgets need, and gives back what others need. One question at a time.
   *
   * @param all whether to look at all budgets, and not only at those that have changed.
   */
  ask(budgets: ReadonlyMap<string, Budget>, all: boolean, answered: (budget: Budget) => void): Promise<void> {
    const turn = this.#asking.then(() => this.#ask(budgets, all, answered));
    this.#asking = turn.catch(() => undefined);
    return turn;
  }

  async #ask(budgets: ReadonlyMap<string, Budget>, all: boolean, answered: (budget: Budget) => void): Promise<void> {
    const questions = this.#questions(all ? budgets.keys() : this.#changed, budgets);
    this.#changed = new Set();
    if (questions.length === 0) return;
    const asked = performance.now();
    for (const { budget, window, want } of questions) {
      giveBack(budget, window, want);
      budget.share?.asked();
    }
    const rows = await this.#connection.transaction(DEADLINE_MS, (sql) => grant(sql, this.#replica, questions));
    this.answeredAt = asked;
    const byWindow = new Map(questions.map((each) => [windowId(each.id, each.window.start), each]));
    for (const row of rows) {
      const question = byWindow.get(windowId(String(row.budget), Number(row.start_at)));
      if (question !== undefined) applyAnswer(question, row, answered);
    }
  }

  #questions(ids: Iterable<string>, budgets: ReadonlyMap<string, Budget>): Question[] {
    const now = Date.now();
    const found: Question[] = [];
    for (const id of ids) {
      const budget = budgets.get(id);
      if (budget === undefined) continue;
      const window = budget.window(now);
      const own = this.#question(id, budget, window);
      if (own !== undefined) found.push(own);
      if (window.end - now >= NEXT_MS) continue;
      const next = budget.windowAt(window.end);
      if (budget.share?.window(next.start) === undefined) {
        found.push({ id, budget, window: next, want: BASE_NANO, needed: 0 });
      }
    }
    return found;
  }

  #question(id: string, budget: Budget, window: BudgetWindow): Question | undefined {
    const { share } = budget;
    if (share === undefined) return undefined;
    const { largest, recent } = share;
    const known = share.window(window.start);
    const left = (known?.granted ?? 0) - (known?.used ?? 0) - budget.reserved;
    const elapsed = Math.max(250, performance.now() - recent.since);
    const target = Math.max(BASE_NANO, AHEAD_REQUESTS * largest, (recent.nano / elapsed) * AHEAD_MS);
    const needed = share.needed > left ? share.needed - Math.max(0, left) : 0;
    if (known === undefined || needed > 0) return { id, budget, window, want: target - left, needed };
    if (left > 0 && this.wanted.has(windowId(id, window.start))) {
      // What is less than a request needs can't be spent here.
      const keep = performance.now() - share.usedAt > IDLE_MS || left < largest ? 0 : largest;
      if (left > keep) return { id, budget, window, want: keep - left, needed: 0 };
    }
    // If nothing is free, the next request that is refused asks.
    return left < target / 2 && known.free > 0 ? { id, budget, window, want: target - left, needed: 0 } : undefined;
  }
}

function applyAnswer({ budget, window }: Question, row: Row, answered: (budget: Budget) => void): void {
  const settled = Number(row.settled);
  budget.share?.answer(window.start, {
    granted: Number(row.granted),
    spent: settled,
    free: Number(row.free),
    others: Number(row.others),
  });
  if (budget.window().start !== window.start) return;
  // Rows that are not stored yet are part of what is spent.
  const unsent = (budget.share?.window(window.start)?.used ?? 0) - settled;
  budget.restore(Number(row.spent) + unsent);
  answered(budget);
}

export function windowId(budget: string, start: number): string {
  return `${start} ${budget}`;
}

/** What is given back must not be spent, whether the question arrives or not. */
function giveBack(budget: Budget, window: BudgetWindow, want: number): void {
  const known = budget.share?.window(window.start);
  if (known !== undefined && want < 0) known.granted += want;
}

/** Creates windows that do not exist yet, with what was spent in them before. */
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
 * Grants at most half of an equal part of what is free, so that little is held when little is left; but what a request
 * needs, if it is there. Leases of a replica that ended are not held, nor those of one that was away for a day.
 */
const GRANT = `WITH asked AS (
    SELECT * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
      AS a (budget, start_at, max_nano, want, needed)),
  live AS (
    SELECT greatest(1, count(*)) AS n FROM replicas
    WHERE released_at IS NULL AND seen_at > now() - interval '10 seconds'),
  held AS (
    SELECT a.*, w.id, w.spent_nano AS spent, coalesce(own.granted_nano, 0) AS granted,
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
      ELSE least(free, greatest(needed, least(want, free / (2 * n)))) END AS amount FROM freed, live),
  written AS (
    INSERT INTO leases AS l (budget_window, replica, granted_nano, settled_nano) SELECT id, $1, amount, 0 FROM given
    ON CONFLICT (budget_window, replica) DO UPDATE SET granted_nano = l.granted_nano + excluded.granted_nano),
  noted AS (
    UPDATE budget_windows w SET wanted_at = now() FROM given g WHERE g.id = w.id AND g.needed > g.amount AND g.others > 0)
  SELECT budget, start_at, granted + amount AS granted, settled, spent, free - amount AS free, others FROM given`;

async function grant(sql: Sql, replica: string, questions: readonly Question[]): Promise<readonly Row[]> {
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
  return sql(GRANT, [
    replica,
    questions.map(({ id }) => id),
    questions.map(({ window }) => window.start),
    questions.map(({ budget }) => budget.rule.nano),
    questions.map(({ want }) => Math.round(want)),
    questions.map(({ needed }) => Math.round(needed)),
  ]);
}
