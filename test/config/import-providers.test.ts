import assert from 'node:assert/strict';
import { importFiles } from '../../src/config/provider-form/import-files.ts';
import { type ImportTool, importProviders, importYaml } from '../../src/config/provider-form/import-providers.ts';
import { formProblems } from '../../src/config/provider-form/provider-form.ts';

/** The visible result of an import: the fields that differ from an empty form. */
function seen(tool: ImportTool, value: unknown) {
  const { providers, notes } = importProviders(tool, JSON.stringify(value));
  for (const form of providers) {
    assert.deepEqual(formProblems(form, { taken: [], projectTargets: [] }), [], `${form.id} could not be saved`);
  }
  return {
    providers: providers.map(({ id, api, baseURL, key, models, headers }) => ({
      id,
      api,
      baseURL,
      key,
      models: models.map((model) => model.id),
      headers,
    })),
    notes,
  };
}

describe('importProviders', () => {
  it('importProviders: Continue models with the same address and key become one provider', () => {
    const { providers, notes } = seen('continue', {
      models: [
        { title: 'A', provider: 'openai', model: 'a', apiBase: 'https://one.example/v1/', apiKey: 'sk-1' },
        { title: 'B', provider: 'openai', model: 'b', apiBase: 'https://one.example/v1', apiKey: 'sk-1' },
        { title: 'C', provider: 'anthropic', model: 'claude', apiKey: '${{ secrets.ANTHROPIC }}' },
        { title: 'D', provider: 'ollama', model: 'AUTODETECT' },
        { title: 'E', provider: 'bedrock', model: 'e' },
      ],
      tabAutocompleteModel: { title: 'T', provider: 'ollama', model: 'qwen', apiBase: 'http://127.0.0.1:11434' },
    });
    assert.deepEqual(providers, [
      {
        id: 'openai',
        api: 'chat-completions',
        baseURL: 'https://one.example/v1',
        key: { kind: 'typed', value: 'sk-1' },
        models: ['a', 'b'],
        headers: [],
      },
      {
        id: 'anthropic',
        api: 'messages',
        baseURL: 'https://api.anthropic.com/v1',
        key: { kind: 'none' },
        models: ['claude'],
        headers: [],
      },
      {
        id: 'ollama',
        api: 'chat-completions',
        baseURL: 'http://127.0.0.1:11434/v1',
        key: { kind: 'none' },
        models: ['qwen'],
        headers: [],
      },
    ]);
    assert.deepEqual(
      notes.map((note) => note.slice(0, 2)),
      ['D:', 'E:'],
    );
  });

  for (const tool of ['opencode', 'kilo'] as const) {
    it(`importProviders: reads ${tool}`, () => {
      const { providers, notes } = seen(tool, {
        provider: {
          lab: {
            npm: '@ai-sdk/anthropic',
            options: { baseURL: 'https://lab.example', apiKey: '{env:LAB_KEY}', headers: { 'X-Team': 'a' } },
            models: { 'm/1': { name: 'M' }, off: null },
          },
          odd: { npm: '@vendor/own-format', options: { baseURL: 'https://odd.example' } },
          nowhere: { models: { x: {} } },
        },
      });
      assert.deepEqual(providers, [
        {
          id: 'lab',
          api: 'messages',
          baseURL: 'https://lab.example',
          key: { kind: 'env', name: 'LAB_KEY' },
          models: ['m/1'],
          headers: [{ name: 'X-Team', value: 'a' }],
        },
      ]);
      assert.equal(notes.length, 2);
    });
  }

  it('importProviders: reads Cline, which stores its keys elsewhere', () => {
    const { providers } = seen('cline', {
      openAiBaseUrl: 'https://one.example/v1',
      planModeOpenAiModelId: 'a',
      actModeOpenAiModelId: 'b',
      openAiHeaders: { 'X-A': '1' },
      lmStudioBaseUrl: 'http://localhost:1234',
      actModeLmStudioModelId: 'local',
    });
    assert.deepEqual(
      providers.map(({ id, baseURL, models }) => ({ id, baseURL, models })),
      [
        { id: 'cline-openai', baseURL: 'https://one.example/v1', models: ['a', 'b'] },
        { id: 'lmstudio', baseURL: 'http://localhost:1234/v1', models: ['local'] },
      ],
    );
  });

  it('importProviders: reads VS Code custom endpoints, one provider for each format', () => {
    const { providers } = seen('vscode', [
      { name: 'Copilot', vendor: 'copilot' },
      {
        name: 'My Lab',
        vendor: 'customendpoint',
        apiKey: '${input:chat.lm.secret.1}',
        models: [
          { id: 'a', name: 'A', url: 'https://lab.example/v1/chat/completions', apiType: 'chat-completions' },
          { id: 'b', name: 'B', url: 'https://lab.example/v1/messages' },
          { id: 'c', name: 'C', url: 'https://lab.example/v1', apiType: 'chat-completions' },
        ],
      },
    ]);
    assert.deepEqual(
      providers.map(({ id, api, baseURL, key, models }) => ({ id, api, baseURL, key: key.kind, models })),
      [
        { id: 'my-lab', api: 'chat-completions', baseURL: 'https://lab.example/v1', key: 'none', models: ['a', 'c'] },
        { id: 'my-lab-2', api: 'messages', baseURL: 'https://lab.example/v1', key: 'none', models: ['b'] },
      ],
    );
  });

  it('importYaml: reads the roles, headers and rules of Continue’s config.yaml', async () => {
    const yaml = `name: Mine
version: 1.0.0
schema: v1
defaults: &lab
  provider: openai
  apiBase: https://lab.example/v1
  apiKey: sk-1
  requestOptions:
    headers: { X-Team: compilers }
models:
  - name: Big
    <<: *lab
    model: big
    roles: [chat, edit]
  - name: Coder
    <<: *lab
    model: coder
    roles: [autocomplete]
  - name: Search
    provider: ollama
    model: nomic-embed-text
    roles: [embed]
  - uses: anthropic/claude-sonnet-4
rules:
  - Use tabs.
  - name: Style
    rule: Be brief.
mcpServers:
  - name: files
    command: npx
`;
    const { providers, notes } = await importYaml('continue', yaml);
    assert.deepEqual(
      providers.map(({ id, baseURL, key, models, headers, uses }) => ({ id, baseURL, key, models, headers, uses })),
      [
        {
          id: 'openai',
          baseURL: 'https://lab.example/v1',
          key: { kind: 'typed', value: 'sk-1' },
          models: [
            { id: 'big', name: 'Big' },
            { id: 'coder', name: 'Coder' },
          ],
          headers: [{ name: 'X-Team', value: 'compilers' }],
          uses: { chat: 'big', completion: 'coder' },
        },
      ],
    );
    assert.deepEqual(notes, [
      'Search: models for embed are not used in the editor.',
      'anthropic/claude-sonnet-4: its address or its model is not in the file, but on Continue’s hub.',
      'Rules (Style) are not imported. Copy them into AGENTS.md.',
      'MCP servers are not imported. Add them to VS Code’s mcp.json.',
    ]);
  });

  it('importYaml: does not throw for text that is not YAML, and not for aliases that multiply', async () => {
    const bomb = `a: &a [${'x,'.repeat(9)}]\n${[...'bcdefgh'].map((name, n) => `${name}: &${name} [${`*${'abcdefgh'[n]},`.repeat(9)}]`).join('\n')}`;
    for (const text of ['', ': : :', '{', 'models: [', bomb]) {
      assert.deepEqual((await importYaml('continue', text)).providers, [], text.slice(0, 20));
    }
  });

  it('importProviders: reads Zed’s providers, whose keys are in Zed’s key store', () => {
    const { providers, notes } = seen('zed', {
      theme: 'One Dark',
      agent: { default_model: { provider: 'Lab', model: 'big' } },
      edit_predictions: { provider: 'ollama', ollama: { model: 'qwen2.5-coder' } },
      language_models: {
        ollama: { api_url: 'http://localhost:11434', available_models: [{ name: 'qwen2.5-coder' }] },
        anthropic: { api_url: 'https://proxy.example' },
        openai_compatible: { Lab: { api_url: 'https://lab.example/v1', available_models: [{ name: 'big' }] } },
      },
    });
    assert.deepEqual(
      providers.map(({ id, api, baseURL, models }) => ({ id, api, baseURL, models })),
      [
        { id: 'ollama', api: 'chat-completions', baseURL: 'http://localhost:11434/v1', models: ['qwen2.5-coder'] },
        { id: 'anthropic', api: 'messages', baseURL: 'https://proxy.example/v1', models: [] },
        { id: 'lab', api: 'chat-completions', baseURL: 'https://lab.example/v1', models: ['big'] },
      ],
    );
    assert.deepEqual(notes, ['The keys are in Zed’s key store. Enter them here.']);
  });

  it('importProviders: reads the environments of llama.vscode', () => {
    const settings = {
      'editor.fontSize': 14,
      'llama-vscode.envs_list': [
        {
          name: 'Local',
          completion: { name: 'Qwen', endpoint: 'http://localhost:8012', aiModel: '' },
          chat: { name: 'Chat', endpoint: 'http://127.0.0.1:8011' },
          tools: { name: 'GPT', endpoint: 'https://openrouter.ai/api', aiModel: 'openai/gpt-oss-20b' },
          embeddings: { name: 'Nomic', endpoint: 'http://localhost:8010' },
        },
      ],
    };
    const { providers, notes } = importProviders('llama-vscode', JSON.stringify(settings));
    assert.deepEqual(
      providers.map(({ id, baseURL, fimURL, fim, models, uses }) => ({ id, baseURL, fimURL, fim, models, uses })),
      [
        {
          id: 'llama-localhost-8012',
          baseURL: 'http://localhost:8012/v1',
          fimURL: 'http://localhost:8012',
          fim: 'llamacpp-infill',
          models: [],
          uses: undefined,
        },
        {
          id: 'llama-127-0-0-1-8011',
          baseURL: 'http://127.0.0.1:8011/v1',
          fimURL: '',
          fim: '',
          models: [],
          uses: undefined,
        },
        {
          id: 'openrouter-ai',
          baseURL: 'https://openrouter.ai/api/v1',
          fimURL: '',
          fim: '',
          models: [{ id: 'openai/gpt-oss-20b', name: '' }],
          uses: { chat: 'openai/gpt-oss-20b' },
        },
      ],
    );
    assert.deepEqual(notes, ['Local: its embeddings server is not imported.']);
  });

  it('importProviders: does not throw for unrelated content', () => {
    for (const tool of ['continue', 'opencode', 'kilo', 'cline', 'vscode', 'zed', 'llama-vscode'] as const) {
      for (const text of [
        '',
        'null',
        '[]',
        '{}',
        '"x"',
        '{"models":1,"provider":[1]}',
        '[null,{"vendor":"custom","models":[null]}]',
      ]) {
        assert.deepEqual(importProviders(tool, text).providers, []);
      }
      assert.deepEqual(importProviders(tool, '{').notes, ['The file is not valid JSON.']);
    }
  });

  it('importFiles: lists the files of each tool', () => {
    const places = { home: '/home/p', env: { XDG_CONFIG_HOME: '/cfg' }, userFolder: '/data/User' };
    const paths = importFiles(places).map(({ path }) => path);
    assert.ok(paths.includes('/home/p/.continue/config.json'));
    assert.ok(paths.includes('/home/p/.continue/config.yaml'));
    assert.ok(paths.includes('/cfg/zed/settings.json'));
    assert.ok(paths.includes('/data/User/settings.json'));
    assert.ok(paths.includes('/cfg/opencode/opencode.jsonc'));
    assert.ok(paths.includes('/data/User/chatLanguageModels.json'));
  });
});
