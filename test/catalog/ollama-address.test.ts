import assert from 'node:assert/strict';
import { planLocalModels } from '../../src/catalog/local-setup.ts';
import { ollamaAddress } from '../../src/catalog/ollama-address.ts';
import { providerPresets } from '../../src/catalog/presets.ts';
import { buildTestRegistry, NO_CATALOG } from './test-registry.ts';

const USUAL = 'http://127.0.0.1:11434';
/** What Ollama's own programs make of them, but for addresses that a server only listens at. */
const ADDRESSES: readonly (readonly [host: string | undefined, address: string])[] = [
  [undefined, USUAL],
  ['', USUAL],
  ['127.0.0.1', USUAL],
  ['0.0.0.0', USUAL],
  ['[::]', 'http://[::1]:11434'],
  ['[::1]:9', 'http://[::1]:9'],
  ['0.0.0.0:11500', 'http://127.0.0.1:11500'],
  [':11500', 'http://127.0.0.1:11500'],
  ['box.local', 'http://box.local:11434'],
  [' "box.local:9" ', 'http://box.local:9'],
  ['http://box.local', 'http://box.local'],
  ['https://box.local/', 'https://box.local'],
  ['https://box.local:8443/ollama', 'https://box.local:8443'],
  ['box.local:99999', 'http://box.local:11434'],
  ['::', 'http://[::1]:11434'],
  ['::1', 'http://[::1]:11434'],
  ["' box.local '", 'http://box.local:11434'],
  ['user:word@box.local', USUAL],
  ['a b', USUAL],
];

describe('the address of Ollama', () => {
  for (const [host, address] of ADDRESSES) {
    it(`OLLAMA_HOST ${host === undefined ? 'is not set' : JSON.stringify(host)}: ${address}`, () => {
      assert.equal(ollamaAddress({ OLLAMA_HOST: host }), address);
    });
  }

  it('OLLAMA_HOST: is that of the preset and of a plan', () => {
    const presets = providerPresets(NO_CATALOG, { OLLAMA_HOST: 'box.local:9' });
    const { baseURL, fimURL } = presets.find(({ id }) => id === 'ollama') ?? assert.fail();
    assert.deepEqual([baseURL, fimURL], ['http://box.local:9/v1', 'http://box.local:9']);
    assert.equal(presets.find(({ id }) => id === 'llamacpp')?.baseURL, 'http://127.0.0.1:8080/v1');
    const { models } = planLocalModels({ memory: 64, cores: 16 }, 'ollama', '/bin/bash', 'http://box.local:9');
    assert.deepEqual([...new Set(models.map((model) => model.baseURL))], ['http://box.local:9/v1']);
  });

  const configured = async (options: object, host?: string) => {
    const registry = await buildTestRegistry({
      catalog: NO_CATALOG,
      mine: { provider: { ollama: { options, models: { m: {} } } } },
      ...(host === undefined ? {} : { env: { OLLAMA_HOST: host } }),
    });
    const { baseURL, fimURL } = registry.find('ollama/m')?.endpoint ?? assert.fail();
    return [baseURL, fimURL];
  };

  it('OLLAMA_HOST: is that of the provider `ollama` without an address', async () => {
    assert.deepEqual(await configured({}), [`${USUAL}/v1`, USUAL]);
    assert.deepEqual(await configured({}, '0.0.0.0'), [`${USUAL}/v1`, USUAL]);
    assert.deepEqual(await configured({}, 'box.local:9'), ['http://box.local:9/v1', 'http://box.local:9']);
  });

  it('OLLAMA_HOST: an address in the configuration is before it', async () => {
    const options = { baseURL: 'http://127.0.0.1:11434/v1' };
    assert.equal((await configured(options, 'box.local:9'))[0], `${USUAL}/v1`);
  });
});
