import type { Rate } from '../limits/rate.ts';
import { RateShare, type SharedRates } from '../limits/rate-share.ts';
import type { PostgresConnection, Row } from './postgres-connection.ts';
import { lock } from './postgres-tables.ts';

const KINDS = ['requests', 'tokens', 'parallel'] as const;
type Kind = (typeof KINDS)[number];

/** Milliseconds in which use is collected before it is reported. */
const REPORT_MS = 500;
/** Milliseconds without a request after which others may have the whole share. */
const IDLE_MS = 1_000;
const DEADLINE_MS = 1_000;

interface Question {
  readonly id: string;
  readonly share: RateShare;
  readonly limit: number;
  /** Used since the last question. Running requests are not used up. */
  readonly used: number;
  /** What may still be used of the lease. */
  readonly left: number;
  /** The lease: also running requests hold theirs. */
  readonly held: number;
  readonly needed: number;
}

/**
 * Shares of rates as leases in Postgres. What a replica reports as used counts for a minute from then on, and was part
 * of its lease before. So no minute has more than the limit, wherever it starts. A replica that ends without a word
 * keeps its lease for more than a minute.
 */
export class RateLeases implements SharedRates {
  readonly #connection: PostgresConnection;
  readonly #replica: string;
  readonly #wake: (milliseconds: number) => void;
  readonly #shares = new Map<string, RateShare>();
  #changed = new Set<string>();
  #asking: Promise<void> = Promise.resolve();
  /** Rates of which another replica needs more. */
  wanted: ReadonlySet<string> = new Set();
  /** Number of gateways; of the last answer. */
  replicas = 1;
  readonly #lost: () => boolean;

  /**
   * @param lost whether Postgres is away.
   * @param wake is called with the milliseconds after which `ask` must be called.
   */
  constructor(
    connection: PostgresConnection,
    replica: string,
    lost: () => boolean,
    wake: (milliseconds: number) => void,
  ) {
    this.#lost = lost;
    this.#connection = connection;
    this.#replica = replica;
    this.#wake = wake;
  }

  shares(id: string): Readonly<Record<Kind, RateShare>> {
    const share = (kind: Kind) => {
      // The first question is asked before something is used.
      this.#changed.add(`${kind} ${id}`);
      const name = `${kind} ${id}`;
      const found = this.#shares.get(name) ?? new RateShare(name, this);
      this.#shares.set(name, found);
      return found;
    };
    this.#wake(0);
    return { requests: share('requests'), tokens: share('tokens'), parallel: share('parallel') };
  }

  get lost(): boolean {
    return this.#lost();
  }

  changed(id: string, share: RateShare): void {
    this.#changed.add(id);
    this.#wake(share.needed > 0 ? 0 : REPORT_MS);
  }

  /**
   * Reports what was used, asks for more, and gives back what others need. One question at a time.
   *
   * @param all whether to look at all rates, and not only at those that have changed.
   */
  ask(rates: ReadonlyMap<string, Rate>, all: boolean): Promise<void> {
    const turn = this.#asking.then(() => this.#ask(rates, all));
    this.#asking = turn.catch(() => undefined);
    return turn;
  }

