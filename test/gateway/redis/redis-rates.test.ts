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
import { type RedisServer, startRedis } from './redis-server.ts';

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

describe('rates of several gateways on one Redis', () => {
  let server: RedisServer;
  let lines: string[];
  let replicas: TestReplica[] = [];

  before(async function () {
    this.timeout(120_000);
    server = await startRedis();
  });

  after(() => server?.close());

  beforeEach(() => {
    lines = [];
  });

  afterEach(async () => {
    await Promise.all(replicas.map((each) => each.dispose()));
    replicas = [];
    await server.kill();
    await server.start();
  });

  const write = (fields: unknown, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`);
  const log: Log = { debug: () => undefined, info: write, warn: write, error: write };

  async function start(limits: Readonly<Record<string, Limit>>): Promise<void> {
    replicas = await Promise.all(Array.from({ length: 3 }, () => TestReplica.start(server.url, limits, log)));
    // Each has seen the others.
    await sleep(700);
  }

  /** Sends as many requests as are allowed. @returns the times of those that were allowed, by load. */
  async function run(seconds: number, loads = LOADS): Promise<Readonly<Record<string, readonly number[]>>> {
    const taken: Record<string, number[]> = Object.fromEntries(Object.keys(loads).map((name) => [name, []]));
    const begin = performance.now();
    for (let at = 0; at < seconds * 1_000; at = performance.now() - begin) {
      for (const [name, of] of Object.entries(loads)) {
        for (const index of of(at)) {
          for (let sent = 0; sent < 5 && replicas[index]?.take(name); sent += 1) taken[name]?.push(at);
        }
      }
      await sleep(10);
    }
    return taken;
  }

  const within = (times: readonly number[], from: number) =>
    times.filter((at) => at >= from && at < from + 60_000).length;
  const assertNoMinuteAboveLimit = (times: readonly number[], name: string) => {
    for (const from of times) assert.ok(within(times, from) <= LIMIT, `${name}: ${within(times, from)} from ${from}`);
  };
  const limits = Object.fromEntries(Object.keys(LOADS).map((name) => [name, { requests: LIMIT }]));

  it('600 requests a minute: any minute has 95 to 100 % of them; even, lopsided and alternating load', async function () {
    this.timeout(120_000);
    await start(limits);
    for (const [name, times] of Object.entries(await run(70))) {
      assertNoMinuteAboveLimit(times, name);
      for (const from of [0, 5_000, 9_500]) {
        assert.ok(within(times, from) >= LIMIT * 0.95, `${name}: ${within(times, from)} from ${from}`);
      }
    }
    assert.deepEqual(lines, []);
  });

  it('killed and started again without its data: no minute has more than the limit, and shares return', async function () {
    this.timeout(180_000);
    await start(limits);
    const loading = run(100);
    await sleep(1_000);
    await server.kill();
    await sleep(2_000);
    await server.start();
    for (const [name, times] of Object.entries(await loading)) {
      assertNoMinuteAboveLimit(times, name);
      assert.ok(times.length >= LIMIT * 1.3, `${name}: ${times.length}`);
    }

    assert.equal(lines.filter((line) => line.includes('rates-away')).length, 3, lines.join('\n'));
    assert.equal(lines.filter((line) => line.includes('again')).length, 3, lines.join('\n'));
  });

  for (const failure of ['killed', 'frozen'] as const) {
    it(`${failure}: each gateway has an equal part, and all of them not more than the limit`, async () => {
      await start({ r: { requests: LIMIT } });
      const { r: before = [] } = await run(0.5, { r: () => [0] });
      if (failure === 'killed') await server.kill();
      else server.signal('SIGSTOP');
      try {
        const { r: meanwhile = [] } = await run(4, { r: () => [0, 1, 2] });
        assert.ok(before.length + meanwhile.length <= LIMIT, `${before.length} + ${meanwhile.length}`);
        const used = replicas.map((each) => each.rate('r').requests.used());
        for (const each of used.slice(1)) assert.ok(each <= LIMIT / 3 + 1, `${used}`);
        assert.equal(lines.filter((line) => line.includes('rates-away')).length, 3, lines.join('\n'));
      } finally {
        server.signal('SIGCONT');
      }
    });
  }

  it('tokens per minute: estimates are corrected for all gateways', async () => {
    await start({ r: { tokens: 10_000 } });
    const [one, two] = replicas.map((each) => each.rate('r'));
    assert.ok(one && two);
    while (takeTokens([one], 9_000) !== undefined) await sleep(20);
    await sleep(400);
    assert.ok(takeTokens([two], 3_000) !== undefined, 'only 1,000 are left');
    one.add('tokens', -8_000);
    const from = performance.now();
    while (takeTokens([two], 3_000) !== undefined) {
      assert.ok(performance.now() - from < 5_000);
      await sleep(20);
    }
  });

  it('requests at a time: all gateways together have the limit, and an ended request makes room for another one', async () => {
    await start({ r: { parallel: 6 } });
    const { r: taken = [] } = await run(3, { r: () => [0, 1, 2] });
    assert.equal(taken.length, 6);
    const busy = replicas.find((each) => each.rate('r').active > 0);
    busy?.rate('r').run(-1);
    const { r: again = [] } = await run(3, { r: () => [0, 1, 2] });
    assert.equal(again.length, 1);
  });

  it('the bundle that ships connects too', async () => {
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
    }
  });

  it('a gateway that ends: others get its share at once', async () => {
    await start({ r: { requests: LIMIT } });
    await replicas[1]?.dispose();
    await replicas[2]?.dispose();
    const { r: taken = [] } = await run(2, { r: () => [0] });
    assert.ok(taken.length >= LIMIT * 0.95 && taken.length <= LIMIT, `${taken.length}`);
  });
});
