import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import type { RateLimit } from '../shared-limits.ts';
import { redisDatabase } from '../shared-servers.ts';
import { until, untilEqual } from '../until.ts';
import { assertNoMinuteAboveLimit, LIMIT, RedisFleet, runRestarted, runUntilUsed } from './redis-fleet.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

/** The length of a “minute” of these tests. `npm run soak -- rates` runs them with a real one. */
const MINUTE_MS = 5_000;

describe('rates of several gateways on one Redis, for longer than a minute', () => {
  const limits = { even: { requests: LIMIT }, lopsided: { requests: LIMIT }, alternating: { requests: LIMIT } };

  it('600 requests a minute: at least 95 % can be used; even, lopsided and alternating load', async () => {
    const fleet = await RedisFleet.start(await redisDatabase(), limits);
    try {
      // Nothing of a real minute is free again before it is over.
      const taken = await runUntilUsed(fleet, MINUTE_MS, 0.95, 50_000);
      for (const [name, { length }] of Object.entries(taken)) {
        assert.ok(length >= LIMIT * 0.95 && length <= LIMIT, `${name}: ${length}`);
      }
    } finally {
      await fleet.close();
    }
  });

  it('600 requests a minute: what was used is free a minute later, and no minute has more than the limit', async () => {
    const fleet = await RedisFleet.start(await redisDatabase(), limits, MINUTE_MS);
    try {
      const taken = await runUntilUsed(fleet, MINUTE_MS, 1.9, 60_000);
      assertNoMinuteAboveLimit(taken, MINUTE_MS);
      for (const [name, { length }] of Object.entries(taken)) assert.ok(length >= LIMIT * 1.9, `${name}: ${length}`);
      assert.deepEqual(fleet.lines, []);
    } finally {
      await fleet.close();
    }
  });

  it('killed and started again without its data: no minute has more than the limit, and shares return', async () => {
    const server = await startRedis();
    try {
      const fleet = await RedisFleet.start(server.url, limits, MINUTE_MS);
      try {
        const taken = await runRestarted(fleet, server, MINUTE_MS);
        assertNoMinuteAboveLimit(taken, MINUTE_MS);
        for (const [name, times] of Object.entries(taken)) {
          assert.ok(times.length >= LIMIT * 1.3, `${name}: ${times.length}`);
        }
        for (const text of ['rates-away', 'again']) assert.equal(fleet.count(text), 3, fleet.lines.join('\n'));
      } finally {
        await fleet.close();
      }
    } finally {
      await server.close();
    }
  });
});

describe('rates of several gateways on one Redis', () => {
  let fleet: RedisFleet | undefined;

  afterEach(async () => {
    await fleet?.close();
    fleet = undefined;
  });

  const start = async (limit: RateLimit, url?: string) => {
    fleet = await RedisFleet.start(url ?? (await redisDatabase()), { r: limit });
    return fleet;
  };
  /** Sends requests to these gateways, until so many were allowed and then no more for a second. */
  const saturate = async (three: RedisFleet, indices: readonly number[], least: number) => {
    let last = 0;
    const ended = (at: number, { r = [] }: Readonly<Record<string, readonly number[]>>) => {
      last = r.at(-1) ?? last;
      return (r.length >= least && at - last > 1_000) || at > 40_000;
    };
    return (await three.run(ended, { r: () => indices })).r?.length ?? 0;
  };

  for (const failure of ['killed', 'frozen'] as const) {
    it(`${failure}: each gateway has an equal part, and all of them not more than the limit`, async () => {
      const server: RedisServer = await startRedis();
      try {
        const three = await start({ requests: LIMIT }, server.url);
        const { r: before = [] } = await three.run((_, { r = [] }) => r.length >= LIMIT / 6, { r: () => [0] });
        if (failure === 'killed') await server.kill();
        else server.signal('SIGSTOP');
        let awayAt: number | undefined;
        const noticed = (at: number) => {
          if (three.count('rates-away') === 3) awayAt ??= at;
          return awayAt !== undefined && at - awayAt > 1_500;
        };
        const { r: meanwhile = [] } = await three.run(noticed, { r: () => [0, 1, 2] });
        assert.ok(before.length + meanwhile.length <= LIMIT, `${before.length} + ${meanwhile.length}`);
        const used = three.replicas.map((each) => each.rate('r').used);
        for (const each of used.slice(1)) assert.ok(each <= LIMIT / 3 + 1, `${used}`);
        assert.equal(three.count('rates-away'), 3, three.lines.join('\n'));
      } finally {
        server.signal('SIGCONT');
        await fleet?.close();
        fleet = undefined;
        await server.close();
      }
    });
  }

  it('tokens per minute: estimates are corrected for all gateways', async () => {
    const { replicas } = await start({ tokens: 10_000 });
    const [one, two] = replicas.map((each) => each.rate('r'));
    assert.ok(one && two);
    await until('the first one has a share', () => one.takeTokens(9_000));
    const refused = () => assert.ok(!two.takeTokens(3_000), 'only 1,000 are left');
    refused();
    const asked = performance.now();
    await until('the second one has an answer', () => two.tokensAnsweredAt > asked);
    refused();
    one.correctTokens(-8_000);
    await until('the second one has a share', () => two.takeTokens(3_000));
  });

  it('requests at a time: all gateways together have the limit, and an ended request makes room for another one', async () => {
    const three = await start({ parallel: 6 });
    assert.equal(await saturate(three, [0, 1, 2], 6), 6);
    three.replicas
      .map((each) => each.rate('r'))
      .find(({ active }) => active > 0)
      ?.end();
    assert.equal(await saturate(three, [0, 1, 2], 1), 1);
  });

  it('the bundle that ships connects too', async () => {
    const url = await redisDatabase();
    const folder = mkdtempSync(path.join(tmpdir(), 'svc-bundle-'));
    try {
      const root = path.join(import.meta.dirname, '..', '..', '..');
      const contents = "export const load = () => import('./src/gateway/redis/redis-rates.ts')";
      const require = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
      // As in esbuild.mjs: what a dynamic import of a CommonJS package has differs from Node's.
      await build({
        stdin: { contents, resolveDir: root },
        ...{ bundle: true, splitting: true, platform: 'node', format: 'esm', outdir: folder, logLevel: 'error' },
        mainFields: ['module', 'main'],
        outExtension: { '.js': '.mjs' },
        banner: { js: require },
      });
      const program = `const { RedisRates } = await (await import(${JSON.stringify(path.join(folder, 'stdin.mjs'))})).load();
        const write = (fields, message) => console.log(JSON.stringify(fields), message);
        const rates = await RedisRates.open({ url: () => '${url}', log: { info: write, error: write } });
        await rates.dispose();`;
      const args = ['--input-type=module', '--eval', program];
      assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), '');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('a gateway that ends: others get its share at once', async () => {
    const three = await start({ requests: LIMIT });
    await three.replicas[1]?.dispose();
    await three.replicas[2]?.dispose();
    const taken = await saturate(three, [0], LIMIT * 0.95);
    assert.ok(taken >= LIMIT * 0.95 && taken <= LIMIT, `${taken}`);
    await untilEqual('it is alone', () => three.replicas[0]?.known, 1);
  });
});
