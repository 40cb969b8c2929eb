import assert from 'node:assert/strict';
import { objectOrEmpty } from '../../src/base/json.ts';
import { streamFrames, wholeBody } from '../upstream/answers.ts';
import { type Client, readStream, readWhole } from './client-answers.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } };
const CLIENTS: Readonly<Record<Client, { readonly path: string; readonly request: object }>> = {
  chat: {
    path: '/v1/chat/completions',
    request: {
      messages: [{ role: 'user', content: 'q' }],
      tools: [{ type: 'function', function: { name: 'Read', parameters: SCHEMA } }],
    },
  },
  responses: {
    path: '/v1/responses',
    request: { input: 'q', tools: [{ type: 'function', name: 'Read', parameters: SCHEMA }] },
  },
  messages: {
    path: '/v1/messages',
    request: {
      max_tokens: 100,
      messages: [{ role: 'user', content: 'q' }],
      tools: [{ name: 'Read', input_schema: SCHEMA }],
    },
  },
};

const SHAPES: readonly (readonly [family: string, pieces: readonly string[]])[] = [
  [
    'Qwen3-Coder without the opening tag',
    ['<func', 'tion=Read>\n<parameter=path>\na.ts\n</para', 'meter>\n</function>\n</tool_call>'],
  ],
  ['Hermes', ['<tool_call>\n{"name": "Read", ', '"arguments": {"path": "a.ts"}}\n</tool_call>']],
  ['bare JSON', ['{"na', 'me": "Read", "arguments": {"path": "a.ts"}}']],
  ['Mistral', ['[TOOL', '_CALLS]Read{"path": "a.ts"}']],
  [
    'DeepSeek',
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>Read<｜tool▁sep｜>{"path": "a.ts"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
  ],
  ['GLM', ['<tool_call>Read\n<arg_key>path</arg_key>\n<arg_value>a.ts</arg_value>\n</tool_call>']],
  ['Llama', ['<|python_tag|>{"name": "Read", "parameters": {"path": "a.ts"}}']],
];

describe('calls in the text of an upstream', () => {
  let gateway: TestGateway;
  before(async () => {
    const models = { m: {} };
    gateway = await startTestGateway({
      config: (url) => ({
        provider: {
          ollama: { options: { baseURL: `${url}/v1` }, models },
          family: { options: { baseURL: `${url}/v1` }, models: { 'qwen3-coder:30b': {} } },
          on: { options: { baseURL: `${url}/v1`, toolCallsInText: true }, models },
          off: { options: { baseURL: `${url}/v1`, toolCallsInText: false }, models: { 'qwen3-coder:30b': {} } },
          plain: { options: { baseURL: `${url}/v1` }, models },
        },
      }),
    });
  });
  after(() => gateway.close());
  afterEach(() => gateway.upstream.respond(undefined));

  async function answer(client: Client, model: string, stream: boolean, text: readonly string[], more: object = {}) {
    gateway.upstream.respond((_request, response) => {
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
      const script = { text, ...more };
      response.end(
        stream ? `${streamFrames('chat', script).join('\n\n')}\n\n` : JSON.stringify(wholeBody('chat', script)),
      );
      return undefined;
    });
    const { path, request } = CLIENTS[client];
    const response = await gateway.post(path, { model, stream, ...request });
    const body = await response.text();
    assert.equal(response.status, 200, body);
    const read = () =>
      JSON.stringify(stream ? readStream(client, body) : readWhole(client, objectOrEmpty(JSON.parse(body))));
    return { read, body };
  }

  const ENDS = {
    chat: /"finish_reason": ?"tool_calls"/,
    responses: /"function_call"/,
    messages: /"stop_reason": ?"tool_use"/,
  };

  for (const client of ['chat', 'responses', 'messages'] as const) {
    for (const stream of [true, false]) {
      const how = `${client}, ${stream ? 'streamed' : 'whole'}`;
      for (const [family, text] of SHAPES) {
        it(`text calls: ${how}: ${family}`, async () => {
          for (const model of ['ollama/m', 'on/m', 'family/qwen3-coder:30b']) {
            const { read, body } = await answer(client, model, stream, text);
            assert.match(read(), /"name":"Read"/, model);
            assert.match(read(), /"(?:arguments|input)":(?:"\{\\"path\\":\\"a\.ts\\"\}"|\{"path":"a\.ts"\})/, model);
            assert.match(body, ENDS[client], model);
            assert.doesNotMatch(body, /tool_call>|TOOL_CALLS|python_tag|arg_key/, model);
          }
        });
      }

      it(`text calls: ${how}: it is text if that is turned off, if the server is not known, and if it was cut off`, async () => {
        const [, text] = SHAPES[1] ?? assert.fail();
        for (const model of ['off/qwen3-coder:30b', 'plain/m']) {
          const { read } = await answer(client, model, stream, text);
          assert.match(read(), /<tool_call>/, model);
        }
        const { body } = await answer(client, 'ollama/m', stream, text, { finish: 'length' });
        assert.match(body, /<tool_call>/);
      });
    }
  }

  it('text calls: the ids of two answers differ', async () => {
    const history = [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'Read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_0', content: 'x' },
    ];
    gateway.upstream.respond((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(wholeBody('chat', { text: ['{"name":"Read","arguments":{}}'] })));
      return undefined;
    });
    const { request } = CLIENTS.chat;
    const response = await gateway.post('/v1/chat/completions', { ...request, model: 'ollama/m', messages: history });
    const body = await response.text();
    assert.match(body, /"id":"call_[0-9a-f]{24}"/);
  });
});
