import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { PostgresConnection } from '../../../src/gateway/postgres/postgres-connection.ts';
import { Unavailable } from '../../../src/gateway/servers/unavailable.ts';
import { until } from '../until.ts';
import { type PostgresServer, query, startPostgres } from './postgres-server.ts';

const CONNECTIONS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'svc'";

describe('a connection to Postgres', () => {
  let server: PostgresServer;
  let url: string;

  before(async () => {
    server = await startPostgres();
    url = await server.database();
  });

  after(() => server?.close());

  it('that is closed while it is being opened stays closed: an open socket would keep the process alive', async () => {
    for (const notified of [undefined, () => undefined]) {
      let refused = 0;
      for (let turns = 0; turns < 60; turns += 1) {
        const connection = new PostgresConnection(url, notified === undefined ? {} : { notified });
        const call = connection.call(5_000, (sql) => sql('SELECT 1')).catch((thrown: unknown) => thrown);
        for (let turn = 0; turn < turns; turn += 1) await setImmediate();
        connection.close();
        if ((await call) instanceof Unavailable) refused += 1;
      }
      assert.ok(refused > 0);
      await until('no connection is left', async () => (await query(url, CONNECTIONS)).length === 0, 5_000);
    }
  });
});
