import assert from 'node:assert/strict';
import { readLabels } from '../../src/gateway/http/request-labels.ts';
import { chatRequest } from './chat-request.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

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
