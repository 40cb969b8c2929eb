import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import type { Log } from '../../../src/gateway/gateway-deps.ts';
import type { RateRule } from '../../../src/gateway/limits/limit-rules.ts';
import { Rate, takeRequest, takeTokens } from '../../../src/gateway/limits/rate.ts';
import { RedisRates } from '../../../src/gateway/redis/redis-rates.ts';
import { until } from '../until.ts';
import { type RedisServer, redisPath, startRedis } from './redis-server.ts';

type Limit = Omit<RateRule, 'scope' | 'model'>;

/** The rates of one gateway. */
class TestReplica {
  readonly rates = new Map<string, Rate>();
  readonly #server: RedisRates;

  static async start(url: string, limits: Readonly<Record<string, Limit>>, log: Log): Promise<TestReplica> {
    const replica = new TestReplica(await RedisRates.open({ url, log }), limits);
    await replica.#server.ready();
    return replica;
  }

  private constructor(server: RedisRates, limits: Readonly<Record<string, Limit>>) {
    this.#server = server;
    for (const [id, limit] of Object.entries(limits)) {
      this.rates.set(id, new Rate({ scope: {}, model: '*', ...limit }, server.rates.shares(id)));
    }
    server.attach(() => this.rates);
  }

  rate(id: string): Rate {
    const found = this.rates.get(id);
    assert.ok(found);
    return found;
  }

  /** How many gateways it knows. */
  get known(): number {
    return this.#server.rates.replicas;
  }

  /** @returns whether a request may start. */
  take(id: string): boolean {
    return takeRequest([this.rate(id)]) === undefined;
  }

  dispose(): Promise<void> {
    return this.#server.dispose();
  }
}

/** Which of three replicas get requests at a time in milliseconds. */
const LOADS: Readonly<Record<string, (at: number) => readonly number[]>> = {
  even: () => [0, 1, 2],
  lopsided: () => [0],
  alternating: (at) => [Math.floor(at / 1_000) % 3],
};
const LIMIT = 600;

/** Three gateways and their Redis. */
class TestFleet {
  readonly server: RedisServer;
  readonly lines: string[] = [];
  readonly replicas: readonly TestReplica[];

