import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer, type Server } from 'node:https';
import { streamFrames } from '../upstream/answers.ts';
import { play } from '../upstream/scenarios.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const UPSTREAMS = ['chat', 'messages', 'responses'] as const;
const CLIENTS = [
  { own: 'Chat Completions', path: '/chat/completions', more: {}, field: 'messages' },
  { own: 'Messages', path: '/messages', more: { max_tokens: 50 }, field: 'messages' },
  { own: 'Responses', path: '/responses', more: {}, field: 'input' },
] as const;

const pem = (name: string) => readFileSync(new URL(`../provider/certificates/${name}`, import.meta.url));

/** Every client format over every upstream format, each fault (docs/reliability.md). */
describe('faults of upstreams and networks', () => {
  let gateway: TestGateway;
  let tls: Server;

  before(async () => {
    tls = createTlsServer({ key: pem('loopback.key'), cert: pem('loopback.pem') });
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    const address = tls.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    gateway = await startTestGateway({
      config: (url) => {
        const at = (baseURL: string) => ({ options: { baseURL, apiKey: 'k' }, models: { m: {} } });
        const limited = Object.entries(providers(url)).flatMap(([id, provider]) => {
          const { options, ...rest } = JSON.parse(JSON.stringify(provider));
          const within = (limits: object) => ({ ...rest, options: { ...options, ...limits } });
          return [
            [`hasty-${id}`, within({ timeout: 1_000, chunkTimeout: 1_000 })],
            // A busy machine needs its time for the first part of an answer.
            [`begun-${id}`, within({ timeout: 60_000, chunkTimeout: 4_000 })],
          ];
        });
        return {
          provider: {
            ...providers(url),
            ...Object.fromEntries(limited),
            lost: at('http://svc-test.invalid/v1'),
            closed: at('http://127.0.0.1:1/v1'),
            untrusted: at(`https://127.0.0.1:${port}/v1`),
            plain: at(`${url.replace('http:', 'https:')}/v1`),
          },
        };
      },
    });
  });
  after(async () => {
    await gateway.close();
    tls.close();
    tls.closeAllConnections();
  });
  afterEach(async () => {
    // No request counts as active after a fault.
    assert.equal(gateway.active, 0);
  });

  type Client = (typeof CLIENTS)[number];
  const modelFor = (up: string, scenario: string) => {
    const limits = scenario === 'stall-mid-stream' ? 'begun-' : scenario.startsWith('stall') ? 'hasty-' : '';
    return `${limits}${up}/m`;
  };
  async function send({ path, more, field }: Client, model: string, scenario: string, stream: boolean) {
    const content = `[[scenario:${scenario}]]`;
    const response = await gateway.post(path, { model, ...more, [field]: [{ role: 'user', content }], stream });
    return { status: response.status, text: await response.text(), headers: response.headers };
  }
  const typeOf = (text: string) => JSON.parse(text).error_type;

  /** Scenario, status, error_type: before the first byte, streamed or not. */
  const REFUSALS: readonly (readonly [string, number, string])[] = [
    ['status-400', 400, 'invalid_request'],
    ['status-401', 503, 'temporarily_unavailable'],
    ['status-402', 503, 'temporarily_unavailable'],
    ['status-403', 503, 'temporarily_unavailable'],
    ['status-404', 400, 'model_not_found'],
    ['status-408', 503, 'upstream_timeout'],
    ['status-413', 413, 'request_too_large'],
    ['status-422', 400, 'invalid_request'],
    ['status-429-retry-after-7', 429, 'rate_limit_exceeded'],
    ['status-429-retry-after-99999999999', 429, 'rate_limit_exceeded'],
    ['named-wait-6200ms', 429, 'rate_limit_exceeded'],
    ['status-500', 503, 'upstream_error'],
    ['status-502', 503, 'upstream_error'],
    ['status-503', 503, 'temporarily_unavailable'],
    ['status-504', 503, 'upstream_timeout'],
    ['status-529', 503, 'temporarily_unavailable'],
    ['html', 503, 'upstream_invalid_response'],
    ['reset-before-headers', 503, 'network_error'],
    ['stall-before-headers', 503, 'upstream_timeout'],
    ['stall-after-headers', 503, 'upstream_timeout'],
  ];
  /** Without a stream, an interrupted answer is an error with a status. */
  const WHOLE: readonly (readonly [string, number, string])[] = [
    ['empty', 503, 'upstream_invalid_response'],
    ['invalid-json', 503, 'upstream_invalid_response'],
    ['reset-mid-stream', 503, 'upstream_disconnect'],
    ['stall-mid-body', 503, 'upstream_timeout'],
  ];
  const STREAMED: readonly (readonly [string, number, string])[] = [['empty', 503, 'upstream_disconnect']];
  const BROKEN = ['reset-mid-stream', 'reset-mid-frame', 'reset-mid-character', 'stall-mid-stream'];

  for (const client of CLIENTS) {
    it(`${client.own} over each format: each rejection has its status, streamed or not`, async () => {
      const cases = UPSTREAMS.flatMap((up) =>
        [true, false].flatMap((stream) =>
          [...REFUSALS, ...(stream ? STREAMED : WHOLE)].map((row) => ({ up, stream, row })),
        ),
      );
      const check = async ({ up, stream, row: [scenario, status, type] }: (typeof cases)[number]) => {
        const answer = await send(client, modelFor(up, scenario), scenario, stream);
        const what = `${scenario} of ${up}, stream ${stream}`;
        assert.deepEqual([answer.status, typeOf(answer.text)], [status, type], what);
        if (/-7$|-6200ms$/.test(scenario)) assert.equal(answer.headers.get('retry-after'), '7', what);
      };
      await Promise.all(cases.map(check));
    });

    it(`${client.own} over each format: an interrupted stream ends with an error and closes its upstream`, async () => {
      const at = gateway.upstream.requests.length;
      const check = async ({ up, scenario }: { up: string; scenario: string }) => {
        const { status, text } = await send(client, modelFor(up, scenario), scenario, true);
        const what = `${scenario} of ${up}`;
        assert.equal(status, 200, what);
        assert.match(text, /Hello/, `${what}: what came is kept`);
        const last = text.trim().split('\n\n').at(-1) ?? '';
        assert.match(last, client.own === 'Responses' ? /event: response\.failed/ : /"error"/, what);
        assert.equal(text.includes('[DONE]') || text.includes('message_stop'), false, what);
      };
      await Promise.all(UPSTREAMS.flatMap((up) => BROKEN.map((scenario) => check({ up, scenario }))));
      for (const request of gateway.upstream.requests.slice(at)) assert.equal(await request.closed, true);
    });

    for (const up of UPSTREAMS) {
      it(`${client.own} over ${up}: missing, negative or duplicate usage has no effect on the answer`, async () => {
        for (const scenario of ['no-usage', 'negative-usage']) {
          for (const stream of [true, false]) {
            const { status, text } = await send(client, `${up}/m`, scenario, stream);
            assert.equal(status, 200, scenario);
            assert.match(text, /wörld/, scenario);
          }
        }
        const rows = gateway.rows().slice(-4);
        assert.equal(rows.length, 4);
        for (const row of rows) assert.ok(Number(row.input) >= 0 && Number(row.output) >= 0 && Number(row.cost) >= 0);
      });
    }
  }

  for (const { own, path, more, field } of CLIENTS) {
    if (own === 'Messages') continue;
    it(`${own} over messages: a second message within a tool call ends the stream with an error`, async () => {
      const tool = { id: 'call_1', name: 'weather', arguments: ['{"city":', '"Oslo"}'] };
      const frames = streamFrames('messages', { tools: [tool] });
      const cut = frames.findIndex((frame) => frame.includes('Oslo'));
      const again = frames.map((frame) => frame.replace('msg_up1', 'msg_up2').replace('call_1', 'call_2'));
      gateway.upstream.respond((_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end([...frames.slice(0, cut), ...again].map((frame) => `${frame}\n\n`).join(''));
      });
      const body = { model: 'messages/m', stream: true, ...more, [field]: [{ role: 'user', content: 'q' }] };
      const text = await (await gateway.post(path, body)).text();
      gateway.upstream.respond(undefined);
      assert.match(text, /started its answer again/);
      assert.ok(!text.includes('call_2'));
    });
  }

  it('faults: an event of 8 MB and an informational answer are accepted, a redirect is not followed', async () => {
    const long = 'x'.repeat(8_000_000);
    for (const up of UPSTREAMS) {
      gateway.upstream.respond((request, response) => {
        response.writeProcessing();
        response.writeEarlyHints({ link: '</a>; rel=preload' });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`${streamFrames(request.wire, { text: [long] }).join('\n\n')}\n\n`);
      });
      for (const client of CLIENTS.filter(({ path }) => path === '/chat/completions' || path.includes(up))) {
        const { status, text } = await send(client, `${up}/m`, 'text', true);
        assert.equal(status, 200);
        assert.ok(text.includes(long), `${client.own} over ${up}`);
      }
      let followed = 0;
      gateway.upstream.respond((request, response) => {
        if (request.path.includes('elsewhere')) followed += 1;
        response.writeHead(307, { location: `${gateway.upstream.url}/elsewhere` }).end();
      });
      const answer = await send(CLIENTS[0], `${up}/m`, 'text', true);
      assert.equal(answer.status, 503);
      assert.equal(followed, 0);
    }
    gateway.upstream.respond(undefined);
  });

  it('faults: an answer without an end is rejected before it uses up the memory', async () => {
    const piece = Buffer.alloc(1024 * 1024, ' ');
    gateway.upstream.respond((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      const next = () => {
        while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', next);
      };
      next();
    });
    const at = gateway.upstream.requests.length;
    const { status, text } = await send(CLIENTS[0], 'chat/m', 'text', false);
    assert.deepEqual([status, typeOf(text)], [503, 'upstream_invalid_response']);
    assert.equal(await (await gateway.upstream.request(at)).closed, true);
    gateway.upstream.respond(undefined);
  });

  it('faults: a request on a kept connection that was closed is sent again on a new one', async () => {
    const sockets = new Set<unknown>();
    let closed = 0;
    gateway.upstream.respond((request, response) => {
      const kept = sockets.has(response.socket);
      sockets.add(response.socket);
      if (!kept) return play(request, response);
      closed += 1;
      response.socket?.destroy();
      return undefined;
    });
    for (let n = 0; n < 4; n += 1) {
      const { status } = await send(CLIENTS[0], 'chat/m', 'text', false);
      assert.equal(status, 200);
    }
    assert.ok(closed > 0);
    gateway.upstream.respond(undefined);
  });

  for (const [provider, words] of [
    ['lost', /could not be (found|looked up) \(DNS\)/],
    ['closed', /refused the connection/],
    ['untrusted', /certificate that is not trusted/],
    ['plain', /TLS problem|could not be reached|closed the connection/],
  ] as const) {
    it(`faults: each format reports that ${provider} cannot be reached`, async () => {
      for (const client of CLIENTS) {
        const { status, text } = await send(client, `${provider}/m`, 'text', true);
        assert.deepEqual([status, typeOf(text)], [503, 'network_error']);
        assert.match(JSON.parse(text).error.message, words);
      }
    });
  }
});
