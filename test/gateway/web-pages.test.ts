import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

/** Requests of a web page, with or without a host name that resolves to this machine. */
describe('requests of web pages', () => {
  let gateway: TestGateway;
  let port = 0;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: { chat: { options: { baseURL: `${url}/v1`, apiKey: 'k' }, models: { m: {} } } },
        gateway: {
          allowedOrigins: ['https://app.example', 'vscode-webview://abc'],
          allowedHosts: ['gw.example', 'tunnel.example:8443'],
          maxBodyBytes: 1_000,
        },
      }),
    });
    port = Number(new URL(gateway.url).port);
  });
  after(() => gateway.close());

  /** All that the gateway answers to raw bytes until it closes the connection. */
  async function raw(...lines: string[]): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.write(lines.join('\r\n'));
    await once(socket, 'close');
    return answer;
  }
  const status = (answer: string) => Number(answer.slice(9, 12));
  const get = (host: string, ...more: string[]) =>
    raw('GET /models HTTP/1.1', `Host: ${host}`, 'Connection: close', ...more, '', '');

  it('web page: a host name similar to one of the gateway is rejected', async () => {
    for (const host of [
      ...['localhost.evil.example', '127.0.0.1.evil.example', 'evil-localhost', 'notlocalhost', '[::1].evil.example'],
      ...['evil.gw.example', 'xgw.example', 'gw.example.evil.example', 'gw.example@evil.example', 'gw.example.'],
      ...['127.1', '127.0.0.2', '0.0.0.0', '0x7f000001', '2130706433', 'localhost:80:80', 'tunnel.example:8444'],
      ...['evil.example', 'evil.example:4180', 'evil.example#gw.example', 'evil.example,gw.example', 'null'],
    ]) {
      assert.equal(status(await get(host)), 403, host);
    }
    for (const host of [
      ...['localhost', 'LOCALHOST', `localhost:${port}`, '127.0.0.1', `127.0.0.1:${port}`, '[::1]', `[::1]:${port}`],
      ...['gw.example', 'GW.Example', 'gw.example:443', 'tunnel.example:8443', 'Tunnel.example:8443'],
    ]) {
      assert.equal(status(await get(host)), 200, host);
    }
  });

  it('web page: a rejected host name is rejected also on a connection with an accepted one', async () => {
    const head = (host: string, ...more: string[]) => ['GET /models HTTP/1.1', `Host: ${host}`, ...more, ''];
    for (const host of ['evil.example', 'gw.example.evil.example']) {
      const answers = await raw(...head('gw.example'), ...head(host, 'Connection: close'), '');
      assert.deepEqual(
        [...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code),
        ['200', '403'],
        host,
      );
    }
  });

  it('web page: an unlisted origin receives nothing, a listed one receives the headers that it needs', async () => {
    for (const origin of [
      ...['https://app.example.evil.example', 'https://xapp.example', 'https://evil.example/https://app.example'],
      ...['http://app.example', 'https://app.example:8443', 'https://app.example:', 'https://app.example/', 'null', ''],
      ...['https://evil.example https://app.example', 'vscode-webview://abcd', 'file://', 'http://localhost'],
    ]) {
      for (const [method, path] of [
        ['GET', '/models'],
        ['GET', '/healthz'],
        ['POST', '/v1/chat/completions'],
        ['OPTIONS', '/v1/chat/completions'],
        ['GET', '/none'],
      ] as const) {
        const answer = await raw(
          ...[`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `Origin: ${origin}`, 'Connection: close'],
          ...[`Authorization: Bearer ${KEY}`, 'Content-Type: text/plain', 'Content-Length: 0', '', ''],
        );
        assert.equal(status(answer), 403, `${origin} ${method} ${path}`);
        assert.doesNotMatch(answer, /access-control/i, `${origin} ${method} ${path}`);
      }
    }
    const twice = await get('127.0.0.1', 'Origin: https://app.example', 'Origin: https://evil.example');
    assert.equal(status(twice), 403);
    assert.equal(gateway.upstream.requests.length, 0);
    for (const origin of ['https://app.example', 'vscode-webview://abc']) {
      const asked = await raw(
        ...['OPTIONS /v1/chat/completions HTTP/1.1', `Host: 127.0.0.1:${port}`, `Origin: ${origin}`],
        ...['Access-Control-Request-Headers: authorization', 'Connection: close', '', ''],
      );
      assert.equal(status(asked), 204);
      assert.match(asked, new RegExp(`access-control-allow-origin: ${origin}\r\n`, 'i'));
      assert.doesNotMatch(asked, /allow-credentials/i);
      assert.equal(status(await get('127.0.0.1', `Origin: ${origin}`)), 200);
    }
  });

  it('web page: a request cannot be hidden in the body of a rejected request', async () => {
    const hidden = [`GET /models HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', '', ''].join('\r\n');
    const check = async (framing: string, key: string, sent: string) => {
      const head = ['POST /v1/chat/completions HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${key}`, framing];
      const answer = await raw(...head, '', sent);
      assert.equal(answer.match(/^HTTP\/1\.1 /gm)?.length, 1, answer);
      assert.ok([400, 401, 413].includes(status(answer)), answer);
    };
    const chunked = `7d0\r\n${'x'.repeat(2_000)}\r\n${hidden}`;
    await Promise.all(
      [KEY, 'wrong'].flatMap((key) => [
        check('Content-Length: 100000', key, hidden),
        check('Transfer-Encoding: chunked', key, chunked),
      ]),
    );
  });

  it('web page: requests without CORS from another site are rejected', async () => {
    for (const site of ['cross-site', 'same-site', 'Cross-Site', 'anything', '']) {
      for (const mode of ['no-cors', 'navigate', 'websocket']) {
        const answer = await get('127.0.0.1', `Sec-Fetch-Site: ${site}`, `Sec-Fetch-Mode: ${mode}`);
        assert.equal(status(answer), 403, `${site} ${mode}`);
        assert.doesNotMatch(answer, /access-control/i);
      }
    }
    for (const site of ['same-origin', 'none']) {
      assert.equal(status(await get('127.0.0.1', `Sec-Fetch-Site: ${site}`)), 200, site);
    }
    const allowed = ['Origin: https://app.example', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: cors'];
    assert.equal(status(await get('127.0.0.1', ...allowed)), 200);
    assert.equal(status(await get('127.0.0.1', 'Origin: https://evil.example', 'Sec-Fetch-Site: none')), 403);
  });

  it('web page: an answer cannot be loaded as another content type', async () => {
    const head = (path: string, ...more: string[]) =>
      raw(`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Connection: close', ...more, '', '');
    for (const answer of [
      await head('/models'),
      await head('/healthz'),
      await head('/none'),
      await head('/models', 'Origin: https://app.example'),
      await head('/models', 'Origin: https://evil.example'),
      await head('/models', 'Authorization: Bearer wrong'),
      await head('/chat/completions'),
      await raw('POST /messages HTTP/1.1', 'Host: localhost', 'Content-Length: 9999', 'Connection: close', '', ''),
      await raw('no HTTP at all', '', ''),
    ]) {
      assert.match(answer, /\r\nx-content-type-options: nosniff\r\n/i, answer);
      assert.match(answer, /\r\ncross-origin-resource-policy: same-origin\r\n/i, answer);
    }
    const stream = await gateway.post('/chat/completions', {
      ...{ model: 'chat/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] },
    });
    assert.equal(stream.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(stream.headers.get('cross-origin-resource-policy'), 'same-origin');
    await stream.text();
  });

  it('web page: metrics need a key for any request through a proxy', async () => {
    const metrics = (host: string, version: string, ...more: string[]) =>
      raw(`GET /metrics HTTP/${version}`, `Host: ${host}`, 'Connection: close', ...more, '', '');
    for (const header of [
      ...[
        'Via: 1.1 proxy',
        'Via: ',
        'Forwarded: for=203.0.113.9',
        'X-Forwarded-For: 203.0.113.9',
        'X-Real-IP: 1.2.3.4',
      ],
      ...['X-Forwarded-Host: gw.example', 'X-Forwarded-Proto: https', 'CF-Connecting-IP: 1.2.3.4', 'CDN-Loop: x'],
      ...['X-Client-IP: 1.2.3.4', 'True-Client-IP: 1.2.3.4', 'X-Envoy-External-Address: 1.2.3.4', 'CF-Ray: 1'],
    ]) {
      assert.equal(status(await metrics('127.0.0.1', '1.1', header)), 401, header);
      assert.equal(status(await metrics('127.0.0.1', '1.1', header, `Authorization: Bearer ${KEY}`)), 200, header);
    }
    for (const host of ['gw.example', 'tunnel.example:8443'])
      assert.equal(status(await metrics(host, '1.1')), 401, host);
    // Headers that nginx adds by default.
    assert.equal(status(await metrics('127.0.0.1', '1.0')), 401);
    for (const host of ['127.0.0.1', `localhost:${port}`, '[::1]'])
      assert.equal(status(await metrics(host, '1.1')), 200);
  });
});
