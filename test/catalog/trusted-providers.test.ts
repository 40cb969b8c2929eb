import assert from 'node:assert/strict';
import { loadSnapshot } from '../../src/catalog/public/snapshot.ts';
import { buildRegistry } from '../../src/catalog/registry/registry.ts';
import {
  digestWaiting,
  withoutWaitingChanges,
  withTrustedProviders,
} from '../../src/catalog/registry/trusted-providers.ts';
import { codes, ProjectFolder } from '../config/project-folder.ts';

const cost = { input: 10, output: 20 };
const trusted = {
  provider: {
    up: {
      options: { baseURL: 'https://up.example/v1', apiKey: 'sk-canary' },
      models: { dear: { id: 'dear-1', cost } },
    },
    keyless: { options: { baseURL: 'http://127.0.0.1:11434/v1' }, models: { m: { cost } } },
  },
};
const free = { cost: { input: 0, output: 0 } };

/** Changes of a project to trusted providers. */
const CHANGES: Record<string, Record<string, unknown>> = {
  'a price': { up: { models: { dear: free } } },
  'a price of the cache': { up: { models: { dear: { cost: { cache_read: 0 } } } } },
  'an id': { up: { models: { dear: { id: 'dearer-1' } } } },
  'another name for a dear model': { up: { models: { cheap: { id: 'dear-1', ...free } } } },
  'options that choose a model': { up: { models: { dear: { options: { models: ['dearest'] } } } } },
  'a variant that chooses a model': { up: { models: { dear: { variants: { high: { model: 'dearest' } } } } } },
  'a limit': { up: { models: { dear: { limit: { context: 9_000_000, output: 9_000_000 } } } } },
  'a header': { up: { options: { headers: { 'x-forward-to': 'evil.example' } } } },
  'an address': { up: { options: { baseURL: 'https://evil.example/v1' } } },
  'an address for code completion': { up: { options: { fimURL: 'https://evil.example/fim' } } },
  'the package': { up: { npm: '@ai-sdk/anthropic' } },
  'a model’s address': { up: { models: { dear: { provider: { api: 'https://evil.example/v1' } } } } },
  'the address of one without a key': { keyless: { options: { baseURL: 'https://evil.example/v1' } } },
  'the FIM address of one without a key': { keyless: { options: { fimURL: 'https://evil.example/v1' } } },
  'a model’s address of one without a key': {
    keyless: { models: { m: { provider: { api: 'https://evil.example' } } } },
  },
  'a price of one that only a variable configures': { mistral: { models: { 'mistral-large-latest': free } } },
  'another name at one that only a variable configures': {
    mistral: { models: { x: { id: 'mistral-large-latest', ...free } } },
  },
  'the address of one that only a variable configures': {
    mistral: { options: { baseURL: 'https://evil.example/v1' } },
  },
};

describe('withTrustedProviders', () => {
  for (const [what, provider] of Object.entries(CHANGES)) {
    it(`withTrustedProviders: a project cannot change a trusted provider: ${what}`, async () => {
      using folder = new ProjectFolder();
      const known = { catalog: await loadSnapshot(), env: { MISTRAL_API_KEY: 'sk-variable' } };
      const models = async () => {
        const settings = withTrustedProviders(await folder.load(), known);
        const registry = buildRegistry({ settings, ...known });
        return { settings, models: [...registry.models.values()].map(({ origin: _, ...model }) => model) };
      };
      folder.global(trusted);
      const before = await models();
      folder.write('project/svc.jsonc', { provider });
      const after = await models();
      assert.deepEqual(after.models, before.models);
      assert.deepEqual(codes(after.settings), ['untrusted-provider-change']);
    });
  }

  it("withTrustedProviders: keeps the project's own providers", async () => {
    using folder = new ProjectFolder();
    folder.global(trusted);
    const options = { baseURL: 'https://own.example/v1', apiKey: 'own' };
    folder.write('project/svc.jsonc', { provider: { own: { options, models: { m: {} } }, mistral: { options } } });
    const known = { catalog: await loadSnapshot(), env: {} };
    const settings = withTrustedProviders(await folder.load(), known);
    const registry = buildRegistry({ settings, ...known });
    assert.equal(registry.models.get('own/m')?.endpoint.apiKey?.secret.reveal(), 'own');
    assert.equal(registry.providers.get('mistral')?.endpoint.baseURL, 'https://own.example/v1');
    assert.deepEqual(codes(settings), []);
  });
});

describe('digestWaiting', () => {
  const own = { own: { options: { baseURL: 'https://own.example/v1' }, models: { m: {} } } };
  const cases: Record<string, { readonly user?: unknown; readonly before: unknown; readonly after: unknown }> = {
    'an address': {
      before: { up: { options: { baseURL: 'https://a.example' } } },
      after: { up: { options: { baseURL: 'https://b.example' } } },
    },
    'the query of an address': {
      before: { up: { options: { baseURL: 'https://a.example/v1?to=a' } } },
      after: { up: { options: { baseURL: 'https://a.example/v1?to=b' } } },
    },
    'a header': {
      before: { up: { options: { headers: { 'x-to': 'a' } } } },
      after: { up: { options: { headers: { 'x-to': 'b' } } } },
    },
    'a list in an option': {
      before: { up: { models: { dear: { options: { tools: [{ url: 'a' }] } } } } },
      after: { up: { models: { dear: { options: { tools: [{ url: 'b' }] } } } } },
    },
    'the type of a value': {
      before: { up: { models: { dear: { options: { n: 1 } } } } },
      after: { up: { models: { dear: { options: { n: '1' } } } } },
    },
    'a provider of the project': {
      user: {},
      before: own,
      after: { own: { ...own.own, options: { baseURL: 'https://b.example/v1' } } },
    },
  };
  const digest = async (user: unknown, project: unknown) => {
    using folder = new ProjectFolder();
    folder.global(user);
    folder.write('project/svc.jsonc', project);
    const settings = { ...(await folder.load()), projectAllowed: false };
    const { waiting } = withoutWaitingChanges(settings, { catalog: await loadSnapshot(), env: {} });
    assert.equal(waiting.length, 1);
    return digestWaiting(waiting);
  };
  for (const [what, { user = trusted, before, after }] of Object.entries(cases)) {
    it(`digestWaiting: another value is another question: ${what}`, async () => {
      const first = await digest(user, { provider: before });
      assert.equal(await digest(user, { provider: before }), first);
      assert.notEqual(await digest(user, { provider: after }), first);
    });
  }

  it('digestWaiting: another value is another question: a choice', async () => {
    const of = (model: string) => digest(trusted, { model, provider: own });
    assert.notEqual(await of('own/m'), await of('own/other'));
  });
});
