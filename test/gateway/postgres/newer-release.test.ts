import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openPostgres } from '../../../src/gateway/postgres/open-postgres.ts';
import type { StateAdmin } from '../../../src/gateway/state-admin.ts';
import { ServeHarness } from '../serve-harness.ts';
import { type PostgresServer, query, startPostgres } from './postgres-server.ts';

/** What a migration may do: it adds columns with values to all rows, and tables. */
const MIGRATION = `
  ALTER TABLE svc.usage ADD COLUMN newer TEXT NOT NULL DEFAULT md5(random()::text);
  ALTER TABLE svc.replicas ADD COLUMN newer TEXT;
  ALTER TABLE svc.keys ADD COLUMN newer BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE svc.spent ADD COLUMN newer BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE svc.leases ADD COLUMN newer BIGINT NOT NULL DEFAULT 0;
  CREATE TABLE svc.newer (id BIGINT PRIMARY KEY)`;

describe('a newer release migrates the state in Postgres while gateways of this release run', () => {
  let server: PostgresServer;
  let harness: ServeHarness;
  let url: string;
  let admin: StateAdmin;

  before(async () => {
    server = await startPostgres();
  });

  after(() => server?.close());

  beforeEach(async () => {
    url = await server.database();
    admin = await openPostgres(url);
    harness = await ServeHarness.start();
    await harness.configure({ m: { cost: { input: 1, output: 2 } } }, { state: url });
  });

  afterEach(async () => {
    await admin?.close();
    await harness?.close();
  });

  /** Holds the locks of the migration until `meanwhile` has ended. */
  const migrate = async (minReader: number, meanwhile: () => Promise<void>) => {
    const [{ version } = { version: 0 }] = await query(url, 'SELECT version FROM svc.schema');
    const newer = new pg.Client({ connectionString: url });
    await newer.connect();
    try {
      await newer.query(`BEGIN; ${MIGRATION}`);
      await meanwhile();
      const next = Number(version) + 1;
      await newer.query(`UPDATE svc.schema SET version = ${next}, min_reader = ${next - 1 + minReader}; COMMIT`);
    } finally {
      await newer.end();
    }
  };
  const budgets = [{ usd: 20, period: 'total', timeZone: 'UTC', mode: 'hard', model: '*' } as const];

  for (const [next, minReader] of [
    ['another gateway of this release can start', 0],
    ['another gateway of this release is refused with the reason', 1],
  ] as const) {
    it(`no request fails, no row is lost, and ${next}`, async () => {
      const replica = await harness.serve();
      const key = await admin.createKey({ who: 'test', source: 'test' }, { name: 'k', limits: { budgets, rates: [] } });
      const codes: number[] = [];
      const send = async () => {
        const response = await harness.send(replica.url, { max_tokens: 10 }, key);
        await response.text();
        return response.status;
      };
      while ((await send()) !== 200) await sleep(10);
      let going = true;
      const load = async () => {
        while (going) codes.push(await send());
      };
      const clients = Promise.all([load(), load()]);
      // It waits for the locks until its deadline.
      await migrate(minReader, () => replica.logged('state-away'));
      await replica.logged('the server can be reached again');
      const another = harness.serve();
      if (minReader === 0) {
        const response = await harness.send((await another).url, { max_tokens: 10 }, key);
        codes.push(response.status);
        await response.text();
      } else await assert.rejects(another, /A newer release of Svc wrote the gateway’s state \(version 3\)/);
      going = false;
      await clients;
      assert.deepEqual([...new Set(codes)], [200]);
      const stored = async () =>
        Number((await query(url, 'SELECT count(*) AS n FROM svc.usage WHERE attempt > 0'))[0]?.n);
      // One request was answered before the load began.
      const until = performance.now() + 30_000;
      while ((await stored()) < codes.length + 1 && performance.now() < until) await sleep(20);
      assert.equal(await stored(), codes.length + 1);
      assert.deepEqual((await admin.check()).differences, []);
    });
  }
});
