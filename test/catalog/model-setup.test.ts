import assert from 'node:assert/strict';
import { type ModelSetup, modelSetup } from '../../src/catalog/model-setup.ts';

interface Case {
  readonly title: string;
  readonly providers?: readonly { id: string; withheld?: object }[];
  readonly models?: number;
  readonly listed?: boolean;
  readonly failed?: Readonly<Record<string, string>>;
  readonly expected: ModelSetup;
}

const ACME = { id: 'acme', name: 'Acme' };
const CASES: readonly Case[] = [
  { title: 'there is a model', providers: [{ id: 'acme' }], models: 1, expected: { kind: 'ready' } },
  { title: 'there is no provider', expected: { kind: 'none' } },
  { title: 'a list is being read', providers: [{ id: 'acme' }], listed: false, expected: { kind: 'loading' } },
  {
    title: 'a list failed',
    providers: [{ id: 'acme' }],
    failed: { acme: 'no connection' },
    expected: { kind: 'unlisted', provider: ACME, reason: 'no connection' },
  },
  {
    title: 'a list failed because the key is withheld',
    providers: [{ id: 'other' }, { id: 'acme', withheld: {} }],
    failed: { other: 'no connection', acme: 'no key' },
    expected: { kind: 'withheld', provider: ACME },
  },
];

describe('modelSetup', () => {
  for (const { title, providers = [], models = 0, listed = true, failed = {}, expected } of CASES) {
    it(`modelSetup: ${expected.kind} if ${title}`, () => {
      const named = providers.map((each) => [each.id, { name: 'Acme', ...each }] as const);
      const registry = { models: { size: models }, providers: new Map(named) };
      assert.deepEqual(modelSetup(registry, { listed, failed: new Map(Object.entries(failed)) }), expected);
    });
  }

  it('modelSetup: loading before the configuration is read', () => {
    assert.deepEqual(modelSetup(undefined, { listed: true, failed: new Map() }), { kind: 'loading' });
  });
});
