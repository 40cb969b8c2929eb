import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { gatewayOfManyProviders } from './many-providers.ts';

describe('hostile requests', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await gatewayOfManyProviders();
  });
  after(() => gateway.close());

  /** The answer of the gateway to raw bytes, until it closes or sends nothing more. */
  async function raw(text: string, { url } = gateway): Promise<string> {
    const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.write(text);
    await once(socket, 'close');
    return answer;
  }
  const head = (line: string, more = '') => `${line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n${more}\r\n`;
  const status = (answer: string) => Number(answer.slice(9, 12));

  it('hostile requests: web pages of unlisted origins are rejected, also with a host name that resolves to the gateway', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1']) {
      const answer = await gateway.get('/models', { origin });
      assert.equal(answer.status, 403, origin);
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
    }
    assert.equal(status(await raw('GET /models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')), 403);
    assert.equal(status(await raw('GET /models HTTP/1.1\r\nHost: gw.example\r\nConnection: close\r\n\r\n')), 200);
    const allowed = await gateway.get('/models', { origin: 'https://app.example' });
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://app.example');
  });

  for (const path of [
    '//models',
    '/v1//models',
    '/v1/../models',
    '/./models',
    '/%6dodels',
    '/v1%2fmodels',
    '/models/',
    '/models\\',
    '/v1/v1/models',
    '/Models',
    '/models;x=1',
    '/models/%2e%2e/healthz',
    '/models/%',
    'http://evil.example/models',
    '*',
  ]) {
    it(`hostile requests: ${path} is not found`, async () => {
      assert.ok([400, 404].includes(status(await raw(head(`GET ${path} HTTP/1.1`)))), path);
    });
  }

  it('hostile requests: ambiguous messages that a proxy could split are rejected', async () => {
    const body = '{}';
    const shapes = [
      head('POST /messages HTTP/1.1', `Content-Length: 2\r\nTransfer-Encoding: chunked\r\n`) + body,
      head('POST /messages HTTP/1.1', `Content-Length: 2\r\nContent-Length: 3\r\n`) + body,
      head('POST /messages HTTP/1.1', `Transfer-Encoding: chunked, identity\r\n`) + body,
      head('POST /messages HTTP/1.1', `Transfer-Encoding : chunked\r\n`) + body,
      head('POST /messages HTTP/1.1', 'X: a\rb\r\n'),
      'GET /models HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
      'GET /models HTTP/1.1\r\nConnection: close\r\n\r\n',
      'GET /models\r\n\r\n',
    ];
    for (const shape of shapes) assert.equal(status(await raw(shape)), 400, shape);
    assert.equal(status(await raw(head('GET /models HTTP/1.1', `X: ${'y'.repeat(40_000)}\r\n`))), 431);
  });

  it('hostile requests: line breaks reach no header of an answer or an upstream request', async () => {
    const answer = await raw(head('GET /nothing%0d%0aset-cookie:x HTTP/1.1'));
    assert.equal(status(answer), 404);
    assert.ok(!/^set-cookie/im.test(answer));
  });

  it('hostile requests: a body that is too large is rejected immediately, and the client receives the answer', async () => {
    const large = JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] });
    const declared = await gateway.post('/chat/completions', large);
    assert.equal(declared.status, 413);
    // The body need not be sent before the answer.
    const announced = `Authorization: Bearer ${KEY}\r\nContent-Length: 3000000\r\n`;
    assert.equal(status(await raw(head('POST /messages HTTP/1.1', announced))), 413);
    const chunked = httpRequest(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'transfer-encoding': 'chunked' },
    });
    chunked.on('error', () => undefined);
    chunked.end(large);
    const [response] = await once(chunked, 'response');
    assert.equal(response.statusCode, 413);
    response.resume();
  });

  it('hostile requests: a body of the maximum size is accepted, one byte more is rejected', async () => {
    const start = '{"model":"chat/m","messages":[{"role":"user","content":"';
    const sized = (bytes: number) => `${start}${'x'.repeat(bytes - start.length - 4)}"}]}`;
    const chunked = async (body: string) => {
      const headers = { authorization: `Bearer ${KEY}`, 'transfer-encoding': 'chunked' };
      const sent = httpRequest(`${gateway.url}/chat/completions`, { method: 'POST', headers });
      sent.on('error', () => undefined);
      sent.end(body);
      const [response] = await once(sent, 'response');
      response.resume();
      return response.statusCode;
    };
    for (const [bytes, expected] of [
      [1_000_000, 200],
      [1_000_001, 413],
    ] as const) {
      assert.equal(sized(bytes).length, bytes);
      assert.equal((await gateway.post('/chat/completions', sized(bytes))).status, expected);
      assert.equal(await chunked(sized(bytes)), expected);
    }
  });

  it('hostile requests: connections that send head or body bytewise are closed', async () => {
    // A body of a megabyte takes longer on a busy machine, so the other tests have the usual limits.
    const hasty = await startTestGateway({ listen: { headersTimeout: 300, requestTimeout: 600 } });
    try {
      assert.equal(status(await raw('GET /models HTTP/1.1\r\nHost: 127.0', hasty)), 408);
      const slow = head('POST /messages HTTP/1.1', `Authorization: Bearer ${KEY}\r\nContent-Length: 100\r\n`);
      assert.equal(status(await raw(`${slow}{`, hasty)), 408);
    } finally {
      await hasty.close();
    }
  });

  it('hostile requests: JSON nested 100,000 deep is rejected', async () => {
    const deep = `{"model":"messages/m","max_tokens":5,"messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const answer = await gateway.post('/chat/completions', deep);
    assert.ok(answer.status >= 400);
    assert.equal((await gateway.get('/healthz')).status, 200);
  });
});
