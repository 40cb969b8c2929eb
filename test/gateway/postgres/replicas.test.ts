import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BudgetSettings } from '../../../src/config/settings/settings.ts';
import { modelList, type Replica, replicaList } from '../../../src/gateway/admin/api/schemas.ts';
import { openPostgres } from '../../../src/gateway/postgres/open-postgres.ts';
import type { StateAdmin } from '../../../src/gateway/state-admin.ts';
import { KEY, ServeHarness, type ServeProcess } from '../serve-harness.ts';
import { type PostgresServer, query, startPostgres } from './postgres-server.ts';

/** Calls `look` until it returns true. */
async function until(what: string, look: () => Promise<boolean> | boolean, milliseconds = 40_000): Promise<number> {
  const start = performance.now();
  while (!(await look())) {
    if (performance.now() - start > milliseconds) assert.fail(`not within ${milliseconds} ms: ${what}`);
    await sleep(10);
  }
  return performance.now() - start;
}

const ACTOR = { who: 'test', source: 'test' };

describe('gateways that share a state in Postgres', () => {
  let server: PostgresServer;
  let harness: ServeHarness;
  let url: string;
  let admin: StateAdmin;

  before(async () => {
    server = await startPostgres();
  });

  after(() => server?.close());

  beforeEach(async () => {
    url = await server.database();
    admin = await openPostgres(url);
    harness = await ServeHarness.start();
    await configure();
  });

  afterEach(async () => {
    await admin?.close();
    await harness?.close();
  });

  const configure = (gateway: Record<string, unknown> = {}) =>
    harness.configure({ m: { cost: { input: 1, output: 2 } } }, { state: url, ...gateway });
  const createKey = (name: string, budgets: readonly BudgetSettings[] = []) =>
    admin.createKey(ACTOR, { name, limits: { budgets, rates: [] } });
  const status = async (replica: ServeProcess, key: string) => {
    const response = await harness.send(replica.url, {}, key);
    await response.text();
    return response.status;
  };
  const ready = async ({ url: at }: ServeProcess, path = '/readyz') => {
    const response = await fetch(at + path);
    return [response.status, await response.json()] as const;
  };
  /** Attempts that are on the disk of the first replica. Its process has locked the file: this reads a copy. */
  const rowsOnDisk = () => {
    const copy = join(harness.folder, 'outbox.db');
    for (const part of ['', '-wal']) {
      copyFileSync(join(dirname(harness.database), `gateway-outbox-1.db${part}`), `${copy}${part}`);
    }
    const outbox = new DatabaseSync(copy);
    try {
      const batches = outbox.prepare('SELECT rows FROM batches').all();
      const rows = batches.flatMap((batch) =>
        String(batch.rows)
          .split('\n')
          .map((row) => JSON.parse(row)),
      );
      return rows.filter(({ attempt }) => attempt > 0).length;
    } finally {
      outbox.close();
    }
  };
  const stored = async () => Number((await query(url, 'SELECT count(*) AS n FROM svc.usage WHERE attempt > 0'))[0]?.n);
  const consistent = async () => assert.deepEqual((await admin.check()).differences, []);

  it('keys: a change is known to all replicas within a second, and rows of all are in one ledger', async () => {
    const replicas = await Promise.all([harness.serve(), harness.serve()]);
    const { stdout } = await harness.svc('keys', 'create', 'k');
    const key = stdout.trim().split('\n').at(-1) ?? '';
    for (const each of replicas) {
      assert.ok((await until('the key is known', async () => (await status(each, key)) === 200)) < 1_000);
    }
    await until('all rows are stored', async () => (await stored()) === 2);
    await admin.revokeKey(ACTOR, 'k');
    for (const each of replicas) {
      assert.ok((await until('the key is refused', async () => (await status(each, key)) === 401)) < 1_000);
    }
    await consistent();
  });

  it('admin replicas: each lists all, says which one answered, which ones drain, and how many rows wait', async () => {
    await configure({ admin: true });
    const [first, second] = await Promise.all([harness.serve(), harness.serve()]);
    const list = async ({ url: at }: ServeProcess) => {
      const response = await fetch(`${at}/admin/v1/replicas`, { headers: { authorization: `Bearer ${KEY}` } });
      return replicaList.parse(await response.json()).data;
    };
    const about = (listed: readonly Replica[], { child }: ServeProcess) =>
      listed.find(({ pid }) => pid === child.pid) ?? assert.fail(`${child.pid} is not listed`);
    for (const [asked, other] of [
      [first, second],
      [second, first],
    ] as const) {
      await until('both are listed', async () => (await list(asked)).length === 2);
      const listed = await list(asked);
      assert.deepEqual(
        listed.map(({ pid, self, address, draining, version }) => ({ pid, self, address, draining, version })),
        [asked, other].map(({ child, url: address }) => {
          return {
            pid: child.pid,
            self: child.pid === asked.child.pid,
            address,
            draining: false,
            version: listed[0]?.version,
          };
        }),
      );
      assert.equal(new Set(listed.map(({ config_hash }) => config_hash)).size, 1);
      assert.ok(listed.every(({ seen_at }) => Date.now() - Date.parse(seen_at) < 5_000));
    }
    // A request that runs is counted, and one that waits for it to end drains.
    const open = Promise.withResolvers<void>();
    harness.upstream.respond(async (_, response) => {
      await open.promise;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":""}}]}');
    });
    const answer = harness.send(second.url, {}, KEY);
    await until('the request is counted', async () => about(await list(first), second).active_requests === 1);
    const exit = once(second.child, 'exit');
    second.child.kill('SIGTERM');
    await until('it drains', async () => about(await list(first), second).draining);
    open.resolve();
    await (await answer).text();
    await exit;
    await until('it is not listed any more', async () => (await list(first)).length === 1);
  });

  it('rates: all replicas together allow what a key may send', async () => {
    const replicas = await Promise.all([harness.serve(), harness.serve()]);
    const key = await admin.createKey(ACTOR, {
      name: 'k',
      limits: { budgets: [], rates: [{ requests: 20, model: '*' }] },
    });
    let allowed = 0;
    for (const each of replicas) {
      await until('the key is known', async () => (await status(each, key)) === 200);
      allowed += 1;
    }
    await until('the rate is used up', async () => {
      const answers = await Promise.all([...replicas, ...replicas].map((each) => status(each, key)));
      allowed += answers.filter((code) => code === 200).length;
      return allowed >= 19;
    });
    for (let sent = 0; sent < 20; sent += 1) {
      const answers = await Promise.all(replicas.map((each) => status(each, key)));
      allowed += answers.filter((code) => code === 200).length;
    }
    assert.ok(allowed <= 20, String(allowed));
  });

  it('svc keys revoke --cut: ends the streams of all replicas', async () => {
    harness.upstream.respond(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      while (!response.destroyed) {
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hi' } }] })}\n\n`);
        await sleep(50);
      }
    });
    const key = await createKey('k');
    const replicas = await Promise.all([harness.serve(), harness.serve()]);
    const streams = await Promise.all(replicas.map((each) => harness.send(each.url, { stream: true }, key)));
    assert.deepEqual(
      streams.map((each) => each.status),
      [200, 200],
    );
    const ends = Promise.all(streams.map((each) => each.text().catch(() => 'cut')));
    await harness.svc('keys', 'revoke', 'k', '--cut');
    await ends;
  });

  it('a start while Postgres is away: no share of a budget, so paid models get 503 and free models go on', async () => {
    const models = { m: { cost: { input: 1, output: 2 } }, free: { cost: { input: 0, output: 0 } } };
    await harness.configure(models, { state: url });
    const first = await harness.serve();
    const budget = { usd: 20, period: 'total', timeZone: 'UTC', mode: 'hard', model: '*' } as const;
    const key = await createKey('limited', [budget]);
    await until('a share is granted', async () => (await status(first, key)) === 200);
    const exit = once(first.child, 'exit');
    first.child.kill('SIGTERM');
    await exit;
    await server.kill();
    try {
      const again = await harness.serve();
      assert.equal(await status(again, key), 503);
      const free = await harness.send(again.url, { model: 'up/free' }, key);
      assert.equal(free.status, 200, await free.text());
    } finally {
      await server.start();
    }
  });

  it('workers of one machine are replicas: rates hold for all of them, and all rows are stored', async () => {
    const key = await admin.createKey(ACTOR, {
      name: 'k',
      limits: { budgets: [], rates: [{ requests: 30, model: '*' }] },
    });
    const gateway = await harness.serve(['--workers', '3']);
    await gateway.logged('all workers accept requests');
    let allowed = 0;
    const from = performance.now();
    while (performance.now() - from < 5_000) {
      const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => status(gateway, key)));
      allowed += answers.filter((code) => code === 200).length;
    }
    assert.ok(allowed <= 30 && allowed >= 28, String(allowed));
    await until('all rows are stored', async () => (await stored()) === allowed);
    const rows = await query(url, 'SELECT count(*) AS n FROM svc.replicas WHERE released_at IS NULL');
    assert.equal(Number(rows[0]?.n), 3);
    await consistent();
  });

  it('workers of one machine: each is listed once, and the health of models is that of all', async () => {
    await configure({ admin: true });
    const gateway = await harness.serve(['--workers', '3']);
    await gateway.logged('all workers accept requests');
    const headers = { authorization: `Bearer ${KEY}`, connection: 'close' };
    /** From several workers, as each request has a connection of its own. */
    const answers = async (path: string) => {
      const responses = await Promise.all(Array.from({ length: 6 }, () => fetch(gateway.url + path, { headers })));
      return Promise.all(responses.map((each) => each.json()));
    };
    const body = JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hi' }] });
    for (let sent = 0; sent < 2; sent += 1) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
      assert.equal(answer.status, 200, await answer.text());
    }
    const models = (await answers('/admin/v1/models')).map((each) => modelList.parse(each).data);
    const [first, ...others] = models.map((data) => data.find(({ id }) => id === 'up/m')?.health);
    assert.equal(first?.state, 'ok');
    for (const other of others) assert.deepEqual(other, first);
    await until('each worker lists all, once', async () => {
      const lists = (await answers('/admin/v1/replicas')).map((each) => replicaList.parse(each).data);
      for (const list of lists) assert.equal(new Set(list.map(({ pid }) => pid)).size, list.length);
      return lists.every(({ length }) => length === 3);
    });
  });

  it('a replica that was killed: the next process sends its rows, each once', async () => {
    const first = await harness.serve();
    const key = await createKey('k');
    await until('the key is known', async () => (await status(first, key)) === 200);
    await server.kill();
    for (let sent = 0; sent < 20; sent += 1) assert.equal(await status(first, key), 200);
    await until('the ledger is on the disk', () => rowsOnDisk() === 21);
    const exit = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await exit;
    await server.start();
    await harness.serve();
    await until('all rows are stored', async () => (await stored()) === 21);
    await consistent();
    const rows = await query(url, 'SELECT count(*) AS n FROM svc.replicas WHERE released_at IS NOT NULL');
    assert.equal(Number(rows[0]?.n), 1, 'the killed replica has ended');
  });

  for (const failure of ['killed', 'frozen'] as const) {
    it(`Postgres ${failure}: requests go on without a delay, rows wait on the disk, readiness says so`, async () => {
      const replica = await harness.serve();
      const key = await createKey('k');
      await until('the key is known', async () => (await status(replica, key)) === 200);
      if (failure === 'killed') await server.kill();
      else server.signal('SIGSTOP');
      const away = replica.logged('state-away');
      const times: number[] = [];
      let sent = 1;
      const from = performance.now();
      while (performance.now() - from < 3_500) {
        const start = performance.now();
        assert.equal(await status(replica, key), 200);
        times.push(performance.now() - start);
        sent += 1;
        await sleep(5);
      }
      await away;
      // A request that waited for Postgres would take as long as its deadline. A busy machine delays single ones.
      const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
      assert.ok(median < 250, `${median} ms`);
      assert.deepEqual((await ready(replica)).slice(0, 1), [200]);
      const [code, body] = await ready(replica, '/readyz?strict');
      assert.deepEqual([code, body.state], [503, 'away']);
      if (failure === 'killed') await server.start();
      else server.signal('SIGCONT');
      await until('all rows are stored', async () => (await stored()) === sent);
      await until('ready', async () => (await ready(replica, '/readyz?strict'))[0] === 200);
      await consistent();
    });
  }

  it('budgets: all replicas spend one budget; while Postgres is away its shares are spent, other requests go on', async () => {
    const replicas = await Promise.all([harness.serve(), harness.serve()]);
    // A request costs 13 / 1,000,000 USD at most: 1 USD for a million tokens of input, 2 for output.
    const price = { max_tokens: 1_000_000 };
    const budget = { usd: 20, period: 'total', timeZone: 'UTC', mode: 'hard', model: '*' } as const;
    const limited = await createKey('limited', [budget]);
    const free = await createKey('free');
    const [one, two] = replicas;
    assert.ok(one && two);
    const send = async (replica: ServeProcess, key = limited) => {
      const response = await harness.send(replica.url, price, key);
      await response.text();
      return response.status;
    };
    for (const each of replicas) await until('the key is known', async () => (await send(each)) !== 401);
    for (const each of replicas) await until('a share is granted', async () => (await send(each)) === 200);
    await server.kill();
    await until('the share is spent', async () => (await Promise.all([send(one), send(one), send(one)])).includes(503));
    assert.equal(await send(one, free), 200, 'a key without a budget');
    await server.start();
    await until('a share is granted again', async () => (await send(one)) === 200);
    await until('all rows are stored', async () => {
      const [row] = await query(
        url,
        `SELECT spent_nano = (SELECT sum(nano) FROM svc.spent WHERE key = 'limited') AS same,
        (SELECT count(*) FROM svc.leases) AS leases FROM svc.budget_windows`,
      );
      return row?.same === true && Number(row.leases) === 2;
    });
    await consistent();
  });

  it('a start while Postgres is away: works with the last known keys, and without them it is refused', async () => {
    const first = await harness.serve();
    const key = await createKey('k');
    await until('the key is known', async () => (await status(first, key)) === 200);
    const exit = once(first.child, 'exit');
    first.child.kill('SIGTERM');
    await exit;
    server.signal('SIGSTOP');
    try {
      const again = await harness.serve();
      assert.equal(await status(again, key), 200);
      await assert.rejects(harness.serve(), /can’t be opened: no answer within/, 'the second outbox has no keys');
    } finally {
      server.signal('SIGCONT');
    }
  });

  it('maxStale: stored keys are refused with 503 when Postgres was away for longer, and work again afterwards', async () => {
    await configure({ maxStale: '4s' });
    const replica = await harness.serve();
    const key = await createKey('k');
    await until('the key is known', async () => (await status(replica, key)) === 200);
    await server.kill();
    assert.equal(await status(replica, key), 200);
    await until('the key is refused', async () => (await status(replica, key)) === 503);
    assert.equal(await status(replica, 'svc_key_of_the_parent'), 200, 'keys of the operator are not stored');
    await replica.logged('state-stale');
    await server.start();
    await until('the key is known again', async () => (await status(replica, key)) === 200);
  });
});
