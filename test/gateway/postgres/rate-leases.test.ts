import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RateRule } from '../../../src/gateway/limits/limit-rules.ts';
import { Rate, takeRequest, takeTokens } from '../../../src/gateway/limits/rate.ts';
import { RateLeases } from '../../../src/gateway/limits/rate-leases.ts';
import { PostgresConnection } from '../../../src/gateway/postgres/postgres-connection.ts';
import { PostgresRates } from '../../../src/gateway/postgres/postgres-rates.ts';
import { migratePostgres } from '../../../src/gateway/postgres/postgres-tables.ts';
import { type PostgresServer, query, startPostgres } from './postgres-server.ts';

/** One gateway with one rate. Nothing happens in the background. */
class TestReplica {
  readonly id = randomUUID();
  readonly connection: PostgresConnection;
  readonly leases: RateLeases;
  readonly rate: Rate;
  /** Milliseconds after which it wanted to ask. */
  readonly wakes: number[] = [];
  lostAt: number | undefined;

  constructor(url: string, rule: Omit<RateRule, 'scope' | 'model'>) {
    this.connection = new PostgresConnection(url);
    this.leases = new RateLeases(new PostgresRates(this.connection, this.id), {
      lostAt: () => this.lostAt,
      wake: (delay) => this.wakes.push(delay),
    });
    this.rate = new Rate({ scope: {}, model: '*', ...rule }, this.leases.shares('r'));
  }

  /** @returns whether a request may start. */
  take(): boolean {
    return takeRequest([this.rate]) === undefined;
  }

  ask(): Promise<void> {
    return this.leases.ask(new Map([['r', this.rate]]), true);
  }

  /** What a look for changes finds. */
  async look(): Promise<void> {
    const rows = await this.connection.transaction(5_000, (sql) =>
      sql("SELECT rate FROM rate_leases WHERE wanted_at > now() - interval '3 seconds' AND replica <> $1", [this.id]),
    );
    this.leases.wanted = new Set(rows.map(({ rate }) => String(rate)));
    await this.ask();
  }
}

describe('rates of several gateways on one Postgres', () => {
  let server: PostgresServer;
  let url: string;
  let replicas: TestReplica[] = [];

  before(async () => {
    server = await startPostgres();
  });

  after(() => server?.close());

  beforeEach(async () => {
    url = await server.database();
    const connection = new PostgresConnection(url);
    await migratePostgres(connection, 5_000);
    connection.close();
  });

  afterEach(() => {
    for (const each of replicas) each.connection.close();
    replicas = [];
  });

  async function start(rule: Omit<RateRule, 'scope' | 'model'>) {
    replicas = Array.from({ length: 3 }, () => new TestReplica(url, rule));
    const [one, two, three] = replicas;
    assert.ok(one && two && three);
    for (const { id } of replicas) {
      await query(url, `INSERT INTO svc.replicas VALUES ('${id}', 'test', now(), NULL)`);
    }
    for (const each of replicas) await each.ask();
    return [one, two, three] as const;
  }

  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

  /** Sends as many requests as are allowed, until nothing more is allowed. @returns how many each replica sent. */
  async function saturate(all: readonly TestReplica[], of: (round: number) => readonly number[]): Promise<number[]> {
    const taken = all.map(() => 0);
    let idle = 0;
    for (let round = 0; idle < 6; round += 1) {
      const before = sum(taken);
      for (const index of of(round)) {
        for (let sent = 0; sent < 100 && all[index]?.take(); sent += 1) taken[index] = (taken[index] ?? 0) + 1;
      }
      for (const each of all) await each.look();
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
      const [excess] = all.map(({ rate }) => takeRequest([rate]));
      assert.ok(excess !== undefined && excess.waitMs > 30_000, 'Retry-After is the time until requests are free');
      // A minute later.
      await query(url, 'UPDATE svc.rate_use SET slot = slot - 244');
      for (const each of all) await each.look();
      const again = sum(await saturate(all, of));
      assert.ok(again <= 600 && again >= 570, `${again} in the next minute`);
    });
  }

  it('requests per minute: more is asked for at once when half of a share is used, before a request is refused', async () => {
    const [one] = await start({ requests: 60 });
    await one.ask();
    const share = one.rate.shares?.requests.left ?? 0;
    assert.ok(share >= 10, `${share}`);
    const asksAtOnce = () => {
      one.wakes.length = 0;
      assert.ok(one.take());
      return one.wakes.includes(0);
    };
    for (let used = 1; used <= share / 2; used += 1) assert.ok(!asksAtOnce(), `${used} of ${share}`);
    assert.ok(asksAtOnce());
  });

  it('while Postgres is away: each gateway has an equal part, and all of them not more than the limit', async () => {
    const all = await start({ requests: 600 });
    for (let sent = 0; sent < 60; sent += 1) assert.ok(all[0].take());
    await all[0].ask();
    const lostAt = performance.now();
    for (const each of all) each.lostAt = lostAt;
    const more = all.map((each) => {
      let taken = 0;
      while (each.take()) taken += 1;
      return taken;
    });
    assert.ok(60 + sum(more) <= 600, `${more}`);
    assert.ok(Math.min(...more) >= 50, `${more}`);
    for (const each of all) each.lostAt = lostAt - 61_000;
    for (const each of all) while (each.take());
    assert.deepEqual(
      all.map(({ rate }) => rate.requests.used()),
      [200, 200, 200],
      'a minute later',
    );
  });

  it('tokens per minute: estimates are corrected for all gateways', async () => {
    const [one, two] = await start({ tokens: 10_000 });
    assert.equal(takeTokens([one.rate], 1_000), undefined);
    one.rate.add('tokens', 8_000);
    await one.ask();
    assert.ok(takeTokens([two.rate], 3_000) !== undefined, 'only 1,000 are left');
    one.rate.add('tokens', -8_000);
    await one.ask();
    for (let round = 0; round < 3; round += 1) for (const each of replicas) await each.look();
    takeTokens([two.rate], 3_000);
    for (let round = 0; round < 3; round += 1) for (const each of [two, one, ...replicas]) await each.look();
    assert.equal(takeTokens([two.rate], 3_000), undefined);
  });

  it('requests at a time: all gateways together have the limit, and an ended request makes room', async () => {
    const all = await start({ parallel: 6 });
    const taken = await saturate(all, () => [0, 1, 2]);
    assert.equal(sum(taken), 6);
    const busy = all.find((_, index) => (taken[index] ?? 0) > 0);
    busy?.rate.run(-1);
    assert.equal(sum(await saturate(all, () => [0, 1, 2])), 1);
  });
});
