import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { parseAddress, withoutSecrets } from '../servers/server-address.ts';
import { Unavailable, within } from '../servers/unavailable.ts';

type Client = Awaited<ReturnType<typeof connect>>;

/** Milliseconds for a connection and its login, and for a call. */
const CONNECT_MS = 1_000;
const CALL_MS = 500;

/** One connection to Redis or Valkey. It is opened by the first call and again after a failure. */
export class RedisConnection {
  readonly #address: () => string;
  readonly #callMs: number;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  #closed = false;

  /**
   * @param address is read for each connection, because passwords are rotated.
   * @param callMs milliseconds for a call. @throws SvcError configuration_error for an address that can't be read.
   */
  constructor(address: () => string, callMs = CALL_MS) {
    describeRedis(address());
    this.#callMs = callMs;
    this.#address = address;
  }

  /** Runs a script. @throws Unavailable if the server does not answer before the deadline. */
  async run(script: RedisScript, key: string, values: readonly string[]): Promise<unknown> {
    if (this.#closed) throw new Unavailable('the connection is closed');
    if (this.#client?.isReady === false) this.#drop();
    try {
      const client = this.#client ?? (await this.#connect());
      return await within(
        this.#callMs,
        client.sendCommand(['EVALSHA', script.hash, '1', key, ...values]).catch((thrown: unknown) => {
          if (!isReply(thrown, 'NOSCRIPT')) throw thrown;
          return client.sendCommand(['EVAL', script.text, '1', key, ...values]);
        }),
      );
    } catch (thrown) {
      this.#drop();
      if (thrown instanceof Unavailable) throw thrown;
      const refused = ['WRONGPASS', 'NOAUTH', 'NOPERM'].some((code) => isReply(thrown, code));
      throw new Unavailable(withoutSecrets(thrown, this.#address()), { refused });
    }
  }

  /** Calls that run at the same time share one connection. */
  #connect(): Promise<Client> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open(): Promise<Client> {
    const client = await within(CONNECT_MS, connect(this.#address()));
    if (this.#closed) {
      // A socket that nothing closes would keep the process alive.
      client.destroy();
      throw new Unavailable('the connection is closed');
    }
    this.#client = client;
    return client;
  }

  /** Does not wait for running calls. */
  close(): void {
    this.#closed = true;
    this.#drop();
  }

  /** Closes the socket, because a frozen server does not answer to a polite end. */
  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client?.isOpen === true) client.destroy();
  }
}

export interface RedisScript {
  readonly text: string;
  /** SHA-1, by which the server knows scripts. */
  readonly hash: string;
}

export function redisScript(text: string): RedisScript {
  return { text, hash: createHash('sha1').update(text).digest('hex') };
}

async function connect(url: string) {
  const client = createClient({
    url,
    name: 'svc',
    // Valkey and old servers support it.
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 100,
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false, keepAlive: true, keepAliveInitialDelay: 5_000 },
  });
  // Calls report failures; an error without a listener would end the process.
  client.on('error', () => undefined);
  const late = setTimeout(() => client.isOpen && client.destroy(), CONNECT_MS);
  try {
    await client.connect();
    return client;
  } finally {
    clearTimeout(late);
  }
}

/** Error replies begin with a code. See redis.io/docs/latest/develop/reference/protocol-spec. */
function isReply(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && thrown.message.startsWith(code);
}

/** `host:6379/0`. @throws SvcError configuration_error for an address that can't be read. */
export function describeRedis(url: string): string {
  const parsed = parseAddress(url);
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol)) {
    throw new SvcError({
      errorType: 'configuration_error',
      message: '“gateway.rates” is no address of a Redis or Valkey server.',
      action: 'Use “redis://host:6379” or “rediss://…” with TLS. Encode special characters of the password.',
    });
  }
  const database = parsed.pathname.length > 1 ? parsed.pathname : '/0';
  return `${parsed.hostname || 'localhost'}:${parsed.port === '' ? '6379' : parsed.port}${database}`;
}
