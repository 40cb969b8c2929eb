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
  /** In the row of the ledger: input, output, cache_read, cache_write, reasoning. `undefined`: estimated. */
  readonly tokens: readonly [number | undefined, number, number | null, number | null, number | null];
  /** USD; the models cost 1 and 2 for a million tokens, 0.1 for cached ones and 1.25 for those written. */
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
        return { provider: { ...known, router: { npm: '@openrouter/ai-sdk-provider', ...Object(known.chat) } } };
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
          assert.deepEqual(
            [tokens[0] === undefined ? undefined : input, output, cache_read, cache_write, reasoning],
            tokens,
            path,
          );
          assert.equal(estimated, tokens[0] === undefined ? 1 : 0, path);
          if (cost !== undefined) assert.ok(Math.abs(Number(row.cost) - cost) < 1e-12, `${path}: ${row.cost}`);
        }
      });
    }
  }

  it('ledger row: ignores “usage” within other members of an answer', async () => {
    const usage = { input_tokens: 100, output_tokens: 40 };
    for (const metadata of [{ usage: { input_tokens: 1, output_tokens: 1 } }, { input_tokens: 1, output_tokens: 1 }]) {
      current = { what: '', upstream: 'responses', usage, tokens: [100, 40, null, null, null] };
      gateway.upstream.respond((_, response) => {
        const answer = { ...whole(current), user: null, text: { format: { type: 'text' } }, metadata };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
      const answer = await gateway.post('/responses', { model: 'responses/m', input: 'Hi' });
      assert.equal(answer.status, 200, await answer.text());
      const row = gateway.rows().at(-1);
      assert.deepEqual([row?.input, row?.output], [100, 40]);
    }
  });
});

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
      const chunks = [
        { ...chunk, choices: choice({ role: 'assistant', content: 'Hi' }, null) },
        { ...chunk, choices: choice({}, 'stop') },
        { ...chunk, choices: [], usage },
      ];
      return `${events(chunks)}data: [DONE]\n\n`;
    }
  }
}

function events(values: readonly object[]): string {
  return values
    .map((value) => `${'type' in value ? `event: ${value.type}\n` : ''}data: ${JSON.stringify(value)}\n\n`)
    .join('');
}
