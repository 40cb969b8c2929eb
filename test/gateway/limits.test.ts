import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { Socket } from 'node:net';
import { isTooDeep } from '../../src/gateway/http/json-limits.ts';
import { parseBody } from '../../src/gateway/http/request-body.ts';
import { assertLinear } from '../linear-time.ts';
import { chatRequest, type ErrorAnswer, readError } from './chat-request.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { until } from './until.ts';

const many = <T>(count: number, item: T): T[] => new Array<T>(count).fill(item);
const text = { type: 'text', text: 't' };
const MOST_ITEMS = 10_000;

describe('limits of requests', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  /** The path, the reported field, and a body with this number of items. */
  const LISTS: readonly (readonly [where: string, param: string, make: (count: number) => Record<string, unknown>])[] =
    [
      [
        '/chat/completions',
        'messages',
        (count) => chatRequest('chat/m', { messages: many(count, { role: 'user', content: 'u' }) }),
      ],
      [
        '/chat/completions',
        'messages.0.content',
        (count) => chatRequest('chat/m', { messages: [{ role: 'user', content: many(count, text) }] }),
      ],
      [
        '/chat/completions',
        'messages.0.tool_calls',
        (count) =>
          chatRequest('chat/m', { messages: [{ role: 'assistant', content: 'a', tool_calls: many(count, {}) }] }),
      ],
      ['/chat/completions', 'tools', (count) => chatRequest('chat/m', { tools: many(count, { type: 'function' }) })],
      [
        '/messages',
        'messages',
        (count) => chatRequest('messages/m', { messages: many(count, { role: 'user', content: 'u' }) }),
      ],
      ['/messages', 'system', (count) => chatRequest('messages/m', { system: many(count, text) })],
      [
        '/messages/count_tokens',
        'messages',
        (count) => chatRequest('chat/m', { messages: many(count, { role: 'user', content: 'u' }) }),
      ],
      [
        '/responses',
        'input',
        (count) => ({ model: 'responses/m', input: many(count, { role: 'user', content: 'u' }) }),
      ],
      [
        '/responses',
        'input.0.content',
        (count) => ({
          model: 'responses/m',
          input: [{ role: 'user', content: many(count, { type: 'input_text', text: 't' }) }],
        }),
      ],
    ];
  for (const [where, param, make] of LISTS) {
    it(`limits: too many items are rejected with the name of the list: ${where} ${param}`, async () => {
      const response = await gateway.post(where, make(MOST_ITEMS + 1));
      const { error } = await readError(response);
      assert.deepEqual([response.status, error.param], [400, param]);
      assert.match(error.message, /10001 items; at most 10000/);
    });
  }

  it('limits: the maximum number of items is accepted', async () => {
    const input = many(MOST_ITEMS / 2, 0).flatMap((_, at) => [
      { type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: `c${at}`, output: 'r' },
    ]);
    for (const model of ['responses/m', 'chat/m', 'messages/m']) {
      assert.equal((await gateway.post('/responses', { model, input })).status, 200, model);
    }
  });

  const wide = (count: number) => `{${Array.from({ length: count }, (_, at) => `"key ${at}":1`).join(',')}}`;
  for (const [what, body] of [
    ['members', wide(1_000_000)],
    ['members of many objects', `[${many(300_000, '{"a":1}').join(',')}]`],
    ['values', `[${many(1_100_000, 1).join(',')}]`],
    ['empty objects', `[${many(1_100_000, '{}').join(',')}]`],
    ['levels of lists', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['levels of objects', '{"a":'.repeat(1_000)],
  ] as const) {
    it(`limits: is rejected before it is parsed: ${what}`, async () => {
      for (const where of ['/chat/completions', '/messages', '/responses', '/embeddings', '/fim/completions']) {
        const response = await gateway.post(where, `{"model":"chat/m","messages":${body}`);
        assert.equal(response.status, 400);
        // The end of the object is missing: only the parser would report it.
        assert.match((await readError(response)).message, /^The body has more than /, where);
      }
    });
  }

  it('limits: a body is scanned once, in linear time', () =>
    assertLinear(
      300_000,
      (size) => Buffer.from(`{"a":"${'\\\\\\"{'.repeat(size)}","b":[${'"",'.repeat(size / 10)}1]}`),
      (bytes) => parseBody(bytes),
    ));
});

