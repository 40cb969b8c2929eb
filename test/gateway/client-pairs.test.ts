import assert from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import {
  dynamicTool,
  generateText,
  type JSONSchema7,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
} from 'ai';
import OpenAI from 'openai';
import { play } from '../upstream/scenarios.ts';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const UPSTREAMS = ['chat', 'messages', 'responses'] as const;
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const DATA_URL = `data:image/png;base64,${IMAGE}`;
const QUESTION = 'Where is this, and how is the weather there?';
const CITY = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false as const,
};
const NOTHING = { type: 'object' as const, properties: {} };
/** The result of each tool. */
const RESULTS: Readonly<Record<string, string>> = { weather: 'RESULT-RAIN', clock: 'RESULT-NOON' };

interface Answered {
  readonly calls: readonly (readonly [name: string, input: unknown])[];
  /** The text of the answer after the results of the tools. */
  readonly text: string;
}
/** Asks with an image, tools and a schema, sends the tools' results back and reads the answer. */
type Client = (gateway: TestGateway, model: string, stream: boolean) => Promise<Answered>;

const resultOf = (name: string) => RESULTS[name] ?? assert.fail(name);
const options = (gateway: TestGateway, path = '/v1') => ({ baseURL: gateway.url + path, apiKey: KEY, maxRetries: 0 });

const openaiChat: Client = async (gateway, model, stream) => {
  const client = new OpenAI(options(gateway));
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: QUESTION },
        { type: 'image_url', image_url: { url: DATA_URL } },
      ],
    },
  ];
  const ask = async () => {
    const request = {
      model,
      messages,
      tools: [
        { type: 'function' as const, function: { name: 'weather', parameters: CITY } },
        { type: 'function' as const, function: { name: 'clock', parameters: NOTHING } },
      ],
      response_format: { type: 'json_schema' as const, json_schema: { name: 'place', schema: CITY } },
    };
    const answer = stream
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request);
    return answer.choices[0]?.message ?? assert.fail();
  };
  const first = await ask();
  const calls = (first.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []));
  messages.push(first, ...calls.map(({ id, function: { name } }) => toolMessage(id, name)));
  const { content } = await ask();
  return {
    calls: calls.map(({ function: { name, arguments: input } }) => [name, JSON.parse(input)]),
    text: content ?? '',
  };
};

function toolMessage(tool_call_id: string, name: string): OpenAI.ChatCompletionToolMessageParam {
  return { role: 'tool', tool_call_id, content: resultOf(name) };
}

const openaiResponses: Client = async (gateway, model, stream) => {
  const client = new OpenAI(options(gateway));
  const input: OpenAI.Responses.ResponseInput = [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: QUESTION },
        { type: 'input_image', image_url: DATA_URL, detail: 'auto' },
      ],
    },
  ];
  const ask = () => {
    const request = {
      model,
      input,
      store: false,
      include: ['reasoning.encrypted_content' as const],
      tools: [
        { type: 'function' as const, name: 'weather', parameters: CITY, strict: true },
        { type: 'function' as const, name: 'clock', parameters: NOTHING, strict: false },
      ],
      text: { format: { type: 'json_schema' as const, name: 'place', schema: CITY } },
    };
    return stream ? client.responses.stream(request).finalResponse() : client.responses.create(request);
  };
  const { output } = await ask();
  const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  assert.ok(output.some(({ type }) => type === 'reasoning'));
  input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
  for (const { call_id, name } of calls) {
    input.push({ type: 'function_call_output', call_id, output: resultOf(name) });
  }
  const { output_text } = await ask();
  return { calls: calls.map(({ name, arguments: said }) => [name, JSON.parse(said)]), text: output_text };
};

const anthropicMessages: Client = async (gateway, model, stream) => {
  const client = new Anthropic(options(gateway, ''));
  const source = { type: 'base64' as const, media_type: 'image/png' as const, data: IMAGE };
  const messages: Anthropic.MessageParam[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: QUESTION },
        { type: 'image', source },
      ],
    },
  ];
  const ask = () => {
    const request = {
      model,
      max_tokens: 4_000,
      thinking: { type: 'enabled' as const, budget_tokens: 1_024 },
      messages,
      tools: [
        { name: 'weather', input_schema: CITY },
        { name: 'clock', input_schema: NOTHING },
      ],
      output_config: { format: { type: 'json_schema' as const, schema: CITY } },
    };
    return stream ? client.messages.stream(request).finalMessage() : client.messages.create(request);
  };
  const { content } = await ask();
  const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
  assert.equal(content[0]?.type === 'thinking' && content[0].thinking, 'Let me think.');
  const results = calls.map(({ id, name }) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: resultOf(name),
  }));
  messages.push({ role: 'assistant', content }, { role: 'user', content: results });
  const answer = await ask();
  const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { calls: calls.map(({ name, input }) => [name, input]), text };
};

