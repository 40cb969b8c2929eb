import assert from 'node:assert/strict';
import { streamFrames } from '../upstream/answers.ts';
import type { ReceivedRequest } from '../upstream/upstream.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { FORMATS } from './many-providers.ts';

const UPSTREAMS = ['chat', 'messages', 'responses'] as const;
const SIGN = { '/messages': /event: ping\ndata: \{"type":"ping"\}\n\n/g } as const;
const COMMENT = /^: heartbeat\n\n/gm;

describe('heartbeats', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      heartbeatMs: 1,
      config: (url) => {
        const { chat, messages } = providers(url);
        const other = JSON.parse(JSON.stringify(chat).replace('"up-m"', '"other"'));
        return {
          provider: {
            ...providers(url),
            other,
            messages,
            lost: { options: { baseURL: 'http://127.0.0.1:1/v1' }, models: { m: {} } },
          },
          gateway: { fallback: { 'chat/m': ['other/m'] } },
        };
      },
    });
  });
  after(() => gateway.close());
  afterEach(() => gateway.upstream.respond(undefined));

  const signOf = (path: string) => (path === '/messages' ? SIGN['/messages'] : COMMENT);
  const count = (text: string, path: string) => text.match(signOf(path))?.length ?? 0;

  function post(path: string, model: string, body: object): Promise<Response> {
    return fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...body, stream: true }),
    });
  }

  /** Reads until there are `signs` heartbeats after what was there, calls `go`, and reads the rest. */
  async function readThrough(response: Response, path: string, steps: readonly (() => void)[]): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    let seen = 0;
    const waiting = [...steps];
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (waiting.length === 0 || count(text, path) < seen + 2) continue;
      waiting.shift()?.();
      seen = count(text, path);
    }
    return text;
  }

  for (const upstream of UPSTREAMS) {
    for (const { path, body } of FORMATS) {
      it(`heartbeats: ${path} over ${upstream} gets them before and between events, and none after the end`, async () => {
        const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        gateway.upstream.respond(async ({ wire }, response) => {
          const frames = streamFrames(wire, { text: ['Hel', 'lo'] }).map((frame) => `${frame}\n\n`);
          const half = frames.findIndex((frame) => frame.includes('Hel')) + 1;
          response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
          await gates[0]?.promise;
          response.write(frames.slice(0, half).join(''));
          await gates[1]?.promise;
          response.end(frames.slice(half).join(''));
        });
        const response = await post(path, `${upstream}/m`, body);
        assert.equal(response.status, 200);
        const text = await readThrough(
          response,
          path,
          gates.map(({ resolve }) => resolve),
        );
        assert.ok(text.indexOf('Hel') > text.search(path === '/messages' ? /ping/ : /heartbeat/));
        const without = text.replaceAll(signOf(path), '');
        // Nothing else changes, and no event is cut in two.
        const plain = await (await plainAnswer(upstream, path, body)).text();
        assert.equal(normal(without), normal(plain));
      });
    }
  }

  async function plainAnswer(upstream: string, path: string, body: object): Promise<Response> {
    gateway.upstream.respond(({ wire }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        streamFrames(wire, { text: ['Hel', 'lo'] })
          .join('\n\n')
          .concat('\n\n'),
      );
    });
    return post(path, `${upstream}/m`, body);
  }

  /** Without ids, times and heartbeats of a slow machine. */
  function normal(text: string): string {
    return text
      .replaceAll(/event: ping\ndata: \{"type": ?"ping"\}\n\n|: heartbeat\n\n/g, '')
      .replaceAll(/req_\w+/g, 'ID')
      .replaceAll(/"(created|created_at)":\d+/g, '"$1":0');
  }

  for (const { path, body } of FORMATS) {
    it(`heartbeats: after heartbeats a fallback still answers, and an error is an event of the stream: ${path}`, async () => {
      const gate = Promise.withResolvers<void>();
      const failing = async (request: ReceivedRequest, response: import('node:http').ServerResponse) => {
        if (request.body.model === 'other') {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(
            streamFrames(request.wire, { text: ['rescued'] })
              .join('\n\n')
              .concat('\n\n'),
          );
          return;
        }
        await gate.promise;
        response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"busy"}}');
      };
      gateway.upstream.respond(failing);
      const saved = await readThrough(await post(path, 'chat/m', body), path, [gate.resolve]);
      assert.match(saved, /rescued/);
      const own = FORMATS.find((format) => format.path === path)?.own ?? 'chat';
      const failed = await post(path, own === 'chat' ? 'other/free' : `${own}/m`, body);
      const text = await failed.text();
      if (failed.status === 200) {
        assert.match(text, /busy/);
        assert.equal(/\[DONE\]|message_stop|response\.completed/.test(text), false, text);
        if (path === '/responses') assert.match(text, /event: response\.failed/);
      } else assert.equal(failed.status, 503);
    });
  }

  it('heartbeats: a request without a stream gets none, and an error before the first one keeps its status', async () => {
    const gate = Promise.withResolvers<void>();
    gateway.upstream.respond(async ({ wire }, response) => {
      await gate.promise;
      response.writeHead(400, { 'content-type': 'application/json' }).end(`{"error":{"message":"no ${wire}"}}`);
    });
    const sent = gateway.post('/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] });
    await gateway.upstream.request(gateway.upstream.requests.length);
    gate.resolve();
    assert.equal((await sent).status, 400);
  });
});
