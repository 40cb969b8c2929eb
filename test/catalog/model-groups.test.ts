import assert from 'node:assert/strict';
import { modelFacts, modelGroups, variantChoices } from '../../src/catalog/model-groups.ts';
import { buildTestRegistry } from './test-registry.ts';

const local = (models: Readonly<Record<string, unknown>>, more = {}) => ({
  options: { baseURL: 'http://127.0.0.1:1/v1' },
  models,
  ...more,
});

describe('modelGroups', () => {
  const names = 'one two three four five six'.split(' ');
  const registry = buildTestRegistry({
    mine: {
      provider: {
        a: local(Object.fromEntries(names.map((name) => [name, {}]))),
        b: local({ fill: {}, talk: {} }, { fim: 'openai-completions' }),
      },
    },
  });
  const grouped = async (given: { pinned?: string[]; recent?: string[]; fim?: boolean }) => {
    const { pinned = [], recent = [], fim = false } = given;
    const groups = modelGroups({ registry: await registry, isEligible: (model) => !fim || model.fim, pinned, recent });
    return groups.map(({ of, models }) => [
      typeof of === 'string' ? of : of.id,
      models.map(({ key }) => key).join(' '),
    ]);
  };

  it('modelGroups: groups models by provider if none is pinned or used', async () => {
    assert.deepEqual(await grouped({}), [
      ['a', names.join(' ')],
      ['b', 'fill talk'],
    ]);
  });

  it('modelGroups: each model occurs once: pinned in order, then recently used, then the rest', async () => {
    assert.deepEqual(await grouped({ pinned: ['b/talk', 'a/two'], recent: ['a/two', 'a/six', 'b/fill'] }), [
      ['pinned', 'talk two'],
      ['recent', 'six fill'],
      ['a', 'one three four five'],
    ]);
  });

  it('modelGroups: contains at most four recently used models that are not pinned', async () => {
    const recent = names.map((name) => `a/${name}`);
    assert.deepEqual(await grouped({ pinned: ['a/one'], recent }), [
      ['pinned', 'one'],
      ['recent', 'two three four five'],
      ['a', 'six'],
      ['b', 'fill talk'],
    ]);
  });

  it('modelGroups: omits unsuitable and missing models in all groups', async () => {
    assert.deepEqual(await grouped({ pinned: ['a/one', 'gone/x'], recent: ['b/fill', 'a/gone'], fim: true }), [
      ['recent', 'fill'],
      ['b', 'talk'],
    ]);
  });

  it('modelGroups: is empty without a registry', () => {
    assert.deepEqual(modelGroups({ registry: undefined, isEligible: () => true, pinned: ['a/one'], recent: [] }), []);
  });
});

describe('modelFacts', () => {
  const facts = async (model: Readonly<Record<string, unknown>>, more = {}) => {
    const registry = await buildTestRegistry({ mine: { provider: { a: local({ m: model }, more) } } });
    const found = registry.find('a/m');
    assert.ok(found);
    return modelFacts(found);
  };
  const DESTINATION = { kind: 'destination', host: '127.0.0.1:1' };

  it('modelFacts: omits unknown properties', async () => {
    assert.deepEqual(await facts({ tool_call: false }), [DESTINATION]);
  });

  it('modelFacts: contains context size, price, abilities and destination', async () => {
    const modalities = { input: ['text', 'image', 'pdf'], output: ['text'] };
    const figures = { limit: { context: 128_000, output: 1 }, cost: { input: 3, output: 15 } };
    const able = { tool_call: true, reasoning: true, modalities };
    assert.deepEqual(await facts({ ...able, ...figures }, { fim: 'openai-completions' }), [
      { kind: 'context', tokens: 128_000 },
      { kind: 'price', input: 3, output: 15 },
      ...['images', 'pdf', 'tools', 'reasoning', 'completions'].map((kind) => ({ kind })),
      DESTINATION,
    ]);
  });

  it('modelFacts: names models that predict edits', async () => {
    assert.deepEqual(await facts({ tool_call: false }, { edit: 'zeta-2' }), [{ kind: 'next-edits' }, DESTINATION]);
  });

  it('modelFacts: distinguishes free models from models with an unknown price', async () => {
    assert.deepEqual(await facts({ tool_call: false, cost: { input: 0, output: 0 } }), [{ kind: 'free' }, DESTINATION]);
  });
});

describe('variantChoices', () => {
  it('variantChoices: the model without a variant is first, and the current one is marked', async () => {
    const variants = { high: { effort: 'high' }, low: { effort: 'low' }, off: { disabled: true } };
    const registry = await buildTestRegistry({ mine: { provider: { a: local({ m: { variants } }) } } });
    const model = registry.find('a/m');
    assert.ok(model);
    const shown = (current?: string) => variantChoices(model, current).map(({ name, current }) => [name, current]);
    assert.deepEqual(shown('low'), [
      [undefined, false],
      ['high', false],
      ['low', true],
    ]);
    assert.deepEqual(shown()[0], [undefined, true]);
  });
});