/** The AI SDK runs the tools and sends the next request. */
function aiSdk(face: (gateway: TestGateway, model: string) => LanguageModel, reasons: boolean): Client {
  return async (gateway, model, stream) => {
    const tool = (name: string, schema: JSONSchema7) =>
      dynamicTool({ description: name, inputSchema: jsonSchema(schema), execute: async () => resultOf(name) });
    const messages: ModelMessage[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: QUESTION },
          { type: 'image', image: Buffer.from(IMAGE, 'base64') },
        ],
      },
    ];
    const request = {
      model: face(gateway, model),
      messages,
      tools: { weather: tool('weather', CITY), clock: tool('clock', NOTHING) },
      output: Output.object({ schema: jsonSchema(CITY) }),
      stopWhen: stepCountIs(4),
      maxRetries: 0,
      providerOptions: { anthropic: { structuredOutputMode: 'outputFormat' }, openai: { store: false } },
    };
    const { steps, output } = stream ? await streamed(streamText(request)) : await generateText(request);
    if (reasons) assert.equal(steps[0]?.reasoningText, 'Let me think.');
    const calls = (steps[0]?.toolCalls ?? []).map(({ toolName, input }) => [toolName, input] as const);
    return { calls, text: JSON.stringify(output) };
  };
}

async function streamed<T, O>(result: { steps: PromiseLike<T>; output: PromiseLike<O> }) {
  return { steps: await result.steps, output: await result.output };
}

const CLIENTS: Readonly<Record<string, Client>> = {
  'openai chat': openaiChat,
  'openai responses': openaiResponses,
  '@anthropic-ai/sdk': anthropicMessages,
  '@ai-sdk/openai chat': aiSdk((gateway, model) => createOpenAI(options(gateway)).chat(model), false),
  '@ai-sdk/openai responses': aiSdk((gateway, model) => createOpenAI(options(gateway)).responses(model), true),
  '@ai-sdk/openai-compatible': aiSdk(
    (gateway, model) =>
      createOpenAICompatible({ ...options(gateway), name: 'svc', supportsStructuredOutputs: true })(model),
    true,
  ),
  '@ai-sdk/anthropic': aiSdk((gateway, model) => createAnthropic(options(gateway))(model), true),
};

/** Every client over every upstream format, streamed and not (docs/gateway.md). */
describe('a tool conversation with an image, reasoning and a schema', () => {
  let gateway: TestGateway;

  before(async () => {
    // It would warn that each model is unknown.
    globalThis.AI_SDK_LOG_WARNINGS = false;
    gateway = await startTestGateway();
    gateway.upstream.respond((request, response) => {
      const answered = Object.values(RESULTS).every((result) => request.bytes.includes(result));
      return play({ ...request, scenario: answered ? 'json' : 'reasoning-tools' }, response);
    });
  });
  after(() => gateway.close());

  for (const [name, client] of Object.entries(CLIENTS)) {
    for (const up of UPSTREAMS) {
      for (const stream of [true, false]) {
        it(`tool conversation with an image, reasoning and a schema: ${name} over ${up}, ${stream ? 'streamed' : 'whole'}`, async () => {
          const at = gateway.upstream.requests.length;
          const { calls, text } = await client(gateway, `${up}/m`, stream);
          assert.deepEqual(calls, [
            ['weather', { city: 'Oslo' }],
            ['clock', {}],
          ]);
          assert.deepEqual(JSON.parse(text), { city: 'Oslo' });
          assert.equal(gateway.upstream.requests.length, at + 2);
          for (const { body, bytes } of gateway.upstream.requests.slice(at)) {
            assert.equal(body.stream === true, stream);
            for (const said of [QUESTION, IMAGE, 'json_schema', '"city"', 'weather', 'clock']) {
              assert.ok(bytes.includes(said), said);
            }
          }
          const { bytes, body } = await gateway.upstream.request(at + 1);
          // A call and its result have the same id, and repair added nothing.
          for (const id of ['call_1', 'call_2']) assert.equal(bytes.toString().split(`"${id}"`).length, 3, id);
          assert.ok(!bytes.includes('interrupted'));
          assert.equal(JSON.stringify(body).includes(REASONING[up]), returnsReasoning(name, up));
        });
      }
    }
  }
});

/** What each provider needs to go on thinking after a tool call. */
const REASONING = {
  chat: '"reasoning_content":"',
  messages: '"signature":"sig-1"',
  responses: '"encrypted_content":"sealed-1"',
} as const;

/** Reasoning is returned to its provider by clients that return answers unchanged, over each format. */
function returnsReasoning(client: string, up: string): boolean {
  if (client === '@ai-sdk/openai chat') return false;
  return client !== '@ai-sdk/openai-compatible' || up === 'chat';
}
