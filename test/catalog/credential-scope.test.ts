import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { originDecisionKey } from '../../src/catalog/credential-scope.ts';
import type { Endpoint } from '../../src/catalog/model.ts';
import { formatMessage } from '../../src/wire/errors/svc-error.ts';
import { buildTestRegistry, secret, type TestRegistryOptions } from './test-registry.ts';

function problemOf(endpoint: Endpoint | undefined): string {
  return endpoint?.problem === undefined ? '' : formatMessage(endpoint.problem);
}

const GOOD = 'https://good.example/v1';
const EVIL = 'https://evil.example/v1';
const KEY = 'CANARY-KEY';

const mine = (options: object = {}, over: object = {}) => ({
  provider: {
    p: { options: { baseURL: GOOD, apiKey: KEY, headers: { 'x-token': KEY }, ...options }, models: { m: {} }, ...over },
  },
});
const project = (p: object) => ({ provider: { p } });

async function endpointOf(given: TestRegistryOptions, ref = 'p/m'): Promise<Endpoint> {
  const registry = await buildTestRegistry(given);
  const model = registry.find(ref);
  assert.ok(model !== undefined, `${ref} is not there`);
  return model.endpoint;
}

const key = (endpoint: Endpoint) => endpoint.apiKey?.secret.reveal();

/** Asserts that no part of a request contains the key. */
function assertWithheld(endpoint: Endpoint, to: string) {
  assert.equal(key(endpoint), undefined);
  assert.deepEqual(
    [...endpoint.headers.values()].filter((each) => each.secret.reveal().includes(KEY)),
    [],
  );
  assert.ok(!JSON.stringify(endpoint).includes(KEY));
  assert.equal(endpoint.withheld?.to, to);
}

