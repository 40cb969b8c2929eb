/**
 * The bare relay: node:http and undici's `dispatch`, the least that both have; parses the body, replaces the model and
 * passes the answer on as it comes, no faster than the client reads.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, type Dispatcher } from 'undici';

const upstream = process.argv[2] ?? '';
const agent = new Agent({ connections: 512, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-bench' };

function passOn(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller) => {
      response.once('close', () => response.writableFinished || controller.abort(new Error('closed')));
    },
    onResponseStart: (_, status, { 'content-type': type, 'content-length': length }) => {
      response.writeHead(status, {
        'content-type': String(type),
        ...(length === undefined ? {} : { 'content-length': String(length) }),
      });
    },
    onResponseData: (controller, chunk) => {
      if (response.write(chunk)) return;
      controller.pause();
      response.once('drain', () => controller.resume());
    },
    onResponseEnd: () => void response.end(),
    onResponseError: () => void response.destroy(),
  };
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (bytes: Buffer) => chunks.push(bytes));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    body.model = 'bench';
    const options = { origin: upstream, path: '/v1/chat/completions', method: 'POST', headers } as const;
    agent.dispatch({ ...options, body: JSON.stringify(body) }, passOn(response));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
