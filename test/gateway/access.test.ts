import assert from 'node:assert/strict';
import { Client } from 'undici';
import { PAYMENT_ERRORS } from '../upstream/error-bodies.ts';
import { play } from '../upstream/scenarios.ts';
import { chatRequest, readError } from './chat-request.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { limited } from './ledger-row.ts';
import { hashKey } from './state-under-test.ts';

describe('gateway access', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: {
          ...providers(url),
          broke: {
            options: { baseURL: 'http://127.0.0.1:9', apiKey: 'x' },
            models: { m: {}, n: { cost: { input: 0, output: 0 } }, v: {} },
          },
          poor: { options: { baseURL: `${url}/poor/v1`, apiKey: 'x' }, models: { m: {} } },
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
              policy: {
                allow: ['chat/*', 'messages/m', 'broke/*', 'tuned/*'],
                deny: ['chat/free', 'tuned/m'],
              },
              byok: { chat: 'sk-byok-canary' },
            },
            'own-keys': {
              byok: {
                chat: 'sk-own-chat',
                messages: 'sk-own-messages',
                responses: 'sk-own-responses',
                code: 'sk-own-code',
              },
            },
          },
          fallback: {
            'poor/m': ['messages/free'],
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
  after(() => gateway.close());

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
      it(`key: ${path} returns 401 for a missing, wrong or truncated key`, async () => {
        for (const authorization of ['', 'Bearer wrong', 'Bearer', KEY, `Bearer ${KEY.slice(1)}`, `Bearer ${KEY} x`]) {
          const response = await gateway.post(path, chatRequest('chat/m'), { authorization });
          assert.equal(response.status, 401, authorization);
          assert.equal(response.headers.get('www-authenticate'), 'Bearer');
          assert.equal((await readError(response)).error_type, 'authentication_required');
        }
      });
    }

    it('key: each request is checked separately on one connection', async () => {
      const client = new Client(gateway.url);
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

    it('key: only the hash is stored, also in the file', async () => {
      const key = gateway.createKey({ name: 'hashed' });
      const [listed] = gateway.state.keys().filter(({ name }) => name === 'hashed');
      assert.match(listed?.hashes[0]?.hash ?? '', /^[0-9a-f]{64}$/);
      assert.ok(!JSON.stringify(gateway.state.keys()).includes(key));
    });

    it('key: is valid until it is revoked or expires; during rotation both keys are valid', async () => {
      const first = gateway.createKey({ name: 'turning' });
      const second = gateway.state.rotateKey('turning', 60_000);
      const past = gateway.createKey({ name: 'past', expiresAt: Date.now() - 1 });
      const status = async (key: string) =>
        (await gateway.post('/chat/completions', chatRequest('chat/m'), withKey(key))).status;
      assert.deepEqual([await status(first), await status(second), await status(past)], [200, 200, 401]);
      const third = gateway.state.rotateKey('turning', 0);
      gateway.keysChanged();
      assert.deepEqual([await status(first), await status(second), await status(third)], [401, 401, 200]);
      gateway.state.revokeKey('turning');
      gateway.keysChanged();
      assert.equal(await status(third), 401);
    });
  });

  it('key: neither a second rotation nor the rotation of a revoked key restores an old one', () => {
    const first = gateway.createKey({ name: 'turned' });
    const second = gateway.state.rotateKey('turned', 0);
    const third = gateway.state.rotateKey('turned', 60_000);
    const holds = (key: string) =>
      gateway.state.keys().some(({ hashes }) => hashes.some(({ hash }) => hash === hashKey(key)));
    assert.deepEqual([holds(first), holds(second), holds(third)], [false, true, true]);
    gateway.state.revokeKey('turned');
    assert.throws(() => gateway.state.rotateKey('turned', 60_000), /is revoked/);
    assert.deepEqual([holds(first), holds(second), holds(third)], [false, false, false]);
  });

  describe('organizations', () => {
    it('organization: its policy blocks a model', async () => {
      const key = gateway.createKey({ name: 'acme-1', organization: 'acme' });
      const response = await gateway.post('/chat/completions', chatRequest('chat/free'), withKey(key));
      assert.equal(response.status, 403);
      assert.equal((await readError(response)).error_type, 'model_not_allowed');
      assert.equal((await gateway.post('/messages', chatRequest('responses/m'), withKey(key))).status, 403);
      assert.equal((await gateway.post('/chat/completions', chatRequest('chat/m'), withKey(key))).status, 200);
    });

    it('organization: the model list contains its models only, also without a key', async () => {
      const list = await gateway.get('/v1/models', { 'x-organization-id': 'acme' });
      const { data } = (await list.json()) as { data: { id: string }[] };
      assert.deepEqual(
        data.map(({ id }) => id),
        ['chat/m', 'messages/m', 'broke/m', 'broke/n', 'broke/v'],
      );
      assert.equal((await gateway.get('/models/chat/free', { 'x-organization-id': 'acme' })).status, 404);
      assert.equal((await gateway.get('/models', { 'x-organization-id': 'nobody' })).status, 400);
      assert.equal((await gateway.get('/models', { authorization: 'Bearer wrong' })).status, 401);
    });

    it('organization: the key of another organization gives no access', async () => {
      const key = gateway.createKey({ name: 'outsider' });
      const response = await gateway.post(
        '/chat/completions',
        chatRequest('chat/m'),
        withKey(key, { 'x-organization-id': 'acme' }),
      );
      assert.equal(response.status, 403);
    });

    it('organization: uses its own provider key and receives the state of that account', async () => {
      const headers = { 'x-organization-id': 'acme' };
      const at = gateway.upstream.requests.length;
      assert.equal((await gateway.post('/chat/completions', chatRequest('chat/m'), headers)).status, 200);
      assert.equal((await gateway.upstream.request(at)).headers.authorization, 'Bearer sk-byok-canary');
      const broke = await gateway.post(
        '/chat/completions',
        chatRequest('chat/m', { messages: [{ role: 'user', content: '[[scenario:status-402]]' }] }),
        headers,
      );
      assert.equal(broke.status, 402);
      assert.equal((await readError(broke)).error_type, 'insufficient_credits');
      const { data } = (await (await gateway.get('/providers', headers)).json()) as { data: object[] };
      assert.deepEqual(data[0], {
        id: 'chat',
        name: 'chat',
        api: ['chat-completions'],
        models: 1,
        byok: true,
      });
    });

    for (const status of [401, 402, 403]) {
      it(`organization: gets 503 and the log an alert if the provider answers the gateway's account with ${status}`, async () => {
        const at = gateway.lines.length;
        const messages = [{ role: 'user', content: `[[scenario:status-${status}]]` }];
        const response = await gateway.post('/chat/completions', chatRequest('chat/m', { messages }));
        assert.equal(response.status, 503);
        assert.equal((await readError(response)).error_type, 'temporarily_unavailable');
        assert.ok(gateway.lines.slice(at).some((line) => line.includes('"alert":"provider-account"')));
      });
    }
  });

  describe('problems of the account at a provider', () => {
    const OWN_KEYS = { 'x-organization-id': 'own-keys' };
    const VENDOR_TEXT = /acct_1|insufficient|billing/i;
    const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
    const error = (code: number) => ({ error: { code, message: 'acct_1 has a problem' } });
    const response = { id: 'resp_1', object: 'response', created_at: 1, status: 'in_progress', output: [], model: 'm' };
    const created = frame({ type: 'response.created', sequence_number: 0, response });
    const quota = { type: 'insufficient_quota', code: 'insufficient_quota', message: 'acct_1 exceeded its quota' };
    const failed = { ...response, status: 'failed', error: quota };

    interface Case {
      readonly name: string;
      readonly path: string;
      readonly model: string;
      /** The upstream's answer with status 200: text of a stream, or a body. */
      readonly answer: string | object;
      readonly stream?: boolean;
      /** The status if the key is the organization's; 402 if absent. */
      readonly reportedAs?: number;
    }
    const CASES: readonly Case[] = [
      { name: '402 in a FIM stream', path: '/fim/completions', model: 'code/codestral-x', answer: frame(error(402)) },
      { name: '402 in a FIM body', path: '/fim/completions', model: 'code/codestral-x', answer: error(402) },
      { name: '402 in a stream', path: '/messages', model: 'chat/m', answer: frame(error(402)) },
      { name: '401 in a stream', path: '/responses', model: 'chat/m', answer: frame(error(401)), reportedAs: 401 },
      { name: '402 in a body', path: '/messages', model: 'chat/m', answer: error(402) },
      { name: '402 in a body without translation', path: '/chat/completions', model: 'chat/m', answer: error(402) },
      {
        name: '402 in a stream that was not requested',
        path: '/chat/completions',
        model: 'chat/m',
        answer: frame(error(402)),
        stream: false,
      },
      {
        name: '`error` of Responses',
        path: '/chat/completions',
        model: 'responses/m',
        answer: created + frame({ type: 'error', sequence_number: 1, error: quota }),
      },
      {
        name: '`response.failed`',
        path: '/messages',
        model: 'responses/m',
        answer: created + frame({ type: 'response.failed', sequence_number: 1, response: failed }),
      },
      {
        name: '`billing_error` of Messages',
        path: '/chat/completions',
        model: 'messages/m',
        answer: frame({ type: 'error', error: { type: 'billing_error', message: 'acct_1' } }),
      },
      { name: '402 in a summary', path: '/responses/compact', model: 'chat/m', answer: error(402) },
    ];
    afterEach(() => gateway.upstream.respond(undefined));

    function send({ path, model, answer, stream = typeof answer === 'string' }: Case, headers = {}) {
      gateway.upstream.respond((_, upstream) => {
        const streamed = typeof answer === 'string';
        upstream.writeHead(200, { 'content-type': streamed ? 'text/event-stream' : 'application/json' });
        upstream.end(streamed ? answer : JSON.stringify(answer));
      });
      const question = path.startsWith('/fim') ? { prompt: 'Hi' } : { input: 'Hi' };
      return gateway.post(path, chatRequest(model, { ...question, stream }), headers);
    }

    const alerts = () => gateway.lines.filter((line) => line.includes('"alert":"provider-account"'));

    for (const each of CASES) {
      it(`account: ${each.name} is hidden from clients of ${each.path} and logged with an alert`, async () => {
        const before = alerts().length;
        const answer = await send(each);
        const text = await answer.text();
        assert.equal(answer.status, 503, text);
        assert.doesNotMatch(text, VENDOR_TEXT);
        assert.equal(alerts().length, before + 1);
      });

      it(`account: ${each.name} is reported to clients of ${each.path} if the key is their organization's`, async () => {
        const before = alerts().length;
        const answer = await send(each, OWN_KEYS);
        const text = await answer.text();
        assert.equal(answer.status, each.reportedAs ?? 402, text);
        assert.match(text, VENDOR_TEXT);
        assert.equal(alerts().length, before);
      });
    }

    for (const [vendor, { status, body }] of Object.entries(PAYMENT_ERRORS)) {
      it(`account: without funds at ${vendor}, clients of the gateway's account get 503`, async () => {
        const before = alerts().length;
        gateway.upstream.respond((_, upstream) => {
          upstream.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        });
        for (const path of ['/chat/completions', '/messages']) {
          const answer = await gateway.post(path, chatRequest('chat/m'));
          const text = await answer.text();
          assert.equal(answer.status, 503, text);
          assert.doesNotMatch(text, VENDOR_TEXT);
          const own = await gateway.post(path, chatRequest('chat/m'), OWN_KEYS);
          assert.deepEqual([own.status, (await readError(own)).error_type], [402, 'insufficient_credits']);
        }
        assert.equal(alerts().length, before + 2);
      });
    }

    it('account: a problem within an answer is hidden in its last event and logged with an alert', async () => {
      const before = alerts().length;
      const text = frame({ id: 'c', choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }] });
      const each = { name: '', path: '/messages', model: 'chat/m', answer: text + frame(error(402)) };
      const answer = await (await send(each)).text();
      assert.match(answer, /Hel/);
      assert.match(answer.trim().split('\n\n').at(-1) ?? '', /temporarily_unavailable/);
      assert.doesNotMatch(answer, VENDOR_TEXT);
      assert.equal(alerts().length, before + 1);
    });
  });

  describe('budgets and rates', () => {
    it('budget: a key without a budget uses the account of its organization', async () => {
      const key = gateway.createKey({ name: 'acme-poor', organization: 'acme', limits: limited({ nano: 0 }) });
      const status = async (model: string) =>
        (await gateway.post('/chat/completions', chatRequest(model), withKey(key))).status;
      assert.deepEqual([await status('chat/m'), await status('messages/m')], [200, 402]);
    });

    it('budget: a paid model is rejected when the budget is used up, a free one is not', async () => {
      // An answer of 11 and 7 tokens at 1 and 2 USD a million is 0.000025 USD.
      const key = gateway.createKey({ name: 'poor', limits: limited({ nano: 40_000 }) });
      const status = async (model: string) =>
        (await gateway.post('/chat/completions', chatRequest(model), withKey(key))).status;
      assert.deepEqual([await status('chat/m'), await status('chat/m'), await status('chat/m')], [200, 200, 402]);
      assert.equal(await status('chat/free'), 200);
      const refused = await gateway.post('/messages', chatRequest('chat/m'), withKey(key));
      assert.equal((await readError(refused)).error_type, 'usage_limit_exceeded');
      gateway.usage();
      gateway.keysChanged();
      assert.equal(await status('chat/m'), 402, 'what was stored is not forgotten');
      const [stored] = gateway.state.keys().filter(({ name }) => name === 'poor');
      assert.equal(stored?.spent, 50_000);
    });

    for (const [path, body] of [
      ['/chat/completions', chatRequest('chat/m')],
      ['/responses', { model: 'chat/m', input: 'Hi' }],
      ['/messages', chatRequest('chat/m')],
      ['/messages/count_tokens', chatRequest('messages/m')],
      ['/embeddings', { model: 'chat/m', input: 'Hi' }],
      ['/audio/transcriptions', { model: 'chat/m', input_audio: { data: 'AA', format: 'wav' } }],
      ['/fim/completions', { model: 'code/codestral-x', prompt: 'a', max_tokens: 5 }],
    ] as const) {
      it(`budget: a used up budget rejects a paid model at ${path} without an upstream request`, async () => {
        const key = gateway.createKey({ name: `poor at ${path}`, limits: limited({ nano: 0 }) });
        const before = gateway.upstream.requests.length;
        const refused = await gateway.post(path, body, withKey(key));
        assert.deepEqual([refused.status, (await readError(refused)).error_type], [402, 'usage_limit_exceeded']);
        assert.equal(gateway.upstream.requests.length, before);
      });
    }

    it('budget: is exceeded at most by the active requests', async () => {
      const key = gateway.createKey({ name: 'crowd', limits: limited({ nano: 100_000 }) });
      const inFlight = 8;
      let harness = 0;
      const worker = async () => {
        for (let n = 0; n < 10; n += 1) {
          const response = await gateway.post('/chat/completions', chatRequest('chat/m'), withKey(key));
          if (response.status === 200) harness += 1;
          await response.text();
        }
      };
      await Promise.all(Array.from({ length: inFlight }, worker));
      assert.ok(harness >= 4 && harness <= 4 + inFlight, `${harness}`);
    });

    it('rate: exceeding it returns 429 with Retry-After', async () => {
      const key = gateway.createKey({ name: 'slow', limits: limited({ rpm: 2 }) });
      const send = () => gateway.post('/chat/completions', chatRequest('chat/free'), withKey(key));
      assert.deepEqual([(await send()).status, (await send()).status], [200, 200]);
      const third = await send();
      assert.equal(third.status, 429);
      assert.ok(Number(third.headers.get('retry-after')) > 0);
      assert.equal((await readError(third)).error_type, 'rate_limit_exceeded');
    });
  });

  describe('rates', () => {
    /** Rejected requests by status. */
    const refused: readonly (readonly [path: string, body: unknown, status: number])[] = [
      ['/chat/completions', chatRequest('chat/free'), 403],
      ['/chat/completions', chatRequest('no/model'), 400],
      ['/chat/completions', '{', 400],
      ['/chat/completions', chatRequest('chat/m', { models: ['chat/free'] }), 400],
      ['/messages', chatRequest('chat/free'), 403],
      ['/responses', { model: 'chat/free', input: 'Hi' }, 403],
      ['/messages/count_tokens', chatRequest('chat/free'), 403],
      ['/embeddings', { model: 'chat/free', input: 'Hi' }, 403],
      ['/audio/transcriptions', { model: 'chat/free', input_audio: { data: 'AA', format: 'wav' } }, 403],
      ['/fim/completions', { model: 'chat/free', prompt: 'a', max_tokens: 5 }, 400],
    ];
    for (const [index, [path, body, status]] of refused.entries()) {
      it(`rate: counts a request that is rejected with ${status}: ${path} ${JSON.stringify(body).slice(0, 60)}`, async () => {
        const name = `hammer-${index}`;
        const key = gateway.createKey({ name, limits: limited({ rpm: 2 }), organization: 'acme' });
        const statuses = [];
        for (let n = 0; n < 4; n += 1) {
          const answer = await gateway.post(path, body, withKey(key));
          await answer.arrayBuffer();
          statuses.push(answer.status);
        }
        assert.deepEqual(statuses, [status, status, 429, 429]);
      });
    }

    it('rate: counts a request for another organization', async () => {
      const key = gateway.createKey({ name: 'stranger', limits: limited({ rpm: 1 }) });
      const send = () =>
        gateway.post('/chat/completions', chatRequest('chat/m'), withKey(key, { 'x-organization-id': 'acme' }));
      assert.deepEqual([(await send()).status, (await send()).status], [403, 429]);
    });
  });

  describe('fallbacks', () => {
    it('fallback: answers if the first upstream cannot be reached', async () => {
      const response = await gateway.post('/chat/completions', chatRequest('broke/m'));
      assert.equal(response.status, 200);
      assert.equal(gateway.rows().at(-1)?.model, 'messages/free');
    });

    const PROBLEMS = [
      { code: 402, message: 'acct_1 is empty' },
      { code: 401, message: 'User not found.' },
      { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
    ];
    for (const error of PROBLEMS) {
      it(`fallback: answers if the first provider sends “${error.message}” in a stream or a body`, async () => {
        for (const path of ['/chat/completions', '/messages', '/responses']) {
          for (const stream of [true, false]) {
            gateway.upstream.respond((request, upstream) => {
              if (!request.path.startsWith('/poor/')) return void play(request, upstream);
              upstream.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
              upstream.end(stream ? `data: ${JSON.stringify({ error })}\n\n` : JSON.stringify({ error }));
            });
            const response = await gateway.post(path, { ...chatRequest('poor/m', { stream }), input: 'Hi' });
            assert.equal(response.status, 200, await response.text());
            assert.equal(gateway.rows().at(-1)?.model, 'messages/free');
          }
        }
        gateway.upstream.respond(undefined);
      });
    }

    it('fallback: skips models that the policy blocks', async () => {
      const response = await gateway.post('/chat/completions', chatRequest('broke/m'), { 'x-organization-id': 'acme' });
      assert.equal(response.status, 200);
      assert.equal(gateway.rows().at(-1)?.model, 'chat/m');
    });

    it('fallback: uses the configured variant', async () => {
      const at = gateway.upstream.requests.length;
      const response = await gateway.post('/chat/completions', chatRequest('broke/v'));
      assert.equal(response.status, 200);
      assert.equal(gateway.rows().at(-1)?.model, 'tuned/m');
      assert.equal((await gateway.upstream.request(at)).body.reasoning_effort, 'high');
      const translated = await gateway.post('/messages', chatRequest('broke/v'));
      assert.equal(translated.status, 200);
      assert.equal((await gateway.upstream.request(at + 1)).body.reasoning_effort, 'high');
    });

    it('fallback: skips a variant of a model that the policy blocks', async () => {
      for (const path of ['/chat/completions', '/messages']) {
        const response = await gateway.post(path, chatRequest('broke/v'), { 'x-organization-id': 'acme' });
        assert.equal(response.status, 200);
        assert.equal(gateway.rows().at(-1)?.model, 'chat/m');
      }
    });

    it('fallback: a failing free model is not replaced by a paid one without a budget', async () => {
      const key = gateway.createKey({ name: 'spent', limits: limited({ nano: 0 }) });
      const asked = gateway.upstream.requests.length;
      const refused = await gateway.post('/chat/completions', chatRequest('broke/n'), withKey(key));
      assert.deepEqual([refused.status, (await readError(refused)).error_type], [503, 'network_error']);
      assert.equal(gateway.upstream.requests.length, asked);
    });
  });

  describe('lists and operation', () => {
    it('models: lists embedding and transcription models as configured', async () => {
      const first = async (path: string) =>
        ((await (await gateway.get(path)).json()) as { data: Record<string, unknown>[] }).data[0];
      assert.equal((await first('/v1/embedding-models'))?.dimensions, 4);
      assert.equal((await first('/transcription-models'))?.name, 'Listen');
      assert.equal((await gateway.post('/embeddings', { model: 'chat/embed', input: 'x' })).status, 200);
    });

    it('operation: reports health, readiness, metrics and the API description', async () => {
      assert.equal((await gateway.get('/healthz')).status, 200);
      assert.equal((await gateway.get('/readyz')).status, 200);
      const metrics = await (await gateway.get('/metrics')).text();
      for (const line of [
        /^svc_gateway_requests_total\{route="\/chat\/completions",status="200"\} \d+$/m,
        /^svc_gateway_tokens_total\{model="chat\/m",kind="input"\} \d+$/m,
        /^svc_gateway_request_seconds_bucket\{le="\+Inf",route="\/messages"\} \d+$/m,
        /^process_resident_memory_bytes /m,
      ]) {
        assert.ok(line.test(metrics), String(line));
      }
      const proxied = await gateway.get('/metrics', { 'x-forwarded-for': '203.0.113.9' });
      assert.equal(proxied.status, 401);
      const { paths } = (await (await gateway.get('/openapi.json')).json()) as { paths: Record<string, unknown> };
      for (const path of ['/chat/completions', '/responses', '/messages', '/fim/completions']) assert.ok(paths[path]);
    });

    it('log: contains no credential', () => {
      assert.doesNotMatch(gateway.lines.join('\n'), new RegExp(`canary|${KEY}|svc_[A-Za-z0-9_-]{43}`));
    });
  });
});
