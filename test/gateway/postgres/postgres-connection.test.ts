import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { sharedPostgres } from '../shared-servers.ts';
import { untilEqual } from '../until.ts';
import { query } from './postgres-server.ts';
import { openConnection } from './postgres-under-test.ts';

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
});
