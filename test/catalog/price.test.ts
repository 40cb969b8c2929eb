import assert from 'node:assert/strict';
import { toNano } from '../../src/base/money.ts';
import { chargedPrices, computePrice, priceTerms } from '../../src/catalog/price.ts';
import { fromModelsDev } from '../../src/catalog/public/models-dev.ts';
import { loadSnapshot } from '../../src/catalog/public/snapshot.ts';
import { buildRegistry } from '../../src/catalog/registry/registry.ts';
import { readPrices, writePrices } from '../../src/gateway/accounting/price-text.ts';
import type { Usage } from '../../src/wire/event.ts';
import { ProjectFolder } from '../config/project-folder.ts';

const KEY = { options: { apiKey: 'k' } };

async function registryOf(provider: unknown) {
  using folder = new ProjectFolder();
  folder.global({ provider });
  const [settings, catalog] = await Promise.all([folder.load(), loadSnapshot()]);
  assert.deepEqual(settings.diagnostics, []);
  return buildRegistry({ settings, catalog, env: {} });
}

/** Model, usage and USD, by the price pages of the vendors (reference reports of November 2026). */
const BILLS: readonly (readonly [model: string, usage: Usage, usd: number])[] = [
  ['google/gemini-2.5-pro', { input: 200_000, output: 1_000 }, 0.26],
  ['google/gemini-2.5-pro', { input: 300_000, output: 1_000 }, 0.765],
  ['google/gemini-3.1-pro-preview', { input: 300_000, output: 1_000 }, 1.218],
  ['openai/gpt-5.4', { input: 272_000, output: 1_000 }, 0.695],
  ['openai/gpt-5.4', { input: 300_000, output: 1_000 }, 1.5225],
  // Cached input counts for the tier and has the tier's price.
  ['openai/gpt-5.4', { input: 300_000, output: 1_000, cacheRead: 290_000 }, 0.2175],
  ['openai/gpt-5.4', { input: 100_000, output: 10_000 }, 0.4],
  ['openai/gpt-5.4', { input: 100_000, output: 10_000, served: ['priority'] }, 0.8],
  ['openai/gpt-5.4', { input: 100_000, output: 10_000, served: ['flex'] }, 0.2],
  ['openai/gpt-5.4', { input: 100_000, output: 10_000, served: ['no-such-tier', 'constructor'] }, 0.4],
  ['openai/gpt-5.4', { input: 100_000, output: 10_000, calls: { web_search: 10 } }, 0.5],
  ['anthropic/claude-opus-4-8', { input: 100_000, output: 10_000 }, 0.75],
  ['anthropic/claude-opus-4-8', { input: 100_000, output: 10_000, served: ['fast'] }, 1.5],
  ['anthropic/claude-opus-5', { input: 100_000, output: 10_000, served: ['fast'] }, 1.5],
  ['anthropic/claude-opus-4-8', { input: 100_000, output: 10_000, served: ['us'] }, 0.825],
  ['anthropic/claude-opus-4-8', { input: 100_000, output: 10_000, served: ['fast', 'us'] }, 1.65],
  ['anthropic/claude-opus-4-8', { input: 100_000, output: 10_000, calls: { web_search: 10 } }, 0.85],
  ['anthropic/claude-opus-4-8', { input: 100_000, output: 0, cacheWrite: 100_000, cacheWrite1h: 100_000 }, 1],
  [
    'anthropic/claude-opus-4-8',
    { input: 100_000, output: 0, cacheWrite: 100_000, cacheWrite1h: 100_000, served: ['fast'] },
    2,
  ],
  ['google/gemini-2.5-flash', { input: 100_000, output: 0, inputAudio: 50_000 }, 0.065],
];

