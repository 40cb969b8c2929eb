import assert from 'node:assert/strict';
import { defined } from '../../src/base/json.ts';
import { LiveRegistry, providersToList } from '../../src/catalog/live-registry.ts';
import type { Endpoint, Model, ServedWindow } from '../../src/catalog/model.ts';
import { matchesModelPattern } from '../../src/catalog/model-pattern.ts';
import { formatMessage } from '../../src/wire/errors/svc-error.ts';
import { buildTestRegistry, type TestRegistryOptions } from './test-registry.ts';

function problemOf(endpoint: Endpoint | undefined): string {
  return endpoint?.problem === undefined ? '' : formatMessage(endpoint.problem);
}

async function modelOf(ref: string, given: TestRegistryOptions): Promise<Model> {
  const model = (await buildTestRegistry(given)).find(ref);
  assert.ok(model !== undefined, `${ref} is not there`);
  return model;
}

const local = (over: object) => ({
  mine: { provider: { p: { options: { baseURL: 'http://127.0.0.1:1/v1/' }, ...over } } },
});

describe('Registry: providers', () => {
  it('Registry: contains configured providers, then those with a stored key or a variable', async () => {
    const registry = await buildTestRegistry({
      mine: { provider: { anthropic: {} } },
      env: { OPENAI_API_KEY: 'k', MISTRAL_API_KEY: '  ' },
    });
    assert.deepEqual([...registry.providers.keys()], ['anthropic', 'openai']);
    assert.equal(registry.providers.get('openai')?.endpoint.apiKey?.secret.reveal(), 'k');
  });

  it('Registry: omits disabled providers', async () => {
    const registry = await buildTestRegistry({ mine: { provider: { openai: null } }, env: { OPENAI_API_KEY: 'k' } });
    assert.equal(registry.providers.size, 0);
  });

  it('Registry: a provider without a known address has a problem instead', async () => {
    const registry = await buildTestRegistry({
      mine: { provider: { p: { models: { m: {} } } } },
      env: { AWS_KEY: 'k', ACCOUNT_KEY: 'k' },
    });
    assert.match(problemOf(registry.find('p/m')?.endpoint), /baseURL/);
    assert.match(problemOf(registry.find('bedrock/x')?.endpoint), /amazon-bedrock/);
    assert.match(problemOf(registry.find('account/m')?.endpoint), /ACCOUNT_ID/);
  });

  it('Registry: replaces account variables in a catalog address', async () => {
    const given = { env: { ACCOUNT_KEY: 'k', ACCOUNT_ID: 'abc-1' } };
    assert.equal((await modelOf('account/m', given)).endpoint.baseURL, 'https://api.example.com/abc-1/v1');
    const evil = { env: { ACCOUNT_KEY: 'k', ACCOUNT_ID: '../x@evil' } };
    assert.match(problemOf((await modelOf('account/m', evil)).endpoint), /ACCOUNT_ID/);
  });

  it('Registry: a misspelt package gets a suggestion', async () => {
    const model = await modelOf('p/m', local({ npm: '@ai-sdk/antropic', models: { m: {} } }));
    assert.match(problemOf(model.endpoint), /Did you mean `@ai-sdk\/anthropic`/);
  });

  it('Registry: does not expand variables in a configured address', async () => {
    const mine = { provider: { p: { options: { baseURL: 'http://h/${MY_SECRET}/v1' }, models: { m: {} } } } };
    const model = await modelOf('p/m', { mine, env: { MY_SECRET: 'CANARY' } });
    assert.equal(model.endpoint.baseURL, undefined);
    assert.match(problemOf(model.endpoint), /not expanded/);
  });

  it('Registry: marks a simulated provider', async () => {
    const registry = await buildTestRegistry(local({ options: { baseURL: 'http://127.0.0.1:1', simulated: true } }));
    assert.equal(registry.providers.get('p')?.simulated, true);
  });
});

