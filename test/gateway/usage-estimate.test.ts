import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Wire } from '../upstream/answers.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { FORMATS, UPSTREAMS } from './many-providers.ts';

const END = 'the-last-word';
/** The text before the client disconnects: long, in few events. */
const WRITTEN = `${'word '.repeat(1_600)}${END}`;
const KINDS = ['text', 'reasoning', 'tool arguments'] as const;
type Kind = (typeof KINDS)[number];

const sse = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const named = (data: { type: string }) => `event: ${data.type}\n${sse(data)}`;

/** The events of an answer up to its last text in each format. */
function events(wire: Wire, kind: Kind): string {
  const json = `{"a":"${WRITTEN}`;
  if (wire === 'messages') {
    const block = {
      text: { type: 'text', text: '' },
      reasoning: { type: 'thinking', thinking: '' },
      'tool arguments': { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    }[kind];
    const delta = {
      text: { type: 'text_delta', text: WRITTEN },
      reasoning: { type: 'thinking_delta', thinking: WRITTEN },
      'tool arguments': { type: 'input_json_delta', partial_json: json },
    }[kind];
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'up-m',
      content: [],
      usage: { input_tokens: 9, output_tokens: 1 },
    };
    return [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
    ]
      .map(named)
      .join('');
  }
  if (wire === 'responses') {
    const item = {
      text: { type: 'message', id: 'i', role: 'assistant', content: [], status: 'in_progress' },
      reasoning: { type: 'reasoning', id: 'i', summary: [] },
      'tool arguments': { type: 'function_call', id: 'i', call_id: 'c', name: 'f', arguments: '' },
    }[kind];
    const at = { output_index: 0, item_id: 'i' };
    const delta = {
      text: { type: 'response.output_text.delta', ...at, content_index: 0, delta: WRITTEN },
      reasoning: { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta: WRITTEN },
      'tool arguments': { type: 'response.function_call_arguments.delta', ...at, delta: json },
    }[kind];
    const response = { id: 'r', object: 'response', status: 'in_progress', model: 'up-m', output: [] };
    return [
      { type: 'response.created', response },
      { type: 'response.output_item.added', output_index: 0, item },
      delta,
    ]
      .map(named)
      .join('');
  }
  const delta = {
    text: { content: WRITTEN },
    reasoning: { reasoning_content: WRITTEN },
    'tool arguments': {
      tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: json } }],
    },
  }[kind];
  const chunk = (own: unknown) =>
    sse({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'up-m',
      choices: [{ index: 0, delta: own, finish_reason: null }],
    });
  return chunk({ role: 'assistant', content: '' }) + chunk(delta);
}

const streamHead = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

/** The row of the ledger that is added by `work`. */
async function rowOf(gateway: TestGateway, work: () => Promise<unknown>): Promise<Readonly<Record<string, unknown>>> {
  const before = gateway.rows().length;
  await work();
  for (;;) {
    const row = gateway.rows()[before];
    if (row !== undefined) return row;
    await new Promise(setImmediate);
  }
}

/** Reads a streamed answer until a word, then leaves. */
async function leaveAt(gateway: TestGateway, path: string, body: unknown, word: string): Promise<void> {
  const leave = new AbortController();
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body), signal: leave.signal };
  const response = await fetch(gateway.url + path, sent);
  assert.equal(response.status, 200);
  assert.ok(response.body);
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes(word)) break;
  }
  leave.abort();
}

const isCounted = (row: Readonly<Record<string, unknown>>, what: string) => {
  const least = WRITTEN.length / 4;
  assert.ok(Number(row.output) >= least && Number(row.output) < least * 1.1, `${what}: ${JSON.stringify(row)}`);
  assert.ok(Number(row.cost) >= (least * 2) / 1e6, what);
  assert.deepEqual([row.outcome, row.estimated], ['client-gone', 1]);
};

