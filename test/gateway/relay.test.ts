import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PLACEHOLDER_RESULT } from '../../src/wire/tool-call-repair.ts';
import { gatewayUnderTest, KEY, providers, type UnderTest } from './gateway-under-test.ts';

const FORMATS = [
  { path: '/chat/completions', own: 'chat', body: { messages: [{ role: 'user', content: 'Hi' }] } },
  { path: '/responses', own: 'responses', body: { input: 'Hi' } },
  { path: '/messages', own: 'messages', body: { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] } },
] as const;
const UPSTREAMS = ['chat', 'messages', 'responses'];

describe('the way through', () => {
  let under: UnderTest;

  before(async () => {
    under = await gatewayUnderTest({
      config: (url) => {
        const options = { baseURL: `${url}/v1`, apiKey: 'k' };
        return {
          provider: {
            ...providers(url),
            hasty: { options: { ...options, chunkTimeout: 600, timeout: 150 }, models: { m: {} } },
            tuned: {
              options,
              models: {
                m: { options: { top_k: 5 }, variants: { high: { reasoning_effort: 'high' } }, temperature: false },
              },
            },
            mistral: { npm: '@ai-sdk/mistral', options, models: { 'codestral-x': {}, m: {} } },
          },
          gateway: { maxBodyBytes: 1_000_000, allowedOrigins: ['https://app.example'], allowedHosts: ['gw.example'] },
        };
      },
      listen: { headersTimeout: 300, requestTimeout: 600 },
    });
  });
  after(() => under.close());

  /** Sends and gives what the upstream got. */
  async function forwarded(path: string, body: unknown, headers: Record<string, string> = {}) {
    const at = under.upstream.requests.length;
    const response = await under.post(path, body, headers);
    await response.text();
    assert.equal(response.status, 200);
    return under.upstream.request(at);
  }

  describe('same format in and out', () => {
    it('passes a body on byte for byte but for the model’s name, unknown fields and order too', async () => {
      const history = [
        '{"role":"user","content":"Hi é \\u00e9 \\"model\\":\\"x\\""}',
        '{"content":null,"role":"assistant","tool_calls":[{"id":"call.1","type":"function","function":{"name":"f","arguments":"{}"}}]}',
        '{"role":"tool","tool_call_id":"call.1","content":"ok"}',
      ].join(' , ');
      const body = (model: string) =>
        `{ "x_unknown": 1.0, "messages" : [ ${history} ],\n "model":"${model}" , "seed":7 }`;
      assert.equal((await forwarded('/chat/completions', body('chat/m'))).bytes.toString(), body('up-m'));
    });

    it('is not fooled by a model’s name that stands elsewhere, twice or escaped', async () => {
      const messages = [{ role: 'user', content: 'x', model: 'inner' }];
      const text = JSON.stringify({ metadata: { model: 'deep' }, messages, model: 'chat/m' });
      const nested = await forwarded('/chat/completions', text);
      assert.deepEqual(nested.body, { metadata: { model: 'deep' }, messages, model: 'up-m' });
      const twice = await forwarded(
        '/chat/completions',
        `{"model":"a/b",${JSON.stringify({ messages }).slice(1, -1)},"model":"chat/m"}`,
      );
      assert.equal(twice.bytes.toString().split('"model":"up-m"').length, 2);
      assert.ok(!twice.bytes.includes('a/b'));
      const escaped = await forwarded(
        '/chat/completions',
        `{"mod\\u0065l":"chat/m",${JSON.stringify({ messages }).slice(1, -1)}}`,
      );
      assert.equal(escaped.body.model, 'up-m');
    });

    it('keeps an own __proto__ a plain member', async () => {
      const sent = await forwarded(
        '/chat/completions',
        '{"model":"chat/m","stream":true,"stream_options":{},"messages":[{"role":"user","content":"x"}],"__proto__":{"polluted":1}}',
      );
      assert.ok(sent.bytes.includes('"__proto__":{"polluted":1}'));
      assert.equal(Object.getOwnPropertyNames(Object.prototype).includes('polluted'), false);
    });

    it('merges the model’s options and the variant that is asked for', async () => {
      const messages = [{ role: 'user', content: 'x' }];
      const sent = await forwarded('/chat/completions', { model: 'tuned/m:high', messages, temperature: 1, y: 2 });
      assert.deepEqual(sent.body, { model: 'm', messages, y: 2, top_k: 5, reasoning_effort: 'high' });
      const other = await forwarded('/messages', { model: 'tuned/m:high', messages, max_tokens: 9 });
      assert.deepEqual([other.body.top_k, other.body.reasoning_effort], [5, 'high']);
    });

    it('hands the client’s beta headers of Messages on, and no key of ours', async () => {
      const { headers } = await forwarded(
        '/messages',
        { model: 'messages/m', ...FORMATS[2].body },
        { 'anthropic-beta': 'b-1' },
      );
      assert.equal(headers['anthropic-beta'], 'b-1');
      assert.equal(headers['x-api-key'], 'sk-house-canary');
      assert.ok(!JSON.stringify(headers).includes(KEY));
    });
  });

  describe('tool-call repair', () => {
    const placeholder = (text: string) => text.split(PLACEHOLDER_RESULT).length - 1;
    const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
    for (const up of UPSTREAMS) {
      it(`of a Chat history for a ${up} upstream`, async () => {
        const messages = [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: null, tool_calls: [call('a.1'), call('a.1'), call('b.2')] },
          { role: 'tool', tool_call_id: 'a.1', content: 'one' },
          { role: 'tool', tool_call_id: 'orphan', content: 'lost' },
          { role: 'user', content: 'go on' },
        ];
        const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
        const sent = (await forwarded('/chat/completions', { model: `${up}/m`, messages, tools })).bytes.toString();
        assert.equal(placeholder(sent), 1);
        assert.ok(!sent.includes('lost') && !sent.includes('orphan'));
        assert.equal(sent.includes('a.1'), up !== 'messages', 'ids as the upstream wants them');
      });

      it(`of a Messages and a Responses history for a ${up} upstream`, async () => {
        const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
        const messages = [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [use('a'), use('b')] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'b', content: 'two' }] },
        ];
        const tools = [{ name: 'f', input_schema: { type: 'object' } }];
        const first = await forwarded('/messages', { model: `${up}/m`, max_tokens: 9, messages, tools });
        assert.equal(placeholder(first.bytes.toString()), 1);
        const input = [
          { role: 'user', content: 'x' },
          { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'none', output: 'lost' },
        ];
        const second = await forwarded('/responses', {
          model: `${up}/m`,
          input,
          tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false }],
        });
        assert.equal(placeholder(second.bytes.toString()), 1);
        assert.ok(!second.bytes.includes('lost'));
      });
    }

    it('makes ids that Mistral takes, the same in each request', async () => {
      const messages = [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, tool_calls: [call('call_abcdefghijkl')] },
        { role: 'tool', tool_call_id: 'call_abcdefghijkl', content: 'one' },
      ];
      const send = async () =>
        (await forwarded('/chat/completions', { model: 'mistral/m', messages, seed: 1, user: 'u' })).body;
      const [first, second] = [await send(), await send()];
      assert.deepEqual(first, second);
      assert.match(JSON.stringify(first.messages), /"tool_call_id":"[a-zA-Z0-9]{9}"/);
      assert.deepEqual([first.random_seed, first.user], [1, undefined]);
    });
  });

  describe('streams', () => {
    for (const { path, own, body } of FORMATS) {
      for (const up of UPSTREAMS) {
        const stream = async (scenario: string) => {
          const response = await under.post(path, { model: `${up}/m`, ...body, stream: true }, { 'x-s': '1' });
          await response.body?.cancel();
          const asked = JSON.parse(JSON.stringify(body).replace('"Hi"', `"[[scenario:${scenario}]]"`));
          const answer = await under.post(path, { model: `${up}/m`, ...asked, stream: true });
          return { status: answer.status, text: await answer.text() };
        };
        it(`${own} over ${up}: bytes split anywhere, CR, CRLF, BOM, comments, gzip, without a type: the same answer`, async () => {
          const normal = (text: string) =>
            [...text.replaceAll(/\r\n?/g, '\n').matchAll(/^data: (.*)$/gm)]
              .map((match) => (match[1] ?? '').replaceAll(/req_\w+|"created(_at)?":\d+/g, ''))
              .join('\n');
          const expected = normal((await stream('text')).text);
          assert.ok(expected.includes('wörld'));
          for (const scenario of [
            'split-bytes',
            'crlf',
            'cr',
            'comments',
            'gzip',
            'no-content-type',
            'no-last-blank-line',
          ]) {
            const { status, text } = await stream(scenario);
            assert.equal(status, 200, scenario);
            assert.equal(normal(text), expected, scenario);
          }
        });

        it(`${own} over ${up}: an error first is an HTTP error, one later ends the stream`, async () => {
          const early: [string, number, string][] = [
            ['status-500', 503, 'upstream_error'],
            ['status-529', 503, 'temporarily_unavailable'],
            ['status-429-retry-after-3', 429, 'rate_limit_exceeded'],
            ['reset-before-headers', 503, 'network_error'],
            ['reset-after-headers', 503, 'upstream_disconnect'],
            ['html', 503, 'upstream_invalid_response'],
          ];
          for (const [scenario, status, type] of early) {
            const answer = await stream(scenario);
            assert.deepEqual([answer.status, JSON.parse(answer.text).error_type], [status, type], scenario);
          }
          for (const scenario of ['reset-mid-stream', 'reset-mid-frame', 'reset-mid-character', 'no-terminator']) {
            const { status, text } = await stream(scenario);
            // Cut off before its first word, an answer is no answer.
            if (scenario === 'no-terminator' && status === 503) continue;
            assert.equal(status, 200, scenario);
            const last = text.trim().split('\n\n').at(-1) ?? '';
            assert.match(last, own === 'responses' ? /event: response\.failed/ : /"error"/, scenario);
            assert.ok(!text.includes('[DONE]') && !text.includes('message_stop'), scenario);
          }
        });
      }
    }

    it('are cut when the upstream stalls, pings or not, before the first byte and later', async () => {
      for (const scenario of ['stall-before-headers', 'stall-after-headers']) {
        const answer = await under.post('/chat/completions', ask(scenario));
        assert.equal(answer.status, 503, scenario);
        assert.equal(JSON.parse(await answer.text()).error_type, 'upstream_timeout');
      }
      for (const scenario of ['stall-mid-stream', 'stall-mid-stream-with-pings']) {
        const at = under.upstream.requests.length;
        const answer = await under.post('/chat/completions', ask(scenario));
        const text = await answer.text();
        assert.match(text, /"error_type":"upstream_timeout"/);
        // One in ten milliseconds: each that put the end off by 600 would let many more through.
        assert.ok(text.split(': ping').length < 200);
        assert.equal(await (await under.upstream.request(at)).closed, true);
      }
      function ask(scenario: string) {
        return { model: 'hasty/m', stream: true, messages: [{ role: 'user', content: `[[scenario:${scenario}]]` }] };
      }
    });

    for (const up of UPSTREAMS) {
      it(`stop their ${up} upstream when the client goes away, and are accounted for`, async () => {
        const at = under.upstream.requests.length;
        const rows = under.rows().length;
        const gone = new AbortController();
        const answer = await fetch(`${under.url}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${KEY}` },
          body: JSON.stringify({
            model: `${up}/m`,
            stream: true,
            messages: [{ role: 'user', content: '[[scenario:stall-mid-stream]]' }],
          }),
          signal: gone.signal,
        });
        await answer.body?.getReader().read();
        gone.abort();
        const request = await under.upstream.request(at);
        assert.equal(await request.closed, true);
        const row = under.rows().slice(rows).at(-1);
        assert.deepEqual([row?.outcome, row?.estimated], ['client-gone', 1]);
        assert.ok(Number(row?.cost) > 0);
      });
    }

    it('slow their upstream down to a slow reader', async () => {
      const frame = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(16_000) }, finish_reason: null }] })}\n\n`;
      let written = 0;
      let stuck: () => void = () => undefined;
      const blocked = new Promise<void>((resolve) => (stuck = resolve));
      under.upstream.respond(async (request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        let open = true;
        void request.closed.then(() => (open = false));
        while (open && written < 400_000_000) {
          written += frame.length;
          if (!response.write(frame)) {
            const drained = once(response, 'drain').then(() => true);
            const waited = new Promise<false>((resolve) => setTimeout(() => resolve(false), 400));
            if (!(await Promise.race([drained, waited, request.closed.then(() => false)]))) break;
          }
        }
        stuck();
        await request.closed;
      });
      try {
        const client = httpRequest(`${under.url}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${KEY}` },
        });
        client.end(JSON.stringify({ model: 'chat/m', stream: true, messages: [{ role: 'user', content: 'x' }] }));
        const [response] = await once(client, 'response');
        response.pause();
        await blocked;
        assert.ok(written < 50_000_000, `${written} bytes were taken for a client that reads none`);
        client.destroy();
      } finally {
        under.upstream.respond(undefined);
      }
    });
  });

  it('fills holes in one shape, streamed and not, and stops when the client does', async () => {
    const hole = { model: 'mistral/codestral-x', prompt: 'a', suffix: 'b', max_tokens: 10 };
    const whole = JSON.parse(await (await under.post('/v1/fim/completions', hole)).text());
    assert.equal(whole.object, 'fim.completion');
    assert.equal(whole.choices[0].text, whole.choices[0].message.content);
    const text = await (await under.post('/fim/completions', { ...hole, stream: true })).text();
    const frames = [...text.matchAll(/^data: (.*)$/gm)].map((match) => match[1] ?? '');
    assert.equal(frames.at(-1), '[DONE]');
    const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame));
    assert.ok(chunks.every((chunk) => chunk.object === 'fim.completion.chunk'));
    assert.equal(chunks.map((chunk) => chunk.choices[0].delta.content).join(''), whole.choices[0].text);
    assert.deepEqual(chunks.map((chunk) => chunk.usage !== undefined).lastIndexOf(true), chunks.length - 1);
    assert.equal(chunks.filter((chunk) => chunk.usage !== undefined).length, 1);
  });

  it('counts cached tokens at their own price', async () => {
    const messages = [{ role: 'user', content: '[[scenario:cached]]' }];
    for (const [path, up] of [
      ['/chat/completions', 'chat'],
      ['/messages', 'messages'],
      ['/chat/completions', 'responses'],
    ] as const) {
      await (await under.post(path, { model: `${up}/m`, max_tokens: 9, messages })).text();
      const row = under.rows().at(-1);
      assert.deepEqual([row?.input, row?.output, row?.cache_read], [1000, 5, 900], up);
      assert.ok(Math.abs(Number(row?.cost) - (100 * 1 + 900 * 0.1 + 5 * 2) / 1e6) < 1e-12);
    }
  });

  describe('in the open', () => {
    /** What the gateway answers to raw bytes, until it closes or says nothing more. */
    async function raw(text: string): Promise<string> {
      const socket: Socket = connect(Number(new URL(under.url).port), '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
      socket.on('error', () => undefined);
      socket.write(text);
      await once(socket, 'close');
      return answer;
    }
    const head = (line: string, more = '') => `${line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n${more}\r\n`;
    const status = (answer: string) => Number(answer.slice(9, 12));

    it('refuses web pages that are not listed, also with a name of their own for this host', async () => {
      for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1']) {
        const answer = await under.get('/models', { origin });
        assert.equal(answer.status, 403, origin);
        assert.equal(answer.headers.get('access-control-allow-origin'), null);
      }
      assert.equal(status(await raw('GET /models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')), 403);
      assert.equal(status(await raw('GET /models HTTP/1.1\r\nHost: gw.example\r\nConnection: close\r\n\r\n')), 200);
      const allowed = await under.get('/models', { origin: 'https://app.example' });
      assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://app.example');
    });

    for (const path of [
      '//models',
      '/v1//models',
      '/v1/../models',
      '/./models',
      '/%6dodels',
      '/v1%2fmodels',
      '/models/',
      '/models\\',
      '/v1/v1/models',
      '/Models',
      '/models;x=1',
      '/models/%2e%2e/healthz',
      '/models/%',
      'http://evil.example/models',
      '*',
    ]) {
      it(`finds nothing at ${path}`, async () => {
        assert.ok([400, 404].includes(status(await raw(head(`GET ${path} HTTP/1.1`)))), path);
      });
    }

    it('refuses what a proxy in front could read as another request', async () => {
      const body = '{}';
      const shapes = [
        head('POST /messages HTTP/1.1', `Content-Length: 2\r\nTransfer-Encoding: chunked\r\n`) + body,
        head('POST /messages HTTP/1.1', `Content-Length: 2\r\nContent-Length: 3\r\n`) + body,
        head('POST /messages HTTP/1.1', `Transfer-Encoding: chunked, identity\r\n`) + body,
        head('POST /messages HTTP/1.1', `Transfer-Encoding : chunked\r\n`) + body,
        head('POST /messages HTTP/1.1', 'X: a\rb\r\n'),
        'GET /models HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
        'GET /models HTTP/1.1\r\nConnection: close\r\n\r\n',
        'GET /models\r\n\r\n',
      ];
      for (const shape of shapes) assert.equal(status(await raw(shape)), 400, shape);
      assert.equal(status(await raw(head('GET /models HTTP/1.1', `X: ${'y'.repeat(40_000)}\r\n`))), 431);
    });

    it('lets no line break of a request into an answer’s or an upstream’s head', async () => {
      const answer = await raw(head('GET /nothing%0d%0aset-cookie:x HTTP/1.1'));
      assert.equal(status(answer), 404);
      assert.ok(!/^set-cookie/im.test(answer));
    });

    it('refuses a body that is too large at once, and its sender sees the answer', async () => {
      const large = JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] });
      const declared = await under.post('/chat/completions', large);
      assert.equal(declared.status, 413);
      // Nothing of it has to come first.
      const announced = `Authorization: Bearer ${KEY}\r\nContent-Length: 3000000\r\n`;
      assert.equal(status(await raw(head('POST /messages HTTP/1.1', announced))), 413);
      const chunked = httpRequest(`${under.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'transfer-encoding': 'chunked' },
      });
      chunked.on('error', () => undefined);
      chunked.end(large);
      const [response] = await once(chunked, 'response');
      assert.equal(response.statusCode, 413);
      response.resume();
    });

    it('closes on those who send their head or body a byte at a time', async () => {
      assert.equal(status(await raw('GET /models HTTP/1.1\r\nHost: 127.0')), 408);
      const slow = head('POST /messages HTTP/1.1', `Authorization: Bearer ${KEY}\r\nContent-Length: 100\r\n`);
      assert.equal(status(await raw(`${slow}{`)), 408);
    });

    it('survives JSON nested 100,000 deep', async () => {
      const deep = `{"model":"messages/m","max_tokens":5,"messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
      const answer = await under.post('/chat/completions', deep);
      assert.ok(answer.status >= 400);
      assert.equal((await under.get('/healthz')).status, 200);
    });
  });

  it('leaves no connection behind', async () => {
    await under.get('/healthz');
    assert.equal(under.metrics.active, 0);
  });
});
