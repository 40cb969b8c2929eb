import assert from 'node:assert/strict';
import { ledgerRow } from '../ledger-row.ts';
import { BudgetReplica, CENT } from '../shared-limits.ts';
import { sharedPostgres } from '../shared-servers.ts';
import { query } from './postgres-server.ts';
import { writePostgres } from './postgres-under-test.ts';

describe('budgets of several gateways on one Postgres', () => {
  let url: string;
  let replicas: BudgetReplica[] = [];

  beforeEach(async () => {
    url = await (await sharedPostgres()).database();
  });

  afterEach(() => {
    for (const each of replicas) each.close();
    replicas = [];
  });

  const start = async (...options: Parameters<typeof BudgetReplica.start> extends [string, ...infer R] ? R : never) => {
    replicas = await BudgetReplica.start(url, ...options);
    return replicas;
  };

  const spent = async () => Number((await query(url, 'SELECT sum(nano) AS nano FROM svc.spent'))[0]?.nano ?? 0);
  const windows = async () =>
    (await query(url, 'SELECT spent_nano FROM svc.budget_windows')).map(({ spent_nano }) => Number(spent_nano));

  const loads: readonly (readonly [name: string, of: (request: number) => number])[] = [
    ['spread evenly', (request) => request % 3],
    ['all at one of them', () => 0],
    ['alternating', (request) => Math.floor(request / 30) % 3],
  ];
  for (const [name, of] of loads) {
    it(`a hard budget of three gateways: is never exceeded and at least 97 % can be spent; load ${name}`, async () => {
      const all = await start(3);
      let waiting = 300;
      let idle = 0;
      // Money that peers return arrives with the next answer.
      while (idle < 6) {
        const ends: (() => void)[] = [];
        for (let request = 0; request < waiting; request += 1) {
          const end = all[of(request)]?.begin();
          if (end !== undefined) ends.push(end);
        }
        waiting -= ends.length;
        idle = ends.length === 0 ? idle + 1 : 0;
        for (const end of ends) end();
        for (const each of all) await each.heartbeat();
        for (const each of all) await each.store();
      }
      const nano = await spent();
      assert.ok(nano <= 100 * CENT && nano >= 97 * CENT, `${nano / 1e9} USD`);
      assert.deepEqual(await windows(), [nano], 'each row is settled once');
      all[0]?.begin();
      assert.equal(all[0]?.refusal[0], 402);
    });
  }

  it('a gateway that is cut off: spends its share only, and the others can’t spend it', async () => {
    const [cut, other] = await start(2, { usd: 1 });
    assert.ok(cut && other);
    let spentCut = 0;
    for (let end = cut.begin(); end !== undefined; end = cut.begin()) {
      end();
      spentCut += CENT;
    }
    assert.deepEqual(cut.refusal, [503, 1_000]);
    for (let round = 0; round < 20; round += 1) {
      for (let end = other.begin(); end !== undefined; end = other.begin()) end();
      await other.store();
      await other.renew();
    }
    assert.ok((await spent()) + spentCut <= 100 * CENT);
    assert.deepEqual(other.refusal, [402, 2_000], 'the other may give some back');
    await cut.store();
    assert.ok((await spent()) <= 100 * CENT && (await spent()) >= 97 * CENT, `${await spent()}`);
  });

  it('a budget that nobody uses: nothing is leased, however often gateways renew leases and end', async () => {
    for (let crash = 0; crash < 5; crash += 1) {
      const idle = await BudgetReplica.start(url, 1, { usd: 0.2, used: false });
      for (const each of idle) {
        for (let round = 0; round < 3; round += 1) await each.heartbeat();
        // Killed: its share would be held.
        each.close();
      }
    }
    assert.deepEqual(await query(url, 'SELECT * FROM svc.leases WHERE granted_nano > 0'), []);
    const [one] = await start(1, { usd: 0.2 });
    assert.ok(one?.begin(15 * CENT) === undefined);
    await one?.renew();
    assert.ok(one?.begin(15 * CENT), 'nearly the whole budget is there');
  });

  it('an idle gateway: gives everything back, so it takes nothing away when it is killed', async () => {
    const [idle, other] = await start(2, { usd: 0.2, unusedMs: 0 });
    const end = idle?.begin();
    assert.ok(end);
    await idle?.renew();
    const held = async () =>
      Number((await query(url, 'SELECT sum(granted_nano - settled_nano) AS nano FROM svc.leases'))[0]?.nano);
    assert.ok((await held()) >= CENT, 'a running request holds its share');
    end();
    await idle?.store();
    for (const each of [idle, other]) await each?.heartbeat();
    assert.equal(await held(), 0);
    idle?.close();
    assert.equal(other?.begin(19 * CENT), undefined);
    await other?.renew();
    assert.ok(other?.begin(19 * CENT), 'the whole rest is there');
  });

  it('an idle gateway: holds at most half of an equal part of what is left, in all grants together', async () => {
    const all = await start(2, { usd: 0.2 });
    for (let round = 0; round < 10; round += 1) for (const each of all) await each.renew();
    const leases = await query(url, 'SELECT granted_nano FROM svc.leases');
    for (const { granted_nano } of leases) assert.ok(Number(granted_nano) <= 5 * CENT, String(granted_nano));
  });

  it('a soft budget: is exceeded at most by the requests that run', async () => {
    const all = await start(3, { hard: false });
    let running: (() => void)[] = [];
    for (let round = 0; round < 25; round += 1) {
      for (const each of all) {
        for (let request = 0; request < 5; request += 1) {
          const end = each.begin();
          if (end !== undefined) running.push(end);
        }
      }
      for (const end of running) end();
      running = [];
      for (const each of all) await each.heartbeat();
      for (const each of all) await each.store();
    }
    const nano = await spent();
    assert.ok(nano >= 97 * CENT && nano <= 115 * CENT, `${nano / 1e9} USD`);
  });

  it('a request that costs more than a share: the budget grants it at the next attempt if it is left', async () => {
    const [one] = await start(3, { usd: 5 });
    assert.equal(one?.begin(150 * CENT), undefined);
    assert.deepEqual(one?.refusal, [503, 1_000]);
    await one?.renew();
    assert.ok(one?.begin(150 * CENT));
    assert.equal(one?.begin(600 * CENT), undefined);
    assert.equal(one?.refusal[0], 402, 'more than the whole budget');
  });

  it('the share of a killed gateway: is held, and free again when its successor’s time is over', async () => {
    const [killed, other] = await start(2, { usd: 0.1 });
    assert.ok(killed && other);
    assert.ok(killed.begin());
    const spend = async () => {
      for (let round = 0; round < 20; round += 1) {
        for (let end = other.begin(); end !== undefined; end = other.begin()) end();
        await other.store();
        await other.renew();
      }
      return (await spent()) / CENT;
    };
    const before = await spend();
    assert.ok(before < 10, String(before));
    await query(url, `UPDATE svc.replicas SET released_at = now() WHERE id = '${killed.id}'`);
    assert.equal(await spend(), 10);
  });

  for (const hard of [false, true]) {
    const share = hard ? 'that of a hard budget is held' : 'that of a soft budget is free, and it spends nothing of it';
    it(`the share of a frozen gateway: ${share}`, async () => {
      const [frozen, other] = await start(2, { usd: 0.4, hard });
      assert.ok(frozen && other);
      frozen.begin()?.();
      await frozen.store();
      await frozen.freeze();
      for (let round = 0; round < 20; round += 1) {
        for (let end = other.begin(); end !== undefined; end = other.begin()) end();
        await other.store();
        await other.renew();
      }
      const spentByBoth = (await spent()) / CENT;
      assert.ok(hard ? spentByBoth < 40 : spentByBoth === 40, String(spentByBoth));
      const begins = () => frozen.begin() !== undefined;
      assert.equal(begins(), hard, 'before its heartbeat');
      await frozen.renew(true);
      assert.equal(begins(), hard, 'its answer is lost');
      await frozen.renew();
      assert.equal(begins(), hard, 'its share is returned');
      await frozen.renew();
      assert.equal(begins(), hard, 'no part is left for it');
    });
  }

  it('a window: has what was spent before the budget was created, and the next one begins with the whole budget', async () => {
    await writePostgres(url, [
      ledgerRow({ at: Date.now(), cost: 30 * CENT }),
      ledgerRow({ at: Date.now() - 2 * 86_400_000, cost: 40 * CENT }),
      ledgerRow({ at: Date.now(), cost: 50 * CENT, key: 'other' }),
    ]);
    const [one] = await start(1, { period: 'day' });
    assert.deepEqual(await windows(), [30 * CENT]);
    assert.equal(one?.spent, 30 * CENT);
  });
});
