import assert from 'node:assert/strict';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { FORMATS } from './many-providers.ts';

type Format = 'chat' | 'responses' | 'messages';

interface Reported {
  readonly what: string;
  readonly upstream: Format | 'router';
  /** The `usage` of a whole answer and of the last event of a stream. */
  readonly usage: Readonly<Record<string, unknown>>;
  /** Messages: the `usage` of `message_start`, and of `message_delta` where it differs from that of a whole answer. */
  readonly start?: Readonly<Record<string, unknown>>;
  readonly end?: Readonly<Record<string, unknown>>;
  /** Where a Chat Completions stream has its usage, default in a chunk of its own. */
  readonly place?: 'x_groq' | 'choice' | 'finish' | 'each chunk' | 'before zeros';
  /** Messages: the `usage` of a `message_start` before that with `start`. */
  readonly first?: Readonly<Record<string, unknown>>;
  /** In the row of the ledger: input, output, cache_read, cache_write, reasoning. `undefined`: estimated. */
  readonly tokens: readonly [number | undefined, number, number | null, number | null, number | null];
  /** In the row of the ledger: `cache_write_1h`. */
  readonly hour?: number;
  /** USD; the models cost 1 and 2 for a million tokens, 0.1 for cached ones, 1.25 for those written, 2 for an hour. */
  readonly cost?: number;
}