describe('usage of a stream that the client leaves', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const options = { baseURL: `${url}/v1`, apiKey: 'k' };
        const models = { 'codestral-x': { cost: { input: 1, output: 2 } } };
        return { provider: { ...providers(url), mistral: { npm: '@ai-sdk/mistral', options, models } } };
      },
    });
  });
  after(() => gateway.close());

  for (const { path, body } of FORMATS) {
    for (const up of UPSTREAMS) {
      for (const kind of KINDS) {
        it(`usage estimate: a stream that the client leaves is counted by its text: ${kind}, ${path} over ${up}`, async () => {
          gateway.upstream.respond(({ wire }, response) => void streamHead(response).write(events(wire, kind)));
          const asked = { model: `${up}/m`, ...body, stream: true };
          isCounted(await rowOf(gateway, () => leaveAt(gateway, path, asked, END)), kind);
        });
      }
    }
  }

  it('usage estimate: a code completion that the client leaves is counted by its text', async () => {
    gateway.upstream.respond((_, response) => {
      const chunk = { id: 'c', model: 'codestral-x', choices: [{ index: 0, delta: { content: WRITTEN } }] };
      streamHead(response).write(sse(chunk));
    });
    const asked = { model: 'mistral/codestral-x', prompt: 'a', max_tokens: 1_000, stream: true };
    isCounted(await rowOf(gateway, () => leaveAt(gateway, '/fim/completions', asked, END)), 'fim');
  });

  it('usage estimate: includes an incomplete event', async () => {
    for (const { path, own, body } of FORMATS) {
      let upstream: ServerResponse | undefined;
      const whole = { text: '' };
      gateway.upstream.respond(({ wire }, response) => {
        upstream = streamHead(response);
        whole.text = events(wire, 'text');
        // Its last event has all its text, but no end.
        const short = events(wire, 'text').replaceAll(WRITTEN, END);
        response.write(short + whole.text.slice(0, whole.text.indexOf(END) + END.length));
      });
      const row = await rowOf(gateway, () => leaveAt(gateway, path, { model: `${own}/m`, ...body, stream: true }, END));
      assert.ok(upstream);
      isCounted({ ...row, output: Number(row.output) - 3 }, path);
    }
  });

  it('usage estimate: does not depend on the number of events', async () => {
    for (const { path, own, body } of FORMATS) {
      gateway.upstream.respond(({ wire }, response) => {
        const frames = events(wire, 'text').split('\n\n');
        const last = frames.at(-2) ?? '';
        const pieces = Array.from({ length: 400 }, () => last.replace(WRITTEN, 'word'));
        streamHead(response).write([...frames.slice(0, -2), ...pieces, last.replace(WRITTEN, END), ''].join('\n\n'));
      });
      const row = await rowOf(gateway, () => leaveAt(gateway, path, { model: `${own}/m`, ...body, stream: true }, END));
      assert.ok(Number(row.output) >= 400 && Number(row.output) < 440, `${path}: ${row.output}`);
    }
  });

  it('usage estimate: reasoning that is sent twice is counted once', async () => {
    gateway.upstream.respond((_, response) => {
      const delta = { reasoning: WRITTEN, reasoning_details: [{ type: 'reasoning.text', text: WRITTEN }] };
      streamHead(response).write(sse({ choices: [{ index: 0, delta }] }));
    });
    const [chat] = FORMATS;
    const asked = { model: 'chat/m', ...chat.body, stream: true };
    isCounted(await rowOf(gateway, () => leaveAt(gateway, chat.path, asked, END)), 'reasoning_details');
  });
});

describe('answers without usage', () => {
  it('usage estimate: an answer without usage is counted by its text, whole or streamed, in each format', async () => {
    const gateway = await startTestGateway();
    try {
      for (const { path, body } of FORMATS) {
        for (const up of UPSTREAMS) {
          gateway.upstream.respond(({ wire }, response) => {
            const text = `${WRITTEN}\n“${'é'.repeat(100)}”`;
            const answers: Record<string, unknown> = {
              chat: { choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }] },
              messages: {
                type: 'message',
                role: 'assistant',
                content: [{ type: 'text', text }],
                stop_reason: 'end_turn',
              },
              responses: {
                object: 'response',
                status: 'completed',
                output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
              },
            };
            response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[wire]));
          });
          const row = await rowOf(gateway, async () =>
            (await gateway.post(path, { model: `${up}/m`, ...body })).text(),
          );
          const least = (WRITTEN.length + 100) / 4;
          assert.ok(Number(row.output) >= least && Number(row.output) < least * 1.1, `${path} ${up}: ${row.output}`);
          assert.deepEqual([row.outcome, row.estimated], ['complete', 1]);
        }
      }
    } finally {
      await gateway.close();
    }
  });
});

