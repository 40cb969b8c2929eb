import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { until } from '../gateway/until.ts';

const AGE_MS = 300;

describe('the age of connections to a provider', () => {
  let server: Server;
  let url: string;
  const sockets = new Set<Socket>();
  /** Of the request that is not answered as a whole. */
  let stream: ServerResponse | undefined;

  before(async () => {
    server = createServer((request, response) => {
      if (request.url !== '/stream') return void response.end('whole');
      stream = response;
      response.write('begin ');
    });
    server.on('connection', (socket: Socket) => void sockets.add(socket));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => sockets.clear());
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  it('a connection that is old: gets no further request, and its stream goes on', async () => {
    const transport = undiciTransport({ env: {}, connectionAge: () => AGE_MS });
    const send = async (path: string) => {
      const { body } = await transport.send({
        method: 'GET',
        url: url + path,
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
});
