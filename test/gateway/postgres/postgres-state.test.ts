import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stateFile } from '../../../src/gateway/state/state-database.ts';
import { svc } from '../../cli/run-svc.ts';
import { ProjectFolder } from '../../config/project-folder.ts';
import { ledgerRow } from '../ledger-row.ts';
import { sharedPostgres } from '../shared-servers.ts';
import { PASSWORD, type PostgresServer, query } from './postgres-server.ts';
import { migrate, openSqlite, removeOldInPostgres, writePostgres } from './postgres-under-test.ts';

/** A line for each column, in its order, and for each index. */
const DESCRIBE = `
  SELECT c.relname, a.attnum, concat_ws(' ', c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attnotnull THEN 'NOT NULL' END, CASE a.attidentity WHEN 'a' THEN 'IDENTITY' END,
    'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)) AS line
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'svc'::regnamespace AND c.relkind = 'r'
  UNION ALL SELECT tablename, 1000, indexdef FROM pg_indexes WHERE schemaname = 'svc'
  ORDER BY 1, 2, 3`;

/** A folder whose configuration names a state. */
function folderWith(state: string, gateway: object = {}): ProjectFolder {
  const folder = new ProjectFolder();
  folder.env.SVC_CONFIG_CONTENT = JSON.stringify({ gateway: { state: '{env:STATE}', ...gateway } });
  folder.env.STATE = state;
  return folder;
}

