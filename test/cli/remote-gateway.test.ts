import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProjectFolder } from '../config/project-folder.ts';
import { startTestGateway, type TestGateway } from '../gateway/gateway-under-test.ts';
import { ledgerRow } from '../gateway/ledger-row.ts';
import { svc } from './run-svc.ts';

describe('svc keys and svc usage with --gateway', () => {
  let gateway: TestGateway;
  let folder: ProjectFolder;
  beforeEach(async () => {
    gateway = await startTestGateway({ config: () => ({ gateway: { admin: true } }) });
    folder = new ProjectFolder();
    folder.env.SVC_ADMIN_KEY = gateway.createKey({ name: 'boss', admin: 'all' });
  });
  afterEach(async () => {
    folder[Symbol.dispose]();
    await gateway.close();
  });
  const remote = (...args: string[]) => svc(folder, [...args, '--gateway', gateway.url]);

  it('svc keys --gateway: creates, lists, changes, rotates and revokes keys of a gateway elsewhere', async () => {
    const created = await remote('keys', 'create', 'ann', '--user', 'ann', '--budget', '5/day:p/*', '--rpm', '60');
    assert.equal(created.code, 0, created.err);
    assert.match(created.out, /^The key ann is shown only once.*\nsvc_[\w-]{43}\n$/);
    assert.equal((await remote('keys', 'update', 'ann', '--tpm', '1000')).code, 0);
    assert.deepEqual(gateway.state.key('ann')?.limits, {
      budgets: [{ usd: 5, period: 'day', timeZone: 'UTC', mode: 'soft', model: 'p/*' }],
      rates: [{ requests: 60, tokens: 1000, model: '*' }],
    });
    assert.match((await remote('keys', 'rotate', 'ann', '--grace', '1h')).out, /\nsvc_[\w-]{43}\n$/);
    assert.match((await remote('keys', 'list')).out, /^ann +ann +rotating +0\.0000 of 5\/day:p\/\* +60 rpm 1000 tpm/m);
    assert.match((await remote('keys', 'revoke', 'ann', '--cut')).out, /^ann is revoked/);
    assert.equal(gateway.state.key('ann')?.cut, true);
    const again = await remote('keys', 'create', 'ann');
    assert.deepEqual([again.code, again.out], [2, '']);
    assert.match(again.err, /already exists/);
    const rows = await gateway.get('/admin/v1/audit', { authorization: `Bearer ${folder.env.SVC_ADMIN_KEY}` });
    assert.deepEqual(
      (await rows.json()).data.map(({ who }: { who: string }) => who).slice(0, 4),
      Array(4).fill('boss'),
    );
  });

  it('svc usage --gateway: prints the same as on the machine of the gateway, in every time zone and format', async () => {
    for (let hour = 0; hour < 60; hour += 1) {
      const at = Date.UTC(2026, 2, 28) + hour * 3_600_000 + hour * 60_000;
      gateway.record(ledgerRow({ at, key: `k${hour % 3}`, cost: 1_000_000_001 * (hour + 1) }));
    }
    gateway.flush();
    folder.write('home/.local/share/svc/empty', '');
    gateway.state.copyTo(`${folder.home}/.local/share/svc/gateway.db`);
    for (const tz of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu']) {
      for (const more of [
        [],
        ['--by', 'day,key'],
        ['--since', '2026-03-29', '--until', '2026-03-30', '--by', 'hour'],
      ]) {
        for (const format of ['table', 'csv', 'json']) {
          const args = ['usage', '--tz', tz, '--format', format, ...more];
          const there = await remote(...args);
          const here = await svc(folder, args);
          assert.equal(there.err, '');
          assert.equal(there.out, here.out, args.join(' '));
          assert.notEqual(there.out, '');
        }
      }
    }
  });

  it('svc usage --gateway: reads the answer of a release without the member `unpriced_models`', async () => {
    const older = createServer(async ({ url = '' }, response) => {
      const answer = await gateway.get(url, { authorization: `Bearer ${folder.env.SVC_ADMIN_KEY}` });
      response.end(JSON.stringify({ ...(await answer.json()), unpriced_models: undefined }));
    });
    older.listen(0, '127.0.0.1');
    await once(older, 'listening');
    const { port } = older.address() as AddressInfo;
    const { code, err } = await svc(folder, ['usage', '--gateway', `http://127.0.0.1:${port}`]);
    assert.deepEqual([code, err], [0, '']);
    older.close();
  });

  it('--gateway: says what is wrong with the address, the key or the gateway, and prints no key', async () => {
    const elsewhere = createServer((_, response) => response.writeHead(302, { location: gateway.url }).end());
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const redirecting = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const plain = await startTestGateway();
    try {
      for (const [address, key, code, expected] of [
        ['ftp://x', 'k', 2, /must be an address/],
        [gateway.url, '', 2, /Set SVC_ADMIN_KEY/],
        [gateway.url, 'svc_wrong_canary', 1, /unknown to this gateway/],
        [gateway.url, gateway.createKey({ name: 'plain' }), 1, /scope read/],
        [plain.url, 'svc_wrong_canary', 1, /There is no admin API/],
        [redirecting, 'svc_wrong_canary', 1, /can’t be reached.*redirect/s],
        ['http://127.0.0.1:1', 'svc_wrong_canary', 1, /can’t be reached/],
      ] as const) {
        gateway.keysChanged();
        folder.env.SVC_ADMIN_KEY = key;
        const { code: actual, out, err } = await svc(folder, ['keys', 'list', '--gateway', address]);
        assert.match(err, expected);
        assert.deepEqual([actual, out], [code, ''], address);
        assert.ok(!err.includes('canary'));
      }
    } finally {
      elsewhere.close();
      await plain.close();
    }
  });
});
