import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, query } from '../../gateway/postgres/postgres-server.ts';
import type { ServeProcess } from '../../gateway/serve-harness.ts';
import { createKey, type Figure, type Fleet, percentile, status, until, withFleet } from './fleet.ts';

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
async function sumsDiffer({ admin }: Fleet): Promise<string> {
  return (await admin.check()).differences.length === 0 ? 'spent = sum of rows' : 'SUMS DIFFER';
}

/** A gateway is killed at load and started again, several times. */
export function killedReplica(server: PostgresServer, quick: boolean): Promise<readonly Figure[]> {
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
    return [
      {
        what: `gateway killed ${times} times at load: rows missing of ${answered}; answers of the last 250 ms`,
        measured: `${answered - rows}; ${late}; ${await sumsDiffer(fleet)}`,
        wanted: 'missing at most those of 250 ms; spent = sum of rows',
      },
    ];
  });
}

/** 300 requests at once over three gateways, repeated while any may succeed. */
export function budgetFigure(server: PostgresServer): Promise<readonly Figure[]> {
  return withFleet(server, 3, async (fleet) => {
    const key = await createKey(fleet, { usd: 1, mode: 'hard' });
    let allowed = 0;
    let idle = 0;
    while (idle < 4) {
      const before = allowed;
      const send = async (index: number) => {
        const replica = fleet.replicas[index % 3];
        if (replica !== undefined && (await status(fleet, replica, key)) === 200) allowed += 1;
      };
      await Promise.all(Array.from({ length: 300 }, (_, index) => send(index)));
      idle = allowed === before ? idle + 1 : 0;
      await sleep(500);
    }
    await until(async () => (await stored(fleet)) >= allowed);
    const [row] = await query(fleet.url, 'SELECT sum(nano) AS nano FROM svc.spent');
    return [
      {
        what: 'hard budget of 1 USD, three gateways, 300 requests of 0.01 USD at once, repeated',
        measured: `${(Number(row?.nano) / 1e9).toFixed(2)} USD; ${await sumsDiffer(fleet)}`,
        wanted: '0.97 to 1.00 USD',
      },
    ];
  });
}

/** Postgres is frozen while requests go on. */
export function stoppedPostgres(server: PostgresServer, quick: boolean): Promise<readonly Figure[]> {
  return withFleet(server, 1, async (fleet) => {
    const [replica] = fleet.replicas;
    if (replica === undefined) throw new Error('no gateway');
    const key = await createKey(fleet);
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
    const describe = (times: readonly number[]) =>
      [0.5, 0.99, 1].map((share) => `${percentile(times, share).toFixed(1)}`).join(', ');
    return [
      {
        what: `Postgres stopped by SIGSTOP for ${seconds} s: failed requests; p50, p99 and maximum in ms, before and meanwhile`,
        measured: `${frozen.failed}; ${describe(before.times)}; ${describe(frozen.times)}`,
        wanted: '0; at most 10 ms more',
      },
    ];
  });
}

/** Postgres is killed while requests go on. */
export function killedPostgres(server: PostgresServer, quick: boolean): Promise<readonly Figure[]> {
  return withFleet(server, 1, async (fleet) => {
    const [replica] = fleet.replicas;
    if (replica === undefined) throw new Error('no gateway');
    const key = await createKey(fleet, { usd: 1_000_000, mode: 'hard' });
    await status(fleet, replica, key);
    await sleep(1_500);
    const seconds = quick ? 10 : 60;
    const sent = load(fleet, replica, key, 16, 10);
    await sleep(5_000);
    await server.kill();
    await sleep(seconds * 1_000);
    await server.start();
    const failed = sent.failed();
    await sent.stop();
    const caughtUp = await until(async () => (await stored(fleet)) >= sent.answers.length);
    const rows = await stored(fleet);
    return [
      {
        what: `Postgres killed for ${seconds} s: failed requests; rows lost of ${rows}; seconds until all are stored`,
        measured: `${failed}; ${Math.max(0, sent.answers.length + 1 - rows)}; ${(caughtUp / 1_000).toFixed(1)}; ${await sumsDiffer(fleet)}`,
        wanted: '0; 0; at most 10 s',
      },
    ];
  });
}
