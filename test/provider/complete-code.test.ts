import assert from 'node:assert/strict';
import { objectOrEmpty } from '../../src/base/json.ts';
import type { Endpoint } from '../../src/catalog/model.ts';
import { completeCode } from '../../src/provider/complete-code.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import type { Event } from '../../src/wire/event.ts';
import { contextPlace, FIM_DIALECTS, type FimDialect, type FimRequest } from '../../src/wire/fim/fim-request.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { modelAt } from './test-model.ts';

const HOLE = { prefix: 'let a = ', suffix: ';\n', maxTokens: 64, temperature: 0.2, stop: ['\n\n'] };

describe('completeCode', () => {
  let upstream: Upstream;
  const transport = fetchTransport(fetch);
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  async function run(
    endpoint: Partial<Endpoint>,
    fimRequest: Partial<FimRequest> = {},
    stream = true,
    id = 'codestral',
  ): Promise<Event[]> {
    const events: Event[] = [];
    const model = modelAt(`${upstream.url}/v1`, endpoint, { id });
    const options = { transport, signal: new AbortController().signal, stream };
    for await (const event of completeCode(model, { ...HOLE, ...fimRequest }, options)) events.push(event);
    return events;
  }

  it('completeCode: Ollama gets `keep_alive` and its own options from the options of the model', async () => {
    const options = { keep_alive: '1h', options: { num_ctx: 8192 } };
    const model = modelAt(`${upstream.url}/v1`, { kind: 'ollama', fim: 'template-qwen' }, { id: 'qwen', options });
    for await (const _ of completeCode(model, HOLE, { transport, signal: new AbortController().signal }));
    const body = upstream.requests[0]?.body;
    assert.equal(body?.keep_alive, '1h');
    assert.equal(objectOrEmpty(body?.options).num_ctx, 8192);
    assert.equal(objectOrEmpty(body?.options).num_predict, 64);
  });

  const said = {
    model: 'codestral',
    prompt: HOLE.prefix,
    suffix: HOLE.suffix,
    max_tokens: 64,
    temperature: 0.2,
    stop: ['\n\n'],
    stream: true,
  };
  const { temperature: _, ...withoutTemperature } = said;
  const counted = { ...said, stream_options: { include_usage: true } };
  const dialects: readonly (readonly [FimDialect, string, Record<string, unknown>])[] = [
    ['svc', '/fim/completions', said],
    ['mistral', '/v1/fim/completions', said],
    ['inception', '/v1/fim/completions', withoutTemperature],
    ['deepseek', '/beta/completions', counted],
    ['openai-completions', '/v1/completions', counted],
    [
      'llamacpp-infill',
      '/infill',
      {
        input_prefix: HOLE.prefix,
        input_suffix: HOLE.suffix,
        n_predict: 64,
        temperature: 0.2,
        stop: ['\n\n'],
        stream: true,
        cache_prompt: true,
      },
    ],
    [
      'ollama-generate',
      '/api/generate',
      {
        model: 'codestral',
        prompt: HOLE.prefix,
        suffix: HOLE.suffix,
        stream: true,
        options: { num_predict: 64, temperature: 0.2, stop: ['\n\n'] },
      },
    ],
  ];
  for (const [fim, path, body] of dialects) {
    it(`completeCode: ${fim} gives the same result streamed and whole`, async () => {
      for (const stream of [true, false]) {
        const answer = foldEvents(await run({ fim }, {}, stream));
        assert.deepEqual(answer.parts, [{ type: 'text', text: 'Hello, wörld 👋.' }]);
        assert.equal(answer.finish, 'stop');
        assert.deepEqual([answer.usage?.input, answer.usage?.output], [11, 7]);
      }
      const [streamed] = upstream.requests;
      assert.equal(streamed?.path, path);
      assert.deepEqual(streamed?.body, body);
    });
  }

  it('completeCode: Ollama gets the whole prompt of a template', async () => {
    await run({ kind: 'ollama', fim: 'template-codestral' });
    const [{ path, body } = { path: '', body: undefined }] = upstream.requests;
    assert.equal(path, '/api/generate');
    assert.deepEqual(body, {
      model: 'codestral',
      prompt: `[SUFFIX]${HOLE.suffix}[PREFIX]${HOLE.prefix}`,
      raw: true,
      stream: true,
      options: { num_predict: 64, temperature: 0.2, stop: ['\n\n', '[PREFIX]', '[SUFFIX]', '\n+++++ '] },
    });
  });

  it('completeCode: Ollama’s own path is not below the version of a FIM base URL', async () => {
    for (const fim of ['ollama-generate', 'template-codestral'] as const) {
      for (const base of ['', '/', '/v1', '/v1/']) await run({ kind: 'ollama', fim, fimURL: `${upstream.url}${base}` });
      await run({ kind: 'ollama', fim, fimURL: `${upstream.url}/api/generate` });
    }
    assert.deepEqual(new Set(upstream.requests.map(({ path }) => path)), new Set(['/api/generate']));
    assert.equal(upstream.requests.length, 10);
  });

  const CONTEXT = {
    path: 'src/own.ts',
    context: [
      { path: 'a.ts', text: 'A' },
      { path: 'b.ts', text: 'B\nC' },
    ],
  };
  /** The prompt, and the prompt with files. Without an entry, context is in the prefix already. */
  const templates: readonly (readonly [FimDialect, string, string?])[] = [
    [
      'template-qwen',
      '<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>',
      '<|repo_name|>project\n<|file_sep|>a.ts\nA\n<|file_sep|>b.ts\nB\nC\n<|file_sep|>src/own.ts\n' +
        '<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>',
    ],
    [
      'template-codestral',
      '[SUFFIX]S[PREFIX]P',
      '[SUFFIX]S[PREFIX]+++++ a.ts\nA\n+++++ b.ts\nB\nC\n+++++ src/own.ts\nP',
    ],
    ['template-deepseek', '<｜fim▁begin｜>P<｜fim▁hole｜>S<｜fim▁end｜>'],
    ['template-starcoder', '<fim_prefix>P<fim_suffix>S<fim_middle>'],
    [
      'template-starcoder2',
      '<fim_prefix>P<fim_suffix>S<fim_middle>',
      '<repo_name>project<file_sep>a.ts\nA\n<file_sep>b.ts\nB\nC<file_sep><fim_prefix>src/own.ts\nP<fim_suffix>S<fim_middle>',
    ],
    ['template-codellama', '<PRE> P <SUF>S <MID>'],
    ['template-codegemma', '<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>'],
    [
      'template-seed-coder',
      '<[fim-suffix]>S<[fim-prefix]>P<[fim-middle]>',
      '<[fim-suffix]>S<[fim-prefix]><filename>a.ts\nA\n<filename>b.ts\nB\nC\n<filename>src/own.ts\nP<[fim-middle]>',
    ],
    [
      'template-mellum',
      '<fim_suffix>S<fim_prefix>P<fim_middle>',
      '<filename>a.ts\nA\n<filename>b.ts\nB\nC\n<filename>src/own.ts\n<fim_suffix>S<fim_prefix>P<fim_middle>',
    ],
    [
      'template-granite',
      '<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>',
      '<|reponame|>project\n<|filename|>a.ts\nA\n<|filename|>b.ts\nB\nC\n<|filename|>src/own.ts\n' +
        '<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>',
    ],
    ['template-glm', '<|code_prefix|>P<|code_suffix|>S<|code_middle|>'],
  ];
  for (const [fim, prompt, withFiles] of templates) {
    it(`completeCode: ${fim} is written into the prompt and stops at its tokens`, async () => {
      await run({ fim }, { prefix: 'P', suffix: 'S' });
      await run({ fim }, { prefix: 'P', suffix: 'S', ...CONTEXT });
      const [body = {}, second = {}] = upstream.requests.map((request) => request.body);
      assert.equal(body.prompt, prompt);
      assert.equal(second.prompt, withFiles ?? prompt);
      assert.equal(body.suffix, undefined);
      assert.ok(Array.isArray(body.stop) && body.stop.length > 1 && body.stop.includes('\n\n'));
    });
    it(`completeCode: contextPlace of ${fim} agrees with what it writes`, () => {
      assert.equal(contextPlace(fim), withFiles === undefined ? 'prefix' : 'context-and-path');
    });
  }

  it('completeCode: the files of Mistral’s API are before the text, and of llama.cpp in input_extra', async () => {
    await run({ fim: 'mistral' }, { prefix: 'P', ...CONTEXT });
    await run({ fim: 'llamacpp-infill' }, { prefix: 'P', ...CONTEXT });
    const [mistral = {}, llama = {}] = upstream.requests.map((request) => request.body);
    assert.equal(mistral.prompt, '+++++ a.ts\nA\n+++++ b.ts\nB\nC\n+++++ src/own.ts\nP');
    assert.deepEqual(
      [llama.input_prefix, llama.input_extra],
      [
        'P',
        [
          { filename: 'a.ts', text: 'A' },
          { filename: 'b.ts', text: 'B\nC' },
        ],
      ],
    );
  });

  it('completeCode: a chat model gets the files as a section of their own, and no stop sequences', async () => {
    await run({ fim: 'chat' }, { prefix: 'P', suffix: 'S', stop: ['\n'], ...CONTEXT });
    const [{ path, body } = { path: '', body: undefined }] = upstream.requests;
    assert.equal(path, '/v1/chat/completions');
    const messages: unknown = body?.messages;
    assert.ok(Array.isArray(messages));
    assert.equal(
      messages[1]?.content,
      '<context>\n<file path="a.ts">\nA\n</file>\n<file path="b.ts">\nB\nC\n</file>\n</context>\n<code>\nP<CURSOR>S\n</code>',
    );
    assert.deepEqual([body?.stop, body?.max_tokens], [undefined, 64]);
  });

  it('completeCode: a chat model of Ollama gets its window by Ollama’s own API', async () => {
    const lines = [
      { message: { thinking: 'Hm.' } },
      { message: { content: 'a + b' } },
      { done: true, done_reason: 'stop' },
    ];
    upstream.respond((_, response) => {
      response.end(lines.map((line) => `${JSON.stringify({ done: false, ...line })}\n`).join(''));
      return undefined;
    });
    const options = { num_ctx: 16_384 };
    const model = modelAt(`${upstream.url}/v1`, { kind: 'ollama', fim: 'chat' }, { id: 'qwen3:8b', options });
    let text = '';
    for await (const event of completeCode(model, HOLE, { transport, signal: new AbortController().signal })) {
      if (event.type === 'text') text += event.text;
    }
    assert.equal(text, 'a + b');
    const [{ path, body } = { path: '', body: undefined }] = upstream.requests;
    assert.equal(path, '/api/chat');
    assert.deepEqual(body?.options, { num_ctx: 16_384, num_predict: 64, temperature: 0.2 });
    assert.ok(Array.isArray(body?.messages));
  });

  it('completeCode: no request has more than four stop sequences', async () => {
    for (const fim of FIM_DIALECTS) {
      await run({ fim }, { stop: ['\n', 'a', 'b', 'c', 'd', 'e'] }, true, 'qwen3-coder:30b');
      const body: Record<string, unknown> = upstream.requests.at(-1)?.body ?? {};
      const options = body.options as { stop?: unknown } | undefined;
      const stop = body.stop ?? options?.stop ?? [];
      assert.ok(Array.isArray(stop) && stop.length <= 4, `${fim}: ${JSON.stringify(stop)}`);
    }
  });

  for (const maxTokens of [1001, 0, -1, 1.5, Number.NaN]) {
    it(`completeCode: rejects ${maxTokens} tokens before a request is sent`, async () => {
      const { error } = foldEvents(await run({ fim: 'mistral' }, { maxTokens }));
      assert.deepEqual([error?.status, error?.errorType, error?.param], [400, 'invalid_request', 'max_tokens']);
      assert.equal(upstream.requests.length, 0);
    });
  }

  it('completeCode: uses the FIM base URL with the key if it is set', async () => {
    await run({ kind: 'mistral', fimURL: `${upstream.url}/codestral/v1/fim/` });
    assert.equal(upstream.requests[0]?.path, '/codestral/v1/fim/completions');
    assert.equal(upstream.requests[0]?.headers.authorization, 'Bearer sk-test');
  });

  it('completeCode: retries after a broken connection, not after a rejection', async () => {
    const no = foldEvents(await run({ kind: 'mistral' }, {}, true, 'scenario:status-503'));
    assert.equal(no.error?.errorType, 'temporarily_unavailable');
    assert.equal(upstream.requests.length, 1);
    const broke = foldEvents(await run({ kind: 'mistral' }, {}, true, 'scenario:reset-before-headers-1-times'));
    assert.equal(broke.finish, 'stop');
    assert.equal(upstream.requests.length, 3);
  });

  const odd: Record<string, string[]> = {
    'choices missing, empty or without content': [
      'data: {"id":"x"}',
      'data: {"choices":[]}',
      'data: {"choices":[{}]}',
      'data: {"choices":[{"delta":{}}]}',
      'data: {"choices":[{"delta":{"content":null}}]}',
      'data: {"choices":[{"delta":{"content":"ab"},"finish_reason":"stop"}]}',
    ],
    'text and delta both': [
      'data: {"choices":[{"text":"ab","delta":{"content":"ab"},"finish_reason":"stop"}]}',
      'data: [DONE]',
    ],
    'a list of content': [
      'data: {"choices":[{"delta":{"content":[{"type":"text","text":"ab"}]},"finish_reason":"stop"}]}',
    ],
    'pings and usage anywhere': [
      ': ping',
      'data: {"choices":[{"text":"a"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}',
      ': ping',
      'data: {"choices":[{"text":"b","finish_reason":"stop"}]}',
      'data: [DONE]',
    ],
  };
  for (const [name, frames] of Object.entries(odd)) {
    it(`completeCode: tolerates ${name}`, async () => {
      upstream.respond((_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(frames.map((frame) => `${frame}\r\n\r\n`).join(''));
      });
      const answer = foldEvents(await run({ kind: 'mistral' }));
      assert.deepEqual(answer.parts, [{ type: 'text', text: 'ab' }]);
      assert.equal(answer.finish, 'stop');
    });
  }

  it('completeCode: uses the first candidate of llama.cpp', async () => {
    upstream.respond(
      (_, response) => void response.end(JSON.stringify([{ content: 'ab', stop: true }, { content: 'cd' }])),
    );
    assert.deepEqual(foldEvents(await run({ fim: 'llamacpp-infill' }, {}, false)).parts, [
      { type: 'text', text: 'ab' },
    ]);
  });

  it('completeCode: reports that the answer reached its limit', async () => {
    for (const fim of ['mistral', 'openai-completions', 'ollama-generate'] as const) {
      assert.equal(foldEvents(await run({ fim }, {}, true, 'scenario:length')).finish, 'length');
    }
  });
});
