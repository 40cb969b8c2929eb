import assert from 'node:assert/strict';
import { mock } from 'node:test';
import * as z from 'zod';
import { adminPaths } from '../../src/gateway/admin/openapi.ts';
import { openApi } from '../../src/gateway/http/openapi.ts';
import { ENDPOINTS, type Endpoint } from '../../src/protocol/admin-api/endpoints.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { ledgerRow } from './ledger-row.ts';

/** Keys, usage, requests, budgets and the audit log over the admin API. */
describe('admin API', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: providers(url),
        gateway: {
          admin: true,
          budgets: [{ usd: 10, period: 'month' }],
          organizations: { acme: { name: 'Acme', policy: { deny: ['messages/*'] }, byok: { chat: 'sk-acme-canary' } } },
          pools: { 'team/large': { models: ['chat/m', 'responses/m'], weights: [3, 1] } },
        },
      }),
    });
  });
  afterEach(() => gateway.close());

  const OPERATOR = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const raw = (method: string, path: string, body?: unknown, headers: Record<string, string> = OPERATOR) =>
    fetch(`${gateway.url}/admin/v1${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  /** Calls an endpoint and checks the answer with the schema of the contract, without members that it does not name. */
  async function call<A extends z.ZodType>(
    endpoint: Endpoint<z.ZodType, z.ZodType, A>,
    { path = '', query = {}, body }: { path?: string; query?: Record<string, string>; body?: unknown } = {},
  ): Promise<z.output<A>> {
    const place = endpoint.path.replace(/\{\w+\}/, path);
    const answer = await raw(endpoint.method, `${place}?${new URLSearchParams(query)}`, body);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const parsed = endpoint.answer.parse(JSON.parse(text));
    assert.deepEqual(JSON.parse(text), parsed, 'the answer has members that the contract does not name');
    return parsed;
  }
  const ask = (model: string, headers: Record<string, string> = {}) =>
    gateway.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }, headers);

  const reply = (status: number, body: object) =>
    gateway.upstream.respond((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });

  it('admin keys: create, list, change, rotate and revoke work at once, and the secret is shown once', async () => {
    const budgets = [{ usd: 5, period: 'month', time_zone: 'Europe/Berlin' }];
    const created = await call(ENDPOINTS.createKey, {
      body: { name: 'ann', user: 'ann@x', organization: 'acme', budgets, rates: [{ requests: 60 }] },
    });
    assert.match(created.secret, /^svc_[\w-]{43}$/);
    const {
      budgets: [budget],
      rates,
      state,
    } = created.key;
    assert.deepEqual([budget?.usd, budget?.spent, budget?.period, budget?.model, state], [5, 0, 'month', '*', 'valid']);
    assert.deepEqual(rates, [{ requests: 60, model: '*' }]);
    const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
    assert.equal((await ask('chat/m', bearer(created.secret))).status, 200);

    const changed = await call(ENDPOINTS.changeKey, { path: 'ann', body: { rates: [] } });
    assert.deepEqual([changed.rates, changed.budgets.length], [[], 1], 'budgets stay');

    const rotated = await call(ENDPOINTS.rotateKey, { path: 'ann', body: { grace: '1h' } });
    assert.equal(rotated.key.state, 'rotating');
    assert.equal((await ask('chat/m', bearer(created.secret))).status, 200, 'the old secret within its grace time');
    const revoked = await call(ENDPOINTS.revokeKey, { path: 'ann', body: {} });
    assert.equal(revoked.state, 'revoked');
    assert.equal((await ask('chat/m', bearer(rotated.secret))).status, 401);

    gateway.flush();
    const { data } = await call(ENDPOINTS.listKeys);
    assert.ok(data[0]?.last_used_at);
    const text = JSON.stringify([data, await call(ENDPOINTS.listAudit), gateway.lines]);
    assert.ok(!text.includes(created.secret) && !text.includes(rotated.secret));
  });

  it('admin keys: the list has pages, a search and states', async () => {
    for (let index = 0; index < 25; index += 1) {
      gateway.createKey({ name: `key-${String(index).padStart(2, '0')}`, user: index % 2 ? 'odd' : 'even' });
    }
    gateway.state.revokeKey('key-03');
    gateway.state.rotateKey('key-04', 60_000);
    const names: string[] = [];
    let next: string | null = '';
    for (let pages = 0; next !== null; pages += 1) {
      assert.ok(pages < 4);
      const page: z.output<typeof ENDPOINTS.listKeys.answer> = await call(ENDPOINTS.listKeys, {
        query: { limit: '10', search: 'KEY', ...(next ? { cursor: next } : {}) },
      });
      assert.equal(page.total, 25);
      names.push(...page.data.map(({ name }) => name));
      next = page.next;
    }
    assert.deepEqual(names, [...new Set(names)].sort());
    assert.equal(names.length, 25);
    for (const [query, expected] of [
      [{ state: 'revoked' }, ['key-03']],
      [{ state: 'rotating' }, ['key-04']],
      [{ user: 'odd', search: '2' }, ['key-21', 'key-23']],
      [{ search: '%' }, []],
    ] as const) {
      const { data, total } = await call(ENDPOINTS.listKeys, { query });
      assert.deepEqual([data.map(({ name }) => name), total], [expected, expected.length]);
    }
  });

  it('admin audit: each change has who, what, from where and when, and pages', async () => {
    const since = Date.now();
    await call(ENDPOINTS.createKey, { body: { name: 'ann', budgets: [{ usd: 1 }] } });
    await call(ENDPOINTS.changeKey, { path: 'ann', body: { rates: [{ requests: 5 }] } });
    await call(ENDPOINTS.rotateKey, { path: 'ann', body: { grace: '0' } });
    await call(ENDPOINTS.revokeKey, { path: 'ann', body: { cut: true } });
    const { data, next } = await call(ENDPOINTS.listAudit, { query: { limit: '3' } });
    assert.deepEqual(
      data.map(({ action }) => action),
      ['key.revoke', 'key.rotate', 'key.change'],
    );
    const [newest] = data;
    assert.deepEqual([newest?.who, newest?.target, newest?.details], ['operator', 'ann', { cut: true }]);
    assert.match(newest?.source ?? '', /127\.0\.0\.1$/);
    assert.ok(Date.parse(newest?.at ?? '') >= since);
    const rest = await call(ENDPOINTS.listAudit, { query: { limit: '3', cursor: next ?? '' } });
    assert.deepEqual([rest.data.map(({ action }) => action), rest.next], [['key.create'], null]);
  });

  it('admin requests: answered, refused and failed requests with attempts, times, tokens and the sum of the price', async () => {
    const cached = { cached_tokens: 400 };
    reply(200, answer({ prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: cached }));
    const id = (await ask('chat/m')).headers.get('x-request-id') ?? '';
    assert.equal((await ask('chat/none')).status, 400);
    reply(500, {});
    const failed = (await ask('messages/m')).headers.get('x-request-id') ?? '';
    gateway.flush();

    const { data } = await call(ENDPOINTS.listRequests);
    assert.deepEqual(
      data.map(({ outcome, status, model, attempts }) => [outcome, status, model, attempts]),
      [
        ['failed', 503, 'messages/m', 1],
        ['refused', 400, null, 0],
        ['complete', 200, 'chat/m', 1],
      ],
    );
    const detail = await call(ENDPOINTS.getRequest, { path: id });
    assert.deepEqual(
      detail.price.lines.map(({ kind, tokens, cost }) => [kind, tokens, cost]),
      [
        ['input', 600, 0.0006],
        ['cache_read', 400, 0.00004],
        ['output', 100, 0.0002],
      ],
    );
    assert.deepEqual([detail.price.total, detail.cost, detail.price.basis], [0.00084, 0.00084, 'prices']);
    assert.equal(detail.tries.length, 1);
    const { tries } = await call(ENDPOINTS.getRequest, { path: failed });
    assert.deepEqual(
      tries.map(({ outcome, status, error_type }) => [outcome, status, error_type]),
      [['failed', 500, 'upstream_error']],
    );
    const { total } = await call(ENDPOINTS.getUsage);
    assert.deepEqual([total.requests, total.failures, total.cost], [3, 2, 0.00084]);
  });

  it('admin requests: filters and pages', async () => {
    for (let index = 0; index < 30; index += 1) {
      const outcome = index % 10 === 0 ? 'failed' : 'complete';
      gateway.record(
        ledgerRow({ at: 1_000 + Math.floor(index / 3), key: `k${index % 2}`, model: `p/m${index % 3}`, outcome }),
      );
    }
    gateway.flush();
    const walk = async (query: Record<string, string>) => {
      const ids: string[] = [];
      let next: string | null = null;
      do {
        const page: z.output<typeof ENDPOINTS.listRequests.answer> = await call(ENDPOINTS.listRequests, {
          query: { limit: '4', ...query, ...(next ? { cursor: next } : {}) },
        });
        ids.push(...page.data.map(({ id }) => id));
        next = page.next;
      } while (next !== null);
      assert.equal(new Set(ids).size, ids.length);
      return ids.length;
    };
    for (const [query, count] of [
      [{}, 30],
      [{ key: 'k1' }, 15],
      [{ model: 'p/m2' }, 10],
      [{ key: 'k1', model: 'p/m2' }, 5],
      [{ outcome: 'failures' }, 3],
      [{ outcome: 'complete', key: 'k0' }, 12],
      [{ outcome: 'failed', key: 'k1' }, 0],
      [{ since: '1970-01-01T00:00:01.005Z' }, 15],
      [{ until: '1970-01-01T00:00:01.005Z' }, 15],
    ] as const) {
      assert.equal(await walk(query), count, JSON.stringify(query));
    }
  });

  it('admin requests: live requests arrive as they end, filtered, and end with the session', async () => {
    const answer = await raw('GET', '/requests/live?model=chat/m');
    assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const events = readEvents(answer);
    await events.next();
    await ask('chat/free');
    await ask('chat/m');
    const { value } = await events.next();
    const [, data = ''] = /^event: request\ndata: (.*)$/.exec(value ?? '') ?? [];
    const request = ENDPOINTS.followRequests.answer.parse(JSON.parse(data));
    assert.deepEqual([request.model, request.outcome, request.attempts], ['chat/m', 'complete', 1]);
    await events.return(undefined);
  });

  it('admin requests: a reader gets at most 50 live requests a second and the number of all', async () => {
    // The second of the reader ends when all requests have ended, however long they take.
    mock.timers.enable({ apis: ['setInterval'] });
    const events = readEvents(await raw('GET', '/requests/live'));
    await events.next();
    await Promise.all(Array.from({ length: 80 }, () => ask('chat/none')));
    mock.timers.tick(1_000);
    mock.timers.reset();
    let requests = 0;
    for await (const event of events) {
      if (event.startsWith('event: request')) requests += 1;
      if (event.startsWith('event: sample')) {
        const { shown, total } = JSON.parse(event.slice(event.indexOf('{')));
        assert.ok(shown <= 50 && total > shown, event);
        break;
      }
    }
    assert.ok(requests >= 50 && requests < 80, String(requests));
  });

  it('admin budgets: what was spent, the window, and the time when it runs out', async () => {
    gateway.record(ledgerRow({ at: Date.now(), cost: 9_000_000_000 }));
    const { data } = await call(ENDPOINTS.listBudgets);
    const [budget] = data;
    assert.deepEqual([budget?.usd, budget?.spent, budget?.period, budget?.scope.key], [10, 9, 'month', null]);
    assert.ok(budget?.window_start && budget.window_end);
    // In the first moments of a month, the rate would be that of a moment.
    if (budget.runs_out_at) assert.ok(budget.runs_out_at < budget.window_end);
  });

  it('admin organizations, models, providers and replicas: as configured, with health, without secrets', async () => {
    reply(500, {});
    await ask('messages/m');
    gateway.upstream.respond(undefined);
    await ask('chat/m');
    const organizations = await call(ENDPOINTS.listOrganizations);
    assert.deepEqual(organizations.data[0], {
      ...{ id: 'acme', name: 'Acme', allow: null, deny: ['messages/*'], byok: ['chat'], rates: [], keys: 0 },
    });
    const models = await call(ENDPOINTS.listModels);
    const pool = models.data.find(({ id }) => id === 'team/large');
    assert.deepEqual(
      pool?.pool?.members.map(({ model, weight }) => [model, weight]),
      [
        ['chat/m', 3],
        ['responses/m', 1],
      ],
    );
    const failing = models.data.find(({ id }) => id === 'messages/m');
    assert.deepEqual([failing?.health.state, failing?.health.last_error], ['failing', 'upstream_error']);
    assert.equal(failing?.price?.output, 2);
    const providersList = await call(ENDPOINTS.listProviders);
    assert.deepEqual(
      providersList.data.map(({ id, health }) => [id, health.state]),
      [
        ['chat', 'ok'],
        ['messages', 'failing'],
        ['responses', 'unknown'],
      ],
    );
    const replicas = await call(ENDPOINTS.listReplicas);
    assert.deepEqual([replicas.data.length, replicas.data[0]?.self, replicas.data[0]?.pid], [1, true, process.pid]);
    const text = JSON.stringify([organizations, models, providersList, replicas]);
    assert.ok(!text.includes('canary'));
  });

  it('admin: OpenAPI describes each endpoint with its parameters, body and answer', () => {
    const paths = z.record(z.string(), z.record(z.string(), z.unknown())).parse(openApi(adminPaths()).paths);
    for (const { method, path } of Object.values(ENDPOINTS)) {
      assert.ok(paths[`/admin/v1${path}`]?.[method.toLowerCase()], path);
    }
    const text = JSON.stringify(paths['/admin/v1/keys']);
    assert.match(text, /"name":"search","in":"query"/);
    assert.match(text, /"secret":\{"type":"string"\}/);
  });
});

function answer(usage: object) {
  return {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'up-m', usage },
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  };
}

/** The events of a stream, without comments after the first one. */
async function* readEvents(answer: Response): AsyncGenerator<string, void> {
  let rest = '';
  for await (const chunk of (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (!part.startsWith(': ') || part === ': connected') yield part;
  }
}