describe('the state in Postgres', () => {
  let server: PostgresServer;

  before(async () => {
    server = await sharedPostgres();
  });

  it('svc keys: creates, lists, changes, rotates and revokes keys in Postgres', async () => {
    using folder = folderWith(await server.database());
    const run = async (...args: string[]) => {
      const { code, out, err } = await svc(folder, ['keys', ...args]);
      assert.equal(code, 0, err);
      return out;
    };
    const listed = async () => JSON.parse(await run('list', '--json'));
    assert.match(
      await run('create', 'k', '--user', 'ann', '--budget', '20/month', '--rpm', '60'),
      /\nsvc_[\w-]{43}\n$/,
    );
    const [key] = await listed();
    assert.deepEqual([key.name, key.user, key.state, key.rpm, key.budgets[0].usd], ['k', 'ann', 'valid', 60, 20]);
    await run('update', 'k', '--budget', '30/week', '--rpm', 'none');
    const [changed] = await listed();
    assert.deepEqual([changed.budgets.map(({ usd }: { usd: number }) => usd), changed.rpm], [[30], null]);
    await run('rotate', 'k', '--grace', '1h');
    assert.equal((await listed())[0].state, 'rotating');
    await run('revoke', 'k');
    assert.equal((await listed())[0].state, 'revoked');
    const again = await svc(folder, ['keys', 'create', 'k']);
    assert.equal(again.code, 2);
    assert.match(again.err, /already exists/);
  });

  it('svc usage: reports the rows in Postgres by every field, period and tag, also if rows were sent twice', async () => {
    const url = await server.database();
    using folder = folderWith(url);
    const at = Date.UTC(2026, 0, 31, 23, 50);
    const rows = [
      ledgerRow({ at, user: 'ann', tags: { team: 'it’s "a"' } }),
      ledgerRow({ at: at + 900_000, user: 'bob', model: 'p/n' }),
      ledgerRow({ at, byok: true }),
    ];
    await writePostgres(url, rows.slice(0, 2));
    await writePostgres(url, rows);
    const by = async (...fields: string[]) => {
      const { out, err } = await svc(folder, ['usage', '--json', '--by', fields.join(',')]);
      assert.notEqual(out, '', err);
      return JSON.parse(out).rows.map((row: Record<string, unknown>) => [...fields.map((name) => row[name]), row.cost]);
    };
    assert.deepEqual(await by('user'), [
      [null, 0.5],
      ['ann', 0.5],
      ['bob', 0.5],
    ]);
    assert.deepEqual(await by('month', 'model'), [
      ['2026-01', 'p/m', 1],
      ['2026-02', 'p/n', 0.5],
    ]);
    assert.deepEqual(await by('tag:team'), [
      [null, 1],
      ['it’s "a"', 0.5],
    ]);
    const { out, code } = await svc(folder, ['state', 'check']);
    assert.deepEqual([code, out], [0, 'The state is consistent: 3 rows, 1 USD spent, equal to the sum of the rows.\n']);
    await query(url, 'UPDATE svc.spent SET nano = nano + 1');
    assert.equal((await svc(folder, ['state', 'check'])).code, 1);
  });

  it('svc state copy: to Postgres and back, with keys, limits, rows and sums; never onto other data', async () => {
    using folder = folderWith('sqlite');
    const run = async (...args: string[]) => {
      const { code, out, err } = await svc(folder, args);
      assert.equal(code, 0, err);
      return out;
    };
    await run('keys', 'create', 'k', '--user', 'ann', '--budget', '20/month', '--rpm', '60');
    await run('keys', 'create', 'revoked');
    await run('keys', 'rotate', 'k');
    await run('keys', 'revoke', 'revoked');
    const sqlite = await openSqlite(stateFile({ platform: 'linux', env: folder.env, home: folder.home }));
    const rows = Array.from({ length: 2_500 }, (_, index) =>
      ledgerRow({ at: index * 60_000, tags: { n: `${index}` } }),
    );
    sqlite.write(rows);
    await sqlite.admin.close();
    const all = async () => [
      await run('keys', 'list', '--json'),
      await run('usage', '--json', '--by', 'day,key,tag:n'),
      await run('state', 'check'),
    ];
    const before = await all();
    const url = await server.database();
    folder.env.STATE = url;
    assert.equal(await run('state', 'copy', 'sqlite', 'postgres'), 'The state was copied from SQLite to Postgres.\n');
    assert.deepEqual(await all(), before);
    const again = await svc(folder, ['state', 'copy', 'sqlite', 'postgres']);
    assert.match(again.err, /The target has keys or usage already/);
    await run('state', 'copy', url, 'back.db');
    folder.env.STATE = await server.database();
    await run('state', 'copy', 'back.db', 'postgres');
    assert.deepEqual(await all(), before);
    await query(url, "INSERT INTO svc.replicas VALUES ('r', 'host', now(), NULL)");
    const running = await svc(folder, ['state', 'copy', url, 'other.db']);
    assert.match(running.err, /Gateways are running on the database: host/);
  });

  it('retention: old rows and sums are removed in batches, and what was spent stays', async () => {
    const url = await server.database();
    const now = Date.UTC(2026, 5, 1);
    const day = 86_400_000;
    await writePostgres(url, [
      ledgerRow({ at: now - 100 * day }),
      ledgerRow({ at: now - 50 * day }),
      ledgerRow({ at: now }),
    ]);
    await removeOldInPostgres(url, { usage: 30 * day, rollup: 60 * day }, now);
    using folder = folderWith(url);
    const { out } = await svc(folder, ['state', 'check']);
    assert.equal(out, 'The state is consistent: 1 rows, 1.5 USD spent, equal to the sum of the rows.\n');
    const buckets = await query(url, 'SELECT bucket FROM svc.usage_rollup ORDER BY bucket');
    assert.deepEqual(
      buckets.map(({ bucket }) => Number(bucket)),
      [0, now - 50 * day, now],
    );
  });

  it('rows: text that Postgres can’t store and numbers that are too large do not stop the ledger', async () => {
    const url = await server.database();
    const hostile = 'a\0b\ud800\\u0000';
    const row = { user: hostile, model: hostile, tags: { [hostile]: hostile }, usage: { input: 1e300, output: 1 } };
    await writePostgres(url, [ledgerRow(row), ledgerRow()]);
    const rows = await query(url, 'SELECT input, output, cost_nano FROM svc.usage ORDER BY seq');
    assert.deepEqual(rows, [
      { input: null, output: '1', cost_nano: '500000000' },
      { input: '1', output: '1', cost_nano: '500000000' },
    ]);
  });

  it('migrations: a new state has the tables of the releases before', async () => {
    const url = await server.database();
    await migrate(url);
    const expected = readFileSync(new URL('state-schema.txt', import.meta.url), 'utf8');
    const found = await query(url, DESCRIBE);
    assert.equal(found.map(({ line }) => `${line}\n`).join(''), expected);
  });

  it('migrations: ten processes that start at once migrate once, and a newer state is refused', async () => {
    const url = await server.database();
    await Promise.all(Array.from({ length: 10 }, () => migrate(url)));
    assert.deepEqual(await query(url, 'SELECT * FROM svc.schema'), [{ version: 3, min_reader: 2 }]);
    await query(url, 'UPDATE svc.schema SET version = 99, min_reader = 99');
    using folder = folderWith(url);
    const { code, err } = await svc(folder, ['keys', 'list']);
    assert.equal(code, 1);
    assert.match(err, /A newer release of Svc wrote the gateway’s state \(version 99\)/);
  });

  const programs: readonly (readonly [name: string, command: readonly string[], shown: RegExp])[] = [
    ['fails', ['sh', '-c', 'echo the role is unknown >&2; exit 3'], /ended with code 3: the role is unknown\./],
    ['prints nothing', ['true'], /prints no password/],
    ['does not exist', ['svc-no-such-program'], /can’t be run \(ENOENT\)/],
    ['prints a wrong password', ['echo', 'wrong-canary'], /password authentication failed/],
  ];
  for (const [name, command, shown] of programs) {
    it(`errors: a program for the password that ${name} is explained without the password`, async () => {
      using folder = folderWith(await server.database(), { statePasswordCommand: command });
      const { code, out, err } = await svc(folder, ['keys', 'list']);
      assert.equal(code, 1);
      assert.match(err, shown);
      assert.ok(!`${out}${err}`.includes('wrong-canary'), err);
    });
  }

  const cases: readonly (readonly [name: string, url: (right: string) => string, shown: RegExp])[] = [
    ['a wrong password', (url) => url.replace(/:[^:@]*@/, ':wrong-canary@'), /password authentication failed/],
    ['a port without a server', (url) => url.replace(/:\d+\//, ':1/'), /127\.0\.0\.1:1\/state_\d+ can’t be opened/],
    ['an unknown database', (url) => `${url}_canary`, /does not exist/],
    ['an address that is none', () => 'postgres://svc:canary@[bad/x', /is no address of a Postgres database/],
    ['another protocol', () => 'mysql://svc:canary@host/x', /is no address of a Postgres database/],
  ];
  for (const [name, wrong, shown] of cases) {
    it(`errors: ${name} is explained without the password`, async () => {
      using folder = folderWith(wrong(await server.database()));
      const { code, out, err } = await svc(folder, ['keys', 'list']);
      assert.equal(code, 1);
      assert.match(err, shown);
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'wrong-canary', 'svc:canary']) {
        assert.ok(!`${out}${err}`.includes(secret), err);
      }
    });
  }
});
