import { connect, type Socket } from 'node:net';

export const PROMPT = 'Explain how a relay passes a request on. '.repeat(90);

export function chatBody(more: Record<string, unknown> = {}, text = PROMPT): string {
  return JSON.stringify({ model: 'bench', max_tokens: 256, messages: [{ role: 'user', content: text }], ...more });
}

/** A request as bytes: written as it is on a kept connection. */
export function requestBytes(url: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const { host, pathname } = new URL(url);
  const lines = Object.entries({ host, 'content-type': 'application/json', ...headers }).map(([k, v]) => `${k}: ${v}`);
  return Buffer.from(
    `POST ${pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** One kept connection, one request at a time. Cheaper than a client library, so that it hardly affects the measurement. */
export class Connection {
  readonly #socket: Socket;
  #left = -1;
  #head: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);
  #inBody = false;
  #bytes = 0;
  #done: ((bytes: number) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;
  #firstByte: (() => void) | undefined;
  #onBody: ((bytes: Buffer) => void) | undefined;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (bytes) => this.#read(bytes));
    const fail = (error: Error) => this.#failed?.(error);
    this.#socket.on('error', fail);
    this.#socket.on('close', () => fail(new Error('closed')));
  }

  /** Resolves with the bytes of the answer. @throws Error for a status that is not 200. */
  send(request: Buffer, watch: { firstByte?: () => void; body?: (bytes: Buffer) => void } = {}): Promise<number> {
    this.#head = Buffer.alloc(0);
    this.#inBody = false;
    this.#bytes = 0;
    this.#firstByte = watch.firstByte;
    this.#onBody = watch.body;
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    if (this.#inBody) return this.#body(bytes);
    this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) return;
    const head = this.#head.toString('latin1', 0, end);
    if (!head.startsWith('HTTP/1.1 200')) {
      this.#failed?.(new Error(`${head.slice(0, 40)} ${this.#head.toString('utf8', end, end + 400)}`));
      return;
    }
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    this.#left = length === undefined ? -1 : Number(length);
    this.#inBody = true;
    this.#tail = Buffer.alloc(0);
    const rest = this.#head.subarray(end + 4);
    if (rest.length > 0 || this.#left === 0) this.#body(rest);
  }

  #body(bytes: Buffer): void {
    this.#firstByte?.();
    this.#firstByte = undefined;
    this.#onBody?.(bytes);
    this.#bytes += bytes.length;
    if (this.#left >= 0) this.#left -= bytes.length;
    else this.#tail = bytes.length >= 5 ? bytes.subarray(-5) : Buffer.concat([this.#tail, bytes]).subarray(-5);
    if (this.#left === 0 || (this.#left < 0 && this.#tail.equals(LAST_CHUNK))) {
      this.#inBody = false;
      this.#done?.(this.#bytes);
    }
  }
}

export interface Throughput {
  readonly perSecond: number;
  /** Milliseconds of each request. */
  readonly latencies: readonly number[];
}

/** Requests for `seconds` on `connections`. */
export async function drive(url: string, request: Buffer, connections: number, seconds: number): Promise<Throughput> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  const work = async () => {
    const connection = new Connection(url);
    for (let now = performance.now(); now < until; ) {
      await connection.send(request);
      const after = performance.now();
      latencies.push(after - now);
      now = after;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, work));
  return { perSecond: latencies.length / ((performance.now() - startedAt) / 1000), latencies };
}

/** Requests for `seconds` at a rate, or fewer if the answers take too long. */
export async function pace(
  url: string,
  request: Buffer,
  connections: number,
  perSecond: number,
  seconds: number,
): Promise<Throughput> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const work = async (number: number) => {
    const connection = new Connection(url);
    for (let sent = number; sent < perSecond * seconds; sent += connections) {
      const early = startedAt + (sent * 1_000) / perSecond - performance.now();
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      const now = performance.now();
      if (now > startedAt + seconds * 1_000) break;
      await connection.send(request);
      latencies.push(performance.now() - now);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, (_, number) => work(number)));
  return { perSecond: latencies.length / ((performance.now() - startedAt) / 1_000), latencies };
}

/** Milliseconds to the first byte of a stream's body, one stream after another. */
export async function firstBytes(url: string, request: Buffer, times: number): Promise<readonly number[]> {
  const found: number[] = [];
  const connection = new Connection(url);
  for (let n = 0; n < times; n += 1) {
    const startedAt = performance.now();
    await connection.send(request, { firstByte: () => found.push(performance.now() - startedAt) });
  }
  connection.close();
  return found;
}

/** Seconds until `streams` streams at once are over. */
export async function drain(url: string, request: Buffer, streams: number): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: streams }, async () => {
      const connection = new Connection(url);
      await connection.send(request);
      connection.close();
    }),
  );
  return (performance.now() - startedAt) / 1000;
}

/** Opens streams that do not end; resolves when each has had a byte. */
export async function hold(url: string, request: Buffer, streams: number): Promise<() => void> {
  const connections = Array.from({ length: streams }, () => new Connection(url));
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve, reject) => {
          connection.send(request, { firstByte: resolve }).catch(reject);
        }),
    ),
  );
  return () => {
    for (const connection of connections) connection.close();
  };
}
