import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { Socket } from 'node:net';
import { parseBody } from '../../src/gateway/http/request-body.ts';
import { assertLinear } from '../linear-time.ts';
import { ask, type ErrorAnswer, said } from './chat-request.ts';
import { gatewayUnderTest, KEY, providers, type UnderTest } from './gateway-under-test.ts';

const many = <T>(count: number, item: T): T[] => new Array<T>(count).fill(item);
const text = { type: 'text', text: 't' };
const MOST_ITEMS = 10_000;

describe('a request with too much in it', () => {
  let under: UnderTest;
  before(async () => {
    under = await gatewayUnderTest();
  });
  after(() => under.close());

  /** The path, the field that is named, and a body with so many items in it. */
  const LISTS: readonly (readonly [where: string, param: string, make: (count: number) => Record<string, unknown>])[] =
    [
      [
        '/chat/completions',
        'messages',
        (count) => ask('chat/m', { messages: many(count, { role: 'user', content: 'u' }) }),
      ],
      [
        '/chat/completions',
        'messages.0.content',
        (count) => ask('chat/m', { messages: [{ role: 'user', content: many(count, text) }] }),
      ],
      [
        '/chat/completions',
        'messages.0.tool_calls',
        (count) => ask('chat/m', { messages: [{ role: 'assistant', content: 'a', tool_calls: many(count, {}) }] }),
      ],
      ['/chat/completions', 'tools', (count) => ask('chat/m', { tools: many(count, { type: 'function' }) })],
      [
        '/messages',
        'messages',
        (count) => ask('messages/m', { messages: many(count, { role: 'user', content: 'u' }) }),
      ],
      ['/messages', 'system', (count) => ask('messages/m', { system: many(count, text) })],
      [
        '/messages/count_tokens',
        'messages',
        (count) => ask('chat/m', { messages: many(count, { role: 'user', content: 'u' }) }),
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
    it(`is refused with the name of the list: ${where} ${param}`, async () => {
      const response = await under.post(where, make(MOST_ITEMS + 1));
      const { error } = await said(response);
      assert.deepEqual([response.status, error.param], [400, param]);
      assert.match(error.message, /10001 items; at most 10000/);
    });
  }

  it('is taken up to that many', async () => {
    const input = many(MOST_ITEMS / 2, 0).flatMap((_, at) => [
      { type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: `c${at}`, output: 'r' },
    ]);
    for (const model of ['responses/m', 'chat/m', 'messages/m']) {
      assert.equal((await under.post('/responses', { model, input })).status, 200, model);
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
    it(`is refused before it is parsed: ${what}`, async () => {
      for (const where of ['/chat/completions', '/messages', '/responses', '/embeddings', '/fim/completions']) {
        const response = await under.post(where, `{"model":"chat/m","messages":${body}`);
        assert.equal(response.status, 400);
        // The end of the object is missing: only the parser would say so.
        assert.match((await said(response)).message, /^The body has more than /, where);
      }
    });
  }

  it('is looked at once, in a time that is linear in its length', () =>
    assertLinear(
      300_000,
      (size) => Buffer.from(`{"a":"${'\\\\\\"{'.repeat(size)}","b":[${'"",'.repeat(size / 10)}1]}`),
      (bytes) => parseBody(bytes),
    ));
});

/** A provider that tries to stop the gateway with one answer. */
describe('an answer that is nested more deeply than the stack is', () => {
  let under: UnderTest;
  before(async () => {
    under = await gatewayUnderTest();
  });
  after(() => under.close());

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
    it(`does not stop the gateway: ${how}`, async () => {
      under.upstream.respond((_, response) => void response.writeHead(status, { 'content-type': type }).end(body));
      const requests = ['chat/m', 'messages/m', 'responses/m'].flatMap((model) =>
        [true, false].flatMap((stream) => [
          under.post('/chat/completions', ask(model, { stream })),
          under.post('/messages', ask(model, { stream })),
          under.post('/responses', { model, input: 'Hi', stream }),
        ]),
      );
      for (const response of await Promise.all(requests)) await response.text().catch(() => '');
      assert.equal((await under.get('/healthz')).status, 200);
    });
  }
});

describe('the memory of bodies', () => {
  const MOST = 1_000_000;
  const big = 'x'.repeat(600_000);
  let under: UnderTest;
  before(async () => {
    under = await gatewayUnderTest({
      config: (url) => ({ provider: providers(url), gateway: { maxBufferedBytes: MOST, maxBodyBytes: 5_000_000 } }),
    });
  });
  after(() => under.close());
  afterEach(() => under.upstream.respond(undefined));

  const send = (content: string) =>
    under.post('/chat/completions', ask('chat/m', { messages: [{ role: 'user', content }] }));
  const refused = async (response: Response) => {
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
    const answer: ErrorAnswer = await said(response);
    assert.equal(answer.error_type, 'temporarily_unavailable');
  };
  const answered = async () => assert.equal((await send(big)).status, 200);

  it('is limited for all requests together: 503 until one has ended', async () => {
    const waiting = Promise.withResolvers<void>();
    under.upstream.respond(async (_, response) => {
      await waiting.promise;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}');
    });
    const before = under.upstream.requests.length;
    const first = send(big);
    await under.upstream.request(before);
    await refused(await send(big));
    assert.equal((await under.get('/healthz')).status, 200);
    waiting.resolve();
    assert.equal((await first).status, 200);
    await answered();
  });

  it('is free again after a client has left in the middle of its body, or while it waited', async () => {
    const port = Number(new URL(under.url).port);
    const ended = () => under.lines.filter((line) => line.includes('"message":"request"')).length;
    const before = ended();
    for (let round = 0; round < 5; round += 1) {
      const socket = new Socket();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.connect(port, '127.0.0.1');
      const head = `POST /messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${KEY}`;
      socket.write(`${head}\r\nContent-Length: 900000\r\n\r\n${'x'.repeat(500_000)}`, () => socket.destroy());
      await closed;
    }
    // The gateway may learn of the last ones after they have closed.
    while (ended() < before + 5) await new Promise(setImmediate);
    while (under.metrics.active > 0) await new Promise(setImmediate);
    under.upstream.respond(() => undefined);
    for (let round = 0; round < 3; round += 1) {
      const before = under.upstream.requests.length;
      const leaving = new AbortController();
      const gone = fetch(`${under.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}` },
        body: JSON.stringify(ask('chat/m', { messages: [{ role: 'user', content: big }] })),
        signal: leaving.signal,
      });
      await under.upstream.request(before);
      leaving.abort();
      await assert.rejects(gone);
      while (under.metrics.active > 0) await new Promise(setImmediate);
    }
    under.upstream.respond(undefined);
    await answered();
  });

  it('is free again after an error of each kind', async () => {
    for (const body of [
      '{',
      `{"model":"none/x","messages":["${big}"]}`,
      `["${big}"]`,
      `{"model":"chat/m","a":"${big}"}`,
    ]) {
      assert.equal((await under.post('/chat/completions', body)).status, 400);
    }
    assert.equal((await send('x'.repeat(6_000_000))).status, 413);
    await refused(await send('x'.repeat(1_500_000)));
    await answered();
  });

  it('counts answers that are held until they are whole, and events that have no end', async () => {
    const upstream = (type: string, start: string) =>
      under.upstream.respond((_, response) => {
        response.writeHead(200, { 'content-type': type });
        response.end(`${start}"${'x'.repeat(2_000_000)}`);
      });
    upstream('application/json', '{"a":');
    await refused(await send('Hi'));
    upstream('text/event-stream', 'data: {"a":');
    await refused(await under.post('/chat/completions', ask('chat/m', { stream: true })));
    under.upstream.respond(undefined);
    await answered();
  });
});

describe('the memory of an answer', () => {
  it('is counted until its client has read it, or has left', async () => {
    const under = await gatewayUnderTest({
      config: (url) => ({ provider: providers(url), gateway: { maxBufferedBytes: 30_000_000 } }),
    });
    const big = 'x'.repeat(20_000_000);
    under.upstream.respond((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"choices":[{"message":{"content":"${big}"},"finish_reason":"stop"}]}`);
    });
    const headers = { authorization: `Bearer ${KEY}` };
    const post = request(`${under.url}/chat/completions`, { method: 'POST', headers });
    post.on('error', () => undefined).end(JSON.stringify(ask('chat/m')));
    const unread = await new Promise<IncomingMessage>((resolve) => post.once('response', resolve));
    const status = async () => {
      const response = await under.post('/chat/completions', ask('chat/m'));
      await response.text();
      return response.status;
    };
    assert.equal(await status(), 503);
    unread.on('error', () => undefined).destroy();
    while ((await status()) === 503);
    assert.equal(await status(), 200);
    await under.close();
  });
});
