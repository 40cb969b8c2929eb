import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresProxy, startProxy } from '../../gateway/postgres/postgres-proxy.ts';
import { query } from '../../gateway/postgres/postgres-server.ts';
import type { ServeProcess } from '../../gateway/serve-harness.ts';
import {
  createKey,
  type Figure,
  type Fleet,
  type FleetOptions,
  percentile,
  status,
  until,
  withFleet,
} from './fleet.ts';

/** Requests of `clients` clients until `stop` is called. @returns answers with their times, and failures. */
function load(fleet: Fleet, replica: ServeProcess, key: string, clients: number, pauseMs = 0) {
  const answers: { readonly at: number; readonly ms: number }[] = [];
  let failed = 0;
  let stopped = false;
  const client = async () => {
    while (!stopped) {
      const start = performance.now();
      const code = await status(fleet, replica, key).catch(() => 0);
      const at = performance.now();
      if (code === 200) answers.push({ at, ms: at - start });
      else if (!stopped) failed += 1;
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  return {
    answers,
    failed: () => failed,
    stop: async () => {
      stopped = true;
      await all;
    },
  };
}

async function stored({ url }: Fleet): Promise<number> {
  return Number((await query(url, 'SELECT count(*) AS n FROM svc.usage'))[0]?.n);
}

/** Whether what was spent is the sum of the rows, also that of the budgets. */
async function checkSums({ admin }: Fleet): Promise<{ readonly equal: boolean; readonly text: string }> {
  const equal = (await admin.check()).differences.length === 0;
  return { equal, text: equal ? 'spent = sum of rows' : 'SUMS DIFFER' };
}

/** A gateway is killed at load and started again, several times. */
export function killedReplica({ server, quick }: FleetOptions): Promise<readonly Figure[]> {
  return withFleet(server, 1, async (fleet) => {
    const times = quick ? 3 : 20;
    const key = await createKey(fleet);
    let [replica] = fleet.replicas;
    let answered = 0;
    let late = 0;
    for (let round = 0; round < times; round += 1) {
      if (replica === undefined) throw new Error('no gateway');
      const sent = load(fleet, replica, key, 16);
      await sleep(2_000);
      const exit = once(replica.child, 'exit');
      replica.child.kill('SIGKILL');
      const killedAt = performance.now();
      await exit;
      await sent.stop();
      answered += sent.answers.length;
      late += sent.answers.filter(({ at }) => at > killedAt - 250).length;
      replica = await fleet.harness.serve(['--log-level', 'error']);
    }
    let rows = -1;
    await until(async () => {
      const before = rows;
      rows = await stored(fleet);
      await sleep(1_500);
      return rows === before;
    });
    const sums = await checkSums(fleet);
    return [
      {
        what: `gateway killed ${times} times at load: rows missing of ${answered}; answers of the last 250 ms`,
        measured: `${answered - rows}; ${late}; ${sums.text}`,
        wanted: 'missing at most those of 250 ms; spent = sum of rows',
        holds: answered - rows <= late && sums.equal,
      },
    ];
  });
}

/** 300 requests at once over three gateways, repeated while any may succeed. */
export function budgetFigure({ server }: FleetOptions): Promise<readonly Figure[]> {
  return withFleet(server, 3, async (fleet) => {
    const { usd, sums } = await spendAll(fleet, 'hard', 300);
    return [
      {
        what: 'hard budget of 1 USD, three gateways, 300 requests of 0.01 USD at once, repeated',
        measured: `${usd.toFixed(2)} USD; ${sums.text}`,
        wanted: '0.97 to 1.00 USD',
        holds: usd >= 0.97 && usd <= 1 && sums.equal,
      },
    ];
  });
}

/** A soft budget is exceeded by the requests that run when it is spent, and no others. */
export function softBudget({ server }: FleetOptions): Promise<readonly Figure[]> {
  return withFleet(server, 3, async (fleet) => {
    const { usd, sums } = await spendAll(fleet, 'soft', 30);
    return [
      {
        what: 'soft budget of 1 USD, three gateways, 30 requests of 0.01 USD at once, repeated',
        measured: `${usd.toFixed(2)} USD; ${sums.text}`,
        wanted: '0.97 to 1.30 USD',
        holds: usd >= 0.97 && usd <= 1.3 && sums.equal,
      },
    ];
  });
}

/** Sends requests of a key with a budget of 1 USD until all are refused for two seconds. @returns what was spent. */
async function spendAll(fleet: Fleet, mode: 'hard' | 'soft', atOnce: number) {
  const key = await createKey(fleet, { usd: 1, mode });
  let allowed = 0;
  const send = async (index: number) => {
    const replica = fleet.replicas[index % 3];
    if (replica !== undefined && (await status(fleet, replica, key)) === 200) allowed += 1;
  };
  for (let idle = 0; idle < 4; ) {
    const before = allowed;
    await Promise.all(Array.from({ length: atOnce }, (_, index) => send(index)));
    idle = allowed === before ? idle + 1 : 0;
    await sleep(500);
  }
  await until(async () => (await stored(fleet)) >= allowed);
  const [row] = await query(fleet.url, 'SELECT sum(nano) AS nano FROM svc.spent');
  return { usd: Number(row?.nano) / 1e9, sums: await checkSums(fleet) };
}

/** Postgres is frozen while requests of a key with a budget and a rate go on. */
export function stoppedServers({ server, quick }: FleetOptions): Promise<readonly Figure[]> {
  return withFleet(server, 1, (fleet) => measureStopped(fleet));

  async function measureStopped(fleet: Fleet): Promise<readonly Figure[]> {
    const [replica] = fleet.replicas;
    if (replica === undefined) throw new Error('no gateway');
    const key = await createKey(fleet, { usd: 1_000_000, mode: 'hard' }, [{ requests: 1_000_000, model: '*' }]);
    const seconds = quick ? 5 : 30;
    const measure = async () => {
      const sent = load(fleet, replica, key, 4, 10);
      await sleep(seconds * 1_000);
      await sent.stop();
      return { times: sent.answers.map(({ ms }) => ms), failed: sent.failed() };
    };
    await measure();
    const before = await measure();
    server.signal('SIGSTOP');
    const frozen = await measure();
    server.signal('SIGCONT');
    const after = await measure();
    const describe = ({ times }: { readonly times: readonly number[] }) =>
      [0.5, 0.99, 1].map((share) => `${percentile(times, share).toFixed(1)}`).join(', ');
    const longest = Math.max(percentile(before.times, 1), percentile(after.times, 1));
    return [
      {
        what: `Postgres stopped by SIGSTOP for ${seconds} s: failed requests; p50, p99 and maximum in ms before, meanwhile and after`,
        measured: `${frozen.failed}; ${[before, frozen, after].map(describe).join('; ')}`,
        wanted: '0; at most 10 ms more',
        holds: frozen.failed === 0 && percentile(frozen.times, 1) <= longest + 10,
      },
    ];
  }
}

/** Postgres is killed while requests go on. */
export function killedPostgres({ server, quick }: FleetOptions): Promise<readonly Figure[]> {
  return withFleet(server, 1, async (fleet) => {
    const [replica] = fleet.replicas;
    if (replica === undefined) throw new Error('no gateway');
    const key = await createKey(fleet, { usd: 1_000_000, mode: 'hard' });
    await status(fleet, replica, key);
    await sleep(1_500);
    const seconds = quick ? 10 : 60;
    const sent = load(fleet, replica, key, 16, 10);
    // The share of the budget follows what is spent.
    await sleep(20_000);
    await server.kill();
    const heap: number[] = [];
    for (let second = 0; second < seconds; second += 1) {
      await sleep(1_000);
      heap.push(await heapOf(replica));
    }
    await server.start();
    const failed = sent.failed();
    await sent.stop();
    const caughtUp = await until(async () => (await stored(fleet)) >= sent.answers.length);
    const rows = await stored(fleet);
    const lost = Math.max(0, sent.answers.length + 1 - rows);
    const third = Math.floor(seconds / 3);
    // The lowest value of some seconds is that after a collection of garbage.
    const grown = (Math.min(...heap.slice(-third)) - Math.min(...heap.slice(0, third))) / 1e6;
    const sums = await checkSums(fleet);
    return [
      {
        what: `Postgres killed for ${seconds} s: failed requests; rows lost of ${rows}; seconds until all are stored; growth of the heap`,
        measured: `${failed}; ${lost}; ${(caughtUp / 1_000).toFixed(1)}; ${grown.toFixed(1)} MB; ${sums.text}`,
        wanted: '0; 0; at most 10 s; at most 5 MB',
        holds: failed === 0 && lost === 0 && caughtUp <= 10_000 && grown <= 5 && sums.equal,
      },
    ];
  });
}

async function heapOf({ url }: ServeProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1]);
}

