import assert from 'node:assert/strict';
import { Client } from 'undici';
import { hashKey } from '../../src/gateway/access/authentication.ts';
import { ask, said } from './chat-request.ts';
import { gatewayUnderTest, KEY, providers, type UnderTest } from './gateway-under-test.ts';

describe('who may do what', () => {
  let under: UnderTest;

  before(async () => {
    under = await gatewayUnderTest({
      config: (url) => ({
        provider: {
          ...providers(url),
          broke: { options: { baseURL: 'http://127.0.0.1:9', apiKey: 'x' }, models: { m: {}, n: {}, v: {} } },
          code: {
            npm: '@ai-sdk/mistral',
            options: { baseURL: `${url}/v1`, apiKey: 'x' },
            models: { 'codestral-x': { cost: { input: 1, output: 2 } } },
          },
          tuned: {
            options: { baseURL: `${url}/v1`, apiKey: 'x' },
            models: { m: { variants: { high: { reasoning_effort: 'high' } } } },
          },
        },
        gateway: {
          organizations: {
            acme: {
              name: 'Acme',
              policy: { allow: ['chat/*', 'messages/m', 'broke/*', 'tuned/*'], deny: ['chat/free', 'tuned/m'] },
              byok: { chat: 'sk-byok-canary' },
            },
          },
          fallback: {
            'broke/m': ['messages/free', 'chat/m'],
            'broke/n': ['chat/m'],
            'broke/v': ['tuned/m:high', 'chat/m'],
          },
          embeddingModels: { 'chat/embed': { dimensions: 4 } },
          transcriptionModels: { 'responses/listen': { name: 'Listen' } },
        },
      }),
    });
  });
  after(() => under.close());

  const withKey = (key: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...more });

  describe('keys', () => {
    for (const path of [
      '/chat/completions',
      '/v1/responses',
      '/messages',
      '/messages/count_tokens',
      '/embeddings',
      '/audio/transcriptions',
      '/fim/completions',
    ]) {
      it(`${path} is 401 without one, with a wrong one, with half of one`, async () => {
        for (const authorization of ['', 'Bearer wrong', 'Bearer', KEY, `Bearer ${KEY.slice(1)}`, `Bearer ${KEY} x`]) {
          const response = await under.post(path, ask('chat/m'), { authorization });
          assert.equal(response.status, 401, authorization);
          assert.equal(response.headers.get('www-authenticate'), 'Bearer');
          assert.equal((await said(response)).error_type, 'authentication_required');
        }
      });
    }

    it('are what each request presents, whatever its connection presented before', async () => {
      const client = new Client(under.url);
      const status = async (headers: Record<string, string>) => {
        const { statusCode, body } = await client.request({ method: 'GET', path: '/v1/models', headers });
        await body.dump();
        return statusCode;
      };
      const presented = [
        [{ 'x-api-key': KEY }, 200],
        [{ authorization: KEY }, 401],
        [{ authorization: `Bearer ${KEY}` }, 200],
        [{ 'x-api-key': `Bearer ${KEY}` }, 401],
        [{}, 200],
        [{ authorization: `Bearer ${KEY}x` }, 401],
        [{ authorization: `Bearer ${KEY}` }, 200],
      ] as const;
      for (const [headers, expected] of presented) {
        assert.equal(await status(headers), expected, Object.keys(headers).join());
      }
      await client.close();
    });

    it('keeps only a hash, also in the file', async () => {
      const key = under.store.create({ name: 'hashed' });
      const [listed] = under.store.list().filter(({ name }) => name === 'hashed');
      assert.match(listed?.hashes[0]?.hash ?? '', /^[0-9a-f]{64}$/);
      assert.ok(!JSON.stringify(under.store.list()).includes(key));
    });

    it('are valid from making to revoking, both while rotating, not after they expire', async () => {
      const first = under.store.create({ name: 'turning' });
      const second = under.store.rotate('turning', 60_000);
      const past = under.store.create({ name: 'past', expiresAt: Date.now() - 1 });
      under.keysChanged();
      const status = async (key: string) => (await under.post('/chat/completions', ask('chat/m'), withKey(key))).status;
      assert.deepEqual([await status(first), await status(second), await status(past)], [200, 200, 401]);
      const third = under.store.rotate('turning', 0);
      under.keysChanged();
      assert.deepEqual([await status(first), await status(second), await status(third)], [401, 401, 200]);
      under.store.revoke('turning');
      under.keysChanged();
      assert.equal(await status(third), 401);
    });
  });

  it('stay what they were: neither a second rotation nor one of a revoked key brings any back', () => {
    const first = under.store.create({ name: 'turned' });
    const second = under.store.rotate('turned', 0);
    const third = under.store.rotate('turned', 60_000);
    const holds = (key: string) =>
      under.store.list().some(({ hashes }) => hashes.some(({ hash }) => hash === hashKey(key)));
    assert.deepEqual([holds(first), holds(second), holds(third)], [false, true, true]);
    under.store.revoke('turned');
    assert.throws(() => under.store.rotate('turned', 60_000), /is revoked/);
    assert.deepEqual([holds(first), holds(second), holds(third)], [false, false, false]);
  });

  describe('organizations', () => {
    it('block a model by their policy', async () => {
      const key = under.store.create({ name: 'acme-1', organization: 'acme' });
      under.keysChanged();
      const response = await under.post('/chat/completions', ask('chat/free'), withKey(key));
      assert.equal(response.status, 403);
      assert.equal((await said(response)).error_type, 'model_not_allowed');
      assert.equal((await under.post('/messages', ask('responses/m'), withKey(key))).status, 403);
      assert.equal((await under.post('/chat/completions', ask('chat/m'), withKey(key))).status, 200);
    });

    it('show only their models in the list, also without a key', async () => {
      const list = await under.get('/v1/models', { 'x-organization-id': 'acme' });
      const { data } = (await list.json()) as { data: { id: string }[] };
      assert.deepEqual(
        data.map(({ id }) => id),
        ['chat/m', 'messages/m', 'broke/m', 'broke/n', 'broke/v'],
      );
      assert.equal((await under.get('/models/chat/free', { 'x-organization-id': 'acme' })).status, 404);
      assert.equal((await under.get('/models', { 'x-organization-id': 'nobody' })).status, 400);
      assert.equal((await under.get('/models', { authorization: 'Bearer wrong' })).status, 401);
    });

    it('are not entered with somebody else’s key', async () => {
      const key = under.store.create({ name: 'outsider' });
      under.keysChanged();
      const response = await under.post(
        '/chat/completions',
        ask('chat/m'),
        withKey(key, { 'x-organization-id': 'acme' }),
      );
      assert.equal(response.status, 403);
    });

    it('bring their own key, which is used and whose account’s state they see', async () => {
      const headers = { 'x-organization-id': 'acme' };
      const at = under.upstream.requests.length;
      assert.equal((await under.post('/chat/completions', ask('chat/m'), headers)).status, 200);
      assert.equal((await under.upstream.request(at)).headers.authorization, 'Bearer sk-byok-canary');
      const broke = await under.post(
        '/chat/completions',
        ask('chat/m', { messages: [{ role: 'user', content: '[[scenario:status-402]]' }] }),
        headers,
      );
      assert.equal(broke.status, 402);
      assert.equal((await said(broke)).error_type, 'insufficient_credits');
      const { data } = (await (await under.get('/providers', headers)).json()) as { data: object[] };
      assert.deepEqual(data[0], {
        id: 'chat',
        name: 'chat',
        api: ['chat-completions'],
        models: 1,
        byok: true,
      });
    });

    for (const status of [401, 402, 403]) {
      it(`get 503 when the gateway’s own account is answered ${status}, and its log says so loudly`, async () => {
        const at = under.lines.length;
        const messages = [{ role: 'user', content: `[[scenario:status-${status}]]` }];
        const response = await under.post('/chat/completions', ask('chat/m', { messages }));
        assert.equal(response.status, 503);
        assert.equal((await said(response)).error_type, 'temporarily_unavailable');
        assert.ok(under.lines.slice(at).some((line) => line.includes('"alert":"provider-account"')));
      });
    }
  });

  describe('budgets and rates', () => {
    it('let a key without money use its organization’s own account', async () => {
      const key = under.store.create({ name: 'acme-poor', organization: 'acme', budget: 0 });
      under.keysChanged();
      const status = async (model: string) => (await under.post('/chat/completions', ask(model), withKey(key))).status;
      assert.deepEqual([await status('chat/m'), await status('messages/m')], [200, 402]);
    });

    it('refuse a paid model when the budget is used up, not a free one', async () => {
      // An answer of 11 and 7 tokens at 1 and 2 USD a million is 0.000025 USD.
      const key = under.store.create({ name: 'poor', budget: 0.00004 });
      under.keysChanged();
      const status = async (model: string) => (await under.post('/chat/completions', ask(model), withKey(key))).status;
      assert.deepEqual([await status('chat/m'), await status('chat/m'), await status('chat/m')], [200, 200, 402]);
      assert.equal(await status('chat/free'), 200);
      const refused = await under.post('/messages', ask('chat/m'), withKey(key));
      assert.equal((await said(refused)).error_type, 'usage_limit_exceeded');
      under.usage();
      under.keysChanged();
      assert.equal(await status('chat/m'), 402, 'what was stored is not forgotten');
      const [stored] = under.store.list().filter(({ name }) => name === 'poor');
      assert.ok(Math.abs((stored?.spent ?? 0) - 0.00005) < 1e-12);
    });

    for (const [path, body] of [
      ['/chat/completions', ask('chat/m')],
      ['/responses', { model: 'chat/m', input: 'Hi' }],
      ['/messages', ask('chat/m')],
      ['/messages/count_tokens', ask('messages/m')],
      ['/embeddings', { model: 'chat/m', input: 'Hi' }],
      ['/audio/transcriptions', { model: 'chat/m', input_audio: { data: 'AA', format: 'wav' } }],
      ['/fim/completions', { model: 'code/codestral-x', prompt: 'a', max_tokens: 5 }],
    ] as const) {
      it(`refuse a paid model at ${path} when the budget is used up, and ask no upstream`, async () => {
        const key = under.store.create({ name: `poor at ${path}`, budget: 0 });
        under.keysChanged();
        const before = under.upstream.requests.length;
        const refused = await under.post(path, body, withKey(key));
        assert.deepEqual([refused.status, (await said(refused)).error_type], [402, 'usage_limit_exceeded']);
        assert.equal(under.upstream.requests.length, before);
      });
    }

    it('are passed by no more than what is in flight', async () => {
      const key = under.store.create({ name: 'crowd', budget: 0.0001 });
      under.keysChanged();
      const inFlight = 8;
      let served = 0;
      const worker = async () => {
        for (let n = 0; n < 10; n += 1) {
          const response = await under.post('/chat/completions', ask('chat/m'), withKey(key));
          if (response.status === 200) served += 1;
          await response.text();
        }
      };
      await Promise.all(Array.from({ length: inFlight }, worker));
      assert.ok(served >= 4 && served <= 4 + inFlight, `${served}`);
    });

    it('answer 429 with Retry-After beyond the rate', async () => {
      const key = under.store.create({ name: 'slow', rpm: 2 });
      under.keysChanged();
      const send = () => under.post('/chat/completions', ask('chat/free'), withKey(key));
      assert.deepEqual([(await send()).status, (await send()).status], [200, 200]);
      const third = await send();
      assert.equal(third.status, 429);
      assert.ok(Number(third.headers.get('retry-after')) > 0);
      assert.equal((await said(third)).error_type, 'rate_limit_exceeded');
    });
  });

  describe('rates', () => {
    /** What is refused, by the status of the refusal. */
    const refused: readonly (readonly [path: string, body: unknown, status: number])[] = [
      ['/chat/completions', ask('chat/free'), 403],
      ['/chat/completions', ask('no/model'), 400],
      ['/chat/completions', '{', 400],
      ['/chat/completions', ask('chat/m', { models: ['chat/free'] }), 400],
      ['/messages', ask('chat/free'), 403],
      ['/responses', { model: 'chat/free', input: 'Hi' }, 403],
      ['/messages/count_tokens', ask('chat/free'), 403],
      ['/embeddings', { model: 'chat/free', input: 'Hi' }, 403],
      ['/audio/transcriptions', { model: 'chat/free', input_audio: { data: 'AA', format: 'wav' } }, 403],
      ['/fim/completions', { model: 'chat/free', prompt: 'a', max_tokens: 5 }, 400],
    ];
    for (const [index, [path, body, status]] of refused.entries()) {
      it(`count a request that is refused with ${status}: ${path} ${JSON.stringify(body).slice(0, 60)}`, async () => {
        const name = `hammer-${index}`;
        const key = under.store.create({ name, rpm: 2, organization: 'acme' });
        under.keysChanged();
        const statuses = [];
        for (let n = 0; n < 4; n += 1) {
          const answer = await under.post(path, body, withKey(key));
          await answer.arrayBuffer();
          statuses.push(answer.status);
        }
        assert.deepEqual(statuses, [status, status, 429, 429]);
      });
    }

    it('count one for another organization', async () => {
      const key = under.store.create({ name: 'stranger', rpm: 1 });
      under.keysChanged();
      const send = () => under.post('/chat/completions', ask('chat/m'), withKey(key, { 'x-organization-id': 'acme' }));
      assert.deepEqual([(await send()).status, (await send()).status], [403, 429]);
    });
  });

  describe('fallbacks', () => {
    it('serve when the first upstream can’t be reached', async () => {
      const response = await under.post('/chat/completions', ask('broke/m'));
      assert.equal(response.status, 200);
      assert.equal(under.rows().at(-1)?.model, 'messages/free');
    });

    it('skip what the policy blocks', async () => {
      const response = await under.post('/chat/completions', ask('broke/m'), { 'x-organization-id': 'acme' });
      assert.equal(response.status, 200);
      assert.equal(under.rows().at(-1)?.model, 'chat/m');
    });

    it('use the variant that the list names', async () => {
      const at = under.upstream.requests.length;
      const response = await under.post('/chat/completions', ask('broke/v'));
      assert.equal(response.status, 200);
      assert.equal(under.rows().at(-1)?.model, 'tuned/m');
      assert.equal((await under.upstream.request(at)).body.reasoning_effort, 'high');
      const translated = await under.post('/messages', ask('broke/v'));
      assert.equal(translated.status, 200);
      assert.equal((await under.upstream.request(at + 1)).body.reasoning_effort, 'high');
    });

    it('skip a variant of a model that the policy blocks', async () => {
      for (const path of ['/chat/completions', '/messages']) {
        const response = await under.post(path, ask('broke/v'), { 'x-organization-id': 'acme' });
        assert.equal(response.status, 200);
        assert.equal(under.rows().at(-1)?.model, 'chat/m');
      }
    });

    it('skip what the budget does not allow: a free model that fails is not replaced by a paid one', async () => {
      const key = under.store.create({ name: 'spent', budget: 0 });
      under.keysChanged();
      const asked = under.upstream.requests.length;
      const refused = await under.post('/chat/completions', ask('broke/n'), withKey(key));
      assert.deepEqual([refused.status, (await said(refused)).error_type], [503, 'network_error']);
      assert.equal(under.upstream.requests.length, asked);
    });
  });

  describe('lists and operation', () => {
    it('lists embedding and transcription models as configured', async () => {
      const first = async (path: string) =>
        ((await (await under.get(path)).json()) as { data: Record<string, unknown>[] }).data[0];
      assert.equal((await first('/v1/embedding-models'))?.dimensions, 4);
      assert.equal((await first('/transcription-models'))?.name, 'Listen');
      assert.equal((await under.post('/embeddings', { model: 'chat/embed', input: 'x' })).status, 200);
    });

    it('says that it is healthy, ready, what it counts and what it offers', async () => {
      assert.equal((await under.get('/healthz')).status, 200);
      assert.equal((await under.get('/readyz')).status, 200);
      const metrics = await (await under.get('/metrics')).text();
      for (const line of [
        /^svc_gateway_requests_total\{route="\/chat\/completions",status="200"\} \d+$/m,
        /^svc_gateway_tokens_total\{model="chat\/m",kind="input"\} \d+$/m,
        /^svc_gateway_request_seconds_bucket\{le="\+Inf",route="\/messages"\} \d+$/m,
        /^process_resident_memory_bytes /m,
      ]) {
        assert.ok(line.test(metrics), String(line));
      }
      const proxied = await under.get('/metrics', { 'x-forwarded-for': '203.0.113.9' });
      assert.equal(proxied.status, 401);
      const { paths } = (await (await under.get('/openapi.json')).json()) as { paths: Record<string, unknown> };
      for (const path of ['/chat/completions', '/responses', '/messages', '/fim/completions']) assert.ok(paths[path]);
    });

    it('puts no credential into its log', () => {
      assert.doesNotMatch(under.lines.join('\n'), new RegExp(`canary|${KEY}|svc_[A-Za-z0-9_-]{43}`));
    });
  });
});
