import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { until } from '../gateway/until.ts';
import { proxyServer } from '../upstream/proxy-server.ts';

const AGE_MS = 300;

describe('the age of connections to a provider', () => {
  let server: Server;
  let proxy: Server;
  /** Of the request that is not answered as a whole. */
  let stream: ServerResponse | undefined;

  const portOf = (of: Server) => (of.address() as AddressInfo).port;

  beforeEach(async () => {
    server = createServer((request, response) => {
      if (request.url !== '/stream') return void response.end('whole');
      stream = response;
      response.write('begin ');
    });
    proxy = proxyServer();
    for (const each of [server, proxy]) {
      each.listen(0, '127.0.0.1');
      await once(each, 'listening');
    }
  });
  afterEach(() => {
    for (const each of [server, proxy]) {
      each.close();
      each.closeAllConnections();
    }
  });

  const ways = [
    ['a connection', false],
    ['a connection to a proxy', true],
  ] as const;
  for (const [name, proxied] of ways) {
    it(`${name} that is old: gets no further request, and its stream goes on`, async () => {
      const sockets = new Set<Socket>();
      const [host, connected] = proxied ? (['provider.example', proxy] as const) : (['127.0.0.1', server] as const);
      connected.on('connection', (socket: Socket) => void sockets.add(socket));
      const env = proxied ? { HTTP_PROXY: `http://127.0.0.1:${portOf(proxy)}` } : {};
      const transport = undiciTransport({ env, connectionAge: () => AGE_MS });
      const send = async (path: string) => {
        const { body } = await transport.send({
          method: 'GET',
          url: `http://${host}:${portOf(server)}${path}`,
          headers: {},
          signal: new AbortController().signal,
        });
        return body;
      };
      const read = (body: AsyncIterable<Uint8Array>) => text(Readable.from(body));
      try {
        const streamed = read(await send('/stream'));
        // The second one is for requests beside the stream, the third one follows it.
        await until('there is a new connection', async () => {
          assert.equal(await read(await send('/')), 'whole');
          return sockets.size >= 3;
        });
        stream?.end('end');
        assert.equal(await streamed, 'begin end');
        await until('old connections are closed', () => [...sockets].filter(({ destroyed }) => !destroyed).length <= 1);
      } finally {
        await transport.close();
      }
    });
  }
});
