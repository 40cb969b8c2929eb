import { hostname } from 'node:os';
import type { Log } from '../accounting/log.ts';
import { withoutSecrets } from '../servers/server-address.ts';
import type { ServerHealth } from '../servers/server-health.ts';
import type { Outbox, WaitingRows } from './outbox.ts';
import { type PostgresConnection, SCHEMA } from './postgres-connection.ts';
import { isRowFault, writeRows } from './postgres-rows.ts';

export interface RowSenderInput {
  readonly url: () => string;
  readonly outbox: Outbox;
  /** Used by nothing else that must not wait, because a batch may be large. */
  readonly connection: PostgresConnection;
  readonly health: ServerHealth;
  readonly log: Log;
  readonly stored: () => void;
  readonly failed: (thrown: unknown) => void;
}

/** Maximum number of rows in one statement. */
const STATEMENT_ROWS = 1_000;
/** Milliseconds. A batch may wait for those of other replicas. */
const ROWS_MS = 5_000;
const END_MS = 2_000;
/** Seconds for which the shares of a killed process are held. */
const HELD_SECONDS = 10;

/** Sends the rows of an outbox to Postgres, also those of processes that used it before. */
export class RowSender {
  readonly #input: RowSenderInput;
  /** Replicas whose end Postgres does not know. */
  #earlier: readonly string[];
  #sending: Promise<void> | undefined;

  constructor(input: RowSenderInput) {
    this.#input = input;
    this.#earlier = input.outbox.earlier;
  }

  /** Sends all rows that wait. Does nothing while Postgres can’t be reached. */
  send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Sends the last rows if Postgres is there, and notes there that this replica has ended. */
  async end(): Promise<void> {
    const { outbox, health, log } = this.#input;
    await this.send();
    const onDisk = outbox.waiting - outbox.kept;
    if (outbox.kept > 0)
      log.error({ rows: outbox.kept }, 'rows of the ledger are lost: neither disk nor Postgres took them');
    if (onDisk > 0) log.warn({ rows: onDisk }, 'rows wait on the disk until the gateway starts again');
    else if (!health.away) await this.#release([outbox.replica], 0).catch(() => undefined);
  }

  async #sendAll(): Promise<void> {
    const { outbox, health, failed } = this.#input;
    try {
      let waiting = health.away ? undefined : outbox.next(STATEMENT_ROWS);
      while (waiting !== undefined) {
        await this.#sendBatch(waiting);
        waiting = outbox.next(STATEMENT_ROWS);
      }
      if (this.#earlier.length === 0 || health.away) return;
      await this.#release(this.#earlier, HELD_SECONDS);
      this.#earlier = [];
    } catch (thrown) {
      failed(thrown);
    }
  }

  /**
   * Says that all rows of these replicas were sent and that they have ended.
   *
   * @param seconds for which their shares of budgets are held. Rows of the last moments of a killed process are lost,
   * and their cost is spent.
   */
  async #release(replicas: readonly string[], seconds: number): Promise<void> {
    const { connection, outbox } = this.#input;
    await connection.call(END_MS, (sql) =>
      sql(
        `INSERT INTO ${SCHEMA}.replicas (id, name, seen_at, released_at)
          SELECT id, $2, now(), now() + make_interval(secs => $3) FROM unnest($1::text[]) AS id
          ON CONFLICT (id) DO UPDATE SET released_at = excluded.released_at`,
        [replicas, hostname(), seconds],
      ),
    );
    for (const replica of replicas) outbox.ended(replica);
  }

  /** Rows that Postgres can't store are set aside one by one, so that the others are not held up. */
  async #sendBatch(batch: WaitingRows): Promise<void> {
    const { connection, outbox, log, url } = this.#input;
    try {
      await connection.transaction(ROWS_MS, (sql) => writeRows(sql, batch.rows, batch.replica));
      this.#input.stored();
    } catch (thrown) {
      if (!isRowFault(thrown)) throw thrown;
      const first = batch.first < batch.last ? outbox.next(1) : undefined;
      if (first !== undefined) return this.#sendBatch(first);
      if (!outbox.refused(batch)) return;
      const error = withoutSecrets(thrown, url());
      log.error({ error, row: batch.first }, 'a row of the ledger can’t be stored in Postgres');
      return;
    }
    try {
      outbox.sent(batch);
    } catch (thrown) {
      // The next process sends them again, and Postgres counts each row once.
      log.error({ error: String(thrown) }, 'the outbox can’t be written');
    }
  }
}