describe('Registry: models', () => {
  it('Registry: a model that is not in the catalog has text modalities and no known limits', async () => {
    const model = await modelOf('p/m', local({ models: { m: {} } }));
    assert.deepEqual(model.modalities, { input: ['text'], output: ['text'] });
    assert.deepEqual(model.limit, { context: 0, output: 0 });
    assert.equal(model.cost, undefined);
    assert.deepEqual(
      [model.toolCall, model.reasoning, model.attachment, model.name, model.id],
      [true, false, false, 'm', 'm'],
    );
    assert.equal(model.endpoint.baseURL, 'http://127.0.0.1:1/v1');
    assert.equal(model.source, 'config');
  });

  it('Registry: merges model settings over the catalog field by field', async () => {
    const mine = {
      provider: {
        openai: { models: { 'gpt-5': { name: 'Mine', cost: { input: 9 }, tool_call: false, limit: { output: 5 } } } },
      },
    };
    const model = await modelOf('openai/gpt-5', { mine });
    const { input, output, cacheRead } = model.cost ?? {};
    assert.deepEqual({ input, output, cacheRead }, { input: 9, output: 10, cacheRead: 0.125 });
    assert.deepEqual(model.limit, { context: 400_000, output: 5, input: 272_000 });
    assert.deepEqual([model.name, model.toolCall, model.reasoning], ['Mine', false, true]);
    assert.deepEqual(model.modalities.input, ['text', 'image']);
  });

  it("Registry: ignores the catalog's larger input limit if only the context is set", async () => {
    const limits = async (limit: object) =>
      (await modelOf('openai/gpt-5', { mine: { provider: { openai: { models: { 'gpt-5': { limit } } } } } })).limit;
    assert.deepEqual(await limits({ context: 1000 }), { context: 1000, output: 128_000 });
    assert.deepEqual(await limits({ context: 300_000 }), { context: 300_000, output: 128_000, input: 272_000 });
    assert.deepEqual(await limits({ context: 1000, input: 900 }), { context: 1000, output: 128_000, input: 900 });
  });

  it('Registry: looks up a model by id, then by key, then by package or address', async () => {
    const context = async (ref: string, provider: object) => (await modelOf(ref, { mine: { provider } })).limit.context;
    assert.equal(await context('openai/mine', { openai: { models: { mine: { id: 'gpt-5' } } } }), 400_000);
    const azure = { azure: { options: { resourceName: 'r' }, models: { 'gpt-5': { id: 'my-deployment' } } } };
    assert.equal(await context('azure/gpt-5', azure), 400_000);
    const byAddress = {
      work: { options: { baseURL: 'https://api.mistral.ai/v1' }, models: { 'mistral-large-latest': {} } },
    };
    assert.equal(await context('work/mistral-large-latest', byAddress), 128_000);
    const byPackage = {
      work: {
        npm: '@ai-sdk/anthropic',
        options: { baseURL: 'https://h/v1' },
        models: { s: { id: 'claude-sonnet-4-5' } },
      },
    };
    assert.equal(await context('work/s', byPackage), 200_000);
  });

  it('Registry: a model with its own id is referenced by its key', async () => {
    assert.equal(
      (await modelOf('openai/mine', { mine: { provider: { openai: { models: { mine: { id: 'gpt-5' } } } } } })).name,
      'mine',
    );
  });

  it('Registry: contains a deprecated model only if it is configured', async () => {
    assert.equal((await buildTestRegistry({ mine: { provider: { openai: {} } } })).find('openai/gpt-3'), undefined);
    assert.equal(
      (await modelOf('openai/gpt-3', { mine: { provider: { openai: { models: { 'gpt-3': {} } } } } })).limit.context,
      4_096,
    );
  });

  it('Registry: a model key may contain slashes and colons', async () => {
    assert.equal((await modelOf('p/org/model:tag', local({ models: { 'org/model:tag': {} } }))).key, 'org/model:tag');
  });

  it('Registry: a model may have the name constructor', async () => {
    assert.equal((await modelOf('p/constructor', local({ models: { constructor: {} } }))).limit.context, 0);
    assert.equal(
      (await buildTestRegistry({ mine: { provider: { openai: {} } } })).find('openai/constructor'),
      undefined,
    );
  });

  it("Registry: the catalog's efforts are variants in the model's format, and the user's override them", async () => {
    const variants = { high: { disabled: true }, low: { extra: 1 }, mine: { reasoning_split: true, disabled: false } };
    const model = await modelOf('openai/gpt-5', {
      mine: { provider: { openai: { models: { 'gpt-5': { variants } } } } },
    });
    assert.deepEqual(Object.fromEntries(model.variants), {
      low: { reasoning: { effort: 'low' }, extra: 1 },
      mine: { reasoning_split: true },
    });
    const claude = await modelOf('anthropic/claude-sonnet-4-5', { mine: { provider: { anthropic: {} } } });
    assert.deepEqual(claude.variants.get('high'), { thinking: { type: 'enabled', budget_tokens: 16_000 } });
  });

  it("Registry: a model uses the format of its package, and its headers override the provider's", async () => {
    const model = await modelOf(
      'p/m',
      local({
        options: { baseURL: 'http://127.0.0.1:1/v1', headers: { A: '1', B: '2' } },
        models: { m: { provider: { npm: '@ai-sdk/anthropic', api: 'http://127.0.0.1:2' }, headers: { b: '3' } } },
      }),
    );
    assert.deepEqual(
      [model.endpoint.format, model.endpoint.kind, model.endpoint.baseURL],
      ['messages', 'anthropic', 'http://127.0.0.1:2'],
    );
    assert.deepEqual(
      [...model.endpoint.headers].map(([name, { secret }]) => [name, secret.reveal()]),
      [
        ['a', '1'],
        ['b', '3'],
      ],
    );
  });

  it('Registry: an Azure model uses the base URL if set, otherwise its resource', async () => {
    const base = async (options: object) =>
      (await modelOf('azure/gpt-5', { mine: { provider: { azure: { options } } } })).endpoint.baseURL;
    assert.equal(await base({ resourceName: 'r', baseURL: 'http://127.0.0.1:1/openai' }), 'http://127.0.0.1:1/openai');
    assert.equal(await base({ resourceName: 'r' }), 'https://r.openai.azure.com/openai/v1');
    assert.equal(await base({}), undefined);
    for (const [key, id, format] of [
      ['gpt-5', undefined, 'chat-completions'],
      ['gpt-5', 'blue', 'chat-completions'],
      ['gpt-5.2', undefined, 'chat-completions'],
      ['gpt-5-codex', undefined, 'responses'],
      ['gpt-5.4-mini', undefined, 'responses'],
      ['gpt-5.6-sol', 'blue', 'responses'],
      ['blue', 'gpt-6-astra', 'responses'],
      ['blue', undefined, 'chat-completions'],
    ] as const) {
      const models = { [key]: id === undefined ? {} : { id } };
      const { endpoint } = await modelOf(`azure/${key}`, {
        mine: { provider: { azure: { options: { resourceName: 'r' }, models } } },
      });
      assert.equal(endpoint.format, format, `${key} ${id}`);
    }
    for (const options of [
      { resourceName: 'r', useDeploymentBasedUrls: true },
      { baseURL: 'https://r.openai.azure.com/openai/deployments' },
    ]) {
      const { endpoint } = await modelOf('azure/gpt-5.4', {
        mine: { provider: { azure: { options, models: { 'gpt-5.4': {} } } } },
      });
      assert.equal(endpoint.format, 'chat-completions');
    }
  });
});

