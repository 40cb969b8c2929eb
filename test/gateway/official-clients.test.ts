import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { dynamicTool, generateText, type JSONSchema7, jsonSchema, type LanguageModel, streamText, type Tool } from 'ai';
import OpenAI from 'openai';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const TEXT = 'Hello, wörld 👋.';
const UPSTREAMS = ['chat', 'messages', 'responses'];
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const weather = {
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('official clients, unchanged except for base URL and key', () => {
  let gateway: TestGateway;
  let openai: OpenAI;
  let anthropic: Anthropic;

  before(async () => {
    gateway = await startTestGateway();
    openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
  });
  after(() => gateway.close());

  for (const up of UPSTREAMS) {
    const model = `${up}/m`;
    const prompt = (scenario: string) => `Say hello. [[scenario:${scenario}]]`;

    describe(`openai, Chat Completions, over a ${up} upstream`, () => {
      it(`openai, Chat Completions over ${up}: returns a whole answer with usage`, async () => {
        const answer = await openai.chat.completions.create({
          model,
          messages: [{ role: 'user', content: prompt('text') }],
        });
        assert.equal(answer.choices[0]?.message.content, TEXT);
        assert.equal(answer.choices[0]?.finish_reason, 'stop');
        assert.deepEqual([answer.usage?.prompt_tokens, answer.usage?.completion_tokens], [11, 7]);
      });

      it(`openai, Chat Completions over ${up}: streams tool calls and sends usage once, in the last chunk`, async () => {
        const stream = openai.chat.completions.stream({
          model,
          messages: [{ role: 'user', content: prompt('tools') }],
          tools: [{ type: 'function', function: weather }],
        });
        const usages: number[] = [];
        let last = -1;
        let chunks = 0;
        for await (const chunk of stream) {
          if (chunk.usage) usages.push(chunks);
          last = chunks;
          chunks += 1;
        }
        const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0] ?? {};
        assert.equal(finish_reason, 'tool_calls');
        assert.equal(message?.content, null);
        assert.deepEqual(
          message?.tool_calls?.map((call) => call.type === 'function' && [call.function.name, call.function.arguments]),
          [
            ['weather', '{"city":"Oslo"}'],
            ['clock', '{}'],
          ],
        );
        assert.deepEqual(usages, [last]);
      });

      it(`openai, Chat Completions over ${up}: sends images and a schema to the upstream`, async () => {
        const at = gateway.upstream.requests.length;
        await openai.chat.completions.create({
          model,
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'What is this?' },
                { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } },
              ],
            },
          ],
          response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: weather.parameters } },
        });
        const sent = JSON.stringify((await gateway.upstream.request(at)).body);
        assert.ok(sent.includes(IMAGE));
        assert.ok(sent.includes('"required":["city"]'));
      });

      it(`openai, Chat Completions over ${up}: throws for an error within a stream`, async () => {
        const stream = await openai.chat.completions.create({
          model,
          stream: true,
          messages: [{ role: 'user', content: prompt('reset-mid-stream') }],
        });
        let text = '';
        await assert.rejects(async () => {
          for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
        }, OpenAI.APIError);
        assert.equal(text, 'Hello, wörld ');
      });
    });

    describe(`openai, Responses, over a ${up} upstream`, () => {
      it(`openai, Responses over ${up}: returns a whole answer`, async () => {
        const answer = await openai.responses.create({ model, input: prompt('text') });
        assert.equal(answer.output_text, TEXT);
        assert.equal(answer.status, 'completed');
        assert.deepEqual([answer.usage?.input_tokens, answer.usage?.output_tokens], [11, 7]);
      });

      it(`openai, Responses over ${up}: streams text, reasoning and tool calls`, async () => {
        const stream = openai.responses.stream({
          model,
          input: prompt('reasoning-tools'),
          tools: [{ type: 'function', strict: false, ...weather }],
        });
        const numbers: number[] = [];
        for await (const event of stream) numbers.push(event.sequence_number);
        const answer = await stream.finalResponse();
        const calls = answer.output.flatMap((item) => (item.type === 'function_call' ? [item.arguments] : []));
        assert.deepEqual(calls, ['{"city":"Oslo"}', '{}']);
        assert.ok(answer.output.some((item) => item.type === 'reasoning'));
        assert.deepEqual(
          numbers,
          numbers.map((_, index) => index),
        );
      });

      it(`openai, Responses over ${up}: receives an error within a stream, then response.failed`, async () => {
        const stream = await openai.responses.create({ model, input: prompt('reset-mid-stream'), stream: true });
        const types: string[] = [];
        await assert.rejects(async () => {
          for await (const event of stream) types.push(event.type);
        }, OpenAI.APIError);
        const raw = await gateway.post('/responses', { model, input: prompt('reset-mid-stream'), stream: true });
        const events = [...(await raw.text()).matchAll(/^event: (.+)$/gm)].map((match) => match[1]);
        assert.deepEqual(events.slice(-2), ['error', 'response.failed']);
        assert.ok(types.includes('response.output_text.delta'));
      });
    });

    describe(`@anthropic-ai/sdk over a ${up} upstream`, () => {
      it(`@anthropic-ai/sdk over ${up}: returns a whole answer`, async () => {
        const answer = await anthropic.messages.create({
          model,
          max_tokens: 100,
          messages: [{ role: 'user', content: prompt('text') }],
        });
        assert.equal(answer.content.map((block) => (block.type === 'text' ? block.text : '')).join(''), TEXT);
        assert.equal(answer.stop_reason, 'end_turn');
        assert.deepEqual([answer.usage.input_tokens, answer.usage.output_tokens], [11, 7]);
      });

      it(`@anthropic-ai/sdk over ${up}: streams thinking and tool use`, async () => {
        const stream = anthropic.messages.stream({
          model,
          max_tokens: 5_000,
          thinking: { type: 'enabled', budget_tokens: 1_024 },
          messages: [{ role: 'user', content: prompt('reasoning-tools') }],
          tools: [{ name: weather.name, input_schema: weather.parameters }],
        });
        const answer = await stream.finalMessage();
        assert.deepEqual(
          answer.content.map((block) => block.type),
          ['thinking', 'tool_use', 'tool_use'],
        );
        assert.deepEqual(
          answer.content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : [])),
          [{ city: 'Oslo' }, {}],
        );
        assert.equal(answer.stop_reason, 'tool_use');
      });

      it(`@anthropic-ai/sdk over ${up}: throws for an error within a stream`, async () => {
        const stream = anthropic.messages.stream({
          model,
          max_tokens: 100,
          messages: [{ role: 'user', content: prompt('reset-mid-stream') }],
        });
        let text = '';
        stream.on('text', (delta) => {
          text += delta;
        });
        await assert.rejects(stream.finalMessage(), Anthropic.AnthropicError);
        assert.equal(text, 'Hello, wörld ');
      });

      it(`@anthropic-ai/sdk over ${up}: receives the status of an error before the first byte`, async () => {
        const asked = anthropic.messages.create({
          model,
          max_tokens: 100,
          stream: true,
          messages: [{ role: 'user', content: prompt('status-429-retry-after-7') }],
        });
        await assert.rejects(asked, (error) => {
          assert.ok(error instanceof Anthropic.RateLimitError);
          assert.equal(error.headers.get('retry-after'), '7');
          return true;
        });
      });
    });

    describe(`the AI SDK over a ${up} upstream`, () => {
      const described = (description: string, schema: JSONSchema7): Tool =>
        dynamicTool({ description, inputSchema: jsonSchema(schema), execute: async () => 'done' });
      const tools = {
        weather: described(weather.description, weather.parameters as JSONSchema7),
        clock: described('The time.', { type: 'object', properties: {} }),
      };
      const faces: Readonly<Record<string, () => LanguageModel>> = {
        '@ai-sdk/openai chat': () => createOpenAI({ baseURL: gateway.url, apiKey: KEY }).chat(model),
        '@ai-sdk/openai responses': () => createOpenAI({ baseURL: gateway.url, apiKey: KEY }).responses(model),
        '@ai-sdk/openai-compatible': () =>
          createOpenAICompatible({ name: 'svc', baseURL: `${gateway.url}/v1`, apiKey: KEY })(model),
        '@ai-sdk/anthropic': () => createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: KEY })(model),
      };
      for (const [name, face] of Object.entries(faces)) {
        it(`AI SDK over ${up}: ${name} generates and streams`, async () => {
          const whole = await generateText({ model: face(), prompt: prompt('text'), maxRetries: 0 });
          assert.equal(whole.text, TEXT);
          const streamed = streamText({ model: face(), prompt: prompt('text-and-tools'), tools, maxRetries: 0 });
          assert.equal(await streamed.text, TEXT);
          assert.deepEqual(
            (await streamed.toolCalls).map(({ toolName, input }) => [toolName, input]),
            [
              ['weather', { city: 'Oslo' }],
              ['clock', {}],
            ],
          );
          assert.equal((await streamed.usage).inputTokens, 11);
        });
      }
    });
  }

  it('official clients: list and retrieve models, with a plain or an encoded slash', async () => {
    const ids: string[] = [];
    for await (const model of openai.models.list()) ids.push(model.id);
    assert.ok(ids.includes('chat/m'));
    assert.equal((await openai.models.retrieve('chat/m')).id, 'chat/m');
    assert.equal((await gateway.get('/models/chat/m')).status, 200);
    await assert.rejects(openai.models.retrieve('chat/none'), OpenAI.NotFoundError);
  });

  it('official clients: Codex gets the list of models in its own form, with true limits', async () => {
    const answer = await gateway.get('/models?client_version=0.169.0', { authorization: `Bearer ${KEY}` });
    const { models } = (await answer.json()) as { models: Record<string, unknown>[] };
    const model = models.find(({ slug }) => slug === 'chat/m') ?? assert.fail('not listed');
    assert.deepEqual([model.context_window, model.visibility, model.supported_in_api], [128_000, 'list', true]);
    assert.deepEqual(model.input_modalities, ['text', 'image']);
    // The members without a default in Codex: the whole list is refused without one of them.
    for (const [name, type] of Object.entries({
      ...{ display_name: 'string', supported_reasoning_levels: 'object', shell_type: 'string', priority: 'number' },
      ...{ base_instructions: 'string', supports_reasoning_summaries: 'boolean', support_verbosity: 'boolean' },
      ...{
        truncation_policy: 'object',
        supports_parallel_tool_calls: 'boolean',
        experimental_supported_tools: 'object',
      },
    })) {
      for (const each of models) assert.equal(typeof each[name], type, `${each.slug}: ${name}`);
    }
    assert.ok('data' in ((await (await gateway.get('/models')).json()) as object), 'other clients get OpenAI’s form');
  });

  it('official clients: embeddings as numbers and as base64', async () => {
    const answer = await openai.embeddings.create({ model: 'chat/m', input: ['a', 'b'], dimensions: 8 });
    assert.equal(answer.data.length, 2);
    assert.equal(answer.data[0]?.embedding.length, 8);
    const plain = await gateway.post('/v1/embeddings', { model: 'chat/m', input: 'a', encoding_format: 'float' });
    const { data, usage } = (await plain.json()) as { data: { embedding: number[] }[]; usage: unknown };
    assert.deepEqual(data[0]?.embedding, [0.25, 0.5, 0.75, 1]);
    assert.deepEqual(usage, { prompt_tokens: 3, total_tokens: 3 });
  });

  it('official clients: token counts of the upstream or an estimate', async () => {
    const messages = [{ role: 'user' as const, content: 'x'.repeat(400) }];
    assert.equal((await anthropic.messages.countTokens({ model: 'chat/m', messages })).input_tokens, 101);
    gateway.upstream.respond((request, response) => {
      assert.equal(request.path, '/v1/messages/count_tokens');
      assert.equal(request.body.model, 'up-m');
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":12}');
    });
    try {
      assert.equal((await anthropic.messages.countTokens({ model: 'messages/m', messages })).input_tokens, 12);
    } finally {
      gateway.upstream.respond(undefined);
    }
  });

  it('curl: receives a stream', async () => {
    const body = JSON.stringify({ model: 'messages/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
    const { stdout } = await promisify(execFile)('curl', [
      ...['-sSN', `${gateway.url}/v1/chat/completions`],
      ...['-H', `authorization: Bearer ${KEY}`, '-H', 'content-type: application/json', '-d', body],
    ]);
    assert.ok(stdout.endsWith('data: [DONE]\n\n'));
  });
});
