import assert from 'node:assert/strict';
import { arrayOrEmpty, objectOrEmpty } from '../../src/base/json.ts';
import { streamFrames, wholeBody } from '../upstream/answers.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

const CLIENTS = {
  chat: { path: '/v1/chat/completions', request: (text: string) => ({ messages: [{ role: 'user', content: text }] }) },
  responses: { path: '/v1/responses', request: (text: string) => ({ input: text }) },
  messages: {
    path: '/v1/messages',
    request: (text: string) => ({ max_tokens: 100, messages: [{ role: 'user', content: text }] }),
  },
} as const;

describe('the window that a local server has', () => {
  let gateway: TestGateway;
  let window: number | undefined;
  /** Tokens of the prompts that the server got, one a word. */
  let prompts: number[];

  before(async () => {
    gateway = await startTestGateway({
      tellsWindows: true,
      config: (url) => ({
        provider: {
          ollama: { options: { baseURL: `${url}/v1` }, models: { m: {} } },
          llamacpp: { options: { baseURL: `${url}/v1` }, models: { m: {} } },
        },
      }),
    });
  });
  after(() => gateway.close());
  beforeEach(() => {
    prompts = [];
    window = 4096;
    // Ollama cuts a prompt to its window, and answers with status 200.
    gateway.upstream.respond(({ path, body }, response) => {
      if (path === '/api/ps') {
        response.end(JSON.stringify({ models: window === undefined ? [] : [{ name: 'm', context_length: window }] }));
      } else if (path === '/api/show') response.end('{"model_info":{"llama.context_length":131072}}');
      else if (path === '/api/generate') {
        window ??= 8192;
        response.end('{"done":true}');
      } else if (path.startsWith('/props')) response.end('{"n_ctx":4096}');
      else if (path === '/v1/chat/completions') {
        const messages = arrayOrEmpty(objectOrEmpty(body).messages).map((each) => String(objectOrEmpty(each).content));
        prompts.push(messages.join(' ').split(' ').length);
        const stream = objectOrEmpty(body).stream === true;
        response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
        response.end(
          stream ? `${streamFrames('chat', { text: ['hi'] }).join('\n\n')}\n\n` : JSON.stringify(wholeBody('chat', {})),
        );
      } else response.writeHead(404).end();
      return undefined;
    });
  });

  const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');

  async function send(client: keyof typeof CLIENTS, model: string, count: number, stream = false): Promise<Response> {
    const { path, request } = CLIENTS[client];
    return gateway.post(path, { model, stream, ...request(words(count)) });
  }

  for (const client of ['chat', 'responses', 'messages'] as const) {
    for (const stream of [false, true]) {
      it(`served window: ${client}${stream ? ', streamed' : ''}: what the server would cut is refused with its limit`, async () => {
        const response = await send(client, 'ollama/m', 6000, stream);
        const text = await response.text();
        assert.equal(response.status, 400, text);
        assert.match(text, /context_length_exceeded|prompt is too long/);
        assert.match(text, /4096/);
        assert.match(text, /OLLAMA_CONTEXT_LENGTH=131072 ollama serve/);
        assert.deepEqual(prompts, []);
        assert.equal((await send(client, 'ollama/m', 2000, stream)).status, 200);
        assert.deepEqual(prompts, [2000]);
      });
    }
  }

  it('served window: the next request has the window with which the model was loaded again', async () => {
    assert.equal((await send('chat', 'ollama/m', 6000)).status, 400);
    window = 16_384;
    assert.equal((await send('chat', 'ollama/m', 6000)).status, 200);
    window = 2048;
    assert.equal((await send('chat', 'ollama/m', 2000)).status, 400);
    assert.deepEqual(prompts, [6000]);
  });

  it('served window: a model that is not loaded is loaded before the first request', async () => {
    window = undefined;
    assert.equal((await send('chat', 'ollama/m', 9000)).status, 400);
    assert.equal(window, 8192);
    assert.equal((await send('chat', 'ollama/m', 3000)).status, 200);
  });

  it('served window: a server that refuses by itself counts the tokens', async () => {
    assert.equal((await send('chat', 'llamacpp/m', 6000)).status, 200);
  });

  it('served window: an image is counted as an image', async () => {
    const url = `data:image/png;base64,${'A'.repeat(60_000)}`;
    const content = [{ type: 'image_url', image_url: { url } }];
    const response = await gateway.post('/v1/chat/completions', {
      model: 'ollama/m',
      messages: [{ role: 'user', content }],
    });
    assert.equal(response.status, 200, await response.text());
  });
});
