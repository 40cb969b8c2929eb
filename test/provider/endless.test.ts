import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { converse } from '../../src/provider/converse.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { ask, modelAt } from './test-model.ts';

/** The start of the answer, and the part that repeats endlessly. */
const ENDLESS: readonly (readonly [what: string, status: number, type: string, head: string, errorType: string])[] = [
  ['an answer', 200, 'application/json', '{"x":"', 'upstream_invalid_response'],
  ['an explanation of an error', 400, 'application/json', '{"error":"', 'invalid_request'],
  ['an event', 200, 'text/event-stream', 'data: ', 'upstream_invalid_response'],
];

describe('endless answers', () => {
  let upstream: Upstream;
  const undici = undiciTransport();
  before(async () => {
    upstream = await startUpstream();
  });
  after(async () => {
    await undici.close();
    await upstream.close();
  });

  const piece = Buffer.alloc(1024 * 1024, 'x');
  function pour(response: ServerResponse): void {
    while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', () => pour(response));
  }

  for (const [way, transport] of Object.entries({ fetch: fetchTransport(fetch), undici })) {
    for (const [what, status, type, head, errorType] of ENDLESS) {
      it(`endless answer: is cancelled during ${what} (${way})`, async () => {
        upstream.respond((_request, response) => {
          response.writeHead(status, { 'content-type': type }).write(head);
          pour(response);
        });
        const at = upstream.requests.length;
        const options = { transport, signal: new AbortController().signal, retry: { limit: 0 } };
        const events = [];
        const stream = type === 'text/event-stream';
        for await (const event of converse(modelAt(`${upstream.url}/v1`), ask('Hi', { stream }), options)) {
          events.push(event);
        }
        assert.equal(foldEvents(events).error?.errorType, errorType);
        assert.equal(await (await upstream.request(at)).closed, true);
      });
    }
  }
});
