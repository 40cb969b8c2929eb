import assert from 'node:assert/strict';
import { ClientUsers } from '../../src/gateway/accounting/client-users.ts';
import { readLabels } from '../../src/gateway/http/request-labels.ts';
import { chatRequest } from './chat-request.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { ledgerRow } from './ledger-row.ts';

describe('labels of requests', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  const cases: readonly (readonly [string, Record<string, unknown>, Record<string, string>, string, unknown])[] = [
    ['/chat/completions', { user: 'ann', metadata: { project: 'search' } }, {}, 'ann', { project: 'search' }],
    ['/responses', { input: 'Hi', metadata: { run: 7 }, safety_identifier: 'bob' }, {}, 'bob', { run: '7' }],
    ['/messages', { max_tokens: 9, metadata: { user_id: 'eve' } }, {}, 'eve', undefined],
    [
      '/chat/completions',
      { metadata: { team: 'a' } },
      { 'x-svc-tags': 'team=b, nightly' },
      '',
      { team: 'b', nightly: 'true' },
    ],
    ['/chat/completions', {}, {}, '', undefined],
  ];
  for (const [path, body, headers, user, tags] of cases) {
    it(`labels: the ledger has user and tags: ${path} ${JSON.stringify({ ...body, ...headers })}`, async () => {
      const answer = await gateway.post(path, { ...chatRequest('chat/m'), ...body }, headers);
      assert.equal(answer.status, 200, await answer.text());
      const row = gateway.rows().at(-1);
      assert.equal(row?.user, user);
      assert.deepEqual(row?.tags === '' ? undefined : JSON.parse(String(row?.tags)), tags);
      assert.deepEqual([row?.provider, row?.attempt], ['chat', 1]);
      assert.ok(Number(row?.wait_ms) <= Number(row?.duration_ms));
    });
  }

  const USERS: readonly (readonly [user: string, stable: string | undefined])[] = [
    [`user_${'a1'.repeat(32)}_account__session_0b8c4a52-1f6e-4a1f-8a52-0b8c4a521f6e`, `user_${'a1'.repeat(32)}`],
    [`user_${'a1'.repeat(32)}_account_acc-1_session_0b8c4a52-1f6e-4a1f-8a52-0b8c4a521f6e`, 'acc-1'],
    ['ann_session_1', 'ann'],
    ['{"device_id":"dev","account_uuid":"acc","session_id":"s1"}', 'acc'],
    ['{"device_id":"dev","account_uuid":"","session_id":"s1"}', 'dev'],
    ['{"session_id":"s1"}', undefined],
    ['{not json', '{not json'],
    ['ann@example.com', 'ann@example.com'],
  ];
  for (const [named, stable] of USERS) {
    it(`labels: the session is no part of the user: ${named.slice(0, 60)}`, () => {
      assert.equal(readLabels(undefined, { metadata: { user_id: named } }).user, stable);
      assert.equal(readLabels(undefined, { user: named }).user, stable);
    });
  }

  it('labels: a thousand sessions of Claude Code are one user, and users that a client invents are bounded', async () => {
    const key = gateway.createKey({ name: 'sessions' });
    const headers = { authorization: `Bearer ${key}` };
    const ask = (user_id: string) =>
      gateway
        .post('/messages', { ...chatRequest('chat/m'), max_tokens: 9, metadata: { user_id } }, headers)
        .then((answer) => answer.text());
    for (let session = 0; session < 20; session += 1) await ask(`user_abc_account__session_${session}`);
    for (let session = 0; session < 20; session += 1) await ask(`{"device_id":"user_abc","session_id":"${session}"}`);
    assert.equal(new Set(gateway.rows().flatMap(({ key: name, user }) => (name === 'sessions' ? [user] : []))).size, 1);
    const users = new ClientUsers();
    const named = new Set(Array.from({ length: 3_000 }, (_, n) => users.of('k', undefined, `u${n}`)));
    assert.equal(named.size, 1_001);
    assert.deepEqual([users.of('k', undefined, 'u5'), users.of('k', undefined, 'new')], ['u5', 'k']);
    assert.deepEqual([users.of('k', 'ann', 'new'), users.of('other', undefined, 'new')], ['ann', 'new']);
  });

  it('labels: totals that are kept for ever have no users that clients named', () => {
    const user = (name: string) => ({ key: 'sums', user: name, at: Date.now() - 400 * 86_400_000 });
    gateway.createKey({ name: 'owned', user: 'ann' });
    gateway.record(ledgerRow(user('a')), ledgerRow(user('b')), ledgerRow({ ...user('ann'), key: 'owned' }));
    const before = gateway.usage().total;
    const users = (table: 'spent' | 'usage_rollup') =>
      gateway.state.users(table).filter(({ key }) => key === 'sums' || key === 'owned');
    assert.deepEqual(
      users('spent').map(({ user: name }) => name),
      ['', ''],
    );
    assert.equal(users('usage_rollup').length, 3);
    gateway.state.removeOld({ usage: 86_400_000, rollup: 86_400_000 }, Date.now());
    assert.deepEqual(
      users('usage_rollup').map((row) => ({ ...row })),
      [
        { key: 'owned', user: 'ann' },
        { key: 'sums', user: '' },
      ],
    );
    assert.deepEqual([gateway.usage().total.cost, gateway.state.check().differences], [before.cost, []]);
  });

  it('labels: the user of a key overrides the one that the client names', async () => {
    const key = gateway.createKey({ name: 'ann-laptop', user: 'ann' });
    const headers = { authorization: `Bearer ${key}` };
    await (await gateway.post('/chat/completions', chatRequest('chat/m', { user: 'root' }), headers)).text();
    assert.equal(gateway.rows().at(-1)?.user, 'ann');
  });

  it('labels: number and length of tags are limited, and control characters are removed', () => {
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`${n}${'x'.repeat(100)}`, 'y'.repeat(1_000)]),
    );
    const { tags = {} } = readLabels('a\u001b[31m=\u202eb', { metadata: many });
    assert.equal(Object.keys(tags).length, 16);
    for (const [name, value] of Object.entries(tags)) assert.ok(name.length <= 64 && value.length <= 256);
    assert.deepEqual(readLabels('a\u001b[31m=\u202eb', {}).tags, { 'a[31m': 'b' });
  });

  it('labels: metadata of other types neither fails nor changes prototypes', () => {
    for (const metadata of [null, 5, 'x', [], { a: null, b: { c: 1 }, d: [1] }]) {
      assert.deepEqual(readLabels(undefined, { metadata }), {});
    }
    assert.deepEqual(Object.keys(readLabels('__proto__=x', {}).tags ?? {}), ['__proto__']);
  });
});
