import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { ledgerRow } from '../ledger-row.ts';
import { sharedPostgres } from '../shared-servers.ts';
import { until, untilEqual } from '../until.ts';
import { query } from './postgres-server.ts';
import {
  endBetweenStatements,
  openConnection,
  openPostgres,
  type StateAdmin,
  sleepInPostgres,
  writePostgres,
} from './postgres-under-test.ts';

const CONNECTIONS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'svc' AND datname = current_database()";

describe('a connection to Postgres', () => {
  let url: string;

  before(async () => {
    url = await (await sharedPostgres()).database();
  });

  it('that is closed while it is being opened stays closed: an open socket would keep the process alive', async () => {
    for (const listening of [false, true]) {
      let refused = 0;
      for (let turns = 0; turns < 60; turns += 1) {
        const { call, close } = openConnection(url, listening);
        for (let turn = 0; turn < turns; turn += 1) await setImmediate();
        close();
        if ((await call) === 'refused') refused += 1;
      }
      assert.ok(refused > 0);
      await untilEqual('no connection is left', () => query(url, CONNECTIONS), []);
    }
  });

  it('that is not free: is waited for; one for notifications gives way', async () => {
    const role = `few_${process.pid}`;
    await query(url, `CREATE ROLE ${role} LOGIN PASSWORD 'x' CONNECTION LIMIT 1`);
    const few = Object.assign(new URL(url), { username: role, password: 'x' }).href;
    const first = openConnection(few, false);
    assert.equal(await first.call, 'answered');
    assert.equal(await openConnection(few, true).call, 'refused');
    const full = Promise.withResolvers<void>();
    const second = openConnection(few, false, full.resolve);
    await full.promise;
    first.close();
    assert.equal(await second.call, 'answered');
    second.close();
  });

  it('that the server ends during a transaction: the next statement says why', async () => {
    assert.match(
      await endBetweenStatements(url),
      /can’t be used: terminating connection due to administrator command\./,
    );
  });

  describe('statements that no one waits for', () => {
    const ACTIVE = `SELECT query FROM pg_stat_activity WHERE application_name = 'svc' AND state = 'active'
      AND datname = current_database()`;
    const USED = { since: 0, until: Number.MAX_SAFE_INTEGER };
    let own: string;
    let admin: StateAdmin;
    let holder: pg.Client;

    before(async () => {
      own = await (await sharedPostgres()).database();
      await writePostgres(own, [ledgerRow({ tags: { team: 'a' } })]);
      admin = await openPostgres(own);
      // Statements that read these tables wait until the end of this transaction.
      holder = new pg.Client({ connectionString: own });
      await holder.connect();
    });
    beforeEach(() => holder.query('BEGIN; LOCK TABLE svc.usage, svc.usage_sealed IN ACCESS EXCLUSIVE MODE'));
    afterEach(() => holder.query('ROLLBACK'));
    after(async () => {
      await holder.end();
      await admin.close();
    });

    const calls: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
      'a report of rows': (signal) => admin.usage({ ...USED, by: ['tag:team'] }, signal),
      'a report of sums': (signal) => admin.usage({ ...USED, by: ['model'] }, signal),
      'a page of requests': (signal) => admin.requests({ ...USED, limit: 10 }, signal),
    };
    for (const [what, call] of Object.entries(calls)) {
      it(`${what} is cancelled at the server when its reader leaves, and the connection goes on`, async () => {
        const left = new AbortController();
        const reason = new Error('left');
        const ended = assert.rejects(call(left.signal), reason);
        await until('the statement waits', async () => (await query(own, ACTIVE)).length === 1);
        left.abort(reason);
        await ended;
        await untilEqual('no statement runs', () => query(own, ACTIVE), []);
        assert.deepEqual(await admin.listKeys(), []);
        await assert.rejects(call(AbortSignal.abort(reason)), reason);
        // Leaving later cancels nothing.
        const later = new AbortController();
        await holder.query('ROLLBACK');
        await call(later.signal);
        later.abort();
        assert.deepEqual(await admin.listKeys(), []);
      });
    }

    it('a statement whose deadline has passed ends at the server', async () => {
      await assert.rejects(sleepInPostgres(own, 300), /no answer within 300 ms/);
      await untilEqual('no statement runs', () => query(own, ACTIVE), []);
    });
  });
});