describe('credential scope', () => {
  it('credential: is sent to the address that trusted sources set', async () => {
    const endpoint = await endpointOf({ mine: mine() });
    assert.equal(key(endpoint), KEY);
    assert.equal(endpoint.headers.get('x-token')?.secret.reveal(), KEY);
    assert.equal(endpoint.withheld, undefined);
  });

  const moves: readonly [string, object, string, string?][] = [
    ['baseURL', { options: { baseURL: EVIL } }, 'https://evil.example'],
    ['another port', { options: { baseURL: 'https://good.example:8443/v1' } }, 'https://good.example:8443'],
    ['another scheme', { options: { baseURL: 'http://good.example/v1' } }, 'http://good.example'],
    ['fimURL', { options: { fimURL: EVIL } }, 'https://evil.example'],
    ["a model's address", { models: { m: { provider: { api: EVIL } } } }, 'https://evil.example'],
    ["a new model's address", { models: { n: { provider: { api: EVIL } } } }, 'https://evil.example', 'p/n'],
    [
      'an address that only looks alike',
      { options: { baseURL: 'https://good.example.evil.example/v1' } },
      'https://good.example.evil.example',
    ],
  ];
  for (const [name, moved, to, ref] of moves) {
    it(`credential: is withheld if a project changes ${name}`, async () => {
      assertWithheld(await endpointOf({ mine: mine(), project: project(moved) }, ref), to);
    });
  }

  it('credential: is withheld if a project sets another Azure resource', async () => {
    const azure = { provider: { azure: { options: { resourceName: 'mine', apiKey: KEY }, models: { m: {} } } } };
    const given = { mine: azure, project: { provider: { azure: { options: { resourceName: 'theirs' } } } } };
    assertWithheld(await endpointOf(given, 'azure/m'), 'https://theirs.openai.azure.com');
  });

  it('credential: is withheld if a project changes the package and thereby the address', async () => {
    const trusted = { provider: { azure: { options: { resourceName: 'mine', apiKey: KEY }, models: { m: {} } } } };
    const given = {
      mine: trusted,
      project: { provider: { azure: { npm: '@ai-sdk/openai', options: { baseURL: EVIL } } } },
    };
    assertWithheld(await endpointOf(given, 'azure/m'), 'https://evil.example');
  });

  it('credential: is sent if a project changes the address within the same origin', async () => {
    const given = {
      mine: mine(),
      project: project({ options: { baseURL: 'https://good.example/other' }, models: { n: {} }, name: 'New' }),
    };
    assert.equal(key(await endpointOf(given)), KEY);
    assert.equal(key(await endpointOf(given, 'p/n')), KEY);
  });

  it('environment key: is withheld if a project changes the address', async () => {
    const env = { OPENAI_API_KEY: KEY };
    const moved = { provider: { openai: { options: { baseURL: EVIL } } } };
    assert.equal(key(await endpointOf({ env }, 'openai/gpt-5')), KEY);
    assertWithheld(await endpointOf({ env, project: moved }, 'openai/gpt-5'), 'https://evil.example');
  });

  it('environment key: a variable name from a project is not read', async () => {
    const given = {
      env: { MY_SECRET: KEY },
      project: project({ env: ['MY_SECRET'], options: { baseURL: EVIL }, models: { m: {} } }),
    };
    const endpoint = await endpointOf(given);
    assert.equal(key(endpoint), undefined);
    assert.ok(!JSON.stringify(endpoint).includes(KEY));
  });

  it('environment key: a variable name from a trusted file is read', async () => {
    const named = { provider: { p: { env: ['OTHER', 'MY_KEY'], options: { baseURL: GOOD }, models: { m: {} } } } };
    assert.equal(key(await endpointOf({ env: { MY_KEY: KEY }, mine: named })), KEY);
  });

  describe('stored key', () => {
    const stored = (origin?: string) => new Map([['p', { secret: secret(KEY), origin }]]);
    const bare = { provider: { p: { options: { baseURL: GOOD }, models: { m: {} } } } };

    it('stored key: is sent to the origin that it was entered for, or to the trusted address', async () => {
      assert.equal(key(await endpointOf({ mine: bare, storedKeys: stored('https://good.example') })), KEY);
      assert.equal(key(await endpointOf({ mine: bare, storedKeys: stored() })), KEY);
    });

    it('stored key: is not sent to another origin, even if a trusted file sets it', async () => {
      assertWithheld(
        await endpointOf({ mine: bare, storedKeys: stored('https://old.example') }),
        'https://good.example',
      );
      const moved = project({ options: { baseURL: EVIL } });
      assertWithheld(
        await endpointOf({ mine: bare, project: moved, storedKeys: stored('https://good.example') }),
        'https://evil.example',
      );
      assertWithheld(await endpointOf({ mine: bare, project: moved, storedKeys: stored() }), 'https://evil.example');
    });

    it('stored key: is not sent to a provider with the same id that only a project configures', async () => {
      const brought = project({ options: { baseURL: EVIL }, models: { m: {} } });
      assertWithheld(
        await endpointOf({ project: brought, storedKeys: stored('https://good.example') }),
        'https://evil.example',
      );
      assertWithheld(await endpointOf({ project: brought, storedKeys: stored() }), 'https://evil.example');
    });

    it("stored key: does not replace a project's own key, and is not replaced by it", async () => {
      const brought = project({ options: { baseURL: EVIL, apiKey: 'theirs' }, models: { m: {} } });
      const endpoint = await endpointOf({ project: brought, storedKeys: stored('https://good.example') });
      assert.equal(key(endpoint), 'theirs');
      assert.equal(endpoint.withheld, undefined);
    });
  });

  it("credential: a project's own key and headers are sent to its address, without trusted ones", async () => {
    const moved = project({ options: { baseURL: EVIL, apiKey: 'theirs', headers: { 'x-own': 'o' } } });
    const endpoint = await endpointOf({ mine: mine(), project: moved });
    assert.equal(key(endpoint), 'theirs');
    assert.deepEqual([...endpoint.headers.keys()], ['x-own']);
    assert.deepEqual(endpoint.withheld, { from: 'https://good.example', to: 'https://evil.example' });
  });

  it('credential: options from a trusted reference are withheld too', async () => {
    const given = {
      env: { T: KEY },
      mine: mine(
        { note: 'x{env:T}' },
        { models: { m: { options: { a: '{env:T}', b: 1 }, variants: { v: { c: ['{env:T}'] } } } } },
      ),
      project: project({ options: { baseURL: EVIL } }),
    };
    const model = (await buildTestRegistry(given)).find('p/m');
    assert.deepEqual([model?.options, model?.endpoint.options], [{ b: 1 }, {}]);
    assert.deepEqual([...(model?.variants ?? [])], [['v', { c: [] }]]);
    const home = (await buildTestRegistry({ ...given, project: {} })).find('p/m');
    assert.deepEqual(home?.endpoint.options, { note: `x${KEY}` });
  });

  it('credential: a permission is valid only for its workspace, provider and exact origin', async () => {
    const given = { mine: mine(), project: project({ options: { baseURL: EVIL } }), workspace: '/w' };
    const decided = (workspace: string, provider: string, origin: string, allowed = true) =>
      endpointOf({ ...given, originDecisions: new Map([[originDecisionKey(workspace, provider, origin), allowed]]) });
    assert.equal(key(await decided('/w', 'p', 'https://evil.example')), KEY);
    for (const endpoint of [
      await decided('/other', 'p', 'https://evil.example'),
      await decided('/w', 'q', 'https://evil.example'),
      await decided('/w', 'p', 'https://evil.example:444'),
      await decided('/w', 'p', 'https://evil.example', false),
    ]) {
      assertWithheld(endpoint, 'https://evil.example');
    }
  });

  it('credential: the provider states that a credential was withheld', async () => {
    const registry = await buildTestRegistry({
      mine: mine(),
      project: project({ models: { n: { provider: { api: EVIL } } } }),
    });
    assert.deepEqual(registry.providers.get('p')?.withheld, {
      from: 'https://good.example',
      to: 'https://evil.example',
    });
    assert.equal(registry.find('p/m')?.endpoint.apiKey?.secret.reveal(), KEY);
  });

  it('credential: an untrusted workspace can neither use nor redirect it', async () => {
    const given = {
      mine: mine(),
      project: { model: 'evil/m', ...project({ options: { baseURL: EVIL } }) },
      trustedWorkspace: false,
    };
    assert.equal((await endpointOf(given)).baseURL, GOOD);
    const brought = { provider: { evil: { options: { baseURL: EVIL }, models: { m: {} } } } };
    const registry = await buildTestRegistry({ mine: mine(), project: brought, trustedWorkspace: false });
    assert.match(problemOf(registry.find('evil/m')?.endpoint), /not trusted/);
  });

  it('Secret: no printed form of the registry contains it', async () => {
    const registry = await buildTestRegistry({ mine: mine(), env: { OPENAI_API_KEY: KEY } });
    const printed = [
      inspect(registry, { depth: 20 }),
      JSON.stringify([...registry.models.values()]),
      inspect([...registry.providers], { depth: 20 }),
    ];
    for (const text of printed) assert.ok(!text.includes(KEY));
  });
});
