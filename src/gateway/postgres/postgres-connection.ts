import { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { SerialQueue } from '../../base/concurrency.ts';
import { withoutSecrets } from '../servers/server-address.ts';
import { Unavailable, within } from '../servers/unavailable.ts';
import type { Row, Steps } from '../state/steps.ts';
import type { PasswordCommand } from './password-command.ts';
import { type PostgresAddress, readPostgresAddress, withPassword } from './postgres-address.ts';

/** Runs a statement. In rows, 64-bit integers and sums are text. Parameters are `$1` or, in statements for SQLite too, `?1`. */
export type Sql = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface ConnectionOptions {
  /** Milliseconds for a connection and its login, default 3,000. A free one is waited for as long. */
  readonly connectMs?: number;
  /** A notification has arrived on the channel of changes. Such a connection gives way if connections are few. */
  readonly notified?: () => void;
  /** The server has no free connection. */
  readonly full?: () => void;
  /** Instead of the one in the address. */
  readonly password?: PasswordCommand | undefined;
}

/** In a statement: the name of the schema. Nothing outside of it is read or changed. */
export const SCHEMA = '$schema$';
/** The settings end with the transaction, so that a pooler may share connections. */
const SETTINGS = `SET LOCAL search_path TO ${SCHEMA}; SET LOCAL idle_in_transaction_session_timeout = 5000`;
/** Milliseconds after the deadline of this side until the server ends a statement: it must not run on for no one. */
const AFTER_DEADLINE_MS = 1_000;
/** Round trips of the longest transactions. Their deadlines must be possible for a server on another continent. */
const ROUND_TRIPS = 8;
/**
 * Milliseconds that a call has at least after one that was late. A busy server is slower still on a new connection, so it
 * would answer no call in the usual time.
 */
const PATIENT_MS = 3_000;
/** Milliseconds after a late answer in which calls have `PATIENT_MS`. */
const PATIENT_FOR_MS = 10_000;
/** Milliseconds for a connection that cancels a statement. */
const CANCEL_MS = 3_000;
const CONNECT_MS = 3_000;
/** Milliseconds until the server is asked again for a connection, if it has no free one. */
const FULL_MS = 100;

interface OpenConnection {
  readonly client: Client;
  readonly socket: Socket;
  readonly schema: string;
  /** The first error after the login that was no answer to a statement. */
  ended?: unknown;
}

export interface TransactionOptions {
  /** All statements see one moment, and none writes. */
  readonly snapshot?: boolean;
  /** Cancels the statement that runs, at the server too. The call then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * One connection to Postgres. It is opened by the first call and again after a failure. Calls run one after another.
 * Each has a deadline, so a frozen server is one that can’t be reached. After a late answer, the next calls have more time.
 */
export class PostgresConnection {
  readonly #address: () => string;
  readonly #options: ConnectionOptions;
  #connectMs: number;
  #open: OpenConnection | undefined;
  /** The socket of a connection that is being opened. */
  #opening: Socket | undefined;
  readonly #queue = new SerialQueue();
  #closed = false;
  /** Parts of the open or last connection that errors may repeat. */
  #url = '';
  /** Milliseconds of the fastest answer: not more than the network takes and a little. */
  #roundTripMs = 0;
  /** Until when calls have `PATIENT_MS`; of the monotonic clock. */
  #patientUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param address is read for each connection, because passwords are rotated.
   * @throws SvcError configuration_error for an address that can't be read.
   */
  constructor(address: string | (() => string), options: ConnectionOptions = {}) {
    this.#address = typeof address === 'string' ? () => address : address;
    readPostgresAddress(this.#address());
    this.#options = options;
    this.#connectMs = options.connectMs ?? CONNECT_MS;
  }

  /** Milliseconds for a connection and its login from now on. */
  set connectMs(milliseconds: number | undefined) {
    this.#connectMs = milliseconds ?? CONNECT_MS;
  }

  /** Runs statements in one transaction. @throws Unavailable if the server does not answer before the deadline. */
  transaction<T>(
    deadlineMs: number,
    work: (sql: Sql) => Promise<T>,
    { snapshot, signal }: TransactionOptions = {},
  ): Promise<T> {
    const begin = snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY' : 'BEGIN';
    return this.call(deadlineMs, async (sql) => {
      signal?.throwIfAborted();
      const timeout = `SET LOCAL statement_timeout = ${this.#patience(deadlineMs) + AFTER_DEADLINE_MS}`;
      await sql(`${begin}; ${SETTINGS}; ${timeout}`);
      try {
        const result = await (signal === undefined ? work(sql) : this.#cancellable(sql, work, signal));
        await sql('COMMIT');
        return result;
      } catch (thrown) {
        await sql('ROLLBACK').catch(() => undefined);
        throw thrown;
      }
    });
  }

  /** Runs steps in one transaction. @throws as `transaction`. */
  run<T>(deadlineMs: number, steps: Steps<T>, options: TransactionOptions = {}): Promise<T> {
    return this.transaction(deadlineMs, (sql) => runIn(sql, steps, options.signal), options);
  }

  /** Runs the work, whose statement the server cancels when the signal fires. */
  async #cancellable<T>(sql: Sql, work: (sql: Sql) => Promise<T>, signal: AbortSignal): Promise<T> {
    // A pooler gives the transaction a process of its own choice.
    const [row] = await sql('SELECT pg_backend_pid() AS pid');
    let cancelled: Promise<void> | undefined;
    const cancel = () => {
      cancelled = this.#cancel(Number(row?.pid));
    };
    signal.addEventListener('abort', cancel);
    try {
      signal.throwIfAborted();
      return await work(sql);
    } catch (thrown) {
      signal.throwIfAborted();
      throw thrown;
    } finally {
      signal.removeEventListener('abort', cancel);
      // A cancellation that arrives later would end the next statement.
      await cancelled;
    }
  }

  /** The process must be in a transaction of this object. If the server can't be asked, the deadline ends the statement. */
  async #cancel(pid: number): Promise<void> {
    const { password } = this.#options;
    const other = new PostgresConnection(this.#address, { connectMs: CANCEL_MS, password });
    const cancel = (sql: Sql) => sql('SELECT pg_cancel_backend($1)', [pid]);
    await other.call(CANCEL_MS, cancel).catch(() => undefined);
    other.close();
  }

  /** Runs single statements; tables need the name of the schema. @throws Unavailable as `transaction`. */
  call<T>(deadlineMs: number, work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#queue.run(() => this.#attempt(deadlineMs, work));
  }

  /** Closes the connection until the next call. */
  rest(): void {
    this.#drop();
  }

  /** Does not wait for running calls. */
  close(): void {
    this.#closed = true;
    this.#opening?.destroy();
    this.#drop();
  }

  async #attempt<T>(deadlineMs: number, work: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.#closed) throw new Unavailable('the connection is closed');
    let open: OpenConnection | undefined;
    try {
      open = this.#open ?? (await this.#connect());
      const { client, schema } = open;
      const sql: Sql = async (text, values = []) => {
        const query = text.replaceAll(SCHEMA, schema).replaceAll(/\?(\d+)/g, '$$$1');
        const asked = performance.now();
        const { rows } = await (values.length === 0 ? client.query(query) : client.query(query, [...values]));
        const took = performance.now() - asked;
        if (this.#roundTripMs === 0 || took < this.#roundTripMs) this.#roundTripMs = took;
        return rows;
      };
      return await this.#inTime(deadlineMs, work(sql));
    } catch (thrown) {
      if (!isUnavailable(thrown)) throw thrown;
      this.#drop();
      if (thrown instanceof Unavailable) throw thrown;
      // For a statement after the end of the connection, pg does not say why it has ended.
      const reason = open?.ended ?? thrown;
      // Shutdown and start of the server, and failures of the connection, are no answers.
      const answered = !/^(?:08|57P)/.test(sqlState(reason) ?? '08');
      throw new Unavailable(withoutSecrets(reason, this.#url), { answered });
    }
  }

  async #inTime<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
    const roundTripsMs = Math.ceil(ROUND_TRIPS * this.#roundTripMs);
    const started = performance.now();
    try {
      return await within(this.#patience(deadlineMs) + roundTripsMs, work);
    } finally {
      const ended = performance.now();
      // A timer may fire a part of a millisecond early.
      if (Math.ceil(ended - started) >= deadlineMs + roundTripsMs) this.#patientUntil = ended + PATIENT_FOR_MS;
    }
  }

  #patience(deadlineMs: number): number {
    return performance.now() < this.#patientUntil ? Math.max(deadlineMs, PATIENT_MS) : deadlineMs;
  }

  async #connect(): Promise<OpenConnection> {
    this.#url = withPassword(this.#address(), await this.#readPassword());
    const address = readPostgresAddress(this.#url);
    this.#roundTripMs = 0;
    const until = performance.now() + this.#connectMs;
    for (;;) {
      try {
        return await this.#loginAsAllowed(address);
      } catch (thrown) {
        // The connection of another part of this process may have ended without the server knowing it yet.
        if (!(thrown instanceof Unavailable) || !NO_FREE_CONNECTION.test(thrown.reason)) throw thrown;
        this.#options.full?.();
        if (this.#options.notified !== undefined || this.#closed || performance.now() > until) throw thrown;
        await sleep(FULL_MS);
      }
    }
  }

  /** A program that is slower goes on, for the next attempt. */
  #readPassword(): Promise<string | undefined> {
    const { password } = this.#options;
    return password === undefined
      ? Promise.resolve(undefined)
      : within(Math.max(CONNECT_MS, this.#connectMs), password.read());
  }

  async #loginAsAllowed(address: PostgresAddress) {
    try {
      return await this.#login(address, address.connectionString);
    } catch (thrown) {
      if (!address.plainWithoutTls || !(thrown instanceof Unavailable) || !WITHOUT_TLS.test(thrown.reason))
        throw thrown;
      const plain = new URL(address.connectionString);
      plain.searchParams.set('sslmode', 'disable');
      return this.#login(address, plain.href);
    }
  }

  async #login({ schema }: PostgresAddress, connectionString: string) {
    const { Client } = await import('pg');
    const { notified } = this.#options;
    const connectMs = this.#connectMs;
    const socket = new Socket();
    this.#opening = socket;
    try {
      const client = new Client({
        connectionString,
        application_name: 'svc',
        stream: () => socket,
        keepAlive: true,
        keepAliveInitialDelayMillis: 5_000,
      });
      const open: OpenConnection = { client, socket, schema };
      // Calls report failures; this one would end the process.
      client.on('error', (error) => {
        open.ended ??= error;
        this.#drop(client);
      });
      if (notified !== undefined) client.on('notification', notified);
      await within(connectMs, client.connect());
      if (notified !== undefined) await within(connectMs, client.query(`LISTEN ${schema}`));
      // A socket that nothing closes would keep the process alive.
      if (this.#closed) throw new Unavailable('the connection is closed');
      this.#open = open;
      return open;
    } catch (thrown) {
      socket.destroy();
      if (thrown instanceof Unavailable) throw thrown;
      // Wrong users and passwords (28), unknown databases (3D), and errors of TLS or of the login.
      const refused = !isUnavailable(thrown);
      // A pooler may have another code for it.
      if (refused || /authentication failed/.test(String(thrown))) this.#options.password?.refused();
      throw new Unavailable(withoutSecrets(thrown, this.#url), { refused });
    } finally {
      this.#opening = undefined;
    }
  }

  /** Closes the socket, because a frozen server does not answer to a polite end. */
  #drop(client = this.#open?.client): void {
    if (this.#open === undefined || this.#open.client !== client) return;
    this.#open.socket.destroy();
    this.#open = undefined;
  }
}

/** Runs steps within a transaction. */
export async function runIn<T>(sql: Sql, steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  let step = steps.next([]);
  while (!step.done) {
    if (step.value === undefined) await setImmediate();
    signal?.throwIfAborted();
    step = steps.next(step.value === undefined ? [] : await sql(step.value.sql, step.value.values));
  }
  return step.value;
}

/** The words of Postgres and pgbouncer about a limit of the server, the database or the role. */
const NO_FREE_CONNECTION = /too many (?:connections|clients)|connection slots|no more connections/;
/** The words of pg about a server that answers `N` to the request for TLS. */
const WITHOUT_TLS = /does not support SSL/;

/**
 * Connection failures (08), shutdown and start of the server (57P), too many connections (53), a server that became a
 * standby (25006), deadlocks (40), lock timeouts (55P03). See postgresql.org/docs/current/errcodes-appendix.html.
 */
const UNAVAILABLE = /^(08|53|57P|40|25006|25P03|55P03)/;

function isUnavailable(thrown: unknown): boolean {
  if (thrown instanceof Unavailable) return true;
  if (!(thrown instanceof Error)) return false;
  const code = sqlState(thrown);
  if (code !== undefined) return UNAVAILABLE.test(code);
  // Node's network errors, and errors of pg about a connection that ended.
  return 'syscall' in thrown || /^(Connection terminated|Client (has|was))/.test(thrown.message);
}

/** The five characters of an error of the server. */
export function sqlState(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  const { code } = thrown;
  return typeof code === 'string' && 'severity' in thrown ? code : undefined;
}
