import assert from 'node:assert/strict';
import { type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import type { Model } from '../../src/catalog/model.ts';
import { largerWindow, withServedWindow } from '../../src/catalog/served-window.ts';
import { completeCode } from '../../src/provider/complete-code.ts';
import { converse } from '../../src/provider/converse.ts';
import { fitOwnEffort } from '../../src/provider/profile/fit-own-effort.ts';
import { rulesOf } from '../../src/provider/profile/profiles.ts';
import { ServedWindows, servedModel } from '../../src/provider/served-window.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import type { Conversation } from '../../src/wire/conversation.ts';
import type { Event } from '../../src/wire/event.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { ask, modelAt } from './test-model.ts';

const TOOL = { name: 'read_file', description: 'Reads.', parameters: { type: 'object', properties: {} } };
const HEAD = { model: 'qwen3:8b', created_at: '2026-11-26T08:00:00.123456789Z' };
const COUNTS = { total_duration: 4_883_583_458, prompt_eval_count: 26, eval_count: 282, eval_duration: 4_535_599_000 };

const say = (message: JsonObject, rest: JsonObject = { done: false }): string =>
  `${JSON.stringify({ ...HEAD, message: { role: 'assistant', content: '', ...message }, ...rest })}\n`;
const END = say({}, { done_reason: 'stop', done: true, ...COUNTS });

describe('Ollama’s own chat', () => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  beforeEach(() => upstream.forget());
  after(() => upstream.close());

  const signal = new AbortController().signal;
  const options = { transport: fetchTransport(fetch), signal, retry: { limit: 0 } };
  const model = (own: JsonObject = { num_ctx: 32_768, keep_alive: '1h' }, over: Partial<Model> = {}): Model =>
    modelAt(`${upstream.url}/v1`, { kind: 'ollama', fim: undefined }, { id: 'qwen3:8b', options: own, ...over });

  /** Answers with the text, in pieces of one byte. */
  function answer(text: string, status = 200): void {
    upstream.respond((_, response) => {
      response.writeHead(status, { 'content-type': 'application/x-ndjson' });
      for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
      response.end();
    });
  }

  async function collect(events: AsyncIterable<Event>): Promise<readonly Event[]> {
    const list: Event[] = [];
    for await (const event of events) list.push(event);
    return list;
  }

  const run = async (target: Model, conversation: Conversation) =>
    foldEvents(await collect(converse(target, conversation, options)));

  async function sent(target: Model, over: Partial<Conversation>): Promise<JsonObject> {
    answer(END);
    await collect(converse(target, ask('hi', over), options));
    return objectOrEmpty(upstream.requests[0]?.body);
  }

  it('Ollama: the request has the window, and nothing of it may be cut', async () => {
    const body = await sent(model(), {
      system: [{ type: 'text', text: 'Be short.' }],
      tools: [TOOL],
      maxTokens: 500,
      sampling: { temperature: 0.2, stop: ['END'] },
    });
    assert.equal(upstream.requests[0]?.path, '/api/chat');
    assert.deepEqual(body, {
      model: 'qwen3:8b',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'hi' },
      ],
      tools: [{ type: 'function', function: TOOL }],
      stream: true,
      keep_alive: '1h',
      truncate: false,
      shift: false,
      options: { num_ctx: 32_768, temperature: 0.2, num_predict: 500, stop: ['END'] },
    });
  });

  it('Ollama: calls, results, thoughts and images of the history', async () => {
    const body = await sent(model(), {
      turns: [
        {
          role: 'user',
          parts: [
            { type: 'text', text: 'Look.' },
            { type: 'image', media: { kind: 'data', mediaType: 'image/png', base64: 'aGk=' } },
          ],
        },
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'I read it.', seals: [] },
            { type: 'tool-call', id: 'a', name: 'read_file', arguments: '{"path":"a.ts","lines":[1,2]}' },
            { type: 'tool-call', id: 'b', name: 'read_file', arguments: '' },
          ],
        },
        {
          role: 'user',
          parts: [
            { type: 'tool-result', id: 'b', content: [{ type: 'text', text: 'B' }] },
            { type: 'tool-result', id: 'a', content: [{ type: 'text', text: 'A' }] },
          ],
        },
      ],
      tools: [TOOL],
    });
    assert.deepEqual(body.messages, [
      { role: 'user', content: 'Look.', images: ['aGk='] },
      {
        role: 'assistant',
        content: '',
        thinking: 'I read it.',
        tool_calls: [
          { id: 'a', function: { name: 'read_file', arguments: { path: 'a.ts', lines: [1, 2] } } },
          { id: 'b', function: { name: 'read_file', arguments: {} } },
        ],
      },
      { role: 'tool', content: 'B', tool_call_id: 'b', tool_name: 'read_file' },
      { role: 'tool', content: 'A', tool_call_id: 'a', tool_name: 'read_file' },
    ]);
  });

  const THINKS = [
    ['qwen3:8b', 'medium', true],
    ['qwen3:8b', 'none', false],
    ['gpt-oss:20b', 'medium', 'medium'],
    ['gpt-oss:20b', 'xhigh', 'high'],
    ['gpt-oss:20b', 'minimal', 'low'],
  ] as const;
  for (const [id, effort, think] of THINKS) {
    it(`Ollama: the effort ${effort} of ${id} is ${think}`, async () => {
      const body = await sent(model(undefined, { id }), { reasoning: { effort } });
      assert.equal(body.think, think);
      assert.equal(body.reasoning_effort, undefined);
    });
  }

  const STATED: readonly (readonly [string, readonly (string | boolean)[], unknown])[] = [
    ['high', [false, true], true],
    ['high', [false], undefined],
    ['none', [false, true], false],
    ['xhigh', ['low', 'medium', 'high', 'max'], 'high'],
    ['max', ['low', 'medium', 'high', 'max'], 'max'],
    ['minimal', [false, 'low', 'high'], 'low'],
  ];
  for (const [effort, think, expected] of STATED) {
    it(`Ollama: the effort ${effort} is ${expected} for a model with ${JSON.stringify(think)}`, async () => {
      const served = withServedWindow(model(undefined, { id: 'qwen3.8:27b' }), { context: 32_768, think });
      assert.equal((await sent(served, { reasoning: { effort } })).think, expected);
    });
  }

  it('Ollama: a body that the client wrote for its format gets an effort that it knows', () => {
    const think = ['low', 'high'];
    const stated = withServedWindow(model({}), { context: 32_768, think });
    for (const [asked, effort, expected] of [
      [model({}), 'minimal', 'low'],
      [model({}), 'xhigh', 'high'],
      [model({}), 'none', 'none'],
      [stated, 'xhigh', 'high'],
      [modelAt('http://127.0.0.1:1/v1'), 'xhigh', 'xhigh'],
    ] as const) {
      assert.equal(asked.effort, undefined, 'the catalog does not list it');
      assert.equal(fitOwnEffort(asked, rulesOf(asked), { reasoning_effort: effort }).reasoning_effort, expected);
    }
  });

  it('Ollama: its `/v1` gets an effort that it knows', async () => {
    for (const [effort, expected] of [
      ['minimal', 'low'],
      ['xhigh', 'high'],
      ['none', 'none'],
    ] as const) {
      upstream.forget();
      const body = await sent(model({}), { reasoning: { effort } });
      assert.equal(upstream.requests[0]?.path, '/v1/chat/completions');
      assert.equal(body.reasoning_effort, expected);
    }
  });

  it('Ollama: a schema is the format, and `tool_choice` none leaves out the tools', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const responseFormat = { type: 'json-schema', name: 'x', schema } as const;
    const body = await sent(model(), { responseFormat, tools: [TOOL], toolChoice: { type: 'none' }, stream: false });
    assert.deepEqual(body.format, schema);
    assert.equal(body.tools, undefined);
    assert.equal(body.stream, false);
  });

  it('Ollama: thoughts, text, calls without ids and counts are read, split at any byte', async () => {
    answer(
      say({ thinking: 'Let me ' }) +
        say({ thinking: 'see — ok.' }) +
        say({ content: 'I read “it”.' }) +
        say({ tool_calls: [{ function: { index: 0, name: 'read_file', arguments: { path: 'ä.ts' } } }] }) +
        say({ tool_calls: [{ function: { index: 0, name: 'read_file', arguments: {} } }] }) +
        END,
    );
    const folded = await run(model(), ask('hi', { tools: [TOOL] }));
    assert.equal(folded.error, undefined);
    assert.equal(folded.finish, 'tool_calls');
    assert.deepEqual(
      folded.parts.map((part) =>
        'text' in part ? [part.type, part.text] : [part.type, 'arguments' in part && part.arguments],
      ),
      [
        ['reasoning', 'Let me see — ok.'],
        ['text', 'I read “it”.'],
        ['tool-call', '{"path":"ä.ts"}'],
        ['tool-call', '{}'],
      ],
    );
    const ids = folded.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []));
    assert.equal(new Set(ids).size, 2);
    assert.equal(folded.usage?.input, 26);
    assert.equal(folded.usage?.output, 282);
  });

  it('Ollama: an answer that is not streamed', async () => {
    answer(say({ content: 'Hello.', thinking: 'Hm.' }, { done: true, done_reason: 'length', ...COUNTS }));
    const folded = await run(model(), ask('hi', { stream: false }));
    assert.equal(folded.finish, 'length');
    assert.equal(folded.usage?.output, 282);
    assert.deepEqual(folded.parts.map((part) => part.type).toSorted(), ['reasoning', 'text']);
  });

  it('Ollama: a stream that ends without its last line is cut off', async () => {
    answer(say({ content: 'Hel' }));
    assert.equal((await run(model(), ask('hi'))).finish, 'closed');
  });

  it('Ollama: a call in the text becomes a call', async () => {
    const text = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>';
    answer(say({ content: text }) + END);
    const { parts, finish } = await run(model(), ask('hi', { tools: [TOOL] }));
    assert.deepEqual(
      parts.map((part) => part.type),
      ['tool-call'],
    );
    assert.equal(finish, 'tool_calls');
  });

  it('Ollama: an error within the stream, and a refusal of a prompt that is too large', async () => {
    answer(`${say({ content: 'Hel' })}{"error":"an error was encountered while running the model: unexpected EOF"}\n`);
    assert.match(String((await run(model(), ask('hi'))).error?.message), /unexpected EOF/);
    answer('{"error":"the input length exceeds the context length"}', 400);
    assert.equal((await run(model(), ask('hi'))).error?.errorType, 'context_length_exceeded');
    answer('{"error":"model \\"qwen3:8b\\" not found, try pulling it first"}', 404);
    upstream.forget();
    assert.match(String((await run(model(), ask('hi'))).error?.message), /not found/);
    assert.deepEqual(
      upstream.requests.map(({ path }) => path),
      ['/api/chat'],
    );
  });

  it('Ollama: without such an option, /v1 is used', async () => {
    await sent(model({ temperature: 0.1 }), {});
    assert.equal(upstream.requests[0]?.path, '/v1/chat/completions');
  });

  it('Ollama: a completion has the same window, so that the model is not loaded again', async () => {
    upstream.respond((_, response) => void response.end('{"response":"1;","done":true,"done_reason":"stop"}\n'));
    await collect(completeCode(model(), { prefix: 'a = ', suffix: '', maxTokens: 10, temperature: 0 }, options));
    const [request] = upstream.requests;
    assert.equal(request?.path, '/api/generate');
    const { options: parameters, keep_alive, num_ctx } = objectOrEmpty(request?.body);
    assert.deepEqual(parameters, { num_predict: 10, temperature: 0, num_ctx: 32_768 });
    assert.equal(keep_alive, '1h');
    assert.equal(num_ctx, undefined);
  });

  describe('and its window', () => {
    let telling: Upstream;
    before(async () => {
      telling = await startUpstream(({ path }, response) => {
        if (path === '/api/show') response.end('{"model_info":{"qwen3.context_length":40960}}');
        else if (path === '/api/ps') response.end('{"models":[{"name":"qwen3:8b","context_length":4096}]}');
        else response.writeHead(404).end();
        return undefined;
      }, true);
    });
    after(() => telling.close());

    for (const [own, context] of [
      [{ num_ctx: 32_768 }, 32_768],
      [{ options: { num_ctx: 16_384 } }, 16_384],
      [{ num_ctx: 262_144 }, 40_960],
      [{ keep_alive: -1 }, 4096],
    ] as const) {
      it(`Ollama: the window of ${JSON.stringify(own)} is ${context}`, async () => {
        const target = modelAt(telling.url, { kind: 'ollama' }, { id: 'qwen3:8b', options: own });
        const served = servedModel(new ServedWindows(fetchTransport(fetch)));
        const known = await served(target, signal);
        assert.equal(known.limit.context, context);
        // A command for the server would not change it.
        assert.equal(largerWindow(known) === undefined, context !== 4096);
      });
    }
  });
});
