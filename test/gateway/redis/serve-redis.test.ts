import assert from 'node:assert/strict';
import { AllowedRequests } from '../allowed-requests.ts';
import { ServeHarness, type ServeProcess } from '../serve-harness.ts';
import { until } from '../until.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

const PASSWORD = 'redis-canary/%';

describe('gateways with rates in Redis', () => {
  let server: RedisServer;
  let harness: ServeHarness;

  before(async () => {
    server = await startRedis(PASSWORD);
  });

  after(() => server?.close());

  beforeEach(async () => {
    harness = await ServeHarness.start();
  });

  afterEach(async () => {
    await harness?.close();
    server?.signal('SIGCONT');
  });

  const configure = (password: string) => {
    const rates = server.url.replace('redis://', `redis://:${encodeURIComponent(password)}@`);
    return harness.configure({ m: {} }, { rates });
  };
  const createKey = async (...limits: string[]) => {
    const { stdout } = await harness.svc('keys', 'create', 'k', ...limits);
    return stdout.trim().split('\n').at(-1) ?? '';
  };
  const status = async (replica: ServeProcess, key: string) => {
    const response = await harness.send(replica.url, {}, key);
    await response.text();
    return response.status;
  };

  it('all gateways together allow what a key may send, also with SQLite', async () => {
    await configure(PASSWORD);
    const key = await createKey('--rpm', '30');
    const replicas = await Promise.all([harness.serve(), harness.serve()]);
    const allowed = new AllowedRequests();
    await allowed.useUp(
      28,
      replicas.map((each) => () => status(each, key)),
    );
    assert.ok(allowed.mostInAMinute <= 30, String(allowed.mostInAMinute));
  });

  it('Redis frozen: no request waits for it, and the log has one line at each change', async () => {
    await configure(PASSWORD);
    const key = await createKey('--rpm', '10000');
    const replica = await harness.serve();
    for (let sent = 0; sent < 20; sent += 1) assert.equal(await status(replica, key), 200);
    server.signal('SIGSTOP');
    let before = 0;
    await until('the log says that Redis is away', async () => {
      assert.equal(await status(replica, key), 200);
      before += 1;
      return replica.written().includes('"alert":"rates-away"') || replica.written();
    });
    // A request that waits for a frozen server is answered after its deadline, when the log has its line.
    assert.ok(before >= 3, `${before} requests before the log said so`);
    for (let sent = 0; sent < 20; sent += 1) assert.equal(await status(replica, key), 200);
    server.signal('SIGCONT');
    await replica.logged('the server can be reached again');
    assert.equal(replica.written().split('rates-away').length, 2, 'one line');
  });

  it('Redis away at the start: the gateway starts, and counts alone until Redis is there', async () => {
    await configure(PASSWORD);
    const key = await createKey('--rpm', '5');
    await server.kill();
    try {
      const replica = await harness.serve();
      const codes: number[] = [];
      for (let sent = 0; sent < 6; sent += 1) codes.push(await status(replica, key));
      assert.deepEqual(codes, [200, 200, 200, 200, 200, 429]);
      await server.start();
      await replica.logged('the server can be reached again');
    } finally {
      await server.start();
    }
  });

  it('a wrong password: the gateway does not start, says why, and prints no secret', async () => {
    const wrong = 'wrong-canary/%';
    await configure(wrong);
    await assert.rejects(harness.serve(), (error: Error) => {
      assert.match(error.message, /rates at 127\.0\.0\.1:\d+\/0 can’t be used: WRONGPASS [^.\n]*[^.]\.\n/);
      assert.match(error.message, /gateway\.rates in svc\.jsonc/);
      for (const secret of [wrong, encodeURIComponent(wrong)]) assert.ok(!error.message.includes(secret));
      return true;
    });
  });

  it('a gateway that can’t start ends, although Redis was there', async () => {
    await configure(PASSWORD);
    await assert.rejects(harness.serve(['--host', '0.0.0.0']), /requires a key in the key store/);
    await assert.rejects(harness.serve([], 'short'), /must have 16 characters or more/);
  });

  it('an address that is none is refused without printing it', async () => {
    await harness.configure({ m: {} }, { rates: 'redis://u:secret-canary@host:port' });
    await assert.rejects(harness.serve(), (error: Error) => {
      assert.match(error.message, /“gateway\.rates” is no address/);
      assert.ok(!error.message.includes('secret-canary'));
      return true;
    });
  });
});
