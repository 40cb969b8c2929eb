/**
 * The bare relay: node:http and undici, which parses the body, replaces the model and pipes the answer. Without
 * `stream.pipeline` and an AbortSignal: both abort something at each answer's end, which costs a third of it all.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';

const upstream = process.argv[2] ?? '';
const agent = new Agent({ connections: 512, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (bytes: Buffer) => chunks.push(bytes));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    body.model = 'bench';
    agent
      .request({
        origin: upstream,
        path: '/v1/chat/completions',
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer sk-bench' },
        body: JSON.stringify(body),
      })
      .then(({ statusCode, headers, body: answer }) => {
        const type = String(headers['content-type']);
        const length = headers['content-length'];
        response.writeHead(statusCode, {
          'content-type': type,
          ...(length === undefined ? {} : { 'content-length': String(length) }),
        });
        answer.on('error', () => response.destroy());
        response.once('close', () => response.writableFinished || answer.destroy());
        answer.pipe(response);
      })
      .catch(() => response.destroy());
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
