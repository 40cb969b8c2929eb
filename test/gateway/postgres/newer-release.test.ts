import assert from 'node:assert/strict';
import pg from 'pg';
import { until, untilEqual } from '../until.ts';
import { BUDGET, startFleet } from './fleet-harness.ts';
import { query } from './postgres-server.ts';

/** What a migration may do: it adds columns with values to all rows, and tables. */
const MIGRATION = `
  ALTER TABLE svc.usage ADD COLUMN newer TEXT NOT NULL DEFAULT md5(random()::text);
  ALTER TABLE svc.replicas ADD COLUMN newer TEXT;
  ALTER TABLE svc.keys ADD COLUMN newer BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE svc.spent ADD COLUMN newer BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE svc.leases ADD COLUMN newer BIGINT NOT NULL DEFAULT 0;
  CREATE TABLE svc.newer (id BIGINT PRIMARY KEY)`;

describe('a newer release migrates the state in Postgres while gateways of this release run', () => {
  const fleet = startFleet();

  /** Holds the locks of the migration until `meanwhile` has ended. Returns the newer version. */
  const migrate = async (minReader: number, meanwhile: () => Promise<void>) => {
    const [{ version } = { version: 0 }] = await query(fleet.url, 'SELECT version FROM svc.schema');
    const next = Number(version) + 1;
    const newer = new pg.Client({ connectionString: fleet.url });
    await newer.connect();
    try {
      await newer.query(`BEGIN; ${MIGRATION}`);
      await meanwhile();
      await newer.query(`UPDATE svc.schema SET version = ${next}, min_reader = ${next - 1 + minReader}; COMMIT`);
    } finally {
      await newer.end();
    }
    return next;
  };
  for (const [outcome, minReader] of [
    ['another gateway of this release can start', 0],
    ['another gateway of this release is refused with the reason', 1],
  ] as const) {
    it(`no request fails, no row is lost, and ${outcome}`, async () => {
      const replica = await fleet.harness.serve();
      const key = await fleet.createKey('k', ...BUDGET);
      const codes: number[] = [];
      const send = (to = replica) => fleet.status(to, key, { max_tokens: 10 });
      await untilEqual('the key is known', () => send(), 200);
      let going = true;
      const load = async () => {
        while (going) codes.push(await send());
      };
      const clients = Promise.all([load(), load()]);
      // It waits for the locks until its deadline.
      const version = await migrate(minReader, () => replica.logged('state-away'));
      await replica.logged('the server can be reached again');
      const another = fleet.harness.serve();
      if (minReader === 0) codes.push(await send(await another));
      else
        await assert.rejects(
          another,
          new RegExp(`A newer release of Svc wrote the gateway’s state \\(version ${version}\\)`),
        );
      going = false;
      await clients;
      assert.deepEqual([...new Set(codes)], [200]);
      // One request was answered before the load began.
      await until('all rows are stored', async () => {
        const stored = await fleet.stored();
        return stored >= codes.length + 1 || `${stored} of ${codes.length + 1}`;
      });
      assert.equal(await fleet.stored(), codes.length + 1);
      // The command of this release would refuse the state, too.
      await query(fleet.url, 'UPDATE svc.schema SET min_reader = 0');
      await fleet.consistent();
    });
  }
});
