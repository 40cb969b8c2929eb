import { Socket } from 'node:net';
import type { Client, QueryResultRow } from 'pg';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { parseAddress, withoutSecrets } from '../servers/server-address.ts';
import { Unavailable, within } from '../servers/unavailable.ts';

/** A row. 64-bit integers and sums are text. */
export type Row = Readonly<QueryResultRow>;
/** Runs a statement. */
export type Sql = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface ConnectionOptions {
  /** Milliseconds for a connection and its login, default 3,000. */
  readonly connectMs?: number;
  /** A notification has arrived on the channel of changes. */
  readonly notified?: () => void;
}

/** Name of the schema. Nothing outside of it is read or changed. */
export const SCHEMA = 'svc';
/** The settings end with the transaction, so that a pooler may share connections. */
const SETTINGS = `SET LOCAL search_path TO ${SCHEMA}; SET LOCAL idle_in_transaction_session_timeout = 5000`;
/** Milliseconds after the deadline of this side until the server ends a statement: it must not run on for no one. */
const AFTER_DEADLINE_MS = 1_000;
/** Milliseconds for a connection that cancels a statement. */
const CANCEL_MS = 3_000;

export interface TransactionOptions {
  /** All statements see one moment, and none writes. */
  readonly snapshot?: boolean;
  /** Cancels the statement that runs, at the server too. The call then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * One connection to Postgres. It is opened by the first call and again after a failure. Calls run one after another.
 * Each has a deadline, so a server that is frozen is one that is away.
 */
export class PostgresConnection {
  readonly #url: string;
  readonly #options: ConnectionOptions;
  #open: { readonly client: Client; readonly socket: Socket } | undefined;
  /** The socket of a connection that is being opened. */
  #opening: Socket | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** @throws SvcError configuration_error for an address that can't be read. */
  constructor(url: string, options: ConnectionOptions = {}) {
    describeServer(url);
    this.#url = url;
    this.#options = options;
  }

  /** Runs statements in one transaction. @throws Unavailable if the server does not answer before the deadline. */
  transaction<T>(
    deadlineMs: number,
    work: (sql: Sql) => Promise<T>,
    { snapshot, signal }: TransactionOptions = {},
  ): Promise<T> {
    const begin = snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY' : 'BEGIN';
    const timeout = `SET LOCAL statement_timeout = ${deadlineMs + AFTER_DEADLINE_MS}`;
    return this.call(deadlineMs, async (sql) => {
      signal?.throwIfAborted();
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
    const other = new PostgresConnection(this.#url, { connectMs: CANCEL_MS });
    const cancel = (sql: Sql) => sql('SELECT pg_cancel_backend($1)', [pid]);
    await other.call(CANCEL_MS, cancel).catch(() => undefined);
    other.close();
  }

  /** Runs single statements; tables need the name of the schema. @throws Unavailable as `transaction`. */
  call<T>(deadlineMs: number, work: (sql: Sql) => Promise<T>): Promise<T> {
    const turn = this.#queue.then(() => this.#attempt(deadlineMs, work));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** Does not wait for running calls. */
  close(): void {
    this.#closed = true;
    this.#opening?.destroy();
    this.#drop();
  }

  async #attempt<T>(deadlineMs: number, work: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.#closed) throw new Unavailable('the connection is closed');
    try {
      const client = this.#open?.client ?? (await this.#connect());
      const sql: Sql = async (text, values = []) => {
        if (values.length === 0) return (await client.query(text)).rows;
        return (await client.query(text, [...values])).rows;
      };
      return await within(deadlineMs, work(sql));
    } catch (thrown) {
      if (!isUnavailable(thrown)) throw thrown;
      this.#drop();
      throw thrown instanceof Unavailable ? thrown : new Unavailable(withoutSecrets(thrown, this.#url));
    }
  }

  async #connect(): Promise<Client> {
    const { Client } = await import('pg');
    const { connectMs = 3_000, notified } = this.#options;
    const socket = new Socket();
    this.#opening = socket;
    const client = new Client({
      connectionString: this.#url,
      application_name: 'svc',
      stream: () => socket,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    });
    // Calls report failures; this one would end the process.
    client.on('error', () => this.#drop(client));
    if (notified !== undefined) client.on('notification', notified);
    try {
      await within(connectMs, client.connect());
      if (notified !== undefined) await within(connectMs, client.query(`LISTEN ${SCHEMA}`));
      // A socket that nothing closes would keep the process alive.
      if (this.#closed) throw new Unavailable('the connection is closed');
    } catch (thrown) {
      socket.destroy();
      if (thrown instanceof Unavailable) throw thrown;
      // Wrong users and passwords (28), unknown databases (3D), and errors of TLS or of the login.
      throw new Unavailable(withoutSecrets(thrown, this.#url), !isUnavailable(thrown));
    } finally {
      this.#opening = undefined;
    }
    this.#open = { client, socket };
    return client;
  }

  /** Closes the socket, because a frozen server does not answer to a polite end. */
  #drop(client = this.#open?.client): void {
    if (this.#open === undefined || this.#open.client !== client) return;
    this.#open.socket.destroy();
    this.#open = undefined;
  }
}

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

/** `host:5432/database`. @throws SvcError configuration_error for an address that can't be read. */
export function describeServer(url: string): string {
  const parsed = parseAddress(url);
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new SvcError({
      errorType: 'configuration_error',
      message: '“gateway.state” is no address of a Postgres database.',
      action: 'Use “sqlite” or “postgres://user@host:5432/database”. Encode special characters of the password.',
    });
  }
  const host = parsed.searchParams.get('host') ?? parsed.hostname;
  return `${host === '' ? 'localhost' : host}:${parsed.port === '' ? '5432' : parsed.port}${parsed.pathname}`;
}
