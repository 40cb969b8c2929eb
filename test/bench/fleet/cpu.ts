import { startProxy } from '../../gateway/postgres/postgres-proxy.ts';
import { KEY, type ServeProcess } from '../../gateway/serve-harness.ts';
import { cpuSeconds } from '../gateway/contestants.ts';
import { drive, pace, requestBytes } from '../gateway/load.ts';
import { atMost, BODY, type Figure, type FleetOptions, percentile, startHarness, withFleet } from './fleet.ts';

const CONNECTIONS = 32;
const SECONDS = 3;
const PER_SECOND = 1_000;

/** CPU time of a request at full load, with each state in alternation. */
export function cpuFigures(options: FleetOptions): Promise<readonly Figure[]> {
  return compare(options, async (sqlite, postgres, rounds) => {
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const [one, two] = await alternate(round, sqlite, postgres, cpuOfRequest);
      ratios.push(two / one);
    }
    const show = (value: number) => `${value.toFixed(3)} ×`;
    return [atMost('CPU time of a request, Postgres compared with SQLite', percentile(ratios, 0.5), 1.05, show)];
  });
}

/** Latency with each state in alternation, and messages to Postgres, at 1,000 requests per second. */
export function steadyFigures(options: FleetOptions): Promise<readonly Figure[]> {
  return compare(options, async (sqlite, postgres, rounds, messages) => {
    const added: number[] = [];
    const perRequest: number[] = [];
    const reached: number[] = [];
    const steady = async ({ url }: ServeProcess) => {
      const { latencies, perSecond } = await pace(url, requestOf(url), CONNECTIONS, PER_SECOND, SECONDS);
      reached.push(perSecond);
      return percentile(latencies, 0.5) * 1_000;
    };
    for (let round = 0; round < rounds; round += 1) {
      const [one, two] = await alternate(round, sqlite, postgres, steady);
      added.push(two - one);
      const before = messages();
      const { latencies } = await pace(postgres.url, requestOf(postgres.url), CONNECTIONS, PER_SECOND, SECONDS);
      perRequest.push((messages() - before) / latencies.length);
    }
    const at = `at ${percentile(reached, 0.5).toFixed(0)} requests/s`;
    const micros = (value: number) => `${value.toFixed(0)} µs`;
    const four = (value: number) => value.toFixed(4);
    return [
      atMost(`latency p50 ${at}, Postgres less SQLite`, percentile(added, 0.5), 20, micros),
      atMost(`messages to Postgres per request ${at}`, percentile(perRequest, 0.5), 0.02, four),
    ];
  });
}

type Compare = (
  sqlite: ServeProcess,
  postgres: ServeProcess,
  rounds: number,
  messages: () => number,
) => Promise<readonly Figure[]>;

async function compare({ server, quick }: FleetOptions, measure: Compare): Promise<readonly Figure[]> {
  const url = await server.database();
  const proxy = await startProxy(url);
  const local = await startHarness({});
  try {
    const sqlite = await local.serve(['--log-level', 'error']);
    const use = async ([postgres]: readonly ServeProcess[]) => {
      if (postgres === undefined) throw new Error('no gateway');
      for (const each of [sqlite, postgres]) await drive(each.url, requestOf(each.url), CONNECTIONS, 4);
      return measure(sqlite, postgres, quick ? 3 : 9, () => proxy.messages);
    };
    return await withFleet(server, 1, ({ replicas }) => use(replicas), { url, state: proxy.url });
  } finally {
    await proxy.close();
    await local.close();
  }
}

/** Measures both, each first in every second round. */
async function alternate(
  round: number,
  one: ServeProcess,
  two: ServeProcess,
  measure: (each: ServeProcess) => Promise<number>,
): Promise<readonly [number, number]> {
  if (round % 2 === 0) return [await measure(one), await measure(two)];
  const second = await measure(two);
  return [await measure(one), second];
}

/** Microseconds. */
async function cpuOfRequest({ url, child }: ServeProcess): Promise<number> {
  const before = cpuSeconds(child.pid ?? 0);
  const { latencies } = await drive(url, requestOf(url), CONNECTIONS, SECONDS);
  return ((cpuSeconds(child.pid ?? 0) - before) / latencies.length) * 1e6;
}

/** A request for a gateway, or for a balancer in front of it. */
export function requestOf(url: string, key = KEY): Buffer {
  const body = JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hi' }], ...BODY });
  return requestBytes(`${url}/v1/chat/completions`, { authorization: `Bearer ${key}` }, body);
}