  /** Resolves when each gateway knows the others. */
  static async start(limits: Readonly<Record<string, Limit>>): Promise<TestFleet> {
    const server = await startRedis();
    const lines: string[] = [];
    const write = (fields: unknown, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`);
    const log: Log = { debug: () => undefined, info: write, warn: write, error: write };
    const started = Array.from({ length: 3 }, () => TestReplica.start(server.url, limits, log));
    const fleet = new TestFleet(server, lines, await Promise.all(started));
    await until('each gateway knows the others', () => fleet.replicas.every(({ known }) => known === 3));
    return fleet;
  }

  private constructor(server: RedisServer, lines: string[], replicas: readonly TestReplica[]) {
    this.server = server;
    this.lines = lines;
    this.replicas = replicas;
  }

  /** Sends as many requests as are allowed. @returns the times of those that were allowed, by load. */
  async run(seconds: number, loads = LOADS): Promise<Readonly<Record<string, readonly number[]>>> {
    const taken: Record<string, number[]> = Object.fromEntries(Object.keys(loads).map((name) => [name, []]));
    const begin = performance.now();
    for (let at = 0; at < seconds * 1_000; at = performance.now() - begin) {
      for (const [name, of] of Object.entries(loads)) {
        for (const index of of(at)) {
          for (let sent = 0; sent < 5 && this.replicas[index]?.take(name); sent += 1) taken[name]?.push(at);
        }
      }
      await sleep(10);
    }
    return taken;
  }

  count(text: string): number {
    return this.lines.filter((line) => line.includes(text)).length;
  }

  async close(): Promise<void> {
    this.server.signal('SIGCONT');
    await Promise.all(this.replicas.map((each) => each.dispose()));
    await this.server.close();
  }
}

const within = (times: readonly number[], from: number) =>
  times.filter((at) => at >= from && at < from + 60_000).length;

function assertNoMinuteAboveLimit(times: readonly number[], name: string): void {
  for (const from of times) assert.ok(within(times, from) <= LIMIT, `${name}: ${within(times, from)} from ${from}`);
}

describe('rates of several gateways on one Redis, for longer than a minute', () => {
  const limits = Object.fromEntries(Object.keys(LOADS).map((name) => [name, { requests: LIMIT }]));
  const fleets: TestFleet[] = [];
  /** Both run at the same time, because each takes more than a minute. */
  let undisturbed: ReturnType<TestFleet['run']>;
  let restarted: ReturnType<TestFleet['run']>;

  before(async function () {
    this.timeout(120_000);
    const [one, two] = [await TestFleet.start(limits), await TestFleet.start(limits)];
    fleets.push(one, two);
    undisturbed = one.run(70);
    restarted = runRestarted(two);
    for (const each of [undisturbed, restarted]) each.catch(() => undefined);
  });

  after(async () => {
    await Promise.allSettled([undisturbed, restarted]);
    await Promise.all(fleets.map((each) => each.close()));
  });

  /** Redis is killed and started again without its data. */
  const runRestarted = async (fleet: TestFleet) => {
    const loading = fleet.run(100);
    const used = (name: string) =>
      fleet.replicas.reduce((sum, each) => sum + each.rate(name).requests.used(), 0) >= LIMIT / 2;
    await until('half of each rate is used', () => Object.keys(LOADS).every(used));
    await fleet.server.kill();
    await until('all gateways know it', () => fleet.count('rates-away') === 3);
    await fleet.server.start();
    return loading;
  };

  it('600 requests a minute: any minute has 95 to 100 % of them; even, lopsided and alternating load', async function () {
    this.timeout(120_000);
    for (const [name, times] of Object.entries(await undisturbed)) {
      assertNoMinuteAboveLimit(times, name);
      for (const from of [0, 5_000, 9_500]) {
        assert.ok(within(times, from) >= LIMIT * 0.95, `${name}: ${within(times, from)} from ${from}`);
      }
    }
    assert.deepEqual(fleets[0]?.lines, []);
  });

  it('killed and started again without its data: no minute has more than the limit, and shares return', async function () {
    this.timeout(180_000);
    for (const [name, times] of Object.entries(await restarted)) {
      assertNoMinuteAboveLimit(times, name);
      assert.ok(times.length >= LIMIT * 1.3, `${name}: ${times.length}`);
    }
    for (const text of ['rates-away', 'again']) assert.equal(fleets[1]?.count(text), 3, fleets[1]?.lines.join('\n'));
  });
});

describe('rates of several gateways on one Redis', () => {
  let fleet: TestFleet | undefined;

  before(function () {
    // The package may have to be installed.
    this.timeout(120_000);
    redisPath();
  });

  afterEach(async () => {
    await fleet?.close();
    fleet = undefined;
  });

  const start = async (limits: Readonly<Record<string, Limit>>) => {
    fleet = await TestFleet.start(limits);
    return fleet;
  };

  for (const failure of ['killed', 'frozen'] as const) {
    it(`${failure}: each gateway has an equal part, and all of them not more than the limit`, async () => {
      const three = await start({ r: { requests: LIMIT } });
      const { r: before = [] } = await three.run(0.5, { r: () => [0] });
      if (failure === 'killed') await three.server.kill();
      else three.server.signal('SIGSTOP');
      const { r: meanwhile = [] } = await three.run(4, { r: () => [0, 1, 2] });
      assert.ok(before.length + meanwhile.length <= LIMIT, `${before.length} + ${meanwhile.length}`);
      const used = three.replicas.map((each) => each.rate('r').requests.used());
      for (const each of used.slice(1)) assert.ok(each <= LIMIT / 3 + 1, `${used}`);
      assert.equal(three.count('rates-away'), 3, three.lines.join('\n'));
    });
  }

  it('tokens per minute: estimates are corrected for all gateways', async () => {
    const { replicas } = await start({ r: { tokens: 10_000 } });
    const [one, two] = replicas.map((each) => each.rate('r'));
    assert.ok(one && two);
    await until('the first one has a share', () => takeTokens([one], 9_000) === undefined);
    const refused = () => assert.ok(takeTokens([two], 3_000) !== undefined, 'only 1,000 are left');
    refused();
    const asked = performance.now();
    await until('the second one has an answer', () => (two.shares?.tokens.answeredAt ?? 0) > asked);
    refused();
    one.add('tokens', -8_000);
    await until('the second one has a share', () => takeTokens([two], 3_000) === undefined, 5_000);
  });

  it('requests at a time: all gateways together have the limit, and an ended request makes room for another one', async () => {
    const three = await start({ r: { parallel: 6 } });
    const { r: taken = [] } = await three.run(3, { r: () => [0, 1, 2] });
    assert.equal(taken.length, 6);
    const busy = three.replicas.find((each) => each.rate('r').active > 0);
    busy?.rate('r').run(-1);
    const { r: again = [] } = await three.run(3, { r: () => [0, 1, 2] });
    assert.equal(again.length, 1);
  });

  it('the bundle that ships connects too', async () => {
    const server = await startRedis();
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
        const rates = await RedisRates.open({ url: '${server.url}', log: { info: write, error: write } });
        await rates.dispose();`;
      const args = ['--input-type=module', '--eval', program];
      assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), '');
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await server.close();
    }
  });

  it('a gateway that ends: others get its share at once', async () => {
    const three = await start({ r: { requests: LIMIT } });
    await three.replicas[1]?.dispose();
    await three.replicas[2]?.dispose();
    const { r: taken = [] } = await three.run(6, { r: () => [0] });
    assert.ok(taken.length >= LIMIT * 0.95 && taken.length <= LIMIT, `${taken.length}`);
  });
});
