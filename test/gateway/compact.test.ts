import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { play } from '../upstream/scenarios.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { UPSTREAMS } from './many-providers.ts';

const call = { type: 'function_call' as const, call_id: 'c1', name: 'read', arguments: '{}' };
const input: OpenAI.Responses.ResponseInput = [
  { role: 'user', content: 'Fix the bug.' },
  call,
  { type: 'function_call_output', call_id: 'c1', output: 'the file' },
  { role: 'assistant', content: 'Fixed.' },
];

describe('compaction of a Responses conversation', () => {
  let gateway: TestGateway;
  let openai: OpenAI;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => ({ provider: providers(url) }),
    });
    openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  });
  after(() => gateway.close());
  beforeEach(() => {
    gateway.upstream.respond(undefined);
    gateway.upstream.forget();
  });

  for (const up of UPSTREAMS) {
    it(`compaction: a ${up} upstream without it summarizes, and its summary continues the conversation`, async () => {
      gateway.upstream.respond((request, response) => {
        if (!request.path.endsWith('/compact')) return play(request, response);
        response.writeHead(404).end('{"error":{"message":"no"}}');
        return undefined;
      });
      const model = `${up}/m`;
      const compacted = await openai.responses.compact({ model, input, instructions: 'Be brief.' });
      assert.equal(compacted.object, 'response.compaction');
      assert.deepEqual(
        compacted.output.map(({ type }) => type ?? 'message'),
        ['message', 'compaction'],
      );
      assert.ok(compacted.usage.input_tokens > 0);
      const row = gateway.rows().at(-1);
      assert.deepEqual(
        [row?.endpoint, row?.input, row?.estimated],
        ['/responses/compact', compacted.usage.input_tokens, 0],
      );
      const asked = JSON.stringify(gateway.upstream.requests.at(-1)?.body);
      assert.match(asked, /Be brief/);
      assert.match(asked, /the file.*Summarize the conversation above/);

      for (const next of UPSTREAMS) {
        gateway.upstream.forget();
        const more = [
          ...(compacted.output as OpenAI.Responses.ResponseInput),
          { role: 'user' as const, content: 'Go on' },
        ];
        await openai.responses.create({ model: `${next}/m`, input: more });
        const body = JSON.stringify((await gateway.upstream.request(0)).body);
        assert.match(body, /Fix the bug\..*Summary of the conversation so far:.*Hello.*Go on/);
        assert.doesNotMatch(body, /compaction/);
      }
    });
  }

  it('compaction: an upstream that has it compacts, and its usage counts', async () => {
    const output = [{ id: 'cmp', type: 'compaction', encrypted_content: 'gAAA' }];
    const usage = { input_tokens: 50, output_tokens: 7, total_tokens: 57 };
    gateway.upstream.respond(({ path, body }, response) => {
      assert.deepEqual([path, body.model], ['/v1/responses/compact', 'up-m']);
      const answer = { id: 'r', object: 'response.compaction', created_at: 1, output, usage };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    const compacted = await openai.responses.compact({ model: 'responses/m', input });
    const marked = JSON.parse(JSON.stringify(compacted.output).replace(/svc\.by\.[0-9a-f]{12}\./, ''));
    assert.deepEqual(marked, output);
    const row = gateway.rows().at(-1);
    assert.deepEqual([row?.input, row?.output, row?.estimated], [50, 7, 0]);
  });

  it('compaction: one that only another vendor can read becomes a text that says so', async () => {
    gateway.upstream.respond(undefined);
    for (const [model, content] of [
      ['chat/m', 'gAAA'],
      ['messages/m', 'gAAA'],
      ['responses/m', 'svc.by.0123456789ab.gAAA'],
    ] as const) {
      gateway.upstream.forget();
      const item = { type: 'compaction', id: 'cmp', encrypted_content: content };
      const response = await gateway.post('/responses', { model, input: [item, { role: 'user', content: 'q' }] });
      assert.equal(response.status, 200, await response.text());
      const sent = JSON.stringify((await gateway.upstream.request(0)).body);
      assert.ok(sent.includes('compacted by another provider') && !sent.includes('gAAA'), sent);
    }
  });

  const refused = [
    ['no input', {}, 'input'],
    ['input: 7', { input: 7 }, 'input'],
    ['a previous response', { input: 'Hi', previous_response_id: 'r' }, 'previous_response_id'],
  ] as const;
  for (const [what, body, param] of refused) {
    it(`compaction: ${what} is refused`, async () => {
      const response = await gateway.post('/responses/compact', { model: 'chat/m', ...body });
      const { error } = (await response.json()) as { error: { param: string } };
      assert.deepEqual([response.status, error.param], [400, param]);
    });
  }

  it('compaction: an answer without a summary is an error', async () => {
    gateway.upstream.respond((_, response) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'c', choices }));
    });
    const response = await gateway.post('/responses/compact', { model: 'chat/free', input: 'Hi' });
    assert.equal(response.status, 503);
  });
});