/** A provider that tries to stop the gateway with one answer. */
describe('deeply nested answers', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const data = (json: string) => `data: ${json}\n\n`;
  const call = '{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}';
  const ANSWERS: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
    'as an error': [500, 'application/json', deep],
    'in an error': [500, 'application/json', `{"error":{"message":${deep}}}`],
    'in an error with status 200': [200, 'application/json', `{"error":{"message":${deep}}}`],
    'as a whole answer': [200, 'application/json', `{"choices":[{"message":{"content":"a"}}],"output":[],"x":${deep}}`],
    'in the first event': [200, 'text/event-stream', data(`{"type":"response.created","response":{"x":${deep}}}`)],
    'in an error event': [200, 'text/event-stream', data(`{"type":"error","error":{"message":${deep}}}`)],
    'in a delta': [200, 'text/event-stream', data(`{"choices":[{"delta":{"reasoning_details":[{"a":${deep}}]}}]}`)],
    'in an annotation that waits for the end': [
      200,
      'text/event-stream',
      data(`{"choices":[{"delta":{"tool_calls":[${call}]}}]}`) +
        data(`{"choices":[{"delta":{"annotations":[{"cited_text":"t","x":${deep}}]}}]}`),
    ],
  };
  for (const [how, [status, type, body]] of Object.entries(ANSWERS)) {
    it(`nested answer: does not stop the gateway: ${how}`, async () => {
      gateway.upstream.respond((_, response) => void response.writeHead(status, { 'content-type': type }).end(body));
      const requests = ['chat/m', 'messages/m', 'responses/m'].flatMap((model) =>
        [true, false].flatMap((stream) => [
          gateway.post('/chat/completions', chatRequest(model, { stream })),
          gateway.post('/messages', chatRequest(model, { stream })),
          gateway.post('/responses', { model, input: 'Hi', stream }),
        ]),
      );
      for (const response of await Promise.all(requests)) await response.text().catch(() => '');
      assert.equal((await gateway.get('/healthz')).status, 200);
    });
  }
});

describe('levels of answers', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const finish = { index: 0, delta: {}, finish_reason: 'stop' };
  const usage = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';
  const choice = '"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]';
  const chunk = (more: string) => `data: {"choices":[${JSON.stringify(finish)}],${usage}${more}}\n\n`;
  const opening = 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\n\n';
  const reply = (type: string, ...parts: string[]) =>
    gateway.upstream.respond((_, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(parts.join(''));
    });
  const ask = async (where: string, model: string, stream: boolean) => {
    const body = where === '/responses' ? { input: 'Hi' } : { messages: [{ role: 'user', content: 'Hi' }] };
    const response = await gateway.post(where, { model, stream, max_tokens: 10, ...body });
    return { status: response.status, text: await response.text() };
  };
  const CLIENTS = ['/chat/completions', '/messages', '/responses'] as const;

  for (const levels of [600, 200_000]) {
    it(`levels: an answer with ${levels} is a clear error of the provider for each client, streamed or not`, async () => {
      const { lines } = gateway;
      const before = lines.length;
      for (const where of CLIENTS) {
        reply('application/json', `{${choice},${usage},"x":${deep(levels)}}`);
        for (const stream of [false, true]) {
          const whole = await ask(where, 'chat/m', stream);
          assert.equal(whole.status, 503, `${where} ${stream}`);
          assert.match(whole.text, /The provider answered with more than 500 levels/);
        }
        for (const parts of [
          [opening, chunk(`,"x":${deep(levels)}`)],
          [opening, `data: {"choices":[],"x":${deep(levels)}}\n\n`, chunk('')],
          [
            opening,
            `: ]]]"\ndata: {"choices":[{"index":0,"delta":{"content":"b"}}],"x":${deep(levels)}}\n\n`,
            chunk(''),
          ],
        ]) {
          reply('text/event-stream', ...parts);
          const streamed = await ask(where, 'chat/m', true);
          assert.match(streamed.text, /more than 500 levels/, where);
        }
      }
      const written = lines.slice(before).join('');
      assert.doesNotMatch(written, /RangeError|call stack|internal error/);
    });
  }

  it('levels: an answer that hides its levels from the first look shows no text of the engine', async () => {
    // Comments between the lines of one event seem to close its brackets.
    const open = Array.from({ length: 300 }, () => `data: ${'['.repeat(400)}\nevent: x\n`).join('');
    const close = Array.from({ length: 300 }, () => `data: ${']'.repeat(400)}\n`).join('');
    reply(
      'text/event-stream',
      opening,
      `data: {"choices":[${JSON.stringify(finish)}],${usage},"x":\n${open}${close}data: }\n\n`,
    );
    const { text } = await ask('/chat/completions', 'chat/m', true);
    assert.match(text, /The provider answered with more than/);
    assert.doesNotMatch(text, /call stack/);
  });

  it('levels: of many events, each counts alone, and brackets of a text do not count', async () => {
    const many = Array.from({ length: 400 }, () => `data: {"choices":[{"index":0,"delta":{"content":"[{[\\"{"}}]}\n\n`);
    reply('text/event-stream', ...many, `data: {"choices":[],"x":${deep(400)}}\r\n\r\n`, chunk(''), 'data: [DONE]\n\n');
    const { status, text } = await ask('/chat/completions', 'chat/m', true);
    assert.equal(status, 200);
    assert.ok(text.endsWith('data: [DONE]\n\n') && !text.includes('"error"'), text.slice(-300));
  });

  it('levels: answers of embeddings have the same limit', async () => {
    reply('application/json', `{"data":[],${usage},"x":${deep(600)}}`);
    const response = await gateway.post('/embeddings', { model: 'chat/m', input: 'a' });
    assert.equal(response.status, 503);
    assert.match(await response.text(), /more than 500 levels/);
  });

  it('levels: are counted in linear time', () =>
    assertLinear(
      300_000,
      (size) => Buffer.from(`data: {"a":"${'\\\\\\"{'.repeat(size)}"}\n${': "\n'.repeat(size)}${'[]'.repeat(size)}`),
      (bytes) => isTooDeep(bytes, true),
    ));
});

