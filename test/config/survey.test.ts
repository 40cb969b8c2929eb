import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ModelSettings } from '../../src/config/configured-model.ts';
import { fits } from '../../src/config/fit.ts';
import { readModels } from '../../src/config/model-settings.ts';
import type { Source } from '../../src/config/origin.ts';
import { MAX_DEPTH } from '../../src/config/parse.ts';
import { configurationRule } from '../../src/config/schema-rules.ts';
import { applySourceRules } from '../../src/config/source-rules.ts';
import { survey } from '../../src/config/survey.ts';
import { type DeepPlace, type ObjectTree, treeOf } from '../../src/config/tree.ts';
import { validate } from '../../src/config/validate.ts';

const SOURCE: Source = { kind: 'global', path: '/x/svc.jsonc', trusted: true, status: 'loaded' };
const PLACE: DeepPlace = { source: SOURCE, line: 1, column: 1, length: 1, of: () => PLACE };

function objectTree(value: unknown): ObjectTree {
  const tree = treeOf(value, PLACE);
  assert.ok(tree?.type === 'object');
  return tree;
}

/** Mostly what fits, so that one value decides. */
function or(good: fc.Arbitrary<unknown>, weight = 60): fc.Arbitrary<unknown> {
  const strange = [null, '', 'x', '{env:A}', '{ x', 0, -1, 1.5, Number.POSITIVE_INFINITY, true, false];
  return fc.oneof({ weight, arbitrary: good }, fc.constantFrom(...strange, [], [1], {}, { x: 1 }, { x: { y: '{z}' } }));
}

/** Some of the members, now and then another one. */
function some(members: Readonly<Record<string, fc.Arbitrary<unknown>>>, weight = 60) {
  return fc
    .tuple(fc.record(members, { requiredKeys: [] }), fc.nat({ max: weight }))
    .map(([made, chance]) => (chance === 0 ? { ...made, unheard: 1 } : { ...made }));
}

const MODALITIES = or(fc.oneof(fc.subarray(['text', 'image', 'pdf']), fc.constant(['pdf', 'text'])), 100);
const AMOUNTS = { input: or(fc.nat()), output: or(fc.nat()) };
const HEADERS = or(
  fc.dictionary(
    fc.oneof({ weight: 30, arbitrary: fc.constantFrom('x-a', 'b', 'X-B', 'host') }, fc.constant('a b')),
    or(fc.constantFrom('1', 'a\tb', null)),
    { maxKeys: 1 },
  ),
);
const EFFORT = { effort: or(fc.constantFrom('high', 1, true)) };
const VARIANT = fc.oneof(some(EFFORT), some(EFFORT), some({ ...EFFORT, disabled: or(fc.boolean()) }));
const PLAIN = {
  id: or(fc.constant('m-1')),
  name: or(fc.constant('M')),
  tool_call: or(fc.boolean()),
  limit: or(some({ ...AMOUNTS, context: or(fc.nat()) })),
  cost: or(some({ ...AMOUNTS, cache_read: or(fc.double({ min: 0, noNaN: true })) })),
  modalities: or(some({ input: MODALITIES, output: MODALITIES }, 20), 200),
  variants: or(fc.dictionary(fc.constantFrom('a', 'b'), or(VARIANT, 20), { maxKeys: 2 })),
  options: or(fc.dictionary(fc.constantFrom('a', 'disabled'), or(fc.constantFrom('x', 1, true), 20))),
};
const MODEL = some({
  ...PLAIN,
  headers: HEADERS,
  options: or(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 })),
  provider: or(some({ npm: or(fc.constant('n')), api: or(fc.constant('https://a')) })),
});
const PROVIDER = some({
  options: or(
    some({
      apiKey: or(fc.constant('k')),
      baseURL: or(fc.constantFrom('https://a', 'https://a', 'https://a@b')),
      timeout: or(fc.constantFrom(1, false)),
      chunkTimeout: or(fc.constantFrom(1, 2)),
      headers: HEADERS,
    }),
  ),
  fim: or(fc.constantFrom('mistral', 'svc')),
  whitelist: or(fc.array(fc.string(), { maxLength: 2 })),
  models: or(fc.dictionary(fc.constantFrom('m', '__proto__'), or(MODEL), { maxKeys: 2 })),
});
const CONFIG = some({
  model: or(fc.constant('a/b')),
  provider: fc.dictionary(fc.constant('p'), or(PROVIDER)),
  gateway: some({ listen: or(some({ port: or(fc.nat({ max: 70_000 })) })), allowedHosts: or(fc.array(fc.string())) }),
});

describe('the quick look at a configuration', () => {
  it('finds it sound exactly where the thorough one has nothing to say', () => {
    const count = { sound: 0, unsettled: 0, faulty: 0 };
    fc.assert(
      fc.property(CONFIG, (value) => {
        const looked = survey(value, configurationRule());
        const fitting = looked.braced.every(({ text, rule }) => rule === undefined || fits(text, rule));
        const tree = objectTree(value);
        assert.equal(looked.sound && fitting, validate(tree).diagnostics.length === 0);
        if (looked.sound) assert.equal(looked.settled, applySourceRules(tree, true).tree === tree);
        count[looked.sound ? (looked.settled ? 'sound' : 'unsettled') : 'faulty'] += 1;
      }),
      { numRuns: 4_000 },
    );
    assert.ok(count.sound > 300 && count.unsettled > 60 && count.faulty > 300, JSON.stringify(count));
  });

  it('reads plain models as the long way does, and tells the same of them', () => {
    const anywhere = (model: ModelSettings | undefined) => ({ ...model, origin: PLACE });
    const models = fc.dictionary(fc.constantFrom('m', 'n', '__proto__'), fc.oneof(some(PLAIN), some(PLAIN), MODEL), {
      maxKeys: 3,
    });
    let read = 0;
    fc.assert(
      fc.property(models, (written) => {
        const container = structuredClone(written);
        const value = { provider: { p: { models: container } } };
        const looked = survey(value, configurationRule());
        const reading = survey(value, configurationRule(), MAX_DEPTH, PLACE);
        assert.deepEqual({ ...reading, models: looked.models }, looked);
        const expected = readModels(objectTree(container));
        for (const [key, model] of reading.models.get(container) ?? []) {
          assert.deepEqual(anywhere(model), anywhere(expected.get(key)));
          read += 1;
        }
      }),
      { numRuns: 4_000 },
    );
    assert.ok(read > 300, String(read));
  });
});
