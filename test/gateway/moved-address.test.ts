import assert from 'node:assert/strict';
import type { Responder } from '../upstream/upstream.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

const CLIENTS = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/messages': { max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] },
  '/embeddings': { input: 'Hi' },
} as const;

describe('a base address without a path at the gateway', () => {
  let gateway: TestGateway;

  const notFound: Responder = (_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'Nothing is here' } }));
  };
  const start = async (baseURL: (url: string) => string) => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: { corp: { options: { baseURL: baseURL(url) }, models: { m: {} } } },
        gateway: { embeddingModels: { 'corp/m': {} } },
      }),
    });
  };
  const paths = () => gateway.upstream.requests.map(({ path }) => path);
  afterEach(() => gateway.close());

  for (const [path, body] of Object.entries(CLIENTS)) {
    it(`${path}: the address below /v1 is tried, and remembered`, async () => {
      await start((url) => url);
      const own = path === '/messages' ? '/chat/completions' : path;
      gateway.upstream.respond((request, response) => {
        if (!request.path.startsWith('/v1/')) return notFound(request, response);
        response.writeHead(200, { 'content-type': 'application/json' });
        const message = { role: 'assistant', content: 'found' };
        const choices = [{ index: 0, message, finish_reason: 'stop' }];
        response.end(JSON.stringify({ object: 'list', choices, data: [{ index: 0, embedding: [1] }] }));
      });
      for (let sent = 0; sent < 2; sent += 1) {
        const response = await gateway.post(path, { model: 'corp/m', ...body });
        assert.equal(response.status, 200, await response.text());
      }
      assert.deepEqual(paths(), [own, `/v1${own}`, `/v1${own}`]);
    });
  }

  it('a model that the server lacks: the error is that of the configured address', async () => {
    await start((url) => url);
    gateway.upstream.respond(notFound);
    const response = await gateway.post('/chat/completions', { model: 'corp/m', ...CLIENTS['/chat/completions'] });
    assert.equal(response.status, 400);
    assert.deepEqual(paths(), ['/chat/completions', '/v1/chat/completions']);
  });

  it('an address with a path: is not changed', async () => {
    await start((url) => `${url}/api`);
    gateway.upstream.respond(notFound);
    await (await gateway.post('/chat/completions', { model: 'corp/m', ...CLIENTS['/chat/completions'] })).text();
    assert.deepEqual(paths(), ['/api/chat/completions']);
  });
});
