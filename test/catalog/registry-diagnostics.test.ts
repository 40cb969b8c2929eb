import assert from 'node:assert/strict';
import { loadSnapshot } from '../../src/catalog/public/snapshot.ts';
import { buildRegistry } from '../../src/catalog/registry/registry.ts';
import { registryDiagnostics } from '../../src/catalog/registry/registry-diagnostics.ts';
import { ProjectFolder } from '../config/project-folder.ts';

const BASE = { baseURL: 'http://127.0.0.1:1/v1' };

async function found(configuration: unknown, env: Readonly<Record<string, string>> = {}) {
  using folder = new ProjectFolder();
  folder.global(configuration);
  const [settings, catalog] = await Promise.all([folder.load(), loadSnapshot()]);
  const registry = buildRegistry({ settings, catalog, env });
  return registryDiagnostics(settings, registry, catalog);
}

describe('registryDiagnostics', () => {
  it('registryDiagnostics: an unknown provider without an address gets a suggestion', async () => {
    const [diagnostic, ...more] = await found(
      '{\n  "provider": {\n    "mistrl": { "options": { "apiKey": "k-1" } }\n  }\n}',
    );
    assert.deepEqual(more, []);
    assert.ok(diagnostic !== undefined);
    const { severity, code, key, line, column, length, suggestion, message } = diagnostic;
    assert.deepEqual([severity, code, key], ['warning', 'unknown-provider', 'provider.mistrl']);
    assert.deepEqual([line, column, length, suggestion], [3, 5, '"mistrl"'.length, 'mistral']);
    assert.match(message, /Set `options\.baseURL`.*Did you mean `mistral`\?/);
    assert.ok(!JSON.stringify(diagnostic).includes('k-1'));
  });

  it('registryDiagnostics: reports a package with an unsupported format', async () => {
    const npm = '@ai-sdk/openai-compatable';
    const [diagnostic] = await found(`{"provider": {"p": {"npm": "${npm}", "options": ${JSON.stringify(BASE)}}}}`);
    assert.deepEqual(
      [diagnostic?.code, diagnostic?.column, diagnostic?.length, diagnostic?.suggestion],
      ['unknown-package', 28, npm.length + 2, '@ai-sdk/openai-compatible'],
    );
  });

  it('registryDiagnostics: reports the missing settings of a known provider', async () => {
    const [diagnostic] = await found({ provider: { azure: { options: { apiKey: 'k' }, models: { m: {} } } } });
    assert.deepEqual([diagnostic?.code, diagnostic?.key], ['provider-incomplete', 'provider.azure']);
    assert.match(diagnostic?.message ?? '', /resourceName/);
  });

  it('registryDiagnostics: reports the targets of aliases that do not exist', async () => {
    const target = (ref: string) =>
      found({
        provider: { p: { options: BASE, models: { model: { variants: { high: {} } } } } },
        gateway: {
          aliases: { fast: ref },
          pools: { 'team/large': { models: ['p/model'] } },
          embeddingModels: { 'p/e': {} },
        },
      });
    for (const ref of ['p/model', 'p/model:high', 'team/large', 'p/e']) assert.deepEqual(await target(ref), [], ref);
    const [diagnostic, ...more] = await target('p/medul');
    assert.deepEqual(more, []);
    assert.deepEqual(
      [diagnostic?.key, diagnostic?.code, diagnostic?.suggestion],
      ['gateway.aliases.fast', 'unknown-model', 'p/model'],
    );
  });

  it('registryDiagnostics: reports models of limits and policies that do not exist', async () => {
    const diagnostics = await found({
      provider: { openai: { options: BASE, models: { model: {} } } },
      gateway: {
        budgets: [
          { usd: 1, model: 'opnai/*' },
          { usd: 1, model: 'openai/*' },
          { usd: 1 },
          { usd: 1, model: '*/model' },
        ],
        rates: [{ requests: 1, model: 'openai/modul' }],
        organizations: { acme: { policy: { allow: ['opnai/*', 'openai/model'], deny: ['*'] }, budgets: [] } },
        users: { ann: { budgets: [{ usd: 1, model: 'opnai/model' }] } },
      },
    });
    assert.deepEqual(diagnostics.map(({ key, code, suggestion }) => [key, code, suggestion]).sort(), [
      ['gateway.budgets.0.model', 'unknown-provider', 'openai/*'],
      ['gateway.organizations.acme.policy.allow.0', 'unknown-provider', 'openai/*'],
      ['gateway.rates.0.model', 'unknown-model', 'openai/model'],
      ['gateway.users.ann.budgets.0.model', 'unknown-provider', 'openai/model'],
    ]);
  });

  for (const [name, model, code, suggestion] of [
    ['a model that its provider does not have', 'p/medul', 'unknown-model', 'p/model'],
    ['a model of an unknown provider', 'q1x/model', 'unknown-provider', undefined],
    ['a model of a misspelled provider', 'mistrall/codestral-latest', 'unknown-provider', 'mistral/codestral-latest'],
  ] as const) {
    it(`registryDiagnostics: reports ${name}`, async () => {
      for (const key of ['model', 'completionModel']) {
        const [diagnostic, ...more] = await found({
          [key]: model,
          provider: { p: { options: BASE, models: { model: {} } } },
        });
        assert.deepEqual([diagnostic?.key, diagnostic?.code, diagnostic?.suggestion], [key, code, suggestion]);
        assert.deepEqual(more, []);
      }
    });
  }

  it('registryDiagnostics: reports a member of a pool that its provider does not have', async () => {
    const [diagnostic, ...more] = await found(
      `{"provider": {"p": {"options": ${JSON.stringify(BASE)}, "models": {"model": {}}}},
 "gateway": {"pools": {"team/x": {"models": ["p/model",
 "p/medul"]}}}}`,
    );
    const { key, code, suggestion, line, column } = diagnostic ?? {};
    assert.deepEqual(
      { key, code, suggestion, line, column },
      { key: 'gateway.pools.team/x.models.1', code: 'unknown-model', suggestion: 'p/model', line: 3, column: 2 },
    );
    assert.deepEqual(more, []);
  });

  it('registryDiagnostics: reports nothing for a configuration that may be valid', async () => {
    const own = { options: BASE, models: { m: {} } };
    const cases: readonly (readonly [unknown, Readonly<Record<string, string>>?])[] = [
      [{}],
      [{ model: 'p/m', provider: { p: own } }],
      // It lists its models itself.
      [{ model: 'p/anything', provider: { p: { options: BASE } } }],
      // Without a key so far.
      [{ model: 'mistral/mistral-large-latest' }],
      [{ model: '{env:MODEL}', provider: { p: own } }],
      // Each model has an address of its own.
      [{ provider: { p: { models: { m: { provider: { api: 'http://127.0.0.1:1/v1' } } } } } }],
      [{ provider: { p: null, mistral: { options: { apiKey: 'k' } } } }],
    ];
    for (const [configuration, env] of cases) assert.deepEqual(await found(configuration, env), []);
  });

  it('registryDiagnostics: does not report an invalid address twice', async () => {
    assert.deepEqual(await found({ provider: { p: { options: { baseURL: 'nowhere' }, models: { m: {} } } } }), []);
  });
});
