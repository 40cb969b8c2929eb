import assert from 'node:assert/strict';
import { type RateLimit, RateReplica } from '../shared-limits.ts';
import { sharedPostgres } from '../shared-servers.ts';
import { query } from './postgres-server.ts';

describe('rates of several gateways on one Postgres', () => {
  let url: string;
  let replicas: readonly RateReplica[] = [];

  beforeEach(async () => {
    url = await (await sharedPostgres()).database();
  });

  afterEach(() => {
    for (const each of replicas) each.close();
    replicas = [];
  });

  async function start(limit: RateLimit) {
    replicas = await RateReplica.start(url, limit);
    const [one, two, three] = replicas;
    assert.ok(one && two && three);
    return [one, two, three] as const;
  }

  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

  /** Sends as many requests as are allowed, until nothing more is allowed. @returns how many each replica sent. */
  async function saturate(all: readonly RateReplica[], of: (round: number) => readonly number[]): Promise<number[]> {
    const taken = all.map(() => 0);
    let idle = 0;
    for (let round = 0; idle < 6; round += 1) {
      const before = sum(taken);
      for (const index of of(round)) {
        for (let sent = 0; sent < 100 && all[index]?.rate.take(); sent += 1) taken[index] = (taken[index] ?? 0) + 1;
      }
      for (const each of all) await each.heartbeat();
      idle = sum(taken) === before ? idle + 1 : 0;
    }
    return taken;
  }

  const loads: readonly (readonly [name: string, of: (round: number) => readonly number[]])[] = [
    ['spread evenly', () => [0, 1, 2]],
    ['all at one of them', () => [0]],
    ['alternating', (round) => [round % 3]],
  ];
  for (const [name, of] of loads) {
    it(`requests per minute: at least 95 % and never more than the limit; load ${name}`, async () => {
      const all = await start({ requests: 600 });
      const taken = sum(await saturate(all, of));
      assert.ok(taken <= 600 && taken >= 570, `${taken}`);
      // A refused request requests what peers hold.
      let waitMs = all[0].rate.takeOrWait();
      for (let round = 0; waitMs <= 1_000 && round < 6; round += 1) {
        await all[0].heartbeat();
        waitMs = all[0].rate.takeOrWait();
      }
      assert.ok(waitMs > 30_000, 'Retry-After is the time until requests are free');
      // A minute later.
      await query(url, 'UPDATE svc.rate_use SET slot = slot - 244');
      for (const each of all) await each.heartbeat();
      const again = sum(await saturate(all, of));
      assert.ok(again <= 600 && again >= 570, `${again} in the next minute`);
    });
  }

  it('requests per minute: more is requested at once when half of a share is used, before a request is refused', async () => {
    const [one] = await start({ requests: 60 });
    await one.renew();
    const share = one.rate.left;
    assert.ok(share >= 10, `${share}`);
    const renewsAtOnce = () => {
      one.wakes.length = 0;
      assert.ok(one.rate.take());
      return one.wakes.includes(0);
    };
    for (let used = 1; used <= share / 2; used += 1) assert.ok(!renewsAtOnce(), `${used} of ${share}`);
    assert.ok(renewsAtOnce());
  });

  it('while Postgres is away: each gateway has an equal part, and all of them not more than the limit', async () => {
    const all = await start({ requests: 600 });
    for (let sent = 0; sent < 60; sent += 1) assert.ok(all[0].rate.take());
    await all[0].renew();
    const lostAt = performance.now();
    for (const each of all) each.lostAt = lostAt;
    const more = all.map((each) => {
      let taken = 0;
      while (each.rate.take()) taken += 1;
      return taken;
    });
    assert.ok(60 + sum(more) <= 600, `${more}`);
    assert.ok(Math.min(...more) >= 50, `${more}`);
    for (const each of all) each.lostAt = lostAt - 61_000;
    for (const each of all) while (each.rate.take());
    assert.deepEqual(
      all.map(({ rate }) => rate.used),
      [200, 200, 200],
      'a minute later',
    );
  });

  it('tokens per minute: estimates are corrected for all gateways', async () => {
    const [one, two] = await start({ tokens: 10_000 });
    assert.ok(one.rate.takeTokens(1_000));
    one.rate.correctTokens(8_000);
    await one.renew();
    assert.ok(!two.rate.takeTokens(3_000), 'only 1,000 are left');
    one.rate.correctTokens(-8_000);
    await one.renew();
    for (let round = 0; round < 3; round += 1) for (const each of replicas) await each.heartbeat();
    two.rate.takeTokens(3_000);
    for (let round = 0; round < 3; round += 1) for (const each of [two, one, ...replicas]) await each.heartbeat();
    assert.ok(two.rate.takeTokens(3_000));
  });

  it('requests at a time: all gateways together have the limit, and an ended request makes room', async () => {
    const all = await start({ parallel: 6 });
    const taken = await saturate(all, () => [0, 1, 2]);
    assert.equal(sum(taken), 6);
    const busy = all.find((_, index) => (taken[index] ?? 0) > 0);
    busy?.rate.end();
    assert.equal(sum(await saturate(all, () => [0, 1, 2])), 1);
  });
});