describe('memory of bodies', () => {
  const MOST = 1_000_000;
  const big = 'x'.repeat(600_000);
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => ({ provider: providers(url), gateway: { maxBufferedBytes: MOST, maxBodyBytes: 5_000_000 } }),
    });
  });
  after(() => gateway.close());
  afterEach(() => gateway.upstream.respond(undefined));

  const send = (content: string) =>
    gateway.post('/chat/completions', chatRequest('chat/m', { messages: [{ role: 'user', content }] }));
  const refused = async (response: Response) => {
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
    const answer: ErrorAnswer = await readError(response);
    assert.equal(answer.error_type, 'temporarily_unavailable');
  };
  const answered = async () => assert.equal((await send(big)).status, 200);

  it('body memory: the limit is shared by all requests: 503 until one has ended', async () => {
    const waiting = Promise.withResolvers<void>();
    gateway.upstream.respond(async (_, response) => {
      await waiting.promise;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}');
    });
    const before = gateway.upstream.requests.length;
    const first = send(big);
    await gateway.upstream.request(before);
    await refused(await send(big));
    assert.equal((await gateway.get('/healthz')).status, 200);
    waiting.resolve();
    assert.equal((await first).status, 200);
    await answered();
  });

  it('body memory: is released if the client disconnects during its body or while it waits', async () => {
    const port = Number(new URL(gateway.url).port);
    const ended = () => gateway.lines.filter((line) => line.includes('"message":"request"')).length;
    const before = ended();
    for (let round = 0; round < 5; round += 1) {
      const socket = new Socket();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.connect(port, '127.0.0.1');
      const head = `POST /messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${KEY}`;
      socket.write(`${head}\r\nContent-Length: 900000\r\n\r\n${'x'.repeat(500_000)}`, () => socket.destroy());
      await closed;
    }
    // The gateway may notice the last ones after they have closed.
    await until('5 more requests end', () => ended() >= before + 5);
    await until('no request is active', () => gateway.active === 0);
    gateway.upstream.respond(() => undefined);
    for (let round = 0; round < 3; round += 1) {
      const before = gateway.upstream.requests.length;
      const leaving = new AbortController();
      const gone = fetch(`${gateway.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}` },
        body: JSON.stringify(chatRequest('chat/m', { messages: [{ role: 'user', content: big }] })),
        signal: leaving.signal,
      });
      await gateway.upstream.request(before);
      leaving.abort();
      await assert.rejects(gone);
      await until('no request is active', () => gateway.active === 0);
    }
    gateway.upstream.respond(undefined);
    await answered();
  });

  it('body memory: is released after an error of each kind', async () => {
    for (const body of [
      '{',
      `{"model":"none/x","messages":["${big}"]}`,
      `["${big}"]`,
      `{"model":"chat/m","a":"${big}"}`,
    ]) {
      assert.equal((await gateway.post('/chat/completions', body)).status, 400);
    }
    assert.equal((await send('x'.repeat(6_000_000))).status, 413);
    await refused(await send('x'.repeat(1_500_000)));
    await answered();
  });

  it('body memory: includes buffered answers and events without an end', async () => {
    const upstream = (type: string, start: string) =>
      gateway.upstream.respond((_, response) => {
        response.writeHead(200, { 'content-type': type });
        response.end(`${start}"${'x'.repeat(2_000_000)}`);
      });
    upstream('application/json', '{"a":');
    await refused(await send('Hi'));
    upstream('text/event-stream', 'data: {"a":');
    await refused(await gateway.post('/chat/completions', chatRequest('chat/m', { stream: true })));
    gateway.upstream.respond(undefined);
    await answered();
  });
});

describe('memory of answers', () => {
  it('answer memory: is counted until the client has read the answer or disconnects', async () => {
    const gateway = await startTestGateway({
      config: (url) => ({ provider: providers(url), gateway: { maxBufferedBytes: 30_000_000 } }),
    });
    const big = 'x'.repeat(20_000_000);
    gateway.upstream.respond((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"choices":[{"message":{"content":"${big}"},"finish_reason":"stop"}]}`);
    });
    const headers = { authorization: `Bearer ${KEY}` };
    const post = request(`${gateway.url}/chat/completions`, { method: 'POST', headers });
    post.on('error', () => undefined).end(JSON.stringify(chatRequest('chat/m')));
    const unread = await new Promise<IncomingMessage>((resolve) => post.once('response', resolve));
    const status = async () => {
      const response = await gateway.post('/chat/completions', chatRequest('chat/m'));
      await response.text();
      return response.status;
    };
    assert.equal(await status(), 503);
    unread.on('error', () => undefined).destroy();
    while ((await status()) === 503);
    assert.equal(await status(), 200);
    await gateway.close();
  });
});
