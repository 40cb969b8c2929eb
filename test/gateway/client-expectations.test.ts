import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { objectOrEmpty } from '../../src/base/json.ts';
import { CONTEXT_ERRORS } from '../upstream/error-bodies.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { UPSTREAMS } from './many-providers.ts';

const hi = [{ role: 'user' as const, content: 'Hi' }];

describe('what clients expect of the gateway', () => {
  let gateway: TestGateway;
  let anthropic: Anthropic;
  let openai: OpenAI;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const options = { baseURL: `${url}/v1`, apiKey: 'k' };
        const dated = { name: 'Dated', limit: { context: 1_000, output: 100 } };
        return { provider: { ...providers(url), plain: { options, models: { dated, bare: {} } } } };
      },
    });
    anthropic = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
    openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  });
  after(() => gateway.close());
  afterEach(() => gateway.upstream.respond(undefined));

  /** The upstream's error that has this body. */
  function refuse({ status, body }: { status: number; body: unknown }): void {
    gateway.upstream.respond((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  }

  describe('a prompt beyond the context window', () => {
    const TOKENS: Readonly<Record<string, string>> = {
      openai: '130021 tokens > 128000 maximum',
      'openai responses': '128001 tokens > 128000 maximum',
      anthropic: '210353 tokens > 200000 maximum',
      mistral: '40123 tokens > 32768 maximum',
    };
    for (const [vendor, error] of Object.entries(CONTEXT_ERRORS)) {
      const lowered = vendor === 'anthropic with max_tokens';
      const expected = TOKENS[vendor]?.replace(/[.]/g, '\\.') ?? '\\d+ tokens > \\d+ maximum';
      it(`is ${lowered ? 'not ' : ''}named in Anthropic’s words on /messages, as ${vendor} reports it`, async () => {
        refuse(error);
        for (const up of UPSTREAMS) {
          for (const stream of [true, false]) {
            const answer = await gateway.post('/messages', { model: `${up}/m`, max_tokens: 9, messages: hi, stream });
            const body = (await answer.json()) as { error: { message: string; type: string } };
            assert.deepEqual([answer.status, body.error.type], [400, 'invalid_request_error']);
            const words = new RegExp(`^prompt is too long: ${expected}\\. `);
            if (lowered)
              assert.match(body.error.message, /`max_tokens` exceed context limit: 190000 \+ 32000 > 200000/);
            assert.equal(words.test(body.error.message), !lowered, body.error.message);
          }
        }
      });
    }

    it('has no numbers on /messages if neither the provider nor the configuration has them', async () => {
      refuse({ status: 400, body: { error: { code: 'context_length_exceeded', message: 'Too much.' } } });
      const answer = await gateway.post('/messages', { model: 'plain/bare', max_tokens: 9, messages: hi });
      const { error } = (await answer.json()) as { error: { message: string } };
      assert.match(error.message, /^prompt is too long\. /);
    });
  });

  describe('the models in Anthropic’s form', () => {
    it('are listed by its SDK', async () => {
      const models = [];
      for await (const model of anthropic.models.list()) models.push(model);
      const dated = models.find(({ id }) => id === 'plain/dated');
      assert.deepEqual(
        [dated?.type, dated?.display_name, dated?.max_input_tokens, dated?.max_tokens, dated?.created_at],
        ['model', 'Dated', 1_000, 100, '1970-01-01T00:00:00.000Z'],
      );
      assert.equal((await anthropic.models.retrieve('chat/m')).id, 'chat/m');
    });

    it('have the ids of the first and the last model', async () => {
      const list = await (await gateway.get('/v1/models', { 'anthropic-version': '2023-06-01' })).json();
      const { data, first_id, last_id, has_more, object } = list as Record<string, unknown> & {
        data: { id: string }[];
      };
      assert.deepEqual([first_id, last_id, has_more, object], [data[0]?.id, data.at(-1)?.id, false, undefined]);
    });

    it('are OpenAI’s for other clients', async () => {
      const [first] = (await openai.models.list()).data;
      assert.equal(first?.object, 'model');
    });
  });

  describe('`thread` of Messages', () => {
    for (const up of UPSTREAMS) {
      it(`is refused so that Anthropic’s SDK sends the whole history, for a ${up} upstream`, async () => {
        gateway.upstream.forget();
        const thread = anthropic.beta.messages.thread({
          ...{ model: `${up}/m`, max_tokens: 9 },
          unsupportedRequestBehavior: 'continue_unthreaded',
        });
        await thread.send({ role: 'user', content: 'First' });
        await thread.send({ role: 'user', content: 'Second' });
        const { body } = await gateway.upstream.request(1);
        assert.ok(!('thread' in body));
        assert.match(JSON.stringify(body), /First.*Second/);
      });
    }

    for (const up of UPSTREAMS) {
      it(`does not stop the SDK’s tool runner, for a ${up} upstream`, async () => {
        const calls: unknown[] = [];
        const runner = anthropic.beta.messages.toolRunner({
          ...{ model: `${up}/m`, max_tokens: 9, max_iterations: 3 },
          messages: [{ role: 'user', content: '[[scenario:tools]]' }],
          tools: [
            {
              ...{ type: 'custom', name: 'weather', description: 'w' },
              input_schema: { type: 'object', properties: {} },
              run: (input: unknown) => {
                calls.push(input);
                return 'sunny';
              },
              parse: (input: unknown) => input,
            },
          ],
        });
        const last = await runner;
        assert.ok(calls.length > 0);
        assert.equal(last.role, 'assistant');
      });
    }

    it('is refused with the details of Anthropic’s API', async () => {
      const thread = { type: 'continue', previous_message_id: 'msg_1' };
      const answer = await gateway.post('/messages', { model: 'messages/m', max_tokens: 9, messages: hi, thread });
      const body = (await answer.json()) as { error: { param: string; details: unknown }; error_type: string };
      assert.deepEqual([answer.status, body.error_type, body.error.param], [400, 'unsupported_field', 'thread']);
      assert.deepEqual(body.error.details, { error_code: 'thread_unsupported_request', unsupported: ['thread'] });
    });

    it('is allowed to be null', async () => {
      const body = { model: 'messages/m', max_tokens: 9, messages: hi, thread: null };
      assert.equal((await gateway.post('/messages', body)).status, 200);
    });
  });

  describe('the tokens of a Responses request', () => {
    const image = {
      type: 'input_image' as const,
      image_url: `data:image/png;base64,${'A'.repeat(9_000)}`,
      detail: 'auto' as const,
    };
    it('are those that a Responses upstream counts', async () => {
      gateway.upstream.respond(({ path, body }, response) => {
        assert.deepEqual([path, body.model], ['/v1/responses/input_tokens', 'up-m']);
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"object":"response.input_tokens","input_tokens":77}');
      });
      const count = await openai.responses.inputTokens.count({ model: 'responses/m', input: 'Hi' });
      assert.deepEqual([count.object, count.input_tokens], ['response.input_tokens', 77]);
    });

    it('are estimated if the upstream does not count them', async () => {
      refuse({ status: 404, body: { error: { message: 'no such path' } } });
      const input = [
        { role: 'user' as const, content: [{ type: 'input_text' as const, text: 'x'.repeat(4_000) }, image] },
      ];
      for (const up of UPSTREAMS) {
        const { input_tokens } = await openai.responses.inputTokens.count({ model: `${up}/m`, input });
        assert.ok(input_tokens >= 2_600 && input_tokens < 2_700, String(input_tokens));
      }
    });
  });

  describe('a Responses request to /chat/completions, as Cursor sends it', () => {
    const tool = {
      type: 'function',
      name: 'look',
      parameters: { type: 'object', properties: { at: { type: 'string' } } },
    };
    const body = {
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Look.' }] },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":"a"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'a cat' },
        { role: 'user', content: [{ type: 'input_text', text: 'And there?' }] },
      ],
      tools: [tool],
      max_output_tokens: 3077,
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
      user: 'u',
      stream_options: { include_usage: true },
    };

    for (const up of UPSTREAMS) {
      it(`is answered in Chat Completions, for a ${up} upstream`, async () => {
        gateway.upstream.forget();
        const whole = await openai.chat.completions.create({ model: `${up}/m`, ...body } as never);
        const { choices, usage } = whole as OpenAI.ChatCompletion;
        assert.match(choices[0]?.message.content ?? '', /^Hello/);
        assert.ok((usage?.prompt_tokens ?? 0) > 0);
        const stream = await openai.chat.completions.create({ model: `${up}/m`, ...body, stream: true } as never);
        let text = '';
        for await (const chunk of stream as unknown as AsyncIterable<OpenAI.ChatCompletionChunk>) {
          assert.equal(chunk.object, 'chat.completion.chunk');
          text += chunk.choices[0]?.delta.content ?? '';
        }
        assert.match(text, /^Hello/);
        const sent = JSON.stringify((await gateway.upstream.request(0)).body);
        const calling = { ...body, input: [{ role: 'user', content: '[[scenario:tools]]' }] };
        const called = await openai.chat.completions.create({ model: `${up}/m`, ...calling } as never);
        assert.equal((called as OpenAI.ChatCompletion).choices[0]?.message.tool_calls?.[0]?.type, 'function');
        for (const part of ['Be brief.', 'And there?', 'a cat', '3077', '"look"']) assert.ok(sent.includes(part), part);
      });
    }

    it('is refused in the words of Chat Completions, if a field has no meaning here', async () => {
      const answer = await gateway.post('/chat/completions', { model: 'chat/m', ...body, previous_response_id: 'r' });
      const { error } = objectOrEmpty(await answer.json());
      assert.equal(answer.status, 400);
      assert.equal(objectOrEmpty(error).param, 'previous_response_id');
    });
  });

  it('`HEAD` of the base URL and of each `GET` is answered without a body', async () => {
    for (const path of ['/', '/v1/', '/v1/models', '/healthz']) {
      const answer = await fetch(gateway.url + path, { method: 'HEAD' });
      assert.deepEqual([answer.status, await answer.text()], [200, ''], path);
    }
    assert.equal((await fetch(`${gateway.url}/messages`, { method: 'HEAD' })).status, 405);
    assert.equal((await fetch(`${gateway.url}/nothing`, { method: 'HEAD' })).status, 404);
  });

  it('a refusal of the gateway itself is not counted or logged as a failure of an upstream', async () => {
    const before = gateway.lines.length;
    const refused = { model: 'messages/m', messages: hi, n: 2 };
    assert.equal((await gateway.post('/chat/completions', refused)).status, 400);
    while (!gateway.lines.slice(before).some((line) => line.includes('"request"'))) await turn();
    const lines = gateway.lines.slice(before).join('\n');
    assert.doesNotMatch(lines, /upstream/);
    assert.match(lines, /unsupported_field/);
    const metrics = await (await gateway.get('/metrics')).text();
    assert.doesNotMatch(metrics, /upstream_errors_total\{provider="messages",error_type="unsupported_field"/);
  });

  it('the metrics of the process include what happened before they are read', async () => {
    const fresh = await startTestGateway();
    try {
      setFlagsFromString('--expose-gc');
      runInNewContext('gc')();
      // Garbage collections are reported in a later turn of the event loop.
      const read = async () => (await fresh.get('/metrics')).text();
      while (!/nodejs_gc_duration_seconds_count\{[^}]*kind="major"[^}]*\} [1-9]/.test(await read())) await turn();
    } finally {
      await fresh.close();
    }
  });
});
