import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { RedisConnection, redisScript } from '../../../src/gateway/redis/redis-connection.ts';
import { until } from '../until.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

const SCRIPT = redisScript('return 1');

describe('a connection to Redis', () => {
  let server: RedisServer;

  before(async () => {
    server = await startRedis();
  });

  after(() => server?.close());

  /** Connections of the server, without the one that asks. */
  const connections = async () => {
    const client = createClient({ url: server.url });
    await client.connect();
    try {
      return (await client.clientList()).length - 1;
    } finally {
      client.destroy();
    }
  };

  it('that is closed while it is being opened stays closed: an open socket would keep the process alive', async () => {
    let refused = 0;
    for (let turns = 0; turns < 60; turns += 1) {
      const connection = new RedisConnection(() => server.url);
      const call = connection.run(SCRIPT, 'k', []).catch((thrown: unknown) => thrown);
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      connection.close();
      if ((await call) !== 1) refused += 1;
    }
    assert.ok(refused > 0);
    await until('no connection is left', async () => (await connections()) === 0, 5_000);
  });

  it('is one for calls at the same time', async () => {
    const connection = new RedisConnection(() => server.url);
    try {
      assert.deepEqual(await Promise.all([1, 2, 3].map(() => connection.run(SCRIPT, 'k', []))), [1, 1, 1]);
      assert.equal(await connections(), 1);
    } finally {
      connection.close();
    }
  });
});
