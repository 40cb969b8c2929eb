import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { streamFrames, wholeBody } from '../upstream/answers.ts';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const SCRIPT = { text: ['Hello', ', wörld ', '👋.'] };
const WHOLE = JSON.stringify(wholeBody('chat', SCRIPT));
const STREAM = streamFrames('chat', SCRIPT)
  .map((frame) => `${frame}\n\n`)
  .join('');

/** Content lengths that differ from the body, of an upstream and of a client. */
describe('wrong content lengths', () => {
  let gateway: TestGateway;
  /** The bytes that the upstream answers to any request. */
  let answer = '';
  const sockets = new Set<Socket>();
  const upstream = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    let asked = '';
    socket.on('data', (bytes) => {
      asked += bytes.toString('latin1');
      if (asked.includes('"user"')) socket.end(answer);
    });
  });

  before(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const address = upstream.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    gateway = await startTestGateway({
      config: () => ({
        provider: { raw: { options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'k' }, models: { m: {} } } },
      }),
    });
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    upstream.close();
    await gateway.close();
  });

  const says = (length: string, type: string, body: string) => {
    answer = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${length}\r\nconnection: close\r\n\r\n${body}`;
  };
  const ask = (path: string, stream: boolean) =>
    gateway.post(path, { model: 'raw/m', max_tokens: 50, stream, messages: [{ role: 'user', content: 'Hi' }] });
  const bytes = Buffer.byteLength;

  for (const path of ['/chat/completions', '/messages']) {
    it(`content length: a wrong one of an upstream makes the answer incomplete, streamed or not (${path})`, async () => {
      for (const length of [`content-length: ${bytes(WHOLE) + 10}`, 'transfer-encoding: chunked']) {
        const body = length.startsWith('t') ? `${bytes(WHOLE).toString(16)}\r\n${WHOLE}\r\n` : WHOLE;
        says(length, 'application/json', body);
        const whole = await ask(path, false);
        assert.equal(whole.status, 503, length);
        assert.equal(JSON.parse(await whole.text()).error_type, 'upstream_disconnect', length);
      }
      // Too small: the rest is not part of the body.
      says('content-length: 20', 'application/json', WHOLE);
      const short = await ask(path, false);
      assert.equal(short.status, 503);
      const cut = STREAM.slice(0, STREAM.indexOf('👋'));
      for (const [length, body] of [
        [`content-length: ${bytes(STREAM)}`, cut],
        [`content-length: ${bytes(cut)}`, STREAM],
        ['transfer-encoding: chunked', `${bytes(cut).toString(16)}\r\n${cut}\r\n`],
        ['transfer-encoding: chunked', `${bytes(cut).toString(16)}\r\n${cut}\r\nzz\r\n`],
      ] as const) {
        says(length, 'text/event-stream', body);
        const streamed = await ask(path, true);
        const text = await streamed.text();
        assert.match(text, /wörld[\s\S]*"error":\{/, length);
        assert.ok(!text.includes('[DONE]') && !text.includes('message_stop') && !text.includes('👋'), length);
      }
    });
  }

  it('content length: a wrong one of a client makes the request invalid, without an upstream request', async () => {
    const body = JSON.stringify({ model: 'raw/m', messages: [{ role: 'user', content: 'Hi' }] });
    says(`content-length: ${bytes(WHOLE)}`, 'application/json', WHOLE);
    const send = async (length: number, sent: string) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      let said = '';
      socket.on('data', (chunk) => (said += chunk));
      socket.on('error', () => undefined);
      const head = ['POST /chat/completions HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${KEY}`];
      socket.write([...head, `Content-Length: ${length}`, 'Connection: close', '', sent].join('\r\n'));
      if (length > bytes(sent)) socket.end();
      await once(socket, 'close');
      return said;
    };
    const statuses = (said: string) => [...said.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);
    // Attempt 0 is a request that was refused.
    const sent = () => gateway.rows().filter(({ attempt }) => Number(attempt) > 0).length;
    const at = sent();
    assert.deepEqual(statuses(await send(bytes(body), body)), ['200']);
    // The client disconnects before the end of the body: no upstream request.
    assert.ok(!statuses(await send(bytes(body) + 1, body)).includes('200'));
    for (const length of [-1, 1.5, Number.NaN, 1e30]) assert.deepEqual(statuses(await send(length, body)), ['400']);
    assert.equal(sent(), at + 1);
    // `Connection: close`: no other request follows.
    const hidden = `${body}GET /models HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    assert.equal(statuses(await send(bytes(body), hidden)).length, 1);
  });
});
