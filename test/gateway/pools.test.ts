import { strict as assert } from 'node:assert';
import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import { PAYMENT_ERRORS, QUOTA_ERRORS } from '../upstream/error-bodies.ts';
import { play } from '../upstream/scenarios.ts';
import type { ReceivedRequest, Responder } from '../upstream/upstream.ts';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { limited } from './ledger-row.ts';

type Name = 'a' | 'b' | 'c';

interface PoolsUnderTest {
  readonly gateway: TestGateway;
  /** How a member answers; a member without an entry answers normally. */
  readonly members: Partial<Record<Name, Responder>>;
  /** The members that got requests so far, in order. */
  readonly asked: Name[];
  ask(content: string, more?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
}

const MODEL = { cost: { input: 1, output: 2 }, limit: { context: 1_000, output: 100 } };

/** A gateway with three providers and the pool `team/large` over a model of each. */
async function withPool(
  pool: Record<string, unknown>,
  test: (subject: PoolsUnderTest) => Promise<void>,
  gatewayConfig: Record<string, unknown> = {},
): Promise<void> {
  const gateway = await startTestGateway({
    config: (url) => {
      const provider = (name: Name, model: object = MODEL) => ({
        options: { baseURL: `${url}/${name}/v1`, apiKey: `sk-${name}-canary-key` },
        models: { m: model },
      });
      return {
        provider: {
          a: provider('a'),
          b: provider('b', { ...MODEL, cost: { input: 3, output: 1 }, limit: { context: 500, output: 200 } }),
          c: provider('c'),
        },
        gateway: { pools: { 'team/large': { models: ['a/m', 'b/m', 'c/m'], ...pool } }, ...gatewayConfig },
      };
    },
  });
  const members: Partial<Record<Name, Responder>> = {};
  const asked: Name[] = [];
  gateway.upstream.respond((request, response) => {
    const name = request.path.slice(1, 2) as Name;
    asked.push(name);
    return (members[name] ?? play)(request, response);
  });
  const ask: PoolsUnderTest['ask'] = (content, more = {}, headers = {}) =>
    gateway.post('/chat/completions', { model: 'team/large', messages: [{ role: 'user', content }], ...more }, headers);
  try {
    await test({ gateway, members, asked, ask });
  } finally {
    await gateway.close();
  }
}

function fails(status: number, headers: Record<string, string> = {}): Responder {
  return (_request: ReceivedRequest, response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: `status ${status}` } }));
  };
}

const disconnects: Responder = (_request, response) => void response.destroy();

