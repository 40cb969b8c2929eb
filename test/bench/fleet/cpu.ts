import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { PostgresServer } from '../../gateway/postgres/postgres-server.ts';
import { KEY, type ServeProcess } from '../../gateway/serve-harness.ts';
import { cpuSeconds } from '../gateway/contestants.ts';
import { drive, requestBytes } from '../gateway/load.ts';
import { BODY, type Figure, percentile, startHarness, withFleet } from './fleet.ts';

const CONNECTIONS = 32;
const SECONDS = 3;

/** CPU time of a request with each state in alternation, its latency, and the messages to Postgres. */
export async function cpuFigures(server: PostgresServer, quick: boolean): Promise<readonly Figure[]> {
  const proxy = await countingProxy();
  const local = await startHarness({});
  try {
    const sqlite = await local.serve(['--log-level', 'error']);
    return await withFleet(
      server,
      1,
      async ({ replicas: [postgres] }) => {
        if (postgres === undefined) throw new Error('no gateway');
        for (const each of [sqlite, postgres]) await run(each, 4);
        const ratios: number[] = [];
        const added: number[] = [];
        let messages = 0;
        let requests = 0;
        for (let round = 0; round < (quick ? 3 : 9); round += 1) {
          const order: readonly ServeProcess[] = round % 2 === 0 ? [sqlite, postgres] : [postgres, sqlite];
          const found = new Map<ServeProcess, Awaited<ReturnType<typeof run>>>();
          for (const each of order) {
            const before = proxy.messages;
            const result = await run(each, SECONDS);
            found.set(each, result);
            if (each !== postgres) continue;
            messages += proxy.messages - before;
            requests += result.requests;
          }
          const [one, two] = [found.get(sqlite), found.get(postgres)];
          if (one === undefined || two === undefined) continue;
          ratios.push(two.cpuMicros / one.cpuMicros);
          added.push((two.p50 - one.p50) * 1_000);
        }
        return [
          figure(
            'CPU time of a request, Postgres compared with SQLite',
            `${percentile(ratios, 0.5).toFixed(3)} ×`,
            'at most 1.05 ×',
          ),
          figure(
            `latency p50 at ${CONNECTIONS} connections, Postgres less SQLite`,
            `${percentile(added, 0.5).toFixed(0)} µs`,
            'at most 20 µs',
          ),
          figure(
            'messages to Postgres per request',
            (messages / requests).toFixed(4),
            'at most 0.02 at 1,000 requests/s',
          ),
        ];
      },
      (url) => proxy.forward(url),
    );
  } finally {
    proxy.close();
    await local.close();
  }
}

async function run({ url, child }: ServeProcess, seconds: number) {
  const body = JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hi' }], ...BODY });
  const request = requestBytes(`${url}/v1/chat/completions`, { authorization: `Bearer ${KEY}` }, body);
  const before = cpuSeconds(child.pid ?? 0);
  const { latencies } = await drive(url, request, CONNECTIONS, seconds);
  const cpuMicros = ((cpuSeconds(child.pid ?? 0) - before) / latencies.length) * 1e6;
  return { cpuMicros, p50: percentile(latencies, 0.5), requests: latencies.length };
}

/** Counts what the gateway sends to Postgres: one chunk of bytes is one message. */
async function countingProxy() {
  let target = { host: '127.0.0.1', port: 0 };
  const counted = { messages: 0 };
  const proxy = createServer((client) => {
    const upstream = connect(target.port, target.host);
    client.on('data', () => {
      counted.messages += 1;
    });
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) socket.on('error', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    get messages() {
      return counted.messages;
    },
    forward: async (url: string) => {
      const address = new URL(url);
      target = { host: address.hostname, port: Number(address.port) };
      address.port = String(port);
      return address.href;
    },
    close: () => proxy.close(),
  };
}

function figure(what: string, measured: string, wanted: string): Figure {
  return { what, measured, wanted };
}
