import assert from 'node:assert/strict';
import { ProjectFolder } from '../config/project-folder.ts';
import { streamFrames } from '../upstream/answers.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { svc } from './run-svc.ts';

/** Source: anomalyco/opencode#41294, #20815, #1508, #3150, and configuration files that people published. */
describe('options with the names of other tools', () => {
  let folder: ProjectFolder;
  let upstream: Upstream;
  const FORMATS = { chat: '@ai-sdk/openai-compatible', responses: '@ai-sdk/openai', messages: '@ai-sdk/anthropic' };
  beforeEach(async () => {
    folder = new ProjectFolder();
    folder.env.SVC_DISABLE_CATALOG_REFRESH = '1';
    upstream = await startUpstream(({ path }, response) => {
      const format = path.includes('/responses') ? 'responses' : path.includes('/messages') ? 'messages' : 'chat';
      response.setHeader('content-type', 'text/event-stream');
      response.end(
        streamFrames(format, { text: ['ok'] })
          .map((frame) => `${frame}\n\n`)
          .join(''),
      );
    });
  });
  afterEach(async () => {
    await upstream.close();
    folder[Symbol.dispose]();
  });

  interface Written {
    readonly npm?: string;
    readonly baseURL?: string;
    readonly options?: object;
    readonly model?: object;
    readonly variant?: string;
  }
  const chat = async ({ npm = FORMATS.chat, baseURL = '/v1', options = {}, model = {}, variant }: Written) => {
    const provider = { p: { npm, options: { baseURL: upstream.url + baseURL, ...options }, models: { m: model } } };
    folder.global({ provider });
    const { code, err } = await svc(folder, ['chat', '-m', 'p/m', ...(variant ? ['--variant', variant] : []), 'hello']);
    assert.deepEqual({ code, err }, { code: 0, err: '' });
    const request = upstream.requests.at(-1);
    assert.ok(request);
    return request;
  };

  const cases: Record<keyof typeof FORMATS, readonly (readonly [options: object, fields: object])[]> = {
    chat: [
      [{ reasoningEffort: 'low' }, { reasoning_effort: 'low' }],
      [
        { textVerbosity: 'low', topP: 0.5 },
        { verbosity: 'low', top_p: 0.5 },
      ],
      [{ maxTokens: 77 }, { max_tokens: 77 }],
      [{ reasoningEffort: 'low', reasoning_effort: 'high' }, { reasoning_effort: 'high' }],
      [
        { thinkingConfig: { thinkingBudget: 9 } },
        { extra_body: { google: { thinking_config: { thinking_budget: 9 } } } },
      ],
      [
        { store: false, serviceTier: 'flex' },
        { store: false, service_tier: 'flex' },
      ],
    ],
    responses: [
      [
        { reasoningEffort: 'low', reasoningSummary: 'auto', textVerbosity: 'medium' },
        { reasoning: { effort: 'low', summary: 'auto' }, text: { verbosity: 'medium' } },
      ],
      [
        { maxTokens: 77, promptCacheKey: 'k' },
        { max_output_tokens: 77, prompt_cache_key: 'k' },
      ],
    ],
    messages: [
      [{ thinking: { type: 'enabled', budgetTokens: 2000 } }, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
      [
        { reasoningEffort: 'low', topK: 5 },
        { output_config: { effort: 'low' }, top_k: 5 },
      ],
    ],
  };
  for (const [format, rows] of Object.entries(cases)) {
    for (const [options, fields] of rows) {
      it(`option names: ${JSON.stringify(options)} are fields of ${format}, wherever they stand`, async () => {
        const npm = Object.entries(FORMATS).find(([name]) => name === format)?.[1] ?? '';
        const isOwn = Object.keys(options).some((name) => name === 'thinking' || name === 'reasoning_effort');
        const places: readonly Written[] = [
          { model: { options } },
          { model: { variants: { v: options } }, variant: 'v' },
          ...(isOwn ? [] : [{ options }]),
        ];
        for (const place of places) {
          const { body } = await chat({ npm, ...place });
          assert.ok(body instanceof Object);
          for (const [name, value] of Object.entries(fields)) {
            assert.deepEqual(Object.entries(body).find(([key]) => key === name)?.[1], value, JSON.stringify(place));
          }
          for (const name of Object.keys(options)) assert.ok(name in fields || !(name in body), name);
        }
      });
    }
  }

  it('option names: a field that the format lacks is left out', async () => {
    const { body } = await chat({
      npm: FORMATS.messages,
      model: { options: { reasoningSummary: 'auto', store: false } },
    });
    assert.ok(body instanceof Object);
    assert.deepEqual(
      ['reasoningSummary', 'store', 'reasoning'].filter((name) => name in body),
      [],
    );
  });

  it('option names: options of the connection are headers, parameters and a body without usage', async () => {
    const { path, headers, body } = await chat({
      options: {
        organization: 'org-1',
        project: 'proj-1',
        authToken: 'CANARY-TOKEN',
        queryParams: { code: 'CANARY CODE', v: 2 },
        includeUsage: false,
      },
    });
    assert.equal(path, '/v1/chat/completions?code=CANARY%20CODE&v=2');
    assert.equal(headers['openai-organization'], 'org-1');
    assert.equal(headers['openai-project'], 'proj-1');
    assert.equal(headers.authorization, 'Bearer CANARY-TOKEN');
    assert.ok(body instanceof Object && 'stream_options' in body);
    assert.equal(body.stream_options, null);
    const { out } = await svc(folder, ['config']);
    assert.ok(!out.includes('CANARY'), out);
  });

  const dated = { apiVersion: '2025-01-01-preview' };
  const byDeployment = { ...dated, useDeploymentBasedUrls: true };
  const azure: readonly (readonly [base: string, options: object, path: string])[] = [
    ['/openai/v1', {}, '/openai/v1/chat/completions'],
    ['/openai/v1/', { apiVersion: 'preview' }, '/openai/v1/chat/completions?api-version=preview'],
    ['/openai', {}, '/openai/v1/chat/completions'],
    ['/openai/v1', byDeployment, '/openai/deployments/my-gpt/chat/completions?api-version=2025-01-01-preview'],
    ['/openai', byDeployment, '/openai/deployments/my-gpt/chat/completions?api-version=2025-01-01-preview'],
    ['', byDeployment, '/openai/deployments/my-gpt/chat/completions?api-version=2025-01-01-preview'],
    ['/openai/deployments', dated, '/openai/deployments/my-gpt/chat/completions?api-version=2025-01-01-preview'],
    ['/openai/deployments/other', dated, '/openai/deployments/other/chat/completions?api-version=2025-01-01-preview'],
    ['/openai/deployments', {}, '/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21'],
  ];
  for (const [baseURL, options, expected] of azure) {
    it(`option names: Azure at ${baseURL || '/'} with ${JSON.stringify(options)} is asked at ${expected}`, async () => {
      const provider = {
        azure: {
          npm: '@ai-sdk/azure',
          options: { baseURL: upstream.url + baseURL, apiKey: 'CANARY', ...options },
          models: { gpt: { id: 'my-gpt' } },
        },
      };
      folder.global({ provider });
      await svc(folder, ['chat', '-m', 'azure/gpt', 'hello']);
      assert.equal(upstream.requests.at(-1)?.path, expected);
    });
  }

  it('option names: a dated version of Azure with the v1 API is a warning', async () => {
    const warned = async (options: object) => {
      const provider = {
        azure: { npm: '@ai-sdk/azure', options: { resourceName: 'r', ...options }, models: { m: {} } },
      };
      folder.global({ provider });
      return (await svc(folder, ['config'])).err.includes('The v1 API of Azure refuses dated versions.');
    };
    const each = [dated, byDeployment, { apiVersion: 'preview' }, {}];
    const found: boolean[] = [];
    for (const options of each) found.push(await warned(options));
    assert.deepEqual(found, [true, false, false, false]);
  });

  it('option names: a misspelt address sends nothing, and says what to write', async () => {
    folder.env.XAI_API_KEY = 'CANARY';
    for (const [name, value] of Object.entries({
      baseUrl: upstream.url,
      base_url: upstream.url,
      endpoint: upstream.url,
    })) {
      folder.global({ provider: { xai: { options: { [name]: value, apiKey: 'CANARY' }, models: { m: {} } } } });
      const { code, err } = await svc(folder, ['chat', '-m', 'xai/m', 'hello']);
      assert.equal(code, 1, err);
      assert.match(
        err,
        new RegExp(`provider\\.xai\\.options\\.${name}: This key is not known. Did you mean \`baseURL\``),
      );
      assert.match(err, /nothing is sent/);
    }
    assert.equal(upstream.requests.length, 0);
  });

  it('option names: disabled and enabled providers restrict, also those that only have a key', async () => {
    folder.env.OPENAI_API_KEY = 'CANARY';
    folder.env.MISTRAL_API_KEY = 'CANARY';
    const ids = async (content: object) => {
      folder.global(content);
      const { out } = await svc(folder, ['models', '--json']);
      const models: readonly { readonly provider: string }[] = JSON.parse(out);
      return [...new Set(models.map(({ provider }) => provider))].sort();
    };
    const own = { own: { options: { baseURL: upstream.url }, models: { m: {} } } };
    assert.deepEqual(await ids({ provider: own }), ['mistral', 'openai', 'own']);
    assert.deepEqual(await ids({ provider: own, disabled_providers: ['openai'] }), ['mistral', 'own']);
    assert.deepEqual(await ids({ provider: own, enabled_providers: ['openai', 'own'] }), ['openai', 'own']);
    const both = { provider: own, enabled_providers: ['openai', 'own'], disabled_providers: ['openai'] };
    assert.deepEqual(await ids(both), ['own']);
    assert.deepEqual(await ids({ provider: own, disabled_providers: ['OpenAI', 'mistral '] }), ['own']);
    assert.deepEqual(await ids({ provider: own, enabled_providers: ['Own'] }), ['own']);
    // A restriction that can't be read is not none.
    for (const unread of [
      { disabled_providers: 'openai' },
      { disabled_providers: ['openai', null] },
      { disabled_providers: { openai: true } },
      { enabled_providers: 'own' },
      { disabledProviders: ['openai'] },
      { enabled_provider: ['own'] },
    ]) {
      assert.deepEqual(await ids({ provider: own, ...unread }), [], JSON.stringify(unread));
    }
    folder.write('project/svc.json', { disabled_providers: [], enabled_providers: ['openai', 'mistral', 'own'] });
    assert.deepEqual(await ids(both), ['own']);
  });

  it('option names: the limit of the answer is sent once, with the name that the vendor takes', async () => {
    const limits = async (npm: string, options: object, more: object = {}) => {
      const { body } = await chat({
        npm,
        model: { options, ...more },
        ...('variants' in more ? { variant: 'v' } : {}),
      });
      return [body.max_tokens, body.max_completion_tokens];
    };
    const azure = '@ai-sdk/azure';
    for (const name of ['maxTokens', 'maxCompletionTokens', 'max_tokens', 'max_completion_tokens']) {
      assert.deepEqual(await limits(azure, { [name]: 77 }), [undefined, 77], name);
    }
    assert.deepEqual(await limits(FORMATS.chat, { maxTokens: 77 }), [77, undefined]);
    assert.deepEqual(await limits(FORMATS.chat, { maxCompletionTokens: 77 }), [undefined, 77]);
    assert.deepEqual(await limits(FORMATS.chat, { max_tokens: null, max_completion_tokens: 77 }), [null, 77]);
    assert.deepEqual(await limits(azure, { maxTokens: 77, max_completion_tokens: 78 }), [undefined, 78]);
    assert.deepEqual(await limits(azure, { maxTokens: 77 }, { variants: { v: { maxTokens: 79 } } }), [undefined, 79]);
    // The user names the field.
    assert.deepEqual(await limits(azure, { max_tokens: 77, max_completion_tokens: null }), [77, null]);
  });

  it('option names: sections of other tools make one line in svc config and none elsewhere, and name no file', async () => {
    folder.global({
      provider: { own: { options: { baseURL: upstream.url }, models: { m: { family: 'glm', interleaved: true } } } },
      agent: { build: { prompt: '{file:./missing.txt}' } },
      mcp: { one: { headers: { Authorization: 'Bearer {env:GITHUB_PAT}' } } },
      permission: { bash: 'ask' },
    });
    assert.equal((await svc(folder, ['chat', '-m', 'own/m', 'hello'])).err, '');
    const { code, err } = await svc(folder, ['config']);
    assert.equal(code, 0);
    assert.equal(
      err
        .trim()
        .split('\n')
        .filter((line) => line.includes('note:')).length,
      1,
      err,
    );
    assert.match(err, /`interleaved`|`agent`, `mcp`, `permission`/);
  });

  it('option names: a model that is no reference stops the command', async () => {
    folder.global({
      model: 'GLM-4.7',
      provider: { zai: { options: { baseURL: upstream.url }, models: { 'GLM-4.7': {} } } },
    });
    const { code, err } = await svc(folder, ['chat', 'hello']);
    assert.equal(code, 2);
    assert.match(err, /There is no model GLM-4\.7 .*Did you mean zai\/GLM-4\.7/);
    assert.equal(upstream.requests.length, 0);
  });

  it('option names: a known window bounds what an answer may have', async () => {
    const { body } = await chat({ model: { limit: { context: 8192 } } });
    assert.ok(body instanceof Object && 'max_tokens' in body);
    assert.ok(Number(body.max_tokens) < 8192 && Number(body.max_tokens) > 7000, String(body.max_tokens));
  });
});
