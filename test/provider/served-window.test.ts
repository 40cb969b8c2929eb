import assert from 'node:assert/strict';
import { defined } from '../../src/base/json.ts';
import type { ProviderKind } from '../../src/catalog/model.ts';
import { largerWindow, withServedWindow } from '../../src/catalog/served-window.ts';
import { ServedWindows, servedModel } from '../../src/provider/served-window.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { modelAt } from './test-model.ts';

type Answer = object | string | { readonly status: number; readonly body: string };

interface Fixture {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly id?: string;
  /** By path, without the query unless it is part of the key. Other paths answer 404. */
  readonly paths: Readonly<Record<string, Answer>>;
  readonly context: number | undefined;
  readonly trained?: number;
  readonly slots?: number;
}

/** Recorded bodies, shortened. `n_ctx_train` differs from `n_ctx` in each. */
const LLAMA_LIST = {
  object: 'list',
  data: [
    {
      id: '/models/qwen3-8b-q4_k_m.gguf',
      object: 'model',
      owned_by: 'llamacpp',
      meta: { vocab_type: 2, n_vocab: 151936, n_ctx_train: 40960, n_embd: 4096, n_ctx: 8192 },
    },
  ],
};
const LLAMA_LIST_BEFORE = { data: [{ id: 'q', owned_by: 'llamacpp', meta: { n_ctx_train: 131072 } }] };
const PROPS = { default_generation_settings: { id: 0, n_ctx: 4096, speculative: false }, total_slots: 2 };
const SHOW = {
  parameters: 'stop "<|im_end|>"\ntemperature 0.6',
  model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 40960, 'qwen3.embedding_length': 4096 },
  capabilities: ['completion', 'tools'],
};
const PS = {
  models: [
    { name: 'other:1b', model: 'other:1b', context_length: 2048 },
    { name: 'qwen3:8b', model: 'qwen3:8b', size_vram: 6_654_289_920, context_length: 4096 },
  ],
};
const LM_V1 = {
  models: [
    {
      type: 'llm',
      key: 'qwen/qwen3-8b',
      loaded_instances: [{ id: 'qwen/qwen3-8b', config: { context_length: 24_000, flash_attention: true } }],
      max_context_length: 131_072,
    },
    { type: 'llm', key: 'idle', loaded_instances: [], max_context_length: 32_768 },
  ],
};
const LM_V0 = {
  data: [
    { id: 'qwen3-8b', state: 'loaded', max_context_length: 131_072, loaded_context_length: 8192 },
    { id: 'idle', state: 'not-loaded', max_context_length: 32_768 },
  ],
};
const HTML = '<!doctype html><html><head><title>Chat</title></head></html>';
/** LM Studio answers any path with 200 and this. */
const UNEXPECTED = { error: 'Unexpected endpoint or method. (GET /api/ps)' };

