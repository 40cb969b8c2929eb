import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { readPostgresAddress } from '../../../src/gateway/postgres/postgres-address.ts';
import { blocks } from '../../docs/pages.ts';
import type { ServeProcess } from '../serve-harness.ts';
import { until, untilEqual } from '../until.ts';
import { BUDGET, startFleet, svcWith } from './fleet-harness.ts';
import { startProxy } from './postgres-proxy.ts';
import { query } from './postgres-server.ts';
import { MONEY_LOCK } from './postgres-under-test.ts';

/**
 * Ends when a statement has waited for a lock for longer than a gateway waits for an answer. The server decides it, because
 * a request waits for its share for 5 s, and this process may be slower.
 */
const UNTIL_A_QUESTION_WAITED = `
  WHILE NOT EXISTS (
    SELECT FROM pg_locks JOIN pg_database ON database = pg_database.oid
    WHERE datname = current_database() AND NOT granted AND clock_timestamp() - waitstart > INTERVAL '1.5 s'
  ) LOOP PERFORM pg_sleep(0.02); END LOOP;`;

describe('Postgres as operators have it', () => {
  const fleet = startFleet();
  let roles = 0;

  const [ownsSchema = '', usesState = ''] = blocks('docs/operations.md')
    .filter(({ language }) => language === 'sql')
    .map(({ text }) => text);
  const newName = () => {
    roles += 1;
    return `app_${process.pid}_${roles}`;
  };
  const addressOf = (username: string, password: string) =>
    Object.assign(new URL(fleet.url), { username, password }).href;
  /** A role with the rights of the documentation on a state that exists. @returns the address with this role. */
  const role = async (options = ''): Promise<string> => {
    const name = newName();
    await query(fleet.url, `CREATE ROLE ${name} LOGIN PASSWORD 'first' ${options}`);
    await query(fleet.url, usesState.replaceAll('TO gateway', `TO ${name}`));
    return addressOf(name, 'first');
  };
  const endConnections = (user: string) =>
    query(fleet.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${user}'`);
  const strict = (replica: ServeProcess) => fetch(`${replica.url}/readyz?strict`);
  /** Sends requests for longer than keys would be valid without an answer of the server. */
  const requestsFor = async (milliseconds: number, send: () => Promise<number>): Promise<number[]> => {
    const codes: number[] = [];
    for (const end = performance.now() + milliseconds; performance.now() < end; ) codes.push(await send());
    return codes;
  };

  it('a role that may not create schemas: uses the schema that it owns', async () => {
    await query(fleet.url, 'DROP SCHEMA svc CASCADE');
    const name = newName();
    await query(fleet.url, ownsSchema.replaceAll(/(ROLE|AUTHORIZATION) svc/g, `$1 ${name}`));
    const state = addressOf(name, '…');
    const key = (await svcWith(state, 'keys', 'create', 'k')).trim().split('\n').at(-1) ?? '';
    await fleet.configure({ state });
    const replica = await fleet.harness.serve();
    assert.equal(await fleet.status(replica, key), 200);
    await untilEqual('its row is stored', () => fleet.stored(), 1);
  });

  it('a role that may not see the timeline: keys are valid, and rows are sent again after a restart', async () => {
    const revoked = ['checkpoint', 'system'].map(
      (name) => `REVOKE EXECUTE ON FUNCTION pg_control_${name}() FROM PUBLIC`,
    );
    const state = await role();
    for (const each of revoked) await query(fleet.url, each);
    const key = await fleet.createKey('k');
    await fleet.configure({ state, maxStale: '3s' });
    const replica = await fleet.harness.serve();
    const codes = await requestsFor(5_000, () => fleet.status(replica, key));
    assert.deepEqual([...new Set(codes)], [200]);
    await untilEqual('all rows are stored', () => fleet.stored(), codes.length);
    assert.equal(replica.written().split('a failover is noticed by the start of the server').length, 2);
    assert.ok(!/"level":"?(?:error|50)/.test(replica.written()), replica.written());
  });

  it('a database that can be read only: known keys go on, rows wait and are stored later', async () => {
    const database = new URL(fleet.url).pathname.slice(1);
    const server = new URL('/postgres', fleet.url).href;
    const readOnly = async (value: 'on' | 'off') => {
      await query(server, `ALTER DATABASE ${database} SET default_transaction_read_only = ${value}`);
      await query(server, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`);
    };
    const key = await fleet.createKey('k');
    await fleet.configure({ maxStale: '3s' });
    const replica = await fleet.harness.serve();
    await untilEqual('the key is known', () => fleet.status(replica, key), 200);
    await untilEqual('its row is stored', () => fleet.stored(), 1);
    await untilEqual('all connections are used', async () => (await strict(replica)).status, 200);
    const before = replica.written().length;
    // Their reason is the first error, which may be the end of the connections.
    const alerts = () =>
      replica
        .written()
        .slice(before)
        .match(/state-read-only|state-rows/g)
        ?.sort()
        .join();
    await readOnly('on');
    const codes = await requestsFor(5_000, () => fleet.status(replica, key));
    assert.deepEqual([...new Set(codes)], [200]);
    await untilEqual('each kind of work has one alert', alerts, 'state-read-only,state-rows');
    assert.equal(((await (await strict(replica)).json()) as { readonly state: string }).state, 'read-only');
    await readOnly('off');
    await untilEqual('all rows are stored', () => fleet.stored(), codes.length + 1);
    await untilEqual('the state can be written', async () => (await strict(replica)).status, 200);
  });

  for (const place of ['of a file', 'of a program'] as const) {
    it(`a rotated password ${place}: the next connection uses it, and no key is refused`, async () => {
      const state = await role();
      const user = new URL(state).username;
      const file = path.join(fleet.harness.folder, 'password');
      writeFileSync(file, 'first');
      if (place === 'of a file') await fleet.configure({ state: state.replace(':first@', `:{file:${file}}@`) });
      else await fleet.configure({ state: state.replace(':first@', '@'), statePasswordCommand: ['cat', file] });
      const replica = await fleet.harness.serve();
      await query(fleet.url, `ALTER ROLE ${user} PASSWORD 'second'`);
      writeFileSync(file, 'second');
      if (place === 'of a file') await replica.logged('the configuration was reloaded');
      await endConnections(user);
      const key = await fleet.createKey('later');
      await untilEqual('the key is known', () => fleet.status(replica, key), 200);
      // A connection that was opened between both steps of the rotation was refused.
      await untilEqual('all connections are used', async () => (await strict(replica)).status, 200);
      assert.ok(!replica.written().includes('state-stale'), replica.written());
    });
  }

  it('a role with two connections: changes of keys and rows come first, notifications give way', async () => {
    const state = await role('CONNECTION LIMIT 2');
    await fleet.configure({ state });
    const replica = await fleet.harness.serve();
    const key = await fleet.createKey('k');
    await untilEqual('the key is known', () => fleet.status(replica, key), 200);
    await untilEqual('its row is stored', () => fleet.stored(), 1);
    assert.ok(!replica.written().includes('"alert"'), replica.written());
  });

  it('a schema by configuration: two states in one database know nothing of each other', async () => {
    const other = `${fleet.url}?schema=svc_test`;
    const create = (state: string) => svcWith(state, 'keys', 'create', 'k');
    const key = (await create(other)).trim().split('\n').at(-1) ?? '';
    await create(fleet.url);
    await fleet.configure({ state: other });
    const replica = await fleet.harness.serve();
    assert.equal(await fleet.status(replica, key), 200);
    await until('its row is there', async () => {
      const [row] = await query(fleet.url, 'SELECT count(*) AS n FROM svc_test.usage');
      return Number(row?.n) === 1;
    });
    assert.equal(await fleet.stored(), 0);
    await svcWith(other, 'keys', 'revoke', 'k');
    await untilEqual('the key is refused', () => fleet.status(replica, key), 401);
  });

  it('shares are granted late: the first request waits for its share and is not refused', async () => {
    const key = await fleet.createKey('k', ...BUDGET);
    const replica = await fleet.harness.serve();
    const holder = new pg.Client({ connectionString: fleet.url });
    await holder.connect();
    try {
      await holder.query(`BEGIN; SET LOCAL statement_timeout = '60s'; SELECT pg_advisory_xact_lock(${MONEY_LOCK})`);
      const freed = holder.query(`DO $$ BEGIN ${UNTIL_A_QUESTION_WAITED} END $$; COMMIT`);
      const answer = fleet.status(replica, key, { max_tokens: 10 });
      // The first question has failed.
      await Promise.all([replica.logged('state-read-only'), freed]);
      assert.equal(await answer, 200);
    } finally {
      await holder.end();
    }
  });

  it('a server that needs more than a second for each share: a request of a hard budget is answered', async () => {
    const slow = 'BEGIN PERFORM pg_sleep(1.5); RETURN NEW; END';
    await query(
      fleet.url,
      `CREATE FUNCTION svc.slow() RETURNS trigger LANGUAGE plpgsql AS $$ ${slow} $$;
       CREATE TRIGGER slow BEFORE INSERT ON svc.leases FOR EACH ROW EXECUTE FUNCTION svc.slow()`,
    );
    const key = await fleet.createKey('k', ...BUDGET);
    const replica = await fleet.harness.serve();
    await untilEqual('it has a share', () => fleet.status(replica, key, { max_tokens: 10 }), 200);
  });

  it('a server on another continent: a request of a hard budget is answered', async () => {
    const proxy = await startProxy(fleet.url, 120);
    try {
      const key = await fleet.createKey('k', ...BUDGET);
      await fleet.configure({ state: proxy.url });
      const replica = await fleet.harness.serve();
      await untilEqual('it has a share', () => fleet.status(replica, key, { max_tokens: 10 }), 200);
      await untilEqual('its row is stored', () => fleet.stored(), 1);
      assert.ok(!replica.written().includes('state-away'), replica.written());
    } finally {
      await proxy.close();
    }
  });

  it('a server without TLS: `prefer` uses it, `require` is refused with the reason', async () => {
    await svcWith(`${fleet.url}?sslmode=prefer`, 'keys', 'list');
    await assert.rejects(svcWith(`${fleet.url}?sslmode=require`, 'keys', 'list'), /does not support SSL/);
    await assert.rejects(svcWith(`${fleet.url}?sslmode=sometimes`, 'keys', 'list'), /sslmode.*Use one of disable/s);
  });

  for (const [parameters, expected] of Object.entries({
    'sslmode=require': 'sslmode=require&uselibpqcompat=true',
    'sslmode=allow': 'sslmode=prefer&uselibpqcompat=true',
    'sslmode=no-verify': 'sslmode=require&uselibpqcompat=true',
    'sslmode=verify-full&sslrootcert=system': 'sslmode=verify-full&uselibpqcompat=true',
    'schema=team_a&application_name=x': 'application_name=x',
  })) {
    it(`the parameters ${parameters} are understood as libpq does`, () => {
      const { connectionString } = readPostgresAddress(`postgres://u:p@h/db?${parameters}`);
      assert.equal(new URL(connectionString).search.slice(1), expected);
    });
  }
});