describe('Registry: filters', () => {
  const keys = async (filters: object) =>
    [
      ...(
        await buildTestRegistry({ mine: { provider: { openai: { models: { mine: { id: 'gpt-5' } }, ...filters } } } })
      ).models.values(),
    ].map(({ key }) => key);
  const cases: readonly [object, string[]][] = [
    [{}, ['gpt-5', 'gpt-4o', 'mine']],
    [{ whitelist: ['gpt-5'] }, ['gpt-5']],
    [{ whitelist: [] }, []],
    [{ blacklist: ['gpt-5'] }, ['gpt-4o', 'mine']],
    [{ whitelist: ['gpt-5', 'mine'], blacklist: ['gpt-5'] }, ['mine']],
    [{ whitelist: ['gpt-*'] }, ['gpt-5', 'gpt-4o']],
    [{ blacklist: ['*'] }, []],
    [{ whitelist: ['openai/gpt-5'] }, []],
    [{ whitelist: ['GPT-5'] }, []],
    [{ models: { 'gpt-5': null } }, ['gpt-4o']],
  ];
  for (const [filters, expected] of cases) {
    it(`Registry filter: ${JSON.stringify(filters)} leaves ${expected.join(', ') || 'nothing'}`, async () => {
      assert.deepEqual(await keys(filters), expected);
    });
  }

  it('Registry filter: matches patterns without backtracking', () => {
    assert.ok(matchesModelPattern('a*b*c', 'axxbyyc'));
    assert.ok(!matchesModelPattern('a*b*c', 'axxc'));
    assert.ok(!matchesModelPattern('ab*ba', 'aba'));
    assert.ok(!matchesModelPattern(`${'a*'.repeat(50)}b`, 'a'.repeat(10_000)));
  });
});