const CASES: readonly Reported[] = [
  {
    what: 'OpenAI’s cached, reasoning and audio tokens',
    upstream: 'chat',
    usage: {
      prompt_tokens: 100,
      completion_tokens: 40,
      total_tokens: 140,
      prompt_tokens_details: { cached_tokens: 60, audio_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 4 },
    },
    tokens: [100, 40, 60, null, 30],
    cost: 126e-6,
  },
  {
    what: 'DeepSeek’s prompt_cache_hit_tokens',
    upstream: 'chat',
    usage: { prompt_tokens: 100, completion_tokens: 40, prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 },
    tokens: [100, 40, 60, null, null],
    cost: 126e-6,
  },
  {
    what: 'Moonshot’s cached_tokens beside the totals',
    upstream: 'chat',
    usage: { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140, cached_tokens: 60 },
    place: 'choice',
    tokens: [100, 40, 60, null, null],
    cost: 126e-6,
  },
  {
    what: 'Moonshot’s cached_tokens with a 0 in the details',
    upstream: 'chat',
    usage: {
      ...{ prompt_tokens: 100, completion_tokens: 40, cached_tokens: 60 },
      prompt_tokens_details: { cached_tokens: 0 },
    },
    tokens: [100, 40, 60, null, null],
    cost: 126e-6,
  },
  {
    what: 'Groq’s usage in x_groq',
    upstream: 'chat',
    usage: { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140, queue_time: 0.07 },
    place: 'x_groq',
    tokens: [100, 40, null, null, null],
    cost: 180e-6,
  },
  {
    what: 'Mistral’s usage with the finish reason',
    upstream: 'chat',
    usage: { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 },
    place: 'finish',
    tokens: [100, 40, null, null, null],
    cost: 180e-6,
  },
  {
    what: 'vLLM’s usage in each chunk',
    upstream: 'chat',
    usage: { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 },
    place: 'each chunk',
    tokens: [100, 40, null, null, null],
    cost: 180e-6,
  },
  {
    what: 'xAI’s reasoning_tokens that completion_tokens does not include',
    upstream: 'chat',
    usage: {
      ...{ prompt_tokens: 100, completion_tokens: 10, total_tokens: 140 },
      prompt_tokens_details: { text_tokens: 100, cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    tokens: [100, 40, 60, null, 30],
    cost: 126e-6,
  },
  {
    what: 'Google’s reasoning in total_tokens alone',
    upstream: 'chat',
    usage: { completion_tokens: 10, prompt_tokens: 100, total_tokens: 140 },
    tokens: [100, 40, null, null, null],
    cost: 180e-6,
  },
  {
    what: 'Qwen’s cache_creation_input_tokens in the details, kept for an hour',
    upstream: 'chat',
    usage: {
      ...{ prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 },
      prompt_tokens_details: {
        ...{ cached_tokens: 60, cache_creation_input_tokens: 20, cache_type: 'ephemeral' },
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
      },
    },
    tokens: [100, 40, 60, 20, null],
    hour: 15,
    cost: 142.25e-6,
  },
  {
    what: 'LiteLLM’s cache_creation_input_tokens beside the totals',
    upstream: 'chat',
    usage: {
      ...{ prompt_tokens: 100, completion_tokens: 40, total_tokens: 140, cache_creation_input_tokens: 20 },
      prompt_tokens_details: { cached_tokens: 60 },
    },
    tokens: [100, 40, 60, 20, null],
    cost: 131e-6,
  },
  {
    what: 'tokens that were written to the cache',
    upstream: 'chat',
    usage: { prompt_tokens: 100, completion_tokens: 40, prompt_tokens_details: { cache_write_tokens: 20 } },
    tokens: [100, 40, null, 20, null],
    cost: 185e-6,
  },
  {
    what: 'completion_tokens alone',
    upstream: 'chat',
    usage: { completion_tokens: 40, completion_tokens_details: { reasoning_tokens: 30 } },
    tokens: [undefined, 40, null, null, 30],
  },
  {
    what: 'cache_write_tokens, reasoning and audio',
    upstream: 'responses',
    usage: {
      input_tokens: 100,
      output_tokens: 40,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 20, audio_tokens: 8 },
      output_tokens_details: { reasoning_tokens: 30, audio_tokens: 4 },
    },
    tokens: [100, 40, 60, 20, 30],
    cost: 131e-6,
  },
  {
    what: 'output_tokens alone',
    upstream: 'responses',
    usage: { output_tokens: 40 },
    tokens: [undefined, 40, null, null, null],
  },
  {
    what: 'thinking_tokens and a cache',
    upstream: 'messages',
    start: { input_tokens: 20, output_tokens: 1, cache_read_input_tokens: 60, cache_creation_input_tokens: 20 },
    usage: {
      input_tokens: 20,
      output_tokens: 40,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 20,
      output_tokens_details: { thinking_tokens: 30 },
    },
    tokens: [100, 40, 60, 20, 30],
    cost: 131e-6,
  },
  {
    what: 'writes that are kept for an hour',
    upstream: 'messages',
    start: {
      ...{ input_tokens: 20, output_tokens: 1, cache_read_input_tokens: 60, cache_creation_input_tokens: 20 },
      cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
    },
    usage: {
      ...{ input_tokens: 20, output_tokens: 40, cache_read_input_tokens: 60, cache_creation_input_tokens: 20 },
      cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
    },
    end: { output_tokens: 40, cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 } },
    tokens: [100, 40, 60, 20, null],
    hour: 15,
    cost: 142.25e-6,
  },
  {
    what: 'writes by lifetime alone',
    upstream: 'messages',
    usage: {
      ...{ input_tokens: 20, output_tokens: 40, cache_read_input_tokens: 60 },
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 20 },
    },
    tokens: [100, 40, 60, 20, null],
    hour: 20,
    cost: 146e-6,
  },
  {
    what: 'a compaction that the totals do not include',
    upstream: 'messages',
    start: { input_tokens: 30, output_tokens: 1 },
    usage: {
      ...{ input_tokens: 30, output_tokens: 10 },
      iterations: [
        { type: 'compaction', input_tokens: 20, output_tokens: 25, cache_read_input_tokens: 40 },
        { type: 'message', input_tokens: 30, output_tokens: 10 },
        { type: 'advisor_message', model: 'up-m', input_tokens: 10, output_tokens: 5 },
      ],
    },
    tokens: [100, 40, 40, null, null],
    cost: 144e-6,
  },
  {
    what: 'an input that is 0 at the end of the stream',
    upstream: 'messages',
    start: { input_tokens: 40, output_tokens: 0, cache_read_input_tokens: 60 },
    usage: { input_tokens: 40, output_tokens: 40, cache_read_input_tokens: 60 },
    end: { input_tokens: 0, output_tokens: 40, cache_read_input_tokens: 0 },
    tokens: [100, 40, 60, null, null],
    cost: 126e-6,
  },
  {
    what: 'an estimate at the start and cached tokens at the end',
    upstream: 'messages',
    start: { input_tokens: 100, output_tokens: 1 },
    usage: { input_tokens: 40, output_tokens: 40, cache_read_input_tokens: 60 },
    tokens: [100, 40, 60, null, null],
    cost: 126e-6,
  },
  {
    what: 'a second message_start with the input',
    upstream: 'messages',
    first: { input_tokens: 0, output_tokens: 0 },
    start: { input_tokens: 40, output_tokens: 1, cache_read_input_tokens: 60 },
    usage: { input_tokens: 40, output_tokens: 40, cache_read_input_tokens: 60 },
    end: { output_tokens: 40 },
    tokens: [100, 40, 60, null, null],
    cost: 126e-6,
  },
  {
    what: 'a usage before one of zeros',
    upstream: 'chat',
    usage: { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 },
    place: 'before zeros',
    tokens: [100, 40, null, null, null],
    cost: 180e-6,
  },
  {
    what: 'the fee of OpenRouter and the cost of the customer’s own vendor',
    upstream: 'router',
    usage: {
      ...{ prompt_tokens: 100, completion_tokens: 40, cost: 0.00005, is_byok: true },
      cost_details: { upstream_inference_cost: 0.001 },
    },
    tokens: [100, 40, null, null, null],
    cost: 0.00105,
  },
  {
    what: 'the cost of OpenRouter that contains the cost of the vendor',
    upstream: 'router',
    usage: {
      ...{ prompt_tokens: 100, completion_tokens: 40, cost: 0.0005, is_byok: false },
      cost_details: { upstream_inference_cost: 0.0004 },
    },
    tokens: [100, 40, null, null, null],
    cost: 0.0005,
  },
  {
    what: 'the cost of OpenRouter',
    upstream: 'router',
    usage: { prompt_tokens: 100, completion_tokens: 40, cost: 0.0005 },
    tokens: [100, 40, null, null, null],
    cost: 0.0005,
  },
];