const FIXTURES: readonly Fixture[] = [
  { name: 'llama.cpp: /props', kind: 'llamacpp', paths: { '/props': PROPS }, context: 4096, slots: 2 },
  {
    name: 'llama.cpp: /props before the list, and what the model was trained for',
    kind: 'llamacpp',
    paths: { '/props': PROPS, '/v1/models': LLAMA_LIST },
    context: 4096,
    trained: 40960,
    slots: 2,
  },
  {
    name: 'llama.cpp: meta.n_ctx, if a frontend answers /props with a page',
    kind: 'llamacpp',
    paths: { '/props': HTML, '/v1/models': LLAMA_LIST },
    context: 8192,
    trained: 40960,
  },
  {
    name: 'llama.cpp: n_ctx_train alone is not the window',
    kind: 'llamacpp',
    paths: { '/v1/models': LLAMA_LIST_BEFORE },
    context: undefined,
  },
  {
    name: 'llama.cpp: a router with the model, which is not loaded for it',
    kind: 'llamacpp',
    id: 'org/qwen3:Q4',
    paths: { '/props?model=org%2Fqwen3%3AQ4&autoload=false': PROPS, '/props': { role: 'router', n_ctx: 0 } },
    context: 4096,
    slots: 2,
  },
  {
    name: 'llama.cpp: a router without the loaded model',
    kind: 'llamacpp',
    paths: {
      '/props': { status: 400, body: '{"error":{"code":400,"message":"model is not loaded"}}' },
      '/v1/models': {
        data: [
          { id: 'a', status: { value: 'unloaded' } },
          { id: 'q', status: { value: 'unloaded' } },
        ],
      },
    },
    context: undefined,
  },
  {
    name: 'llama.cpp: n_ctx at the top',
    kind: 'llamacpp',
    paths: { '/props': { n_ctx: 16_384 } },
    context: 16_384,
  },
  { name: 'llama.cpp: 0 while it loads', kind: 'llamacpp', paths: { '/props': { n_ctx: 0 } }, context: undefined },
  {
    name: 'Ollama: the loaded model',
    kind: 'ollama',
    id: 'qwen3:8b',
    paths: { '/api/ps': PS, '/api/show': SHOW },
    context: 4096,
    trained: 40960,
  },
  {
    name: 'Ollama: the tag that it adds',
    kind: 'ollama',
    id: 'qwen3',
    paths: { '/api/ps': { models: [{ name: 'qwen3:latest', context_length: 32_768 }] } },
    context: 32_768,
  },
  {
    name: 'Ollama: num_ctx of a Modelfile, if it is not loaded',
    kind: 'ollama',
    id: 'qwen3:8b',
    paths: { '/api/ps': { models: [] }, '/api/show': { ...SHOW, parameters: 'num_ctx                        16384' } },
    context: 16_384,
    trained: 40960,
  },
  {
    name: 'Ollama: the loaded window before num_ctx',
    kind: 'ollama',
    id: 'qwen3:8b',
    paths: { '/api/ps': PS, '/api/show': { ...SHOW, parameters: 'num_ctx 16384' } },
    context: 4096,
    trained: 40960,
  },
  {
    name: 'Ollama before /api/ps had the window',
    kind: 'ollama',
    id: 'qwen3:8b',
    paths: { '/api/ps': { models: [{ name: 'qwen3:8b', size: 1 }] }, '/api/show': SHOW },
    context: undefined,
  },
  {
    name: 'Ollama: a model that it does not have',
    kind: 'ollama',
    paths: { '/api/ps': { models: [] }, '/api/show': { status: 404, body: '{"error":"model not found"}' } },
    context: undefined,
  },
  {
    name: 'LM Studio v1: the loaded instance',
    kind: 'lmstudio',
    id: 'qwen/qwen3-8b',
    paths: { '/api/v1/models': LM_V1, '/api/v0/models': LM_V0 },
    context: 24_000,
    trained: 131_072,
  },
  {
    name: 'LM Studio v1: not loaded',
    kind: 'lmstudio',
    id: 'idle',
    paths: { '/api/v1/models': LM_V1 },
    context: undefined,
  },
  {
    name: 'LM Studio v0: the loaded length',
    kind: 'lmstudio',
    id: 'qwen3-8b',
    paths: { '/api/v1/models': UNEXPECTED, '/api/v0/models': LM_V0 },
    context: 8192,
    trained: 131_072,
  },
  {
    name: 'LM Studio v0: not loaded',
    kind: 'lmstudio',
    id: 'idle',
    paths: { '/api/v0/models': LM_V0 },
    context: undefined,
  },
  {
    name: 'vLLM: max_model_len',
    kind: 'vllm',
    id: 'Qwen/Qwen3-8B',
    paths: { '/v1/models': { data: [{ id: 'Qwen/Qwen3-8B', root: 'Qwen/Qwen3-8B', max_model_len: 16_384 }] } },
    context: 16_384,
  },
  {
    name: 'SGLang: max_model_len',
    kind: 'openai-compatible',
    id: 'default',
    paths: { '/props': HTML, '/v1/models': { data: [{ id: 'default', owned_by: 'sglang', max_model_len: 32_768 }] } },
    context: 32_768,
  },
  {
    name: 'TabbyAPI: the loaded model',
    kind: 'openai-compatible',
    paths: { '/v1/models': { data: [{ id: 'q' }] }, '/v1/model': { id: 'q', parameters: { max_seq_len: 12_288 } } },
    context: 12_288,
  },
  {
    name: 'koboldcpp',
    kind: 'openai-compatible',
    id: 'koboldcpp/q',
    paths: { '/props': HTML, '/api/extra/true_max_context_length': { value: 6144 } },
    context: 6144,
  },
  {
    name: 'LocalAI: the configuration of the model',
    kind: 'openai-compatible',
    id: 'qwen3/8b',
    paths: {
      '/api/models/config-json/qwen3%2F8b': {
        name: 'qwen3/8b',
        backend: 'llama-cpp',
        context_size: 8192,
        parameters: { model: 'qwen3-8b-q4_k_m.gguf' },
      },
      '/v1/models': { object: 'list', data: [{ id: 'qwen3/8b', object: 'model' }] },
    },
    context: 8192,
  },
  {
    name: 'an unknown server: llama.cpp behind another name (Jan)',
    kind: 'openai-compatible',
    paths: { '/props': PROPS },
    context: 4096,
    slots: 2,
  },
  {
    name: 'an unknown server: 200 with an error for each path',
    kind: 'openai-compatible',
    paths: Object.fromEntries(
      ['/props', '/v1/models', '/api/ps', '/api/show', '/api/v1/models', '/api/v0/models', '/v1/model'].map((each) => [
        each,
        UNEXPECTED,
      ]),
    ),
    context: undefined,
  },
  {
    name: 'an unknown server: a page for each path',
    kind: 'openai-compatible',
    paths: { '/props': HTML, '/v1/models': HTML, '/api/ps': HTML, '/v1/model': HTML },
    context: undefined,
  },
  {
    name: 'absurd numbers',
    kind: 'llamacpp',
    paths: {
      '/props': { n_ctx: -4096 },
      '/v1/models': { data: [{ id: 'q', meta: { n_ctx: '8192', n_ctx_train: 1e300 } }] },
    },
    context: undefined,
  },
];

