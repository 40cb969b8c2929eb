import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { objectOrEmpty } from '../../src/base/json.ts';
import { chatRequest, readError } from './chat-request.ts';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

describe('rejected requests', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  const cases: readonly [string, string, unknown, number, string, string | null][] = [
    ['no model', '/chat/completions', chatRequest(''), 400, 'invalid_request', 'model'],
    [
      'a model that is not a string',
      '/chat/completions',
      { ...chatRequest(''), model: 5 },
      400,
      'invalid_request',
      'model',
    ],
    ['an unknown model', '/messages', chatRequest('chat/none'), 400, 'model_not_found', 'model'],
    ['an unknown vendor', '/responses', { model: 'no/m', input: 'x' }, 400, 'model_not_found', 'model'],
    [
      'temperature above 2',
      '/chat/completions',
      chatRequest('chat/m', { temperature: 2.1 }),
      400,
      'invalid_request',
      'temperature',
    ],
    [
      'top_p above 1',
      '/v1/chat/completions',
      chatRequest('messages/m', { top_p: 1.1 }),
      400,
      'invalid_request',
      'top_p',
    ],
    [
      'a penalty below -2',
      '/chat/completions',
      chatRequest('chat/m', { presence_penalty: -3 }),
      400,
      'invalid_request',
      'presence_penalty',
    ],
    [
      'messages that are not a list',
      '/messages',
      { ...chatRequest('messages/m'), messages: 'x' },
      400,
      'invalid_request',
      'messages',
    ],
    ['store', '/responses', { model: 'responses/m', input: 'x', store: true }, 400, 'unsupported_field', 'store'],
    [
      'previous_response_id',
      '/responses',
      { model: 'chat/m', input: 'x', previous_response_id: 'r' },
      400,
      'unsupported_field',
      'previous_response_id',
    ],
    ['a body that is not JSON', '/chat/completions', '{"model":', 400, 'invalid_request', null],
    ['a body that is a list', '/chat/completions', '[]', 400, 'invalid_request', null],
    ...['chat', 'responses', 'messages'].map((upstream): [string, string, unknown, number, string, string] => [
      `tool_calls as a number, for ${upstream}`,
      '/chat/completions',
      chatRequest(`${upstream}/m`, { messages: [{ role: 'assistant', tool_calls: 7 }] }),
      400,
      'invalid_request',
      'messages.0.tool_calls',
    ]),
    ['a number to embed', '/embeddings', { model: 'chat/m', input: 7 }, 400, 'invalid_request', 'input'],
    ['mixed inputs to embed', '/embeddings', { model: 'chat/m', input: ['a', 7] }, 400, 'invalid_request', 'input'],
    ['no input to embed', '/embeddings', { model: 'chat/m' }, 400, 'invalid_request', 'input'],
    [
      'a code completion without max_tokens',
      '/fim/completions',
      { model: 'chat/codestral', prompt: 'x' },
      400,
      'invalid_request',
      'max_tokens',
    ],
    [
      'a code completion of 1001 tokens',
      '/fim/completions',
      { model: 'chat/codestral', prompt: 'x', max_tokens: 1001 },
      400,
      'invalid_request',
      'max_tokens',
    ],
    [
      'a code completion with a chat model',
      '/fim/completions',
      { model: 'chat/m', prompt: 'x', max_tokens: 5 },
      400,
      'unsupported_fim_model',
      'model',
    ],
    ['an unknown path', '/chat', {}, 404, 'invalid_path', null],
    ['a wrong method', '/v1/models', {}, 405, 'method_not_allowed', null],
  ];
  for (const [what, path, body, status, type, param] of cases) {
    it(`rejected request: ${what}`, async () => {
      const response = await gateway.post(path, body);
      const answer = await readError(response);
      assert.deepEqual([response.status, answer.error_type, answer.error.param], [status, type, param]);
      assert.equal(typeof answer.error.message, 'string');
      assert.match(response.headers.get('x-request-id') ?? '', /^req_[0-9a-f]{32}$/);
      assert.equal(answer.type, path === '/messages' ? 'error' : undefined);
    });
  }

  it('rejected request: a wrong method on /messages has the error body of Messages', async () => {
    const response = await gateway.get('/v1/messages');
    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'POST');
    assert.equal((await readError(response)).type, 'error');
  });

  for (const [what, headers] of [
    [
      'a client',
      { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'x' },
    ],
    ['a proxy that does not forward “Upgrade”', { 'sec-websocket-version': '13', 'sec-websocket-key': 'x' }],
  ] as const) {
    it(`rejected request: a WebSocket of ${what} is told to use HTTP, so that Codex does not try it again`, async () => {
      const sent = request(`${gateway.url}/v1/responses`, { headers });
      sent.end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 426);
      assert.equal(response.headers.allow, 'POST');
      const { error_type, message } = objectOrEmpty(await json(response));
      assert.equal(error_type, 'method_not_allowed');
      assert.match(String(message), /no WebSocket.*POST/);
    });
  }

  it('rejected request: a compressed body is refused as such', async () => {
    const text = gzipSync(JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] }));
    const headers = { authorization: `Bearer ${KEY}`, 'content-encoding': 'gzip' };
    const response = await fetch(`${gateway.url}/chat/completions`, { method: 'POST', headers, body: text });
    assert.equal(response.status, 400);
    assert.match((await readError(response)).error.message, /compressed.*Content-Encoding/);
  });

  for (const field of ['previous_response_id', 'conversation', 'store']) {
    it(`rejected request: the message about ${field} names the field`, async () => {
      for (const model of ['chat/m', 'responses/m', 'messages/m']) {
        const answer = await readError(await gateway.post('/responses', { model, input: 'x', [field]: true }));
        assert.match(answer.error.message, new RegExp(field));
      }
    });
  }

  for (const vendor of ['openai', 'anthropic', 'mistral', 'ollama']) {
    it(`rejected request: a conversation that exceeds the window, with the error of ${vendor}`, async () => {
      for (const path of ['/chat/completions', '/messages']) {
        const messages = [{ role: 'user', content: `[[scenario:context-${vendor}]]` }];
        const response = await gateway.post(path, chatRequest('messages/m', { messages }));
        assert.equal(response.status, 400);
        assert.equal((await readError(response)).error_type, 'context_length_exceeded');
      }
    });
  }
});
