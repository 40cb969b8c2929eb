import assert from 'node:assert/strict';
import { selectModel } from '../../src/catalog/model-selection.ts';
import { buildTestRegistry, loadTestSettings } from './test-registry.ts';

const MINE = {
  model: 'one/a',
  provider: { one: { options: { baseURL: 'https://one.example/v1' }, models: { a: {}, b: {} } } },
};

describe('hidden models', () => {
  it('hidden models: are neither listed nor selected, and other models do not change', async () => {
    const registry = await buildTestRegistry({ mine: MINE });
    const hidden = registry.without(new Set(['one/a', 'gone/x']));
    assert.equal(hidden.find('one/a'), undefined);
    assert.deepEqual([...(hidden.providers.get('one')?.models.keys() ?? [])], ['b']);
    assert.equal(hidden.find('one/b'), registry.find('one/b'));
    const settings = await loadTestSettings({ mine: MINE });
    const chosen = selectModel({ settings, registry: hidden, lastUsed: ['one/a'], unknownConfigured: 'warn' });
    assert.equal(chosen.model?.ref, 'one/b');
  });

  it('hidden models: remain hidden if a provider lists them', async () => {
    const registry = await buildTestRegistry({ mine: MINE });
    const refs = registry
      .withListedModels('one', ['a', 'c'])
      .without(new Set(['one/a', 'one/c']))
      .models.keys();
    assert.deepEqual([...refs], ['one/b']);
  });
});