/** One of three gateways is cut off from Postgres while all of them spend one hard budget. */
export async function cutOffReplica({ server, cutOffSeconds }: FleetOptions): Promise<readonly Figure[]> {
  const url = await server.database();
  const proxy = await startProxy(url);
  try {
    return await withFleet(
      server,
      2,
      (fleet) =>
        withFleet(server, 1, (cut) => measureCutOff(fleet, cut, proxy, cutOffSeconds), { url, state: proxy.url }),
      { url },
    );
  } finally {
    await proxy.close();
  }
}

async function measureCutOff(
  fleet: Fleet,
  cut: Fleet,
  proxy: PostgresProxy,
  seconds: number,
): Promise<readonly Figure[]> {
  const limit = 10;
  const key = await createKey(fleet, { usd: limit, mode: 'hard' });
  const [alone] = cut.replicas;
  if (alone === undefined) throw new Error('no gateway');
  const all = [...fleet.replicas.map((replica) => [fleet, replica] as const), [cut, alone] as const];
  for (const [of, replica] of all) await until(async () => (await status(of, replica, key)) === 200);
  proxy.forward(undefined);
  const sent = all.map(([of, replica]) => load(of, replica, key, 2, 100));
  await sleep(seconds * 1_000);
  await Promise.all(sent.map((each) => each.stop()));
  const others = sent.slice(0, 2).reduce((sum, each) => sum + each.answers.length, 0);
  const itself = sent[2]?.answers.length ?? 0;
  proxy.forward(fleet.url);
  const answered = all.length + others + itself;
  await until(async () => (await stored(fleet)) >= answered);
  const [row] = await query(fleet.url, 'SELECT sum(nano) AS nano FROM svc.spent');
  const usd = Number(row?.nano) / 1e9;
  const sums = await checkSums(fleet);
  return [
    {
      what: `one of three gateways cut off from Postgres for ${seconds} s, hard budget of ${limit} USD: spent in total; requests of the one, of the others`,
      measured: `${usd.toFixed(2)} USD; ${itself}, ${others}; ${sums.text}`,
      wanted: `at most ${limit}.00 USD; spent = sum of rows`,
      holds: usd <= limit && itself > 0 && sums.equal,
    },
  ];
}
