import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync } from 'node:zlib';
import { proxyServer } from '../upstream/proxy-server.ts';
import type { ReceivedRequest } from '../upstream/upstream.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import type { NewKey } from './state-under-test.ts';

/** A PNG of noise, which does not compress. Its header is enough for the test: nothing decodes it. */
const PNG = Buffer.alloc(1_500_000, deflateSync(Buffer.from('a picture'))).toString('base64');
const PDF = Buffer.from(`%PDF-1.4\n${'<< /Type /Page /Parent 1 0 R >>\n'.repeat(3)}${'x'.repeat(900_000)}`).toString(
  'base64',
);
/** Four seconds of 16-bit audio with 24,000 samples a second. */
const WAV = (() => {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(48_000, 28);
  return Buffer.concat([head, Buffer.alloc(192_000)]).toString('base64');
})();

const hard = (usd: number): NewKey['limits'] => ({
  budgets: [{ usd, period: 'total', timeZone: 'UTC', mode: 'hard', model: '*', each: undefined }],
  rates: [],
});
const text = (words: string) => ({ type: 'text', text: words });
/** Content in each format, and the tokens that it has beside its few words. */
const MEDIA: readonly (readonly [what: string, path: string, content: unknown, tokens: number])[] = [
  ['image', '/messages', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }, 1_600],
  [
    'PDF',
    '/messages',
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
    9_000,
  ],
  ['image by URL', '/messages', { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }, 1_600],
  ['image', '/chat/completions', { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }, 1_600],
  ['audio', '/chat/completions', { type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }, 128],
  [
    'PDF',
    '/chat/completions',
    { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
    9_000,
  ],
  ['image', '/responses', { type: 'input_image', image_url: `data:image/png;base64,${PNG}` }, 1_600],
  ['PDF', '/responses', { type: 'input_file', filename: 'a', file_data: `data:application/pdf;base64,${PDF}` }, 9_000],
];

function body(path: string, content: unknown, more: object = {}): Record<string, unknown> {
  if (path === '/responses') {
    const parts = [{ type: 'input_text', text: 'what?' }, content];
    return { max_output_tokens: 50, input: [{ role: 'user', content: parts }], ...more };
  }
  return { max_tokens: 50, messages: [{ role: 'user', content: [text('what?'), content] }], ...more };
}

