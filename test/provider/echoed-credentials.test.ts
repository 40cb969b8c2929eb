import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { completeCode } from '../../src/provider/complete-code.ts';
import { converse } from '../../src/provider/converse.ts';
import { testConnection } from '../../src/provider/list-models.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import type { Event } from '../../src/wire/event.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { streamFrames } from '../upstream/answers.ts';
import { type ReceivedRequest, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { ask, credential, modelAt } from './test-model.ts';

/** Some keys are Base64, whose slash some servers escape in JSON. */
const KEY = 'sk-canary/8f2d1c+slash==';
const HEADER = 'canary-of-a-header-31d7e2';
const FORMATS: readonly FormatName[] = ['chat-completions', 'responses', 'messages'];

/** All headers of the request, as a vendor that debugs may repeat them, and the key alone. */
const echo = ({ headers }: ReceivedRequest) =>
  `Incorrect key ${headers.authorization?.slice('Bearer '.length)}: ${Object.values(headers).join(' ')}`;
const json = (value: unknown) => JSON.stringify(value).replaceAll('/', '\\/');
const errorOf = (request: ReceivedRequest) => {
  const said = echo(request);
  return { error: { message: said, type: said, code: said, param: said } };
};
const answer = (response: ServerResponse, status: number, type: string, body: string) =>
  void response.writeHead(status, { 'content-type': type }).end(body);

/** Ways in which an upstream may repeat the request. */
const ECHOES: Readonly<Record<string, (request: ReceivedRequest, response: ServerResponse) => void>> = {
  ...Object.fromEntries(
    [400, 401, 402, 404, 413, 429, 500].map((status) => [
      `an error with status ${status}`,
      (request, response) => answer(response, status, 'application/json', json(errorOf(request))),
    ]),
  ),
  'an error as plain text': (request, response) => answer(response, 400, 'text/plain', echo(request)),
  'a list of problems': (request, response) =>
    answer(response, 422, 'application/json', json({ detail: [{ msg: echo(request) }] })),
  'an error with status 200': (request, response) => answer(response, 200, 'application/json', json(errorOf(request))),
  'the first event': (request, response) =>
    answer(response, 200, 'text/event-stream', `data: ${json(errorOf(request))}\n\n`),
  'a later event': (request, response) => {
    const [first, second] = streamFrames(request.wire, { text: ['Hello', 'you'] });
    const last = `event: error\ndata: ${json({ type: 'error', ...errorOf(request) })}`;
    answer(response, 200, 'text/event-stream', [first, second, last].map((frame) => `${frame}\n\n`).join(''));
  },
  'a body that is not JSON': (request, response) => answer(response, 200, 'application/json', echo(request)),
  'an event that is not JSON': (request, response) =>
    answer(response, 200, 'text/event-stream', `data: ${echo(request)}\n\n`),
  'its type and a page': (request, response) => {
    const type = `text/html; said="${request.headers['x-own']}"`;
    answer(response, 200, type, '<!doctype html>');
  },
  'an encoding': (request, response) =>
    void response.writeHead(200, { 'content-encoding': String(request.headers['x-own']) }).end('{}'),
  'another address': (request, response) =>
    void response.writeHead(307, { location: `https://${request.headers['x-own']}.example/` }).end(),
};

describe('echoed credentials', () => {
  let upstream: Upstream;
  const undici = undiciTransport();
  before(async () => {
    upstream = await startUpstream();
  });
  after(async () => {
    await undici.close();
    await upstream.close();
  });

  const transports = { fetch: fetchTransport(fetch), undici };
  for (const [name, respond] of Object.entries(ECHOES)) {
    it(`echoed credentials: are not shown: ${name}`, async () => {
      upstream.respond(respond);
      const said: unknown[] = [];
      for (const transport of Object.values(transports)) {
        const options = { transport, signal: new AbortController().signal, retry: { limit: 0 } };
        for (const format of FORMATS) {
          const endpoint = { format, apiKey: credential(KEY), headers: new Map([['x-own', credential(HEADER)]]) };
          const model = modelAt(`${upstream.url}/v1`, {
            kind: format === 'messages' ? ('anthropic' as const) : ('openai-compatible' as const),
            ...endpoint,
          });
          for (const stream of [true, false]) said.push(await lastOf(converse(model, ask('Hi', { stream }), options)));
          const fimRequest = { model: 'm', prefix: 'a', suffix: 'b', maxTokens: 10, stop: [], stream: false };
          said.push(await lastOf(completeCode(model, fimRequest, options)));
          said.push(await testConnection(model.endpoint, options));
        }
      }
      assert.equal(said.length, 24);
      // Any property of an error may be logged.
      for (const each of said) {
        const shown = inspect(each, { depth: 20 });
        for (const canary of [KEY, HEADER]) assert.ok(!shown.includes(canary), shown);
      }
    });
  }
});

/** The result: an error, or a whole answer if the echo is not an error. */
async function lastOf(events: AsyncIterable<Event>): Promise<Event | undefined> {
  let last: Event | undefined;
  for await (const event of events) last = event;
  return last;
}
