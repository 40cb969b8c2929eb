import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const TLS = {
  key: readFileSync(here('./certificates/loopback.key')),
  cert: readFileSync(here('./certificates/loopback.pem')),
};

/** A separate process, because certificates are read at its start: warms the connection, then sends a completion request. */
const SCRIPT = `
  import { fetchTransport } from ${JSON.stringify(new URL('../../src/provider/transport/fetch-transport.ts', import.meta.url))};
  import { warmConnection } from ${JSON.stringify(new URL('../../src/provider/transport/warm-connection.ts', import.meta.url))};
  const transport = fetchTransport(fetch);
  const headers = new Map([['authorization', { value: { reveal: () => 'Bearer secret' } }]]);
  await warmConnection({ kind: 'openai-compatible', format: 'chat-completions', fimURL: process.argv[1], headers, options: {} }, transport);
  // The client reuses a connection only in the turn after the end of the body.
  await new Promise(setImmediate);
  const signal = AbortSignal.timeout(10000);
  const answer = await transport.send({ method: 'POST', url: process.argv[1] + '/completions', headers: {}, body: '{}', signal });
  for await (const _ of answer.body);
`;

describe('warmConnection', () => {
  const seen: { readonly method: string; readonly url: string; readonly port: number; readonly key: boolean }[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', socket, headers } = request;
    seen.push({ method, url, port: socket.remotePort ?? 0, key: headers.authorization !== undefined });
    request.resume().on('end', () => response.end('{}'));
  };
  beforeEach(() => {
    seen.length = 0;
  });

  async function ask(server: ReturnType<typeof createServer> | ReturnType<typeof createPlainServer>, scheme: string) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: here('./certificates/ca.pem') };
    const args = ['--input-type=module', '-e', SCRIPT, `${scheme}://127.0.0.1:${port}/v1/fim`];
    await promisify(execFile)(process.execPath, args, { env });
    server.close();
  }

  it('warmConnection: the next request uses it; no key, path or content is sent before', async () => {
    await ask(createServer(TLS, answer), 'https');
    assert.deepEqual(
      seen.map(({ method, url, key }) => ({ method, url, key })),
      [
        { method: 'OPTIONS', url: '/', key: false },
        { method: 'POST', url: '/v1/fim/completions', key: false },
      ],
    );
    assert.equal(new Set(seen.map(({ port }) => port)).size, 1);
  });

  it('warmConnection: is not opened without a TLS handshake to save', async () => {
    await ask(createPlainServer(answer), 'http');
    assert.deepEqual(
      seen.map(({ method }) => method),
      ['POST'],
    );
  });
});
