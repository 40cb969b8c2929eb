import assert from 'node:assert/strict';
import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { untilEqual } from './until.ts';

const TOOL = { name: 'read_file', parameters: { type: 'object', properties: { path: { type: 'string' } } } };
const CLIENTS = {
  chat: {
    path: '/v1/chat/completions',
    request: { messages: [{ role: 'user', content: 'Hi' }], tools: [{ type: 'function', function: TOOL }] },
  },
  responses: { path: '/v1/responses', request: { input: 'Hi', tools: [{ type: 'function', ...TOOL }] } },
  messages: {
    path: '/v1/messages',
    request: {
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: TOOL.name, input_schema: TOOL.parameters }],
    },
  },
} as const;

const line = (message: JsonObject, rest: JsonObject = { done: false }): string =>
  `${JSON.stringify({ model: 'm', created_at: '2026-11-26T08:00:00Z', message: { role: 'assistant', content: '', ...message }, ...rest })}\n`;
const CALL = { tool_calls: [{ function: { name: 'read_file', arguments: { path: 'ä.ts' } } }] };
const DONE = { done: true, done_reason: 'stop', prompt_eval_count: 5000, eval_count: 7 };

describe('Ollama’s own chat behind the gateway', () => {
  let gateway: TestGateway;
  let bodies: JsonObject[];

  before(async () => {
    gateway = await startTestGateway({
      tellsWindows: true,
      config: (url) => ({
        provider: {
          ollama: { options: { baseURL: url, numCtx: 16_384 }, models: { m: { options: { keep_alive: '1h' } } } },
        },
      }),
    });
  });
  after(() => gateway.close());
  beforeEach(() => {
    bodies = [];
    gateway.upstream.respond(({ path, body }, response) => {
      if (path === '/api/ps') response.end('{"models":[{"name":"m","context_length":4096}]}');
      else if (path === '/api/show') response.end('{"model_info":{"llama.context_length":131072}}');
      else if (path === '/api/chat') {
        const request = objectOrEmpty(body);
        bodies.push(request);
        response.setHeader('content-type', request.stream === true ? 'application/x-ndjson' : 'application/json');
        if (request.stream !== true) response.end(line({ content: 'I read it.', ...CALL }, DONE));
        else response.end(line({ content: 'I read ' }) + line({ content: 'it.' }) + line(CALL) + line({}, DONE));
      } else response.writeHead(404).end();
      return undefined;
    });
  });

  for (const client of ['chat', 'responses', 'messages'] as const) {
    for (const stream of [false, true]) {
      it(`Ollama: ${client}${stream ? ', streamed' : ''}: a prompt that is larger than the server’s default arrives whole`, async () => {
        const { path, request } = CLIENTS[client];
        const long = JSON.parse(JSON.stringify(request).replace('"Hi"', JSON.stringify('word '.repeat(5000))));
        const response = await gateway.post(path, { model: 'ollama/m', stream, ...long });
        const text = await response.text();
        assert.equal(response.status, 200, text);
        assert.match(text, /read_file/);
        assert.match(text, /ä\.ts/);
        assert.match(text, /I read/);
        assert.match(
          text,
          stream && client === 'responses' ? /response\.completed/ : /tool_calls|tool_use|function_call/,
        );
        const [body] = bodies;
        assert.deepEqual(objectOrEmpty(body?.options).num_ctx, 16_384);
        assert.equal(body?.keep_alive, '1h');
        assert.equal(body?.truncate, false);
        const [message] = arrayOrEmpty(body?.messages);
        assert.equal(String(objectOrEmpty(message).content).split(' ').length, 5001);
      });
    }
  }

  it('Ollama: the tokens are counted', async () => {
    const { path, request } = CLIENTS.chat;
    await (await gateway.post(path, { model: 'ollama/m', stream: true, ...request })).text();
    await untilEqual('the tokens in the ledger', () => {
      const row = gateway.rows().at(-1);
      return [row?.input, row?.output];
    }, [5000, 7]);
  });

  it('Ollama: a prompt that is larger than the window is refused before it is sent', async () => {
    const messages = [{ role: 'user', content: 'word '.repeat(20_000) }];
    const response = await gateway.post('/v1/chat/completions', { model: 'ollama/m', messages });
    const text = await response.text();
    assert.equal(response.status, 400, text);
    assert.match(text, /context_length_exceeded/);
    assert.match(text, /16384/);
    assert.deepEqual(bodies, []);
  });

  it('Ollama: the refusal of the server arrives with its meaning, also within a stream', async () => {
    gateway.upstream.respond(({ path }, response) => {
      if (path !== '/api/chat') response.writeHead(404).end();
      else response.writeHead(400).end('{"error":"the input length exceeds the context length"}');
      return undefined;
    });
    const { path, request } = CLIENTS.chat;
    const refused = await gateway.post(path, { model: 'ollama/m', stream: true, ...request });
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /context_length_exceeded/);
    gateway.upstream.respond(({ path: asked }, response) => {
      if (asked !== '/api/chat') response.writeHead(404).end();
      else response.end('{"error":"model runner has unexpectedly stopped"}\n');
      return undefined;
    });
    const broken = await gateway.post(path, { model: 'ollama/m', stream: true, ...request });
    assert.notEqual(broken.status, 200);
    assert.match(await broken.text(), /unexpectedly stopped/);
  });

  it('Ollama: each line is forwarded when it comes', async () => {
    let proceed = (): void => undefined;
    const first = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    gateway.upstream.respond(async ({ path }, response) => {
      if (path !== '/api/chat') return void response.writeHead(404).end();
      response.write(line({ content: 'first' }));
      await first;
      response.end(line({}, DONE));
    });
    const { path, request } = CLIENTS.chat;
    const response = await gateway.post(path, { model: 'ollama/m', stream: true, ...request });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('first')) proceed();
    }
    assert.match(text, /\[DONE\]/);
  });
});
