import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { converse } from '../../src/provider/converse.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import { readProxies } from '../../src/provider/transport/proxies.ts';
import type { Transport } from '../../src/provider/transport/transport.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { COMPILE_CACHE } from '../compile-cache.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { CLI } from '../svc-program.ts';
import { streamFrames } from '../upstream/answers.ts';
import { proxyServer } from '../upstream/proxy-server.ts';
import { ask, modelAt } from './test-model.ts';

const certificate = (name: string) => fileURLToPath(new URL(`./certificates/${name}`, import.meta.url));
const TLS = { key: readFileSync(certificate('loopback.key')), cert: readFileSync(certificate('loopback.pem')) };
const WIRES = { 'chat-completions': 'chat', responses: 'responses', messages: 'messages' } as const;
const NAMES: readonly FormatName[] = ['chat-completions', 'responses', 'messages'];

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Listens on a free port of 127.0.0.1; closed after the test. */
async function listening(server: Server, open: Server[]): Promise<number> {
  open.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const models: Listener = (_request, response) => void response.end(JSON.stringify({ data: [{ id: 'one' }] }));

describe('network to a provider', () => {
  const open: Server[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) {
      server.close();
      server.closeAllConnections?.();
    }
  });

  async function answerOf(transport: Transport, baseURL: string, format: FormatName = 'chat-completions') {
    const model = modelAt(baseURL, { format, kind: format === 'messages' ? 'anthropic' : 'openai-compatible' });
    const options = { transport, signal: new AbortController().signal, retry: { baseMs: 1, limit: 0 } };
    const events = [];
    for await (const event of converse(model, ask('Hi'), options)) events.push(event);
    return foldEvents(events);
  }

  const WAYS: readonly (readonly [string, () => Transport & { close?: () => Promise<void> }])[] = [
    ['fetch', () => fetchTransport(fetch)],
    ['undici', () => undiciTransport()],
  ];

  for (const [way, make] of WAYS) {
    for (const format of NAMES) {
      it(`network: informational answers are skipped (${format}, ${way})`, async () => {
        const server = createServer((request, response) => {
          request.resume();
          response.writeProcessing();
          response.writeEarlyHints({ link: '</style.css>; rel=preload' });
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(`${streamFrames(WIRES[format], { text: ['fine'] }).join('\n\n')}\n\n`);
        });
        const port = await listening(server, open);
        const transport = make();
        const answer = await answerOf(transport, `http://127.0.0.1:${port}/v1`, format);
        await transport.close?.();
        assert.equal(answer.error, undefined);
        assert.deepEqual(answer.parts, [{ type: 'text', text: 'fine' }]);
      });
    }

    it(`network: an unknown host name is reported (${way})`, async () => {
      const transport = make();
      const { error } = await answerOf(transport, 'http://svc-test.invalid/v1');
      await transport.close?.();
      assert.equal(error?.errorType, 'network_error');
      assert.match(error?.message ?? '', /^svc-test\.invalid could not be (found|looked up) \(DNS\) \(E/);
      assert.equal(error?.retryable, true);
    });

    it(`network: a server without HTTP is reported (${way})`, async () => {
      const answers = {
        'SSH-2.0-OpenSSH_9.9\r\n': /answered with something that is not HTTP/,
        'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}': /answered with something that is not HTTP/,
        [`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n\r\n{}`]: /answered with headers that are too large/,
        'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}': /another length than its Content-Length/,
      };
      for (const [answer, words] of Object.entries(answers)) {
        const server = createTcpServer((socket) => {
          socket.on('error', () => undefined);
          socket.once('data', () => socket.end(answer));
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const address = server.address();
        const port = typeof address === 'object' && address !== null ? address.port : 0;
        const transport = make();
        const { error } = await answerOf(transport, `http://127.0.0.1:${port}/v1`);
        await transport.close?.();
        server.close();
        assert.equal(error?.errorType, 'network_error');
        assert.match(error?.message ?? '', words);
      }
    });

    it(`network: an untrusted certificate is rejected with instructions (${way})`, async () => {
      let reached = 0;
      const port = await listening(
        createTlsServer(TLS, () => {
          reached += 1;
        }),
        open,
      );
      const transport = make();
      const { error } = await answerOf(transport, `https://127.0.0.1:${port}/v1`);
      await transport.close?.();
      assert.equal(error?.errorType, 'network_error');
      assert.match(error?.message ?? '', /uses a certificate that is not trusted/);
      assert.match(error?.action ?? '', /NODE_EXTRA_CA_CERTS/);
      assert.equal(error?.retryable, false);
      assert.equal(reached, 0);
    });
  }

  /** The terminal as a separate process: proxies and certificates are read at its start. */
  async function modelsCommand(baseURL: string, env: Record<string, string>) {
    using folder = new ProjectFolder();
    folder.global({ provider: { here: { options: { baseURL, apiKey: 'k' } } } });
    return await new Promise<{ out: string; err: string }>((resolve) => {
      const options = {
        cwd: folder.project,
        env: { ...folder.env, HOME: folder.home, PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
      };
      execFile(process.execPath, [CLI, 'models'], options, (_error, out, err) => resolve({ out, err }));
    });
  }

  it('network: the certificate authority of NODE_EXTRA_CA_CERTS is trusted', async () => {
    const port = await listening(createTlsServer(TLS, models), open);
    const baseURL = `https://127.0.0.1:${port}/v1`;
    const without = await modelsCommand(baseURL, {});
    assert.equal(without.out, '');
    assert.match(without.err, /not trusted/);
    const trusting = await modelsCommand(baseURL, { NODE_EXTRA_CA_CERTS: certificate('ca.pem') });
    assert.deepEqual(trusting, { out: 'here/one\n', err: '' });
  });

  it('network: the terminal uses HTTP_PROXY, except for hosts of NO_PROXY', async () => {
    const seen: string[] = [];
    const port = await listening(createServer(models), open);
    const host = `127.0.0.1:${await listening(proxyServer(seen), open)}`;
    const baseURL = `http://models.example:${port}/v1`;
    const through: readonly Record<string, string>[] = [
      { HTTP_PROXY: `http://${host}` },
      { http_proxy: `http://${host}`, HTTP_PROXY: 'http://127.0.0.1:1' },
      { HTTP_PROXY: host },
      { HTTP_PROXY: `http://${host}`, NO_PROXY: 'other.example,10.0.0.0/8,models.example:1' },
    ];
    for (const env of through) {
      assert.deepEqual(await modelsCommand(baseURL, env), { out: 'here/one\n', err: '' }, JSON.stringify(env));
      assert.deepEqual(seen.splice(0), [`GET ${baseURL}/models`]);
    }
    const around = [
      '*',
      'models.example',
      '.example',
      '*.example',
      `models.example:${port}`,
      'a.example models.example',
    ];
    for (const NO_PROXY of around) {
      const { err } = await modelsCommand(baseURL, { HTTP_PROXY: `http://${host}`, NO_PROXY });
      assert.match(err, /models\.example:\d+ could not be (?:found|looked up)/, NO_PROXY);
    }
    assert.deepEqual(seen, []);
  });

  it('network: this machine and networks of NO_PROXY are asked directly', async () => {
    const seen: string[] = [];
    const port = await listening(createServer(models), open);
    const HTTP_PROXY = `http://127.0.0.1:${await listening(proxyServer(seen), open)}`;
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.1.']) {
      assert.equal((await modelsCommand(`http://${host}:${port}/v1`, { HTTP_PROXY })).out, 'here/one\n', host);
    }
    assert.deepEqual(seen, []);
    // 192.0.2.0/24 is for documentation: no machine has such an address, so only the proxy answers.
    const cases: Record<string, boolean> = { '192.0.2.0/24': true, '192.0.2.0/25': true, '192.0.2.128/25': false };
    for (const [NO_PROXY, direct] of Object.entries(cases)) {
      const proxies = readProxies({ HTTP_PROXY, NO_PROXY });
      assert.equal(proxies?.isDirect(new URL(`http://192.0.2.9:${port}`)), direct, NO_PROXY);
    }
    const six = readProxies({ HTTP_PROXY, NO_PROXY: 'fd00::/8,[2001:db8::1]:443' });
    const answers = ['http://[fd12::1]/', 'https://[2001:db8::1]/', 'http://[2001:db8::1]/', 'http://[::1]/'];
    assert.deepEqual(
      answers.map((url) => six?.isDirect(new URL(url))),
      [true, true, false, true],
    );
  });

  it('network: a variable that is no proxy is named in one line, for each command', async () => {
    const wrong = {
      HTTPS_PROXY: 'socks5h://127.0.0.1:1080',
      http_proxy: 'socks5://127.0.0.1:1080',
      https_proxy: 'ftp://proxy',
      HTTP_PROXY: 'http://a b',
    };
    for (const [name, value] of Object.entries(wrong)) {
      const { out, err } = await modelsCommand('http://models.example/v1', { [name]: value });
      assert.equal(out, '');
      assert.match(
        err,
        new RegExp(`^svc: ${name} (?:names a SOCKS proxy|is not the address of a proxy).*\n.*HOST:PORT.*\n$`),
      );
    }
  });

  for (const protocol of ['http', 'https']) {
    it(`network: a proxy that wants a password, refuses or is down is blamed, without retries (${protocol})`, async () => {
      const host = 'models.example:4433';
      for (const status of [407, 403]) {
        let asked = 0;
        const refuse = (write: (head: string) => void) => {
          asked += 1;
          write(
            `HTTP/1.1 ${status} No\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno`,
          );
        };
        const server = createTcpServer((socket) => {
          socket.on('error', () => undefined);
          socket.once('data', () => refuse((head) => socket.end(head)));
        });
        const proxy = `127.0.0.1:${await listening(server as Server, open)}`;
        const { error } = await throughProxy(`http://USER:CANARY@${proxy}`, `${protocol}://${host}/v1`);
        if (status === 407) assert.match(error?.message ?? '', new RegExp(`^The proxy ${proxy} wants a user name`));
        else if (protocol === 'https')
          assert.equal(error?.message, `The proxy ${proxy} refuses the connection to ${host} (403).`);
        assert.ok(!JSON.stringify(error).includes('CANARY'));
        if (status === 407 || protocol === 'https') assert.deepEqual([asked, error?.retryable], [1, false]);
      }
      const { error } = await throughProxy('http://127.0.0.1:1', `${protocol}://${host}/v1`);
      assert.equal(error?.message, 'The proxy 127.0.0.1:1 can’t be reached (ECONNREFUSED).');
      assert.equal(error?.retryable, false);
    });
  }

  for (const how of ['end', 'resetAndDestroy'] as const) {
    it(`network: a proxy that closes the connection instead of opening a tunnel is asked once (${how})`, async () => {
      let asked = 0;
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          asked += 1;
          // Ends a client that connects again and again.
          if (asked > 3) socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n');
          else socket[how]();
        });
      });
      const proxy = `127.0.0.1:${await listening(server as Server, open)}`;
      const { error } = await throughProxy(`http://${proxy}`, 'https://models.example/v1');
      assert.equal(error?.message, `The proxy ${proxy} closed the connection to models.example.`);
      assert.deepEqual([asked, error?.retryable], [1, false]);
    });
  }

  async function throughProxy(proxy: string, baseURL: string) {
    const transport = undiciTransport({ env: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } });
    try {
      return await answerOf(transport, baseURL);
    } finally {
      await transport.close();
    }
  }

  it('network: an https provider is reached in a tunnel through HTTPS_PROXY', async () => {
    const seen: string[] = [];
    const own = { key: readFileSync(certificate('example.key')), cert: readFileSync(certificate('example.pem')) };
    const port = await listening(createTlsServer(own, models), open);
    const proxy = `http://127.0.0.1:${await listening(proxyServer(seen), open)}`;
    const env = { https_proxy: proxy, NODE_EXTRA_CA_CERTS: certificate('example.pem') };
    assert.equal((await modelsCommand(`https://models.example:${port}/v1`, env)).out, 'here/one\n');
    assert.deepEqual(seen, [`CONNECT models.example:${port}`]);
  });

  it('network: a certificate is advised only where one is missing', async () => {
    const advice = /NODE_EXTRA_CA_CERTS/;
    const tls = await listening(createTlsServer(TLS, models), open);
    const plain = await listening(createServer(models), open);
    const other = { key: readFileSync(certificate('example.key')), cert: readFileSync(certificate('example.pem')) };
    const named = await listening(createTlsServer(other, models), open);
    const transport = undiciTransport();
    const actionAt = async (baseURL: string) => (await answerOf(transport, baseURL)).error?.action ?? '';
    assert.match(await actionAt(`https://127.0.0.1:${tls}/v1`), advice);
    assert.match(await actionAt(`https://127.0.0.1:${named}/v1`), advice);
    assert.match(await actionAt(`https://127.0.0.1:${plain}/v1`), /does the server speak https at this port\?/);
    await transport.close();
    const trusting = { NODE_EXTRA_CA_CERTS: certificate('example.pem') };
    const { err } = await modelsCommand(`https://127.0.0.1:${named}/v1`, trusting);
    assert.match(err, /uses a certificate for another host name/);
    assert.doesNotMatch(err, advice);
  });

  it('network: streams pass a proxy (transport of the gateway)', async () => {
    const seen: string[] = [];
    const port = await listening(
      createServer((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`${streamFrames('chat', { text: ['fine'] }).join('\n\n')}\n\n`);
      }),
      open,
    );
    const proxy = `http://127.0.0.1:${await listening(proxyServer(seen), open)}`;
    const transport = undiciTransport({ env: { HTTP_PROXY: proxy } });
    const address = `http://models.example:${port}`;
    const answer = await answerOf(transport, `${address}/v1`);
    const fetched = await transport.fetch(`${address}/catalog`);
    await fetched.text();
    await transport.close();
    assert.deepEqual(answer.parts, [{ type: 'text', text: 'fine' }]);
    assert.deepEqual(seen, [`POST ${address}/v1/chat/completions`, `GET ${address}/catalog`]);
  });
});