describe('transcripts', () => {
  const subtitles = '00:00:00,000 --> 00:01:00,000\nOne two three four.\n\n00:01:00,000 --> 00:02:00,000\nFive.\n';
  const answers: readonly (readonly [what: string, type: string, body: string, input: number])[] = [
    ['text', 'text/plain', 'One two three four. '.repeat(50), 0],
    ['srt', 'application/x-subrip', `1\n${subtitles}`, 1_200],
    ['vtt', 'text/vtt', `WEBVTT\n\n${subtitles.replaceAll(',', '.')}`, 1_200],
    ['json without usage', 'application/json', JSON.stringify({ text: 'One two three four. '.repeat(50) }), 0],
    [
      'json paid by time',
      'application/json',
      JSON.stringify({ text: 'One two.', usage: { type: 'duration', seconds: 90 } }),
      900,
    ],
    ['verbose_json', 'application/json', JSON.stringify({ text: 'One two.', duration: 30.5 }), 305],
  ];

  for (const [what, type, body, input] of answers) {
    it(`transcript usage: is counted and priced as ${what}, from a form and from JSON`, async () => {
      const gateway = await startTestGateway();
      try {
        gateway.upstream.respond((_, response) => void response.setHeader('content-type', type).end(body));
        const form = new FormData();
        form.append('model', 'chat/m');
        form.append('file', new File([Buffer.alloc(80_000)], 'talk.wav'));
        const headers = { authorization: `Bearer ${KEY}` };
        const input_audio = { data: Buffer.alloc(80_000).toString('base64'), format: 'wav' };
        const asked = [
          () => fetch(`${gateway.url}/audio/transcriptions`, { method: 'POST', headers, body: form }),
          () => gateway.post('/audio/transcriptions', { model: 'chat/m', input_audio, response_format: what }),
        ];
        for (const ask of asked) {
          const row = await rowOf(gateway, async () => assert.equal(await (await ask()).text(), body));
          const text = type.endsWith('json') ? JSON.parse(body).text : body;
          assert.ok(Number(row.output) >= text.length / 4, JSON.stringify(row));
          if (input > 0) assert.equal(row.input, input);
          else assert.ok(Number(row.input) >= 100, JSON.stringify(row));
          assert.ok(Number(row.cost) > 0);
          assert.equal(row.estimated, 1);
        }
      } finally {
        await gateway.close();
      }
    });
  }

  it('transcript usage: the usage of the provider is used, whole and streamed', async () => {
    const gateway = await startTestGateway();
    try {
      const usage = { type: 'tokens', input_tokens: 140, output_tokens: 45, total_tokens: 185 };
      const done = { type: 'transcript.text.done', text: 'One two.', usage };
      for (const [type, body] of [
        ['application/json', JSON.stringify({ text: 'One two.', usage })],
        ['text/event-stream', sse({ type: 'transcript.text.delta', delta: 'One two.' }) + sse(done)],
      ] as const) {
        gateway.upstream.respond((_, response) => void response.setHeader('content-type', type).end(body));
        const input_audio = { data: Buffer.alloc(8_000).toString('base64'), format: 'wav' };
        const row = await rowOf(gateway, async () =>
          (await gateway.post('/audio/transcriptions', { model: 'chat/m', input_audio })).text(),
        );
        assert.deepEqual([row.input, row.output, row.estimated], [140, 45, 0], type);
      }
    } finally {
      await gateway.close();
    }
  });
});
