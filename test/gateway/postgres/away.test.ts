import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BudgetSettings } from '../../../src/config/settings/settings.ts';
import { openPostgres } from '../../../src/gateway/postgres/open-postgres.ts';
import type { StateAdmin } from '../../../src/gateway/state-admin.ts';
import { startRedis } from '../redis/redis-server.ts';
import { ServeHarness, type ServeProcess } from '../serve-harness.ts';
import { limitFiles } from './disk-limit.ts';
import { type PostgresProxy, startProxy } from './postgres-proxy.ts';
import { type PostgresServer, query, startPostgres } from './postgres-server.ts';

/** Calls `look` until it returns true. @returns milliseconds. */
async function until(what: string, look: () => Promise<boolean> | boolean, milliseconds = 40_000): Promise<number> {
  const start = performance.now();
  while (!(await look())) {
    if (performance.now() - start > milliseconds) assert.fail(`not within ${milliseconds} ms: ${what}`);
    await sleep(10);
  }
  return performance.now() - start;
}

const ACTOR = { who: 'test', source: 'test' };
const BUDGET = { usd: 20, period: 'total', timeZone: 'UTC', mode: 'hard', model: '*' } as const;

describe('what happens when a server of the gateways is away', () => {
  let server: PostgresServer;
  let harness: ServeHarness;
  let proxy: PostgresProxy;
  let url: string;
  let admin: StateAdmin;

  before(async () => {
    server = await startPostgres();
  });

  after(() => server?.close());

  beforeEach(async () => {
    url = await server.database();
    admin = await openPostgres(url);
    proxy = await startProxy(url);
    harness = await ServeHarness.start();
    await configure();
  });

  afterEach(async () => {
    await admin?.close();
    await harness?.close();
    await proxy?.close();
  });

  const configure = (gateway: Record<string, unknown> = {}) =>
    harness.configure({ m: { cost: { input: 1, output: 2 } } }, { state: proxy.url, ...gateway });
  const createKey = (name: string, budgets: readonly BudgetSettings[] = [], organization?: string) => {
    const limits = { budgets, rates: [] };
    return admin.createKey(ACTOR, organization === undefined ? { name, limits } : { name, limits, organization });
  };
  const status = async (replica: ServeProcess, key: string) => {
    const response = await harness.send(replica.url, {}, key);
    await response.text();
    return response.status;
  };
  const stored = async (at = url) =>
    Number((await query(at, 'SELECT count(*) AS n FROM svc.usage WHERE attempt > 0'))[0]?.n);

  it('an organization’s own credential: its requests go on when the share of the budget is spent', async () => {
    // A request costs 1.3 USD.
    const models = { m: { cost: { input: 100_000, output: 200_000 } } };
    await harness.configure(models, { state: proxy.url, organizations: { acme: { byok: { up: 'sk-own' } } } });
    const replica = await harness.serve();
    const [limited, own] = [await createKey('limited', [BUDGET]), await createKey('own', [BUDGET], 'acme')];
    const send = async (key: string) => {
      const response = await harness.send(replica.url, { max_tokens: 2 }, key);
      await response.text();
      return response.status;
    };
    for (const key of [limited, own]) await until('it is known', async () => (await send(key)) === 200);
    proxy.forward(undefined);
    await until('the share is spent', async () => (await send(limited)) === 503);
    for (let sent = 0; sent < 20; sent += 1) assert.equal(await send(own), 200);
    assert.equal(harness.upstream.requests.at(-1)?.headers.authorization, 'Bearer sk-own');
  });

  it('a connection for notifications that is dead without an error: a revoked key is refused after a look for changes', async () => {
    const replica = await harness.serve();
    const key = await createKey('k');
    await until('the key is known', async () => (await status(replica, key)) === 200);
    await until('it listens', () => proxy.silence('LISTEN') === 1);
    await admin.revokeKey(ACTOR, 'k');
    const took = await until('the key is refused', async () => (await status(replica, key)) === 401);
    assert.ok(took < 1_500, `${took} ms`);
    assert.ok(!replica.written().includes('state-away'), replica.written());
    // The connection is replaced.
    const again = await createKey('again');
    await until('it listens again', () => proxy.silence('LISTEN') === 1);
    await until('the key is known', async () => (await status(replica, again)) === 200);
  });

  it('a full disk while Postgres is away: no row is lost, and changes of keys are known as soon as it is back', async () => {
    const replica = await harness.serve();
    const key = await createKey('k');
    await until('the key is known', async () => (await status(replica, key)) === 200);
    await until('it is stored', async () => (await stored()) === 1);
    proxy.forward(undefined);
    limitFiles(replica.child.pid ?? 0, 4_096);
    for (let sent = 0; sent < 30; sent += 1) assert.equal(await status(replica, key), 200);
    await replica.logged('"msg":"ledger"');
    const waiting = async () => {
      const text = await (await fetch(`${replica.url}/metrics`)).text();
      return Number(/^svc_gateway_ledger_rows_waiting (\d+)$/m.exec(text)?.[1]);
    };
    await replica.logged('state-away');
    assert.equal(await waiting(), 30);
    proxy.forward(url);
    await replica.logged('the server can be reached again');
    await admin.revokeKey(ACTOR, 'k');
    let answered = 31;
    const refused = async () => {
      const code = await status(replica, key);
      if (code === 200) answered += 1;
      return code === 401;
    };
    await until('the key is refused', refused, 5_000);
    limitFiles(replica.child.pid ?? 0);
    await until('all rows are stored', async () => (await stored()) === answered);
    assert.deepEqual((await admin.check()).differences, []);
  });

  it('a standby takes over that lacks the last rows: all rows are there, each once', async () => {
    const replica = await harness.serve();
    const key = await createKey('k', [BUDGET]);
    await until('the key is known', async () => (await status(replica, key)) === 200);
    await until('it is stored', async () => (await stored()) === 1);
    const takeOver = server.standby();
    let sent = 1;
    const send = async (count: number) => {
      for (const end = sent + count; sent < end; sent += 1) assert.equal(await status(replica, key), 200);
    };
    await send(20);
    await until('they are stored', async () => (await stored()) === sent);
    await server.kill();
    await send(5);
    const standby = await takeOver();
    try {
      const now = url.replace(`:${server.port}/`, `:${standby.port}/`);
      assert.equal(await stored(now), 1);
      proxy.forward(now);
      await send(5);
      await replica.logged('another server has taken over');
      await until('all rows are stored', async () => (await stored(now)) === sent);
      const check = await openPostgres(now);
      assert.deepEqual((await check.check()).differences, []);
      await check.close();
    } finally {
      await standby.close();
      await server.start();
    }
  });

  it('Postgres and Redis frozen at once: no request waits for them, and the log has one line for each', async () => {
    const redis = await startRedis();
    try {
      await configure({ rates: redis.url });
      const replica = await harness.serve();
      const rates = [{ requests: 100_000, model: '*' }];
      const key = await admin.createKey(ACTOR, { name: 'k', limits: { budgets: [BUDGET], rates } });
      await until('the key is known', async () => (await status(replica, key)) === 200);
      server.signal('SIGSTOP');
      redis.signal('SIGSTOP');
      const noticed = () => /state-away|rates-away/.test(replica.written());
      const times: number[] = [];
      let before = 0;
      while (!(replica.written().includes('state-away') && replica.written().includes('rates-away'))) {
        const start = performance.now();
        assert.equal(await status(replica, key), 200);
        times.push(performance.now() - start);
        if (!noticed()) before += 1;
      }
      // A request that waits for a server is answered after the server's deadline, when the log has its line.
      assert.ok(before >= 3, `${before} requests before the log said so`);
      const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
      assert.ok(median < 250, `${median} ms`);
      server.signal('SIGCONT');
      redis.signal('SIGCONT');
      await until('both are back', () => replica.written().split('can be reached again').length === 3);
      for (const alert of ['state-away', 'rates-away']) assert.equal(replica.written().split(alert).length, 2, alert);
    } finally {
      server.signal('SIGCONT');
      await redis.close();
    }
  });
});
