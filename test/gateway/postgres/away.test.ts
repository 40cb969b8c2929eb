import assert from 'node:assert/strict';
import { once } from 'node:events';
import { until, untilEqual } from '../until.ts';
import { limitFiles } from './disk-limit.ts';
import { BUDGET, startFleet } from './fleet-harness.ts';
import { type PostgresProxy, startProxy } from './postgres-proxy.ts';

describe('what happens when a server of the gateways is away', () => {
  const fleet = startFleet({ breaks: true });
  let proxy: PostgresProxy;

  beforeEach(async () => {
    proxy = await startProxy(fleet.url);
    await configure();
  });

  afterEach(() => proxy?.close());

  const configure = (gateway: Record<string, unknown> = {}) => fleet.configure({ state: proxy.url, ...gateway });

  it('an organization’s own credential: its requests go on when the share of the budget is spent', async () => {
    // A request costs 1.3 USD.
    const models = { m: { cost: { input: 100_000, output: 200_000 } } };
    await fleet.harness.configure(models, { state: proxy.url, organizations: { acme: { byok: { up: 'sk-own' } } } });
    const replica = await fleet.harness.serve();
    const [limited, own] = [
      await fleet.createKey('limited', ...BUDGET),
      await fleet.createKey('own', ...BUDGET, '--org', 'acme'),
    ];
    const send = (key: string) => fleet.status(replica, key, { max_tokens: 2 });
    for (const key of [limited, own]) await untilEqual('it is known', () => send(key), 200);
    proxy.forward(undefined);
    await untilEqual('the share is spent', () => send(limited), 503);
    for (let sent = 0; sent < 20; sent += 1) assert.equal(await send(own), 200);
    assert.equal(fleet.harness.upstream.requests.at(-1)?.headers.authorization, 'Bearer sk-own');
  });

  it('a connection for notifications that is dead without an error: a revoked key is refused after a look for changes', async () => {
    const replica = await fleet.harness.serve();
    const key = await fleet.createKey('k');
    await untilEqual('the key is known', () => fleet.status(replica, key), 200);
    await until('it listens', () => proxy.silence('LISTEN') === 1);
    await fleet.revokeKey('k');
    // All keys are read again only after five minutes, so a look for changes found it.
    await untilEqual('the key is refused', () => fleet.status(replica, key), 401);
    assert.ok(!replica.written().includes('state-away'), replica.written());
    // The connection is replaced.
    const again = await fleet.createKey('again');
    await until('it listens again', () => proxy.silence('LISTEN') === 1);
    await untilEqual('the key is known', () => fleet.status(replica, again), 200);
  });

  it('a full disk while Postgres is away: no row is lost, and changes of keys are known as soon as it is back', async () => {
    const replica = await fleet.harness.serve();
    const key = await fleet.createKey('k');
    await untilEqual('the key is known', () => fleet.status(replica, key), 200);
    await untilEqual('it is stored', () => fleet.stored(), 1);
    proxy.forward(undefined);
    limitFiles(replica.child.pid ?? 0, 4_096);
    for (let sent = 0; sent < 30; sent += 1) assert.equal(await fleet.status(replica, key), 200);
    await replica.logged('"msg":"ledger"');
    const waiting = async () => {
      const text = await (await fetch(`${replica.url}/metrics`)).text();
      return Number(/^svc_gateway_ledger_rows_waiting (\d+)$/m.exec(text)?.[1]);
    };
    await replica.logged('state-away');
    await untilEqual('all rows wait', waiting, 30);
    proxy.forward(fleet.url);
    await replica.logged('the server can be reached again');
    await fleet.revokeKey('k');
    let answered = 31;
    const refused = async () => {
      const code = await fleet.status(replica, key);
      if (code === 200) answered += 1;
      return code === 401;
    };
    await until('the key is refused', refused);
    limitFiles(replica.child.pid ?? 0);
    await untilEqual('all rows are stored', () => fleet.stored(), answered);
    await fleet.consistent();
  });

  it('a full disk while Postgres is there: all rows are stored, also the last ones', async () => {
    const replica = await fleet.harness.serve();
    const key = await fleet.createKey('k', ...BUDGET);
    await untilEqual('the key is known', () => fleet.status(replica, key), 200);
    await untilEqual('it is stored', () => fleet.stored(), 1);
    limitFiles(replica.child.pid ?? 0, 4_096);
    for (let sent = 0; sent < 30; sent += 1) assert.equal(await fleet.status(replica, key), 200);
    await replica.logged('"msg":"ledger"');
    await untilEqual('all rows are stored', () => fleet.stored(), 31);
    for (let sent = 0; sent < 10; sent += 1) assert.equal(await fleet.status(replica, key), 200);
    const exit = once(replica.child, 'exit');
    replica.child.kill('SIGTERM');
    await exit;
    assert.equal(await fleet.stored(), 41);
    await fleet.consistent();
  });

  it('a standby takes over that lacks the last rows: all rows are there, each once', async () => {
    const replica = await fleet.harness.serve();
    const key = await fleet.createKey('k', ...BUDGET);
    await untilEqual('the key is known', () => fleet.status(replica, key), 200);
    await untilEqual('it is stored', () => fleet.stored(), 1);
    const takeOver = fleet.server.standby();
    let sent = 1;
    const send = async (count: number) => {
      for (const end = sent + count; sent < end; sent += 1) assert.equal(await fleet.status(replica, key), 200);
    };
    await send(20);
    await untilEqual('they are stored', () => fleet.stored(), sent);
    await fleet.server.kill();
    await send(5);
    const standby = await takeOver();
    try {
      const now = fleet.url.replace(`:${fleet.server.port}/`, `:${standby.port}/`);
      assert.equal(await fleet.stored(now), 1);
      proxy.forward(now);
      await send(5);
      await replica.logged('another server has taken over');
      await untilEqual('all rows are stored', () => fleet.stored(now), sent);
      await fleet.consistent(now);
    } finally {
      await standby.close();
      await fleet.server.start();
    }
  });

  it('Postgres frozen: no request of a key with a budget and a rate waits for it, and the log has one line', async () => {
    try {
      const replica = await fleet.harness.serve();
      const key = await fleet.createKey('k', ...BUDGET, '--rpm', '100000');
      await untilEqual('the key is known', () => fleet.status(replica, key), 200);
      fleet.server.signal('SIGSTOP');
      let before = 0;
      while (!replica.written().includes('state-away')) {
        assert.equal(await fleet.status(replica, key), 200);
        before += 1;
      }
      // A request that waits for a server is answered after the server's deadline, when the log has its line.
      assert.ok(before >= 3, `${before} requests before the log said so`);
      fleet.server.signal('SIGCONT');
      await replica.logged('can be reached again');
      assert.equal(replica.written().split('state-away').length, 2);
    } finally {
      fleet.server.signal('SIGCONT');
    }
  });
});