  async #ask(rates: ReadonlyMap<string, Rate>, all: boolean): Promise<void> {
    const changed = [...this.#changed].map((name) => name.slice(name.indexOf(' ') + 1));
    const questions = [...(all ? rates.keys() : new Set(changed))].flatMap((id) => {
      const rate = rates.get(id);
      return rate === undefined ? [] : KINDS.flatMap((kind) => this.#question(id, rate, kind));
    });
    this.#changed = new Set();
    if (questions.length === 0) return;
    const asked = performance.now();
    for (const { share } of questions) {
      share.unreported = 0;
      share.needed = 0;
    }
    try {
      const rows = await this.#connection.transaction(DEADLINE_MS, async (sql) => {
        await lock(sql, 'rates');
        return sql(GRANT, [
          this.#replica,
          questions.map(({ id }) => id),
          questions.map(({ limit }) => limit),
          questions.map(({ used }) => Math.round(used)),
          questions.map(({ held }) => Math.floor(held)),
          questions.map(({ left }) => Math.floor(left)),
          questions.map(({ needed }) => Math.ceil(needed)),
        ]);
      });
      const byId = new Map(questions.map((each) => [each.id, each.share]));
      for (const row of rows) this.#answer(byId.get(String(row.rate)), row, asked);
    } catch (thrown) {
      // If it was counted, it counts twice: less is allowed, not more.
      for (const { share, used } of questions) share.unreported += used;
      throw thrown;
    }
  }

  #question(id: string, rate: Rate, kind: Kind): Question | [] {
    const limit = rate.rule[kind];
    const share = rate.shares?.[kind];
    const name = `${kind} ${id}`;
    if (limit === undefined || share === undefined) return [];
    const gives = this.wanted.has(name) && share.left >= 1 && share.needed === 0;
    if (!gives && !this.#changed.has(name)) return [];
    // What was used without a share, while Postgres was away, is reported as used.
    share.left = Math.max(0, share.left);
    if (gives) share.left = performance.now() - share.usedAt > IDLE_MS ? 0 : Math.floor(share.left / 2);
    // What was used more than a minute ago does not count any more.
    const used = kind === 'parallel' ? 0 : Math.min(share.unreported, rate[kind].used());
    const held = share.left + (kind === 'parallel' ? rate.active : 0);
    const needed = gives ? -1 : Math.max(0, Math.min(share.needed, limit) - share.left);
    return { id: name, share, limit, used, left: share.left, held, needed };
  }

  #answer(share: RateShare | undefined, row: Row, asked: number): void {
    this.replicas = Number(row.replicas);
    if (share === undefined) return;
    share.left += Number(row.extra);
    share.free = Number(row.free);
    share.waitMs = Math.max(0, Number(row.wait)) * 1_000;
    share.answeredAt = asked;
  }
}

/**
 * Grants at most half of an equal part of what is free, but what a request needs, if it is there. Slots are seconds of
 * the server's clock; one is still counted while a part of it is younger than a minute.
 */
const GRANT = `WITH asked AS (
    SELECT * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
      AS a (rate, most, used, held, remaining, needed)),
  clock AS (SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS now),
  live AS (
    SELECT greatest(1, count(*)) AS n FROM replicas
    WHERE released_at IS NULL AND seen_at > now() - interval '10 seconds'),
  noted AS (
    INSERT INTO rate_use AS u (rate, slot, amount) SELECT rate, now, used FROM asked, clock WHERE used <> 0
    ON CONFLICT (rate, slot) DO UPDATE SET amount = u.amount + excluded.amount),
  dropped AS (DELETE FROM rate_use u USING asked a, clock WHERE u.rate = a.rate AND u.slot < now - 60),
  summed AS (
    SELECT a.*,
      a.used + coalesce((SELECT sum(amount) FROM rate_use u WHERE u.rate = a.rate AND u.slot >= clock.now - 60), 0) AS total,
      coalesce((SELECT min(slot) FROM rate_use u WHERE u.rate = a.rate AND u.slot >= clock.now - 60), clock.now) + 61
        - clock.now AS wait,
      coalesce((SELECT sum(l.held) FROM rate_leases l JOIN replicas r ON r.id = l.replica
        WHERE l.rate = a.rate AND l.replica <> $1 AND r.released_at IS NULL
          AND r.seen_at > now() - interval '75 seconds'), 0) AS others
    FROM asked a, clock),
  freed AS (SELECT *, greatest(0, most - total - others - held)::bigint AS free FROM summed),
  given AS (
    SELECT *, CASE WHEN needed < 0 THEN 0
      ELSE least(free, greatest(needed, (free + remaining + 2 * n - 1) / (2 * n) - remaining)) END AS extra FROM freed, live),
  written AS (
    INSERT INTO rate_leases (rate, replica, held, wanted_at)
      SELECT rate, $1, held + extra, CASE WHEN needed > extra AND others > 0 THEN now() END FROM given
    ON CONFLICT (rate, replica) DO UPDATE SET held = excluded.held, wanted_at = excluded.wanted_at)
  SELECT rate, extra, free - extra AS free, wait, n AS replicas FROM given`;