function answersWith(status: number, body: unknown): Responder {
  return (_request: ReceivedRequest, response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

/** Causes for which another member answers, and whether the failed one then rests. */
const CAUSES: readonly { readonly name: string; readonly responder: Responder; readonly rests: boolean }[] = [
  { name: '429', responder: fails(429), rests: true },
  { name: '429 with Retry-After', responder: fails(429, { 'retry-after': '60' }), rests: true },
  { name: '401 of the own account', responder: fails(401), rests: true },
  { name: '402 of the own account', responder: fails(402), rests: true },
  { name: '403 of the own account', responder: fails(403), rests: true },
  { name: '404', responder: fails(404), rests: false },
  { name: '500', responder: fails(500), rests: true },
  { name: '503', responder: fails(503), rests: true },
  { name: 'a closed connection', responder: disconnects, rests: true },
  ...Object.entries({ ...PAYMENT_ERRORS, ...QUOTA_ERRORS }).map(([vendor, { status, body }]) => ({
    name: `the used-up account of ${vendor}`,
    responder: answersWith(status, body),
    rests: true,
  })),
];

describe('pools', () => {
  for (const { name, responder, rests } of CAUSES) {
    it(`pool: after ${name}, another member answers${rests ? ', and the member gets no more requests' : ''}`, () =>
      withPool({ weights: [1e9, 1e-9, 1e-9], affinity: false }, async ({ members, asked, ask, gateway }) => {
        members.a = responder;
        const first = await ask('Hi');
        assert.equal(first.status, 200, await first.text());
        assert.equal(asked[0], 'a');
        assert.notEqual(asked.at(-1), 'a');
        const before = asked.length;
        assert.equal((await ask('Hi')).status, 200);
        assert.equal(asked[before], rests ? asked.at(-1) : 'a');
        assert.equal(asked.slice(before).includes('a'), !rests);
        assert.match(String(gateway.rows().at(-1)?.model), /^[bc]\/m$/);
      }));
  }

  for (const [vendor, { status, body }] of Object.entries({ ...PAYMENT_ERRORS, ...QUOTA_ERRORS })) {
    it(`fallback: a model whose account is used up is left alone (${vendor})`, () =>
      withPool(
        {},
        async ({ members, asked, ask, gateway }) => {
          members.a = answersWith(status, body);
          for (let request = 0; request < 3; request += 1) {
            const answer = await ask('Hi', { model: 'a/m' });
            assert.equal(answer.status, 200, await answer.text());
          }
          assert.deepEqual(asked, ['a', 'b', 'b', 'b']);
          assert.equal(gateway.rows().filter((row) => row.model === 'a/m').length, 1);
          members.b = fails(500);
          await ask('Hi', { model: 'a/m' });
          assert.equal(asked.at(-1), 'a', 'it is tried if nothing else answers');
        },
        { fallback: { 'a/m': ['b/m'] } },
      ));
  }

  it('pool: a request that is wrong itself is not sent to another member', () =>
    withPool({ affinity: false }, async ({ members, asked, ask }) => {
      for (const name of ['a', 'b', 'c'] as const) members[name] = fails(400);
      assert.equal((await ask('Hi')).status, 400);
      assert.equal(asked.length, 1);
      assert.equal((await ask('Hi')).status, 400);
      assert.equal(asked.length, 2);
    }));

  it('pool: members that cool down are still tried if there is no other', () =>
    withPool({ affinity: false }, async ({ members, asked, ask }) => {
      for (const name of ['a', 'b', 'c'] as const) members[name] = fails(503);
      assert.equal((await ask('Hi')).status, 503);
      assert.deepEqual(asked.toSorted(), ['a', 'b', 'c']);
      delete members.b;
      const answer = await ask('Hi');
      assert.equal(answer.status, 200, await answer.text());
    }));

  it('pool: nothing is sent twice after the first byte of an answer', () =>
    withPool({ affinity: false }, async ({ members, asked, ask }) => {
      const breaksOff: Responder = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"id":"x","choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n');
        setImmediate(() => response.destroy());
      };
      for (const name of ['a', 'b', 'c'] as const) members[name] = breaksOff;
      const text = await (await ask('Hi', { stream: true })).text();
      assert.ok(text.includes('Half') && text.includes('error'), text);
      assert.equal(asked.length, 1);
    }));

  it('affinity: all requests of a conversation go to one member, and conversations are spread', () =>
    withPool({}, async ({ asked, ask }) => {
      const members = new Set<Name>();
      for (let conversation = 0; conversation < 20; conversation += 1) {
        const at = asked.length;
        const turns = [{ role: 'user', content: `Question ${conversation}` }];
        for (let turn = 0; turn < 3; turn += 1) {
          assert.equal((await ask('', { messages: turns })).status, 200);
          turns.push({ role: 'assistant', content: `Answer ${turn}` }, { role: 'user', content: `More ${turn}` });
        }
        const used = new Set(asked.slice(at));
        assert.equal(used.size, 1, `conversation ${conversation} went to ${[...used]}`);
        for (const member of used) members.add(member);
      }
      assert.equal(members.size, 3);
    }));

  it('affinity: prompt_cache_key keeps different beginnings together', () =>
    withPool({}, async ({ asked, ask }) => {
      for (let request = 0; request < 12; request += 1) await ask(`Question ${request}`, { prompt_cache_key: 'job-1' });
      assert.equal(new Set(asked).size, 1);
    }));

  it('hedge: a second member answers if the first one sends nothing, and the first request is cancelled', () =>
    withPool({ weights: [1e9, 1e-9, 1e-9], affinity: false, hedgeAfter: 30 }, async (subject) => {
      const { members, asked, ask, gateway } = subject;
      members.a = () => undefined;
      for (const stream of [true, false]) {
        gateway.upstream.forget();
        const answer = await ask('Hi', { stream });
        assert.equal(answer.status, 200);
        assert.match(await answer.text(), stream ? /data: \[DONE\]/ : /"choices"/);
        assert.equal(await (await gateway.upstream.request(0)).closed, true, 'the slow request was cancelled');
      }
      assert.deepEqual(asked.filter((name) => name === 'a').length, 2);
      assert.equal(gateway.rows().length, 2, 'each answer counts once');
    }));

  it('hedge: the first member answers if it is faster after all', () =>
    withPool({ weights: [1e9, 1e-9, 1e-9], affinity: false, hedgeAfter: 20 }, async (subject) => {
      const { members, ask, gateway } = subject;
      const others = Promise.withResolvers<void>();
      members.b = () => others.resolve();
      members.c = () => others.resolve();
      members.a = async (request, response) => {
        await others.promise;
        await play(request, response);
      };
      assert.equal((await ask('Hi')).status, 200);
      assert.equal(gateway.rows().at(-1)?.model, 'a/m');
      assert.equal(await (await gateway.upstream.request(1)).closed, true);
    }));

  it('hedge: if one of both fails, the other answers', () =>
    withPool({ weights: [1e9, 1e-9, 1e-9], affinity: false, hedgeAfter: 20 }, async ({ members, ask, gateway }) => {
      const failed = Promise.withResolvers<void>();
      const second: Responder = async (request, response) => {
        response.once('close', () => failed.resolve());
        await fails(503)(request, response);
      };
      members.b = second;
      members.c = second;
      members.a = async (request, response) => {
        await failed.promise;
        await play(request, response);
      };
      assert.equal((await ask('Hi')).status, 200);
      assert.equal(gateway.rows().at(-1)?.model, 'a/m');
    }));

  it('list: a pool is a model with the smallest limits and the highest prices of its members', () =>
    withPool({ name: 'Team Large' }, async ({ gateway }) => {
      const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY });
      const model: object = await client.models.retrieve('team/large');
      const { id, name, owned_by, context_length, pricing, top_provider } = model as Record<string, unknown>;
      assert.deepEqual(
        { id, name, owned_by, context_length, pricing, top_provider },
        {
          id: 'team/large',
          name: 'Team Large',
          owned_by: 'team',
          context_length: 500,
          pricing: { prompt: '0.000003', completion: '0.000002' },
          top_provider: { context_length: 500, max_completion_tokens: 100 },
        },
      );
      const ids = (await client.models.list()).data.map((each) => each.id);
      assert.deepEqual(ids, ['team/large', 'a/m', 'b/m', 'c/m']);
    }));

  it('list: a pool may have the name of its first member', () =>
    withPool(
      {},
      async ({ gateway, asked, members }) => {
        members.a = fails(500);
        const answer = await gateway.post('/messages', {
          model: 'a/m',
          max_tokens: 10,
          messages: [{ role: 'user', content: 'Hi' }],
        });
        assert.equal(answer.status, 200, await answer.text());
        assert.equal(asked.at(-1), 'b');
        const { data } = (await (await gateway.get('/models')).json()) as { data: { id: string }[] };
        assert.deepEqual(
          data.map(({ id }) => id),
          ['a/m', 'b/m', 'c/m'],
        );
      },
      { pools: { 'a/m': { models: ['a/m', 'b/m'] } } },
    ));

  it('policy: a pool that is allowed uses no member that is denied', () =>
    withPool(
      { affinity: false },
      async ({ asked, ask, gateway }) => {
        const key = gateway.createKey({ name: 'ann', organization: 'acme' });
        const other = gateway.createKey({ name: 'bob', organization: 'none' });
        const as = (secret: string) => ({ authorization: `Bearer ${secret}` });
        for (let request = 0; request < 10; request += 1) assert.equal((await ask('Hi', {}, as(key))).status, 200);
        assert.deepEqual(new Set(asked), new Set(['c']));
        const refused = await ask('Hi', {}, as(other));
        assert.deepEqual([refused.status, asked.length], [403, 10]);
        const direct = await gateway.post('/chat/completions', { model: 'c/m', messages: [] }, as(key));
        assert.equal(direct.status, 403);
      },
      {
        pools: { 'team/large': { models: ['a/m', 'b/m', 'c/m'] } },
        organizations: {
          acme: { policy: { allow: ['team/*'], deny: ['a/*', 'b/m'] } },
          none: { policy: { deny: ['a/*', 'b/*', 'c/*'] } },
        },
      },
    ));

  it('policy: a refused key of the organization is reported, and not replaced by the gateway’s account', () =>
    withPool(
      {},
      async ({ asked, ask, gateway, members }) => {
        const key = gateway.createKey({ name: 'ann', organization: 'acme' });
        members.a = fails(401);
        for (let request = 0; request < 2; request += 1) {
          const refused = await ask('Hi', {}, { authorization: `Bearer ${key}` });
          assert.equal(refused.status, 401, await refused.text());
        }
        assert.deepEqual(asked, ['a', 'a']);
        assert.equal((await ask('Hi')).status, 200, 'for others, another member answers');
      },
      {
        pools: { 'team/large': { models: ['a/m', 'b/m'], weights: [1e9, 1e-9], affinity: false } },
        organizations: { acme: { byok: { a: 'sk-of-acme-canary' } } },
      },
    ));

  it('budget: an exhausted key gets no answer of a pool with prices', () =>
    withPool({}, async ({ asked, ask, gateway }) => {
      const key = gateway.createKey({ name: 'spent', limits: limited({ nano: 0 }) });
      const refused = await ask('Hi', {}, { authorization: `Bearer ${key}` });
      assert.deepEqual([refused.status, asked.length], [402, 0]);
    }));

  it('metrics and log: name the members, and show which cool down', () =>
    withPool({ weights: [1e9, 1e-9, 1e-9], affinity: false }, async ({ members, ask, gateway }) => {
      members.a = fails(503);
      await (await ask('Hi')).text();
      const metrics = await (await gateway.get('/metrics')).text();
      assert.match(metrics, /svc_gateway_pool_member_available\{member="a\/m"\} 0/);
      assert.match(metrics, /svc_gateway_pool_member_available\{member="[bc]\/m"\} 1/);
      assert.ok(gateway.lines.some((line) => line.includes('"member":"a/m"') && line.includes('for a while')));
    }));
});