/** Answers with a usage and other members; streamed or not, in the format of the upstream. */
function answer(usage: object | undefined, members: object = {}) {
  return ({ body: request, wire }: ReceivedRequest, response: ServerResponse) => {
    const stream = request.stream === true;
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
    const frames: string[] = [];
    const event = (value: { type: string } & Record<string, unknown>) =>
      frames.push(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`);
    let whole: unknown;
    if (wire === 'messages') {
      whole = { type: 'message', role: 'assistant', content: [text('Hi')], stop_reason: 'end_turn', usage };
      event({ type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage } });
      event({ type: 'content_block_start', index: 0, content_block: text('Hi') });
      event({ type: 'content_block_stop', index: 0 });
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: usage ?? {} });
      event({ type: 'message_stop' });
    } else if (wire === 'responses') {
      const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
      const done = { id: 'r', status: 'completed', output: [item], ...members, usage };
      whole = done;
      event({ type: 'response.created', response: { ...done, output: [], usage: null, status: 'in_progress' } });
      event({ type: 'response.completed', response: done });
    } else {
      const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
      whole = { id: 'c', choices: [choice], usage, ...members };
      const chunk = (rest: object) => frames.push(`data: ${JSON.stringify({ id: 'c', ...members, ...rest })}\n\n`);
      chunk({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] });
      if (usage) chunk({ choices: [], usage });
      frames.push('data: [DONE]\n\n');
    }
    response.end(stream ? frames.join('') : JSON.stringify(whole));
  };
}

describe('money', () => {
  let gateway: TestGateway;
  let close: () => void;
  before(async () => {
    const proxy = proxyServer();
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    close = () => void proxy.close().closeAllConnections();
    gateway = await startTestGateway({
      env: { HTTP_PROXY: `http://127.0.0.1:${port}` },
      config: (url) => {
        const models = {
          m: {
            modalities: { input: ['text', 'image', 'pdf', 'audio'], output: ['text', 'audio', 'image'] },
            limit: { context: 1_000_000, output: 100_000 },
            cost: {
              ...{ input: 1, output: 2, cache_write: 1.25, input_audio: 30, output_audio: 60, output_image: 90 },
              tiers: [{ above: 200_000, input: 2, output: 3 }],
              served: { priority: { factor: 2 }, flex: { factor: 0.5 }, fast: { factor: 2 }, us: { factor: 1.1 } },
              fees: {
                web_search: 0.01,
                file_search: 0.0025,
                code_interpreter: 0.03,
                x_search: 0.005,
                image_token: 0.00004,
              },
            },
          },
        };
        const { chat, ...others } = providers(url);
        // Their answers state what they cost, at the vendors' own hosts.
        const at = (host: string) => JSON.parse(JSON.stringify(chat).replaceAll('127.0.0.1', host));
        const stating = { openrouter: chat, perplexity: at('api.perplexity.ai'), grok: at('api.x.ai'), xai: chat };
        const all = Object.entries({ chat, ...others, ...stating }).map(([id, provider]) => {
          return [id, { ...JSON.parse(JSON.stringify(provider)), models }];
        });
        return { provider: Object.fromEntries(all) };
      },
    });
  });
  after(async () => {
    await gateway.close();
    close();
  });
  afterEach(() => gateway.upstream.respond(undefined));

  const last = () => gateway.rows().at(-1) ?? assert.fail('no row');
  async function post(path: string, value: unknown, key?: string) {
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await gateway.post(path, value, headers);
    return { status: response.status, text: await response.text() };
  }

  for (const [what, path, content, tokens] of MEDIA) {
    for (const provider of ['chat', 'messages', 'responses']) {
      if (what === 'audio' && provider !== 'chat') continue;
      it(`money: ${what} of ${path} counts as media if ${provider} reports no usage, also for hard budgets`, async () => {
        gateway.upstream.respond(answer(undefined));
        const key = gateway.createKey({ name: `${what}${path}${provider}`, limits: hard(0.5) });
        const sent = await post(path, { model: `${provider}/m`, ...body(path, content) }, key);
        assert.equal(sent.status, 200, sent.text);
        const row = last();
        const input = Number(row.input);
        assert.ok(input >= tokens && input < tokens + 120, `${input} for ${tokens}`);
        assert.deepEqual(JSON.parse(String(row.details)), { estimated: 'not_reported' });
      });
    }
  }

  it('money: an image of a stopped stream costs its tokens, and the row says why it is estimated', async () => {
    const [, path = '', content] = MEDIA[0] ?? [];
    gateway.upstream.respond((_, response) => {
      response.setHeader('content-type', 'text/event-stream');
      const delta = { content: 'The picture shows' };
      response.write(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })}\n\n`);
    });
    const stopping = new AbortController();
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer svc_fixed_key_for_tests', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat/m', stream: true, ...body(path, content) }),
      signal: stopping.signal,
    });
    await response.body?.getReader().read();
    const before = gateway.rows().length;
    stopping.abort();
    while (gateway.rows().length === before) await new Promise((resolve) => setImmediate(resolve));
    const row = last();
    assert.ok(Number(row.cost) > 0.0016 && Number(row.cost) < 0.002, String(row.cost));
    assert.deepEqual(JSON.parse(String(row.details)), { estimated: 'client_left' });
  });

  const CHAT = { prompt_tokens: 100_000, completion_tokens: 10_000 };
  const OPENAI = { input_tokens: 100_000, output_tokens: 10_000 };
  /** Calls of xAI's tools. */
  const USES = { web_search_calls: 2, x_search_calls: 2, code_interpreter_calls: 0, mcp_calls: 7 };
  /** Provider, reported usage, other members of the answer, USD. */
  const SERVED: readonly (readonly [provider: string, usage: object, members: object, usd: number])[] = [
    ['chat', CHAT, {}, 0.12],
    ['chat', CHAT, { service_tier: 'default' }, 0.12],
    ['chat', CHAT, { service_tier: 'priority' }, 0.24],
    ['chat', CHAT, { service_tier: 'flex' }, 0.06],
    ['chat', { ...CHAT, prompt_tokens: 200_001 }, {}, 0.430_002],
    ['chat', { ...CHAT, prompt_tokens_details: { audio_tokens: 1_000 } }, {}, 0.149],
    ['chat', { ...CHAT, completion_tokens_details: { audio_tokens: 1_000, image_tokens: 1_000 } }, {}, 0.266],
    ['responses', OPENAI, { service_tier: 'priority' }, 0.24],
    ['responses', OPENAI, { service_tier: 'auto', metadata: { service_tier: 'flex' } }, 0.12],
    ['messages', { ...OPENAI, speed: 'fast' }, {}, 0.24],
    ['messages', { ...OPENAI, speed: 'standard', service_tier: 'standard', inference_geo: 'not_available' }, {}, 0.12],
    ['messages', { ...OPENAI, inference_geo: 'us' }, {}, 0.132],
    ['messages', { ...OPENAI, server_tool_use: { web_search_requests: 10 } }, {}, 0.22],
    ['messages', { ...OPENAI, server_tool_use: { web_search_requests: 1, web_fetch_requests: 3 } }, {}, 0.13],
    // The vendor states the cost with the fees of its tools. Another server's word for it is not used.
    ['openrouter', { ...CHAT, cost: 0.5 }, {}, 0.5],
    ['perplexity', { ...CHAT, cost: { request_cost: 0.006, total_cost: 0.0073 }, num_search_queries: 3 }, {}, 0.0073],
    ['chat', { ...CHAT, cost: { request_cost: 0.006, total_cost: 0.0073 }, num_search_queries: 3 }, {}, 0.15],
    ['grok', { ...CHAT, cost_in_usd_ticks: 37_756_000, server_side_tool_usage_details: USES }, {}, 0.003_775_6],
    ['xai', { ...CHAT, cost_in_usd_ticks: 37_756_000, server_side_tool_usage_details: USES }, {}, 0.15],
    ['openrouter', { ...CHAT, cost: 0 }, {}, 0.12],
    ['grok', { ...CHAT, cost_in_usd_ticks: 0, server_side_tool_usage_details: USES }, {}, 0.15],
    ['xai', { ...CHAT, cost_in_usd_ticks: null, server_side_tool_usage_details: USES }, {}, 0.15],
    ['chat', { ...CHAT, cost_in_usd_ticks: 37_756_000 }, {}, 0.12],
    ['responses', { ...OPENAI, server_side_tool_usage_details: USES }, {}, 0.15],
    ['chat', { ...CHAT, num_search_queries: 3 }, {}, 0.15],
    ['chat', { ...CHAT, plugins: { search: { count: 2 } } }, {}, 0.14],
    ['chat', { ...CHAT, cost: 'free', plugins: null, server_side_tool_usage_details: [] }, {}, 0.12],
  ];
  const runs = (...containers: readonly string[]) =>
    containers.map((container_id) => ({ type: 'code_interpreter_call', status: 'completed', container_id }));
  const interpreter = (memory_limit?: string) => ({
    tools: [{ type: 'web_search' }, { type: 'code_interpreter', container: { type: 'auto', memory_limit } }],
  });
  const made = (tokens: number, num_requests: number) => ({
    image_gen: { input_tokens: 5, input_tokens_details: { image_tokens: 0, text_tokens: 5 }, output_tokens: tokens },
    web_search: { num_requests },
  });
  const lookups = [{ type: 'file_search_call', status: 'completed', queries: ['a', 'b'], results: null }];
  const searches = [
    { type: 'web_search_call', status: 'completed', action: { type: 'search' } },
    { type: 'web_search_call', status: 'completed', action: { type: 'open_page' } },
  ];

  for (const [provider, usage, members, usd] of [
    ...SERVED,
    ['responses', OPENAI, { output: searches }, 0.13],
    ['responses', OPENAI, { output: [...lookups, ...lookups, ...searches] }, 0.135],
    ['responses', OPENAI, { output: runs('a', 'a', 'b') }, 0.18],
    ['responses', OPENAI, { output: runs('a', 'a'), ...interpreter() }, 0.15],
    ['responses', OPENAI, { output: runs('a'), ...interpreter('16g') }, 0.6],
    ['responses', OPENAI, { tool_usage: made(7_024, 0) }, 0.400_96],
    ['responses', OPENAI, { tool_usage: made(0, 3), output: searches }, 0.15],
    ['responses', OPENAI, { tool_usage: made(0, 0) }, 0.12],
  ] as const) {
    const what = JSON.stringify({ ...usage, ...members })
      .slice(1, -1)
      .replaceAll('"', '');
    it(`money: ${provider} bills ${what}, forwarded and translated, streamed and whole`, async () => {
      gateway.upstream.respond(answer(usage, members));
      for (const { path } of [{ path: '/chat/completions' }, { path: '/messages' }, { path: '/responses' }]) {
        for (const stream of [false, true]) {
          const { status, text: said } = await post(path, {
            model: `${provider}/m`,
            stream,
            ...body(path, part(path)),
          });
          assert.equal(status, 200, said);
          assert.equal(last().cost, usd, `${path} ${stream}`);
        }
      }
    });
  }

  it('money: a hard budget reserves for what the request asks', async () => {
    gateway.upstream.respond(answer(undefined));
    /** Members of a Chat request with 1,000 tokens of output: the least budget that accepts it, in USD. */
    const input = { input: 'x'.repeat(300_000) };
    const asks: readonly (readonly [members: object, usd: number])[] = [
      [{}, 0.127],
      [{ service_tier: 'flex' }, 0.127],
      [{ service_tier: 'auto' }, 0.127],
      [{ service_tier: 'priority' }, 0.253],
      [{ speed: 'fast', inference_geo: 'us' }, 0.279],
      [{ prompt_cache_options: { ttl: '1h' } }, 0.202],
      [{ tools: [{ type: 'web_search', max_uses: 10 }] }, 0.227],
      [{ tools: [{ type: 'web_search' }] }, 0.177],
      [{ tools: [{ type: 'image_generation', size: '1024x1024' }] }, 0.407],
      [{ tools: [{ type: 'file_search', vector_store_ids: ['v'] }] }, 0.14],
      [{ tools: [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } }] }, 0.247],
      [input, 0.127],
    ];
    for (const [index, [members, usd]] of asks.entries()) {
      const fits = async (budget: number) => {
        const key = gateway.createKey({ name: `asks-${index}-${budget}`, limits: hard(budget) });
        const value = { model: 'responses/m', max_output_tokens: 1_000, ...input, ...members };
        return (await post('/responses', value, key)).status;
      };
      assert.equal(await fits(usd * 0.98), 402, JSON.stringify(members).slice(0, 100));
      assert.equal(await fits(usd * 1.02), 200, JSON.stringify(members).slice(0, 100));
    }
  });

  it('money: a hard budget reserves for audio and images in the output, and for long inputs', async () => {
    gateway.upstream.respond(answer(undefined));
    const ask = async (budget: number, members: object, content = 'Hi') => {
      const name = `modality-${budget}-${JSON.stringify(members)}-${content.length}`;
      const key = gateway.createKey({ name, limits: hard(budget) });
      const value = { model: 'chat/m', max_tokens: 1_000, messages: [{ role: 'user', content }], ...members };
      return (await post('/chat/completions', value, key)).status;
    };
    assert.equal(await ask(0.01, {}), 200);
    assert.equal(await ask(0.05, { modalities: ['text', 'audio'] }), 402);
    assert.equal(await ask(0.07, { modalities: ['text', 'audio'] }), 200);
    assert.equal(await ask(0.08, { modalities: ['image'] }), 402);
    assert.equal(await ask(0.1, { modalities: ['image'] }), 200);
    const long = 'x'.repeat(700_000);
    assert.equal(await ask(0.4, {}, long), 402);
    assert.equal(await ask(0.6, {}, long), 200);
  });
});

function part(path: string): unknown {
  return path === '/responses' ? { type: 'input_text', text: 'more' } : text('more');
}