describe('prices of answers', () => {
  it('prices: tiers, service tiers, speed, region, audio and calls are those of the vendors', async () => {
    const registry = await registryOf({ openai: KEY, anthropic: KEY, google: KEY });
    for (const [ref, usage, usd] of BILLS) {
      const cost = registry.find(ref)?.cost ?? assert.fail(ref);
      assert.equal(toNano(computePrice(cost, usage)), toNano(usd), `${ref} ${JSON.stringify(usage)}`);
      // The row of the ledger explains the sum.
      const text = writePrices(chargedPrices(cost, usage));
      const prices = readPrices(text) ?? assert.fail(text);
      const micro = priceTerms(prices, usage).reduce((sum, { count, price }) => sum + count * price, 0);
      assert.equal(toNano(micro / 1_000_000), toNano(usd), text);
    }
  });

  it('prices: the configuration has the same kinds, and its prices end those of the catalog', async () => {
    const cost = {
      ...{ input: 1, output: 2, cache_read: 0.1, input_audio: 10, output_audio: 20, output_image: 30, reasoning: 3 },
      tiers: [
        { above: 200_000, input: 3, output: 4 },
        { above: 100_000, input: 2, output: 3, cache_read: 0.2 },
      ],
      served: { Priority: { factor: 3 }, fast: { input: 5, output: 6 } },
      fees: { web_search: 0.5 },
    };
    const registry = await registryOf({
      own: { options: { baseURL: 'http://127.0.0.1:1/v1', apiKey: 'k' }, models: { m: { cost } } },
      openai: {
        ...KEY,
        models: { 'gpt-5.4': { cost: { input: 1, output: 1 } }, 'gpt-5.5': { cost: { cache_read: 1 } } },
      },
    });
    const price = (ref: string, usage: Usage) => {
      return toNano(computePrice(registry.find(ref)?.cost ?? assert.fail(ref), usage)) / 1e9;
    };
    const cases: readonly (readonly [Usage, number])[] = [
      [{ input: 100_000, output: 0 }, 0.1],
      [{ input: 100_001, output: 0 }, 0.200002],
      [{ input: 150_000, output: 0, cacheRead: 150_000 }, 0.03],
      // A tier without a price for cached input.
      [{ input: 300_000, output: 0, cacheRead: 300_000 }, 0.9],
      [{ input: 1_000, output: 1_000, inputAudio: 1_000, outputAudio: 400, outputImage: 600 }, 0.036],
      [{ input: 0, output: 1_000, reasoning: 500 }, 0.0025],
      [{ input: 1_000, output: 1_000, served: ['priority'] }, 0.009],
      [{ input: 1_000, output: 1_000, served: ['fast'] }, 0.011],
      // Cached input changes as the input does.
      [{ input: 1_000, output: 0, cacheRead: 1_000, served: ['fast'] }, 0.0005],
      [{ input: 0, output: 0, calls: { web_search: 2, other: 9 } }, 1],
    ];
    for (const [usage, usd] of cases) assert.equal(price('own/m', usage), usd, JSON.stringify(usage));
    assert.equal(price('openai/gpt-5.4', { input: 300_000, output: 0 }), 0.3);
    assert.equal(price('openai/gpt-5.4', { input: 300_000, output: 0, served: ['flex'] }), 0.15);
    assert.equal(price('openai/gpt-5.5', { input: 300_000, output: 0 }), 3);
  });

  it('prices: a price that a tier of the configuration lacks is that of the model', async () => {
    const cost = { input: 2, output: 12, cache_read: 0.2, context_over_200k: { input: 4 } };
    const models = { m: { cost }, out: { cost: { ...cost, context_over_200k: { output: 18 } } } };
    const registry = await registryOf({
      own: { options: { baseURL: 'http://127.0.0.1:1/v1', apiKey: 'k' }, models },
      openai: { ...KEY, models: { 'gpt-5.5': { cost: { context_over_200k: { input: 20 } } } } },
    });
    const price = (ref: string, usage: Usage) =>
      toNano(computePrice(registry.find(ref)?.cost ?? assert.fail(ref), usage)) / 1e9;
    const usage = { input: 300_000, output: 10_000, cacheRead: 100_000 };
    assert.equal(price('own/m', usage), 0.94);
    assert.equal(price('own/out', usage), 0.6);
    const { output } = registry.find('openai/gpt-5.5')?.cost ?? assert.fail();
    assert.ok(output > 0);
    assert.equal(price('openai/gpt-5.5', { input: 300_000, output: 10_000 }), 6 + output / 100);
  });

  it('prices: models.dev’s tiers, modes, audio and reasoning are read', () => {
    const mode = (body: object, cost: object) => ({ cost, provider: { body } });
    const models = {
      a: {
        cost: {
          ...{ input: 1, output: 2, input_audio: 3, reasoning: 4, context_over_200k: { input: 9, output: 9 } },
          tiers: [{ input: 5, output: 6, tier: { type: 'context', size: 272_000 } }],
        },
        experimental: {
          modes: {
            fast: mode({ service_tier: 'priority' }, { input: 7, output: 8 }),
            quick: mode({ speed: 'fast' }, { input: 9, output: 10, cache_read: 0 }),
            odd: mode({ other: 1 }, { input: 1, output: 1 }),
          },
        },
      },
      b: { cost: { input: 1, output: 2, context_over_200k: { input: 3, output: 4 }, tiers: [] } },
      c: { cost: { input: 1, output: 2, tiers: [{ tier: { type: 'other', size: 1 } }, null], reasoning: 2 } },
    };
    const api = { p: { npm: '@ai-sdk/openai', models: withText(models) } };
    const rows = fromModelsDev(api).providers.p?.models ?? {};
    assert.deepEqual(rows.a?.[5], [
      ...[1, 2, ['272000', 5, 6], ['priority', 7, 8], ['fast', 9, 10, 0], ['audio', 3, -1], ['reasoning', 4]],
    ]);
    assert.deepEqual(rows.b?.[5], [1, 2, ['200000', 3, 4]]);
    assert.deepEqual(rows.c?.[5], [1, 2]);
  });
});

function withText(models: Readonly<Record<string, object>>) {
  const modalities = { input: ['text'], output: ['text'] };
  return Object.fromEntries(Object.entries(models).map(([id, model]) => [id, { ...model, modalities, name: id }]));
}
