import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The network between gateways and Postgres. */
export interface PostgresProxy {
  /** The address of the database through this proxy. */
  readonly url: string;
  /** Chunks of bytes that gateways have sent. */
  readonly messages: number;
  /** Ends all connections. New ones go to this server, or are refused without one. */
  forward(url: string | undefined): void;
  /** Open connections on which a client sent this text stay open, and transfer nothing more. */
  silence(sent: string): number;
  close(): Promise<void>;
}

/** @param delayMs of each direction, as between continents. */
export async function startProxy(url: string, delayMs = 0): Promise<PostgresProxy> {
  let target: URL | undefined = new URL(url);
  let messages = 0;
  const links = new Set<Link>();
  const proxy = createServer((client) => {
    if (target === undefined) return void client.destroy();
    const link: Link = { client, upstream: connect(Number(target.port), target.hostname), sent: '', silent: false };
    links.add(link);
    client.on('data', (bytes: Buffer) => {
      messages += 1;
      link.sent += bytes.length < 200 ? bytes.toString('latin1') : '';
    });
    transfer(link, client, link.upstream, delayMs);
    transfer(link, link.upstream, client, delayMs);
    for (const socket of [client, link.upstream]) {
      socket.on('error', () => undefined);
      socket.once('close', () => end(link));
    }
  });
  const end = (link: Link) => {
    links.delete(link);
    link.client.destroy();
    link.upstream.destroy();
  };
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const through = new URL(url);
  through.port = String(port);
  return {
    url: through.href,
    get messages() {
      return messages;
    },
    forward: (next) => {
      target = next === undefined ? undefined : new URL(next);
      for (const link of links) end(link);
    },
    silence: (sent) => {
      const found = [...links].filter((link) => link.sent.includes(sent));
      for (const link of found) link.silent = true;
      return found.length;
    },
    close: async () => {
      for (const link of links) end(link);
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Short messages of the client. */
  sent: string;
  silent: boolean;
}

function transfer(link: Link, from: Socket, to: Socket, delayMs: number): void {
  const send = (bytes: Buffer) => {
    if (!link.silent && !to.destroyed) to.write(bytes);
  };
  from.on('data', (bytes: Buffer) => {
    if (delayMs === 0) send(bytes);
    else setTimeout(send, delayMs, bytes);
  });
}