describe('ServedWindows', () => {
  let upstream: Upstream;
  const { signal } = new AbortController();
  beforeEach(async () => {
    upstream = await startUpstream(undefined, true);
  });
  afterEach(() => upstream.close());

  function serve(paths: Fixture['paths']): void {
    upstream.respond(({ path }, response) => {
      const answer = paths[path] ?? paths[path.split('?', 1)[0] ?? ''];
      if (answer === undefined) response.writeHead(404).end('{"error":"not found"}');
      else if (typeof answer === 'string') response.setHeader('content-type', 'text/html').end(answer);
      else if ('status' in answer && 'body' in answer) response.writeHead(Number(answer.status)).end(answer.body);
      else response.end(JSON.stringify(answer));
      return undefined;
    });
  }

  const model = (kind: ProviderKind, id = 'q', context = 0) =>
    modelAt(`${upstream.url}/v1`, { kind }, { id, limit: { context, output: 0 } });

  for (const { name, kind, id, paths, context, trained, slots } of FIXTURES) {
    it(`ServedWindows: ${name}`, async () => {
      serve(paths);
      const asked = model(kind, id);
      const windows = new ServedWindows(fetchTransport(fetch));
      const window = (await windows.readAll([asked], signal)).get(asked.ref);
      assert.deepEqual(window, context === undefined ? undefined : { context, ...defined({ trained, slots }) });
      // A request that follows finds the same.
      assert.equal((await windows.read(asked, signal))?.context, context);
    });
  }

  it('ServedWindows: a server that told nothing is not asked with each request', async () => {
    serve({});
    const windows = new ServedWindows(fetchTransport(fetch));
    await windows.readAll([model('openai-compatible')], signal);
    const { length } = upstream.requests;
    await windows.read(model('openai-compatible'), signal);
    assert.equal(upstream.requests.length, length);
  });

  it('ServedWindows: a server that hangs at the question delays one request, not each', async () => {
    upstream.respond(() => undefined);
    const windows = new ServedWindows(fetchTransport(fetch));
    assert.equal(await windows.read(model('ollama'), signal), undefined);
    const asked = upstream.requests.length;
    assert.ok(asked > 0);
    assert.equal(await windows.read(model('ollama'), signal), undefined);
    assert.equal(upstream.requests.length, asked);
  });

  it('ServedWindows: asks no server in the internet that is not known, and none whose window is configured', () => {
    const windows = new ServedWindows(fetchTransport(fetch));
    const far = modelAt('https://api.example.com/v1', {}, { limit: { context: 0, output: 0 } });
    assert.equal(windows.mayTell(far), false);
    assert.equal(windows.mayTell(model('openai-compatible', 'q', 8192)), false);
    assert.equal(windows.mayTell(model('ollama', 'q', 8192)), true);
  });

  it('ServedWindows: the questions for a list are sent once for all its models', async () => {
    serve({ '/v1/models': { data: [] } });
    const windows = new ServedWindows(fetchTransport(fetch));
    await windows.readAll(
      [1, 2, 3].map((at) => model('vllm', `m${at}`)),
      signal,
    );
    assert.deepEqual(
      upstream.requests.map(({ path }) => path),
      ['/v1/models'],
    );
  });

  it('ServedWindows: an unknown server is asked once for a path that it does not have, for all models and lists', async () => {
    serve({ '/v1/models': { data: [] } });
    const windows = new ServedWindows(fetchTransport(fetch));
    const models = [1, 2, 3].map((at) => model('openai-compatible', `m${at}`));
    await windows.readAll(models, signal);
    const paths = upstream.requests.map(({ path }) => path);
    assert.ok(paths.includes('/api/ps'));
    assert.equal(paths.filter((path) => path.includes('m2') || path.includes('m3')).length, 0, paths.join(' '));
    assert.equal(new Set(paths).size, paths.length, paths.join(' '));
    await windows.readAll(models, signal);
    assert.deepEqual(
      upstream.requests.slice(paths.length).map(({ path }) => path),
      ['/v1/models'],
    );
  });

  it('ServedWindows: a path that an unknown server has for one model only is asked for each', async () => {
    const config = '/api/models/config-json/';
    const absent = { status: 404, body: '{"error":"Model configuration not found"}' };
    serve({ [`${config}m1`]: absent, [`${config}m2`]: { context_size: 4096 }, [`${config}m3`]: absent });
    const models = [1, 2, 3].map((at) => ({ ...model('openai-compatible', `m${at}`), ref: `up/m${at}` }));
    const told = await new ServedWindows(fetchTransport(fetch)).readAll(models, signal);
    assert.deepEqual(
      models.map(({ ref }) => told.get(ref)?.context),
      [undefined, 4096, undefined],
    );
  });

  it('ServedWindows: Ollama loads the model for a request, and tells then', async () => {
    let loaded = false;
    upstream.respond(({ path, body }, response) => {
      if (path === '/api/generate') {
        assert.deepEqual(body, { model: 'q', stream: false });
        loaded = true;
      }
      const models = loaded ? [{ name: 'q:latest', context_length: 8192 }] : [];
      response.end(JSON.stringify(path === '/api/ps' ? { models } : path === '/api/show' ? SHOW : { done: true }));
      return undefined;
    });
    const windows = new ServedWindows(fetchTransport(fetch));
    assert.equal((await windows.readAll([model('ollama')], signal)).size, 0);
    assert.equal(loaded, false);
    assert.deepEqual(await windows.read(model('ollama'), signal), { context: 8192, trained: 40960 });
  });

  it('ServedWindows: a request that is given up does not end the load of its model', async () => {
    const closed: string[] = [];
    let answer = (): void => undefined;
    upstream.respond(({ path, body }, response) => {
      response.once('close', () => response.writableFinished || closed.push(path));
      if (path === '/api/ps') response.end('{"models":[]}');
      else {
        assert.deepEqual(body, { model: 'q', stream: false, keep_alive: '1h', options: { num_ctx: 8192 } });
        answer = () => void response.end('{"done":true,"done_reason":"load"}');
      }
      return undefined;
    });
    const windows = new ServedWindows(fetchTransport(fetch));
    const asked = { ...model('ollama'), options: { num_ctx: 8192, keep_alive: '1h' } };
    const key = new AbortController();
    const first = windows.load(asked, key.signal);
    await upstream.request(1);
    key.abort();
    await first;
    const second = windows.load(asked, signal);
    answer();
    await second;
    assert.deepEqual(closed, []);
    assert.deepEqual(
      upstream.requests.map(({ path }) => path),
      ['/api/ps', '/api/generate', '/api/ps'],
    );
  });

  /** An Ollama that gives a model at most `most` tokens. */
  function ollama(most = 40_960) {
    const given = new Map<string, number>();
    upstream.respond(({ path, body }, response) => {
      const { model: id = '', options = {} } = (body ?? {}) as { model?: string; options?: { num_ctx?: number } };
      if (path === '/api/generate') given.set(id, Math.min(most, options.num_ctx ?? 4096));
      const models = [...given].map(([name, context_length]) => ({ name, context_length }));
      response.end(JSON.stringify(path === '/api/ps' ? { models } : path === '/api/show' ? {} : { done: true }));
      return undefined;
    });
    return given;
  }
  const paths = () => upstream.requests.map(({ path }) => path);

  it('ServedWindows: while typing goes on, Ollama is asked once whether the model is loaded', async () => {
    ollama().set('q', 4096);
    const windows = new ServedWindows(fetchTransport(fetch));
    for (let key = 0; key < 20; key++) await windows.load(model('ollama'), signal);
    assert.deepEqual(paths(), ['/api/ps']);
    // After a failure, and after the load of another model, it is asked again.
    windows.failed(model('ollama'));
    await windows.load(model('ollama'), signal);
    assert.deepEqual(paths(), ['/api/ps', '/api/ps']);
    await windows.load(model('ollama', 'other'), signal);
    await windows.load(model('ollama'), signal);
    assert.deepEqual(paths().slice(2), ['/api/ps', '/api/generate', '/api/ps']);
  });

  it('ServedWindows: a model for which Ollama gives less than `num_ctx` is loaded once', async () => {
    const given = ollama(40_960);
    given.set('q', 4096);
    const windows = new ServedWindows(fetchTransport(fetch));
    const large = { ...model('ollama'), options: { num_ctx: 131_072 } };
    for (let request = 0; request < 3; request++) {
      windows.failed(large);
      await windows.load(large, signal);
      assert.equal((await windows.read(large, signal))?.context, 40_960);
    }
    assert.equal(paths().filter((path) => path === '/api/generate').length, 1);
    // Another program has loaded it with a smaller window since.
    given.set('q', 8192);
    await windows.read(large, signal);
    assert.equal(paths().filter((path) => path === '/api/generate').length, 2);
  });

  it('ServedWindows: a smaller window than `num_ctx` ends when Ollama has room for it', async () => {
    const given = ollama(8192);
    const loads = () => paths().filter((path) => path === '/api/generate').length;
    const windows = new ServedWindows(fetchTransport(fetch));
    const large = { ...model('ollama'), options: { num_ctx: 32_768 } };
    assert.equal((await windows.read(large, signal))?.context, 8192);
    // Another program has loaded it with the same window, and the first one is free again.
    given.set('q', 32_768);
    assert.equal((await windows.read(large, signal))?.context, 32_768);
    given.set('q', 8192);
    await windows.read(large, signal);
    assert.equal(loads(), 2);
  });

  it('ServedWindows: a smaller window than `num_ctx` is not kept for ever', async () => {
    const given = ollama(8192);
    const windows = new ServedWindows(fetchTransport(fetch), { givenMs: 0 });
    const large = { ...model('ollama'), options: { num_ctx: 32_768 } };
    assert.equal((await windows.read(large, signal))?.context, 8192);
    ollama(32_768).set('q', given.get('q') ?? 0);
    assert.equal((await windows.read(large, signal))?.context, 32_768);
  });

  it('ServedWindows: a load that never ends is not begun again, and no request waits for it', async () => {
    upstream.respond(({ path }, response) => {
      if (path === '/api/ps') response.end('{"models":[]}');
      return undefined;
    });
    const loads: Promise<void>[] = [];
    // What is sent, not what arrives: the load may end before.
    const sent: string[] = [];
    const transport = fetchTransport((url, init) => {
      sent.push(new URL(String(url)).pathname);
      return fetch(url, init);
    });
    const windows = new ServedWindows(transport, { loadMs: 20, loading: (_, load) => void loads.push(load) });
    await windows.load(model('ollama'), signal);
    await windows.load(model('ollama'), signal);
    assert.deepEqual(sent, ['/api/ps', '/api/generate', '/api/ps']);
    assert.equal(loads.length, 1);
    await loads[0];
  });

  for (const [status, error] of [
    [404, "model 'q' not found"],
    [500, 'model requires more system memory (9.1 GiB) than is available (3.2 GiB)'],
  ] as const) {
    it(`ServedWindows: after a load that failed with ${status}, requests go out without another one`, async () => {
      upstream.respond(({ path }, response) => {
        if (path === '/api/generate') response.writeHead(status).end(JSON.stringify({ error }));
        else response.end('{"models":[]}');
        return undefined;
      });
      let loads = 0;
      const windows = new ServedWindows(fetchTransport(fetch), { loading: () => void loads++ });
      for (let request = 0; request < 3; request++) {
        await windows.load(model('ollama'), signal);
        windows.failed(model('ollama'));
      }
      await windows.load(model('ollama', 'other'), signal);
      assert.equal(loads, 2, 'one load of each model');
      assert.equal(paths().filter((path) => path === '/api/generate').length, 2);
    });
  }

  for (const [name, models, own, loads] of [
    ['a loaded model is not loaded again', [{ name: 'q:latest', context_length: 4096 }], {}, false],
    ['a model with the window of its options is not', [{ name: 'q', context_length: 8192 }], { num_ctx: 8192 }, false],
    ['a model with another window is', [{ name: 'q', context_length: 4096 }], { num_ctx: 8192 }, true],
    ['a server that does not tell its models is not asked to', undefined, {}, false],
  ] as const) {
    it(`ServedWindows: ${name}`, async () => {
      upstream.respond(({ path }, response) => {
        response.end(JSON.stringify(path === '/api/ps' ? { models } : { done: true }));
        return undefined;
      });
      await new ServedWindows(fetchTransport(fetch)).load({ ...model('ollama'), options: own }, signal);
      assert.equal(
        upstream.requests.some(({ path }) => path === '/api/generate'),
        loads,
      );
    });
  }

  it('ServedWindows: a model of Ollama’s cloud is not loaded, and has the whole window', async () => {
    serve({ '/api/ps': { models: [] }, '/api/show': { ...SHOW, remote_host: 'https://ollama.com:443' } });
    const windows = new ServedWindows(fetchTransport(fetch));
    const cloud = { ...model('ollama', 'gpt-oss:120b-cloud'), options: { num_ctx: 8192 } };
    await windows.load(cloud, signal);
    assert.deepEqual(upstream.requests, []);
    assert.deepEqual(await windows.read(cloud, signal), { context: 40_960, trained: 40_960 });
  });

  it('ServedWindows: Ollama states which values `think` has', async () => {
    const values = ['low', 'medium', 'high', 7, null];
    serve({ '/api/ps': PS, '/api/show': { ...SHOW, thinking: { values, default: 'medium' } } });
    const windows = new ServedWindows(fetchTransport(fetch));
    const think = ['low', 'medium', 'high'];
    assert.deepEqual(await windows.read(model('ollama', 'qwen3:8b'), signal), {
      context: 4096,
      trained: 40_960,
      think,
    });
  });

  it('ServedWindows: the smallest window that an Ollama has in memory', async () => {
    const windows = new ServedWindows(fetchTransport(fetch));
    const smallest = () => windows.smallestLoaded(model('openai-compatible').endpoint, signal);
    // Another program may have asked for a larger one. An embedding model has a small one.
    serve({ '/api/ps': PS });
    assert.equal(await smallest(), 2048);
    serve({ '/api/ps': { models: [...PS.models, { name: 'old' }] } });
    assert.equal(await smallest(), 0);
    serve({ '/api/ps': { models: [] } });
    assert.equal(await smallest(), 0);
    serve({});
    assert.equal(await smallest(), 0);
  });

  it('ServedWindows: other servers are not asked to load', async () => {
    const windows = new ServedWindows(fetchTransport(fetch));
    await windows.load(model('llamacpp'), signal);
    await windows.load(model('lmstudio'), signal);
    assert.deepEqual(upstream.requests, []);
  });

  it('ServedWindows: a model that is loaded later with another window has it with the next request', async () => {
    const served = servedModel(new ServedWindows(fetchTransport(fetch)));
    for (const context of [8192, 2048, 32_768]) {
      serve({ '/api/ps': { models: [{ name: 'q', context_length: context }] }, '/api/show': SHOW });
      assert.equal((await served(model('ollama'), signal)).limit.context, context);
    }
  });

  it('ServedWindows: a smaller configured limit stays, a larger one does not', () => {
    const small = withServedWindow(model('ollama', 'q', 2048), { context: 8192 });
    assert.equal(small.limit.context, 2048);
    const large = withServedWindow(model('ollama', 'q', 131_072), { context: 8192 });
    assert.equal(large.limit.context, 8192);
    assert.equal(withServedWindow(large, { context: 16_384 }).limit.context, 16_384);
  });

  it('ServedWindows: names the command for a larger window', () => {
    const commands = (['ollama', 'llamacpp', 'lmstudio', 'vllm'] as const).map((kind) =>
      largerWindow(withServedWindow(model(kind), { context: 8192, trained: 32_768 })),
    );
    assert.deepEqual(commands, [
      'OLLAMA_CONTEXT_LENGTH=32768 ollama serve',
      'llama-server --ctx-size 32768',
      'lms load q --context-length 32768',
      'vllm serve q --max-model-len 32768',
    ]);
    assert.equal(largerWindow(withServedWindow(model('ollama'), { context: 8192, trained: 8192 })), undefined);
  });
});
