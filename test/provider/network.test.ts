import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { converse } from '../../src/provider/converse.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import type { Transport } from '../../src/provider/transport/transport.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { streamFrames } from '../upstream/answers.ts';
import { ask, modelAt } from './test-model.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
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

/** A forward proxy that also tunnels; `seen` gets the line of each request. */
function proxyServer(seen: string[]): Server {
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const target = new URL(request.url ?? '');
    const { method, headers } = request;
    const onward = httpRequest(target, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    seen.push(`CONNECT ${request.url}`);
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  return server;
}

const models: Listener = (_request, response) => void response.end(JSON.stringify({ data: [{ id: 'one' }] }));

describe('network to a provider', () => {
  const open: Server[] = [];
  afterEach(async () => {
    for (const server of open.splice(0)) {
      server.close();
      server.closeAllConnections();
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
        env: { ...folder.env, HOME: folder.home, PATH: process.env.PATH, ...env },
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
    const proxy = `http://127.0.0.1:${await listening(proxyServer(seen), open)}`;
    const baseURL = `http://127.0.0.1:${port}/v1`;
    assert.equal((await modelsCommand(baseURL, { HTTP_PROXY: proxy })).out, 'here/one\n');
    assert.deepEqual(seen.splice(0), [`GET ${baseURL}/models`]);
    assert.equal((await modelsCommand(baseURL, { HTTP_PROXY: proxy, NO_PROXY: '127.0.0.1' })).out, 'here/one\n');
    assert.deepEqual(seen, []);
  });

  it('network: an https provider is reached in a tunnel through HTTPS_PROXY', async () => {
    const seen: string[] = [];
    const port = await listening(createTlsServer(TLS, models), open);
    const proxy = `http://127.0.0.1:${await listening(proxyServer(seen), open)}`;
    const env = { https_proxy: proxy, NODE_EXTRA_CA_CERTS: certificate('ca.pem') };
    assert.equal((await modelsCommand(`https://127.0.0.1:${port}/v1`, env)).out, 'here/one\n');
    assert.deepEqual(seen, [`CONNECT 127.0.0.1:${port}`]);
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
    const answer = await answerOf(transport, `http://127.0.0.1:${port}/v1`);
    const fetched = await transport.fetch(`http://127.0.0.1:${port}/catalog`);
    await fetched.text();
    await transport.close();
    assert.deepEqual(answer.parts, [{ type: 'text', text: 'fine' }]);
    assert.deepEqual(seen, [
      `POST http://127.0.0.1:${port}/v1/chat/completions`,
      `GET http://127.0.0.1:${port}/catalog`,
    ]);
  });
});