describe('ledger rows', () => {
  let gateway: TestGateway;
  let current: Reported;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const known = providers(url);
        const options = { baseURL: `${url}/v1`, apiKey: 'k' };
        const hour = { cost: { input: 1, output: 2, cache_write: 1.25, cache_write_1h: 3 } };
        return {
          provider: {
            ...known,
            router: { npm: '@openrouter/ai-sdk-provider', ...Object(known.chat) },
            priced: {
              ...{ npm: '@ai-sdk/anthropic', options },
              models: { m: { id: 'up-m', ...hour }, expensive: { cost: { input: 100, output: 200 } } },
            },
          },
        };
      },
    });
    gateway.upstream.respond(({ body }, response) => {
      const stream = body.stream === true;
      const type = stream ? 'text/event-stream' : 'application/json';
      response
        .writeHead(200, { 'content-type': type })
        .end(stream ? streamed(current) : JSON.stringify(whole(current)));
    });
  });
  after(() => gateway.close());

  for (const reported of CASES) {
    for (const stream of [true, false]) {
      const how = stream ? 'streamed' : 'whole';
      it(`ledger row: is the same for clients of all formats: ${reported.upstream}, ${reported.what}, ${how}`, async () => {
        current = reported;
        const { tokens, cost } = reported;
        for (const { path, body } of FORMATS) {
          const answer = await gateway.post(path, { model: `${reported.upstream}/m`, ...body, stream });
          assert.equal(answer.status, 200, await answer.text());
          const { input, output, cache_read, cache_write, reasoning, estimated, ...row } = gateway.rows().at(-1) ?? {};
          assert.equal(row.cache_write_1h, reported.hour ?? null, path);
          assert.deepEqual(
            [tokens[0] === undefined ? undefined : input, output, cache_read, cache_write, reasoning],
            tokens,
            path,
          );
          assert.equal(estimated, tokens[0] === undefined ? 1 : 0, path);
          if (cost !== undefined) assert.equal(Math.round(Number(row.cost) * 1e9), Math.round(cost * 1e9), path);
        }
      });
    }
  }

  it('ledger row: has the configured price of writes that are kept for an hour', async () => {
    const usage = { input_tokens: 20, output_tokens: 40, cache_creation: { ephemeral_1h_input_tokens: 20 } };
    current = { what: '', upstream: 'messages', usage, tokens: [40, 40, null, 20, null] };
    const answer = await gateway.post('/messages', { model: 'priced/m', ...FORMATS[2].body });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal(Math.round(Number(gateway.rows().at(-1)?.cost) * 1e9), 160_000);
    const total = gateway.usage().rows.find(({ model }) => model === 'priced/m');
    assert.deepEqual([total?.cache_write_tokens, total?.cache_write_1h_tokens], [20, 20]);
  });

  it('ledger row: has the usage of an answer that failed before its first output, for clients of all formats', async () => {
    const usage = { input_tokens: 100, output_tokens: 40, total_tokens: 140 };
    const failed = {
      ...{ id: 'r', object: 'response', model: 'up-m', status: 'failed', output: [], usage },
      error: { code: 'server_error', message: 'no' },
    };
    gateway.upstream.respond(({ body }, response) => {
      const stream = body.stream === true;
      response
        .writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
        .end(stream ? events([{ type: 'response.failed', response: failed }]) : JSON.stringify(failed));
    });
    for (const { path, body } of FORMATS) {
      for (const stream of [true, false]) {
        const before = gateway.rows().length;
        await (await gateway.post(path, { model: 'responses/m', ...body, stream })).text();
        // Attempt 0 is the failed request as a whole, which costs nothing.
        const [row, ...more] = gateway
          .rows()
          .slice(before)
          .filter(({ attempt }) => Number(attempt) > 0);
        assert.equal(more.length, 0, path);
        assert.deepEqual([row?.input, row?.output, Math.round(Number(row?.cost) * 1e9)], [100, 40, 180_000], path);
      }
    }
  });

  it('ledger row: has the price of another model only if the answer itself names it', async () => {
    const usage = { input_tokens: 100, output_tokens: 40 };
    const { model: _, ...answer } = messagesStart(usage);
    const input = { model: 'expensive' };
    for (const [named, cost] of [
      [{}, 180_000],
      [{ model: 'expensive' }, 18_000_000],
    ] as const) {
      gateway.upstream.respond((_request, response) => {
        const content = [{ type: 'tool_use', id: 't', name: 'f', input }];
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ...answer, content, stop_reason: 'tool_use', ...named }));
      });
      for (const { path, body } of FORMATS) {
        assert.equal((await gateway.post(path, { model: 'priced/m', ...body })).status, 200);
        assert.equal(Math.round(Number(gateway.rows().at(-1)?.cost) * 1e9), cost, path);
      }
    }
  });

  const said = { usage: { ...tokenFields(1) } };
  const inside = [
    {
      what: 'the input of a tool of Messages',
      upstream: 'messages',
      members: { content: [{ type: 'tool_use', id: 't', name: 'f', input: said }], stop_reason: 'tool_use' },
    },
    {
      what: 'an annotation of Responses',
      upstream: 'responses',
      members: {
        output: [
          {
            ...{ type: 'message', role: 'assistant' },
            content: [{ type: 'output_text', text: 'Hi', annotations: [{ type: 'url_citation', ...said }] }],
          },
        ],
      },
    },
    { what: 'the metadata of Responses', upstream: 'responses', members: { metadata: said } },
    { what: 'the metadata of Responses without an object', upstream: 'responses', members: { metadata: said.usage } },
    {
      what: 'an annotation of Chat Completions',
      upstream: 'chat',
      members: {
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Hi', annotations: [said] }, finish_reason: 'stop' },
        ],
      },
    },
    {
      what: 'the arguments of a tool of Chat Completions',
      upstream: 'chat',
      members: {
        choices: [
          {
            ...{ index: 0, finish_reason: 'tool_calls' },
            message: {
              ...{ role: 'assistant', content: null },
              tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: JSON.stringify(said) } }],
            },
          },
        ],
      },
    },
  ] as const;
  for (const { what, upstream, members } of inside) {
    for (const own of [{ usage: tokenFields(100) }, {}]) {
      it(`ledger row: never has a “usage” from ${what}, ${'usage' in own ? 'after its own' : 'alone'}`, async () => {
        const { usage: _, ...answer } = whole({ what, upstream, usage: {}, tokens: [undefined, 1, null, null, null] });
        gateway.upstream.respond((_request, response) => {
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ ...answer, ...own, ...members, end: null }));
        });
        for (const { path, body } of FORMATS) {
          const sent = await gateway.post(path, { model: `${upstream}/m`, ...body });
          assert.equal(sent.status, 200, await sent.text());
          const row = gateway.rows().at(-1);
          if ('usage' in own) assert.deepEqual([row?.input, row?.output, row?.estimated], [100, 100, 0], path);
          else assert.equal(row?.estimated, 1, path);
        }
      });
    }
  }
});

