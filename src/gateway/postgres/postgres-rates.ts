import type { RateGrants, RateQuestion, RateStore } from '../limits/rate-leases.ts';
import { MINUTE_MS } from '../limits/sliding-minute.ts';
import { type PostgresConnection, SCHEMA } from './postgres-connection.ts';
import { lock } from './postgres-tables.ts';

const DEADLINE_MS = 1_000;
const SLOT_MS = 250;

/** Leases of rates in Postgres. A replica has its own until it is not seen for more than a minute. */
export class PostgresRates implements RateStore {
  readonly #connection: PostgresConnection;
  readonly #replica: string;
  readonly #minuteMs: number;

  /** @param minuteMs the window of each rate, a multiple of 250. All gateways on one database have the same. */
  constructor(connection: PostgresConnection, replica: string, minuteMs = MINUTE_MS) {
    this.#connection = connection;
    this.#replica = replica;
    this.#minuteMs = minuteMs;
  }

  async ask(questions: readonly RateQuestion[]): Promise<RateGrants> {
    const rows = await this.#connection.transaction(DEADLINE_MS, async (sql) => {
      await lock(sql, 'rates');
      const granted = await sql(GRANT, [
        this.#replica,
        questions.map(({ id }) => id),
        questions.map(({ limit }) => limit),
        questions.map(({ used }) => used),
        questions.map(({ held }) => held),
        questions.map(({ left }) => left),
        questions.map(({ needed }) => needed),
        this.#minuteMs / SLOT_MS,
      ]);
      if (granted.some(({ wants }) => wants === true)) await sql(`NOTIFY ${SCHEMA}`);
      return granted;
    });
    const answers = rows.map(({ rate, extra, free, others, wait }) => ({
      id: String(rate),
      extra: Number(extra),
      free: Number(free),
      others: Number(others),
      waitMs: Number(wait) * SLOT_MS,
    }));
    return { answers, replicas: Math.max(1, Number(rows[0]?.replicas ?? 1)) };
  }
}

/**
 * Grants at most an equal part of the free part, but the need of a request, if it is there. Slots are
 * quarters of a second of the server's clock; one is still counted while a part of it is younger than a minute.
 */
const GRANT = `WITH asked AS (
    SELECT * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
      AS a (rate, most, used, held, remaining, needed)),
  clock AS (SELECT floor(extract(epoch FROM clock_timestamp()) * 4)::bigint AS now, $8::bigint AS slots),
  live AS (
    SELECT greatest(1, count(*)) AS n FROM replicas
    WHERE released_at IS NULL AND seen_at > now() - interval '10 seconds'),
  noted AS (
    INSERT INTO rate_use AS u (rate, slot, amount) SELECT rate, now, used FROM asked, clock WHERE used <> 0
    ON CONFLICT (rate, slot) DO UPDATE SET amount = u.amount + excluded.amount),
  dropped AS (DELETE FROM rate_use u USING asked a, clock WHERE u.rate = a.rate AND u.slot < now - slots),
  summed AS (
    SELECT a.*,
      a.used + coalesce((SELECT sum(amount) FROM rate_use u WHERE u.rate = a.rate AND u.slot >= clock.now - clock.slots), 0) AS total,
      coalesce((SELECT min(slot) FROM rate_use u WHERE u.rate = a.rate AND u.slot >= clock.now - clock.slots), clock.now) + clock.slots + 1
        - clock.now AS wait,
      coalesce((SELECT sum(l.held) FROM rate_leases l JOIN replicas r ON r.id = l.replica
        WHERE l.rate = a.rate AND l.replica <> $1 AND r.released_at IS NULL
          AND r.seen_at > now() - interval '15 seconds' - clock.slots * interval '0.25 seconds'), 0) AS others
    FROM asked a, clock),
  freed AS (SELECT *, greatest(0, most - total - others - held)::bigint AS free FROM summed),
  given AS (
    SELECT *, CASE WHEN needed < 0 THEN 0
      ELSE least(free, greatest(needed, (free + remaining + n - 1) / n - remaining)) END AS extra FROM freed, live),
  written AS (
    INSERT INTO rate_leases (rate, replica, held, wanted_at)
      SELECT rate, $1, held + extra, CASE WHEN needed > extra AND others > 0 THEN now() END FROM given
    ON CONFLICT (rate, replica) DO UPDATE SET held = excluded.held, wanted_at = excluded.wanted_at)
  SELECT rate, extra, free - extra AS free, others, wait, n AS replicas,
    needed > extra AND others > 0 AND NOT EXISTS (SELECT 1 FROM rate_leases l
      WHERE l.rate = given.rate AND l.replica = $1 AND l.wanted_at > now() - interval '1 second') AS wants FROM given`;