describe('Registry: code completion', () => {
  const fim = async (ref: string, provider: object) => {
    const { fim: able, endpoint } = await modelOf(ref, { mine: { provider } });
    return [able, endpoint.fim, endpoint.fimURL];
  };

  it('Registry: sets the FIM dialect and address for the models of each vendor', async () => {
    assert.deepEqual(await fim('mistral/codestral-latest', { mistral: {} }), [
      true,
      'mistral',
      'https://api.mistral.ai/v1/fim',
    ]);
    assert.deepEqual(await fim('mistral/mistral-large-latest', { mistral: {} }), [
      false,
      undefined,
      'https://api.mistral.ai/v1/fim',
    ]);
    assert.deepEqual(await fim('codestral/codestral-latest', { codestral: {} }), [
      true,
      'mistral',
      'https://codestral.mistral.ai/v1/fim',
    ]);
    assert.deepEqual(await fim('inception/mercury-coder', { inception: { models: { 'mercury-coder': {} } } }), [
      true,
      'inception',
      'https://api.inceptionlabs.ai/v1/fim',
    ]);
    assert.deepEqual(await fim('deepseek/deepseek-chat', { deepseek: { models: { 'deepseek-chat': {} } } }), [
      true,
      'deepseek',
      'https://api.deepseek.com/beta',
    ]);
    assert.deepEqual(await fim('ollama/qwen2.5-coder:7b', { ollama: { models: { 'qwen2.5-coder:7b': {} } } }), [
      true,
      'template-qwen',
      'http://127.0.0.1:11434',
    ]);
    assert.deepEqual(await fim('ollama/llama3', { ollama: { models: { llama3: {} } } }), [
      false,
      undefined,
      'http://127.0.0.1:11434',
    ]);
    assert.deepEqual(await fim('lmstudio/starcoder2', { lmstudio: { models: { starcoder2: {} } } }), [
      true,
      'template-starcoder2',
      undefined,
    ]);
    assert.deepEqual(await fim('svc/mistral/codestral-2508', { svc: { models: { 'mistral/codestral-2508': {} } } }), [
      true,
      'svc',
      'http://127.0.0.1:4180/fim',
    ]);
  });

  it('Registry: uses a configured FIM dialect and address without a check', async () => {
    const p = {
      npm: '@ai-sdk/openai-compatible',
      fim: 'openai-completions',
      options: { baseURL: 'http://127.0.0.1:1', fimURL: 'http://127.0.0.1:2/' },
      models: { x: {} },
    };
    assert.deepEqual(await fim('p/x', { p }), [true, 'openai-completions', 'http://127.0.0.1:2']);
  });

  it('Registry: the FIM address of a provider with a new address is derived from the new one', async () => {
    assert.deepEqual(
      await fim('mistral/codestral-latest', { mistral: { options: { baseURL: 'http://127.0.0.1:1/v1' } } }),
      [true, 'mistral', undefined],
    );
  });
});

describe('Registry: listed models', () => {
  it('Registry: adds listed models that pass the filters, without changing configured ones', async () => {
    const registry = await buildTestRegistry({
      mine: { provider: { lmstudio: { blacklist: ['no*'] }, openai: {}, p: {} } },
    });
    assert.deepEqual(
      providersToList(registry).map(({ id }) => id),
      ['lmstudio'],
    );
    const filled = registry.withListedModels('lmstudio', ['qwen2.5-coder', 'nomic', 'qwen2.5-coder', '']);
    assert.deepEqual([...(filled.providers.get('lmstudio')?.models.keys() ?? [])], ['qwen2.5-coder']);
    const model = filled.find('lmstudio/qwen2.5-coder');
    assert.deepEqual([model?.source, model?.fim, model?.endpoint.kind], ['listed', true, 'lmstudio']);
    assert.equal(registry.find('lmstudio/qwen2.5-coder'), undefined);
    const configured = await buildTestRegistry({ mine: { provider: { lmstudio: { models: { a: { name: 'A' } } } } } });
    assert.equal(configured.withListedModels('lmstudio', ['a', 'b']).find('lmstudio/a')?.name, 'A');
  });
});

describe('LiveRegistry', () => {
  it('LiveRegistry: has the values of `think` that a server states later', async () => {
    let window: ServedWindow = { context: 4096 };
    const windows = {
      mayTell: () => true,
      readAll: async () => new Map(),
      read: async () => window,
      load: async () => undefined,
      failed: () => undefined,
    };
    const registry = await buildTestRegistry(local({ models: { m: {} } }));
    const live = new LiveRegistry(registry, { windows, listModels: async () => [], unlisted: () => undefined });
    const { signal } = new AbortController();
    for (const think of [undefined, ['low', 'high'], [false, true]]) {
      window = { context: 4096, ...defined({ think }) };
      const model = live.current.find('p/m');
      assert.ok(model);
      await live.served(model, signal);
      assert.deepEqual(live.current.find('p/m')?.served?.think, think);
    }
    const { current } = live;
    await live.served(current.models.get('p/m') ?? assert.fail(), signal);
    assert.equal(live.current, current, 'nothing is new');
  });
});