/** The same number of tokens in the fields of all formats. */
function tokenFields(count: number): Readonly<Record<string, number>> {
  return { prompt_tokens: count, completion_tokens: count, input_tokens: count, output_tokens: count };
}

function whole({ upstream, usage }: Reported): Readonly<Record<string, unknown>> {
  switch (upstream) {
    case 'messages':
      return { ...messagesStart({}), content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', usage };
    case 'responses': {
      const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
      return { id: 'r', object: 'response', model: 'up-m', status: 'completed', output: [message], usage };
    }
    default: {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
      return { id: 'c', object: 'chat.completion', model: 'up-m', choices, usage };
    }
  }
}

function messagesStart(usage: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { id: 'm', type: 'message', role: 'assistant', model: 'up-m', content: [], stop_reason: null, usage };
}

function streamed(reported: Reported): string {
  const { upstream, usage, start = {}, end = usage } = reported;
  switch (upstream) {
    case 'messages':
      return events([
        ...(reported.first ? [{ type: 'message_start', message: messagesStart(reported.first) }] : []),
        { type: 'message_start', message: messagesStart(start) },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: end },
        { type: 'message_stop' },
      ]);
    case 'responses':
      return events([
        { type: 'response.created', response: { ...whole(reported), status: 'in_progress', output: [], usage: null } },
        { type: 'response.completed', response: whole(reported) },
      ]);
    default: {
      const chunk = { id: 'c', object: 'chat.completion.chunk', model: 'up-m' };
      const choice = (delta: unknown, finish_reason: string | null) => [{ index: 0, delta, finish_reason }];
      const text = { ...chunk, choices: choice({ role: 'assistant', content: 'Hi' }, null) };
      const finish = { ...chunk, choices: choice({}, 'stop') };
      const chunks = {
        x_groq: [text, { ...finish, x_groq: { id: 'req', usage } }],
        choice: [text, { ...chunk, choices: choice({}, 'stop').map((only) => ({ ...only, usage })) }],
        finish: [text, { ...finish, usage }],
        'before zeros': [
          text,
          { ...finish, usage },
          { ...chunk, choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
        ],
        'each chunk': [
          { ...text, usage: { ...usage, completion_tokens: 1 } },
          { ...finish, usage },
        ],
        own: [text, finish, { ...chunk, choices: [], usage }],
      }[reported.place ?? 'own'];
      return `${events(chunks)}data: [DONE]\n\n`;
    }
  }
}

function events(values: readonly object[]): string {
  return values
    .map((value) => `${'type' in value ? `event: ${value.type}\n` : ''}data: ${JSON.stringify(value)}\n\n`)
    .join('');
}
