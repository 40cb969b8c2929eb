import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Knowledge, proposalsAt, providerKeys, subjectAt } from '../../src/config/editing/assist.ts';

const knowledge: Knowledge = {
  providers: () => [
    { id: 'mistral', name: 'Mistral' },
    { id: 'openai', name: 'OpenAI' },
  ],
  models: (provider) => (provider === 'mistral' ? [{ key: 'codestral-latest', name: 'Codestral' }] : []),
  refs: (key) =>
    ({
      model: ['openai/gpt-5', 'mistral/codestral-latest'],
      completionModel: ['mistral/codestral-latest'],
      nextEditModel: ['inception/mercury-edit-2'],
    })[key],
  variants: () => ['high', 'low'],
  environment: () => ['MISTRAL_API_KEY', 'HOME'],
};

/** Proposals at the `|` of the text, and the text after the first one is accepted. */
function take(marked: string, label?: string): { labels: string[]; text: string | undefined } {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  const proposals = proposalsAt(text, offset, knowledge);
  const chosen = proposals.find((each) => label === undefined || each.label === label);
  const written =
    chosen && text.slice(0, chosen.span.offset) + chosen.text + text.slice(chosen.span.offset + chosen.span.length);
  return { labels: proposals.map((each) => each.label), text: written };
}

describe('proposals in a configuration file', () => {
  const cases = [
    {
      name: 'providers for a new key',
      marked: '{"provider": {|}}',
      labels: ['mistral', 'openai'],
      text: '{"provider": {"mistral": {}}}',
    },
    {
      name: 'providers for a key that is being written',
      marked: '{"provider": {"mi|": {}}}',
      labels: ['mistral', 'openai'],
      text: '{"provider": {"mistral": {}}}',
    },
    {
      name: 'models of the provider',
      marked: '{"provider": {"mistral": {"models": {"|"}}}}',
      labels: ['codestral-latest'],
      text: '{"provider": {"mistral": {"models": {"codestral-latest": {}}}}}',
    },
    {
      name: 'models that can be chosen',
      marked: '{"model": "|"}',
      labels: ['openai/gpt-5', 'mistral/codestral-latest'],
      text: '{"model": "openai/gpt-5"}',
    },
    {
      name: 'only models that fill holes for completions',
      marked: '{"completionModel": "|"}',
      labels: ['mistral/codestral-latest'],
      text: '{"completionModel": "mistral/codestral-latest"}',
    },
    {
      name: 'only models that predict edits for next edits',
      marked: '{"nextEditModel": "|"}',
      labels: ['inception/mercury-edit-2'],
      text: '{"nextEditModel": "inception/mercury-edit-2"}',
    },
    {
      name: 'models in a whitelist',
      marked: '{"provider": {"mistral": {"whitelist": ["|"]}}}',
      labels: ['codestral-latest'],
      text: '{"provider": {"mistral": {"whitelist": ["codestral-latest"]}}}',
    },
    {
      name: 'variants of a model',
      marked: '{"provider": {"mistral": {"models": {"m": {"variants": {"|"}}}}}}',
      labels: ['high', 'low'],
      text: '{"provider": {"mistral": {"models": {"m": {"variants": {"high": {}}}}}}}',
    },
    {
      name: 'environment variables within a reference',
      marked: '{"provider": {"mistral": {"options": {"apiKey": "{env:MI|}"}}}}',
      labels: ['HOME', 'MISTRAL_API_KEY'],
      text: '{"provider": {"mistral": {"options": {"apiKey": "{env:HOME}"}}}}',
    },
    {
      name: 'providers in a file that is broken after the place',
      marked: '{"provider": {"mi|\n "x": {}',
      labels: ['mistral', 'openai'],
      text: '{"provider": {"mistral": {}\n "x": {}',
    },
    {
      name: 'environment variables within a string that is not closed',
      marked: '{"provider": {"a": {"options": {"apiKey": "{env:|',
      labels: ['HOME', 'MISTRAL_API_KEY'],
      text: '{"provider": {"a": {"options": {"apiKey": "{env:HOME}',
    },
    {
      name: 'models after a comment that looks like a key',
      marked: '{/* "x": { */ "model": |',
      labels: ['openai/gpt-5', 'mistral/codestral-latest'],
      text: '{/* "x": { */ "model": "openai/gpt-5"',
    },
    {
      name: 'models for a word without quotes',
      marked: '{"model": op|e}',
      labels: ['openai/gpt-5', 'mistral/codestral-latest'],
      text: '{"model": "openai/gpt-5"}',
    },
    {
      name: 'models in a list that has an object before',
      marked: '{"provider": {"mistral": {"whitelist": [{}, |]}}}',
      labels: ['codestral-latest'],
      text: '{"provider": {"mistral": {"whitelist": [{}, "codestral-latest"]}}}',
    },
    {
      name: 'nothing where nothing is known',
      marked: '{"provider": {"mistral": {"name": "|"}}}',
      labels: [],
      text: undefined,
    },
  ];
  for (const { name, marked, labels, text } of cases) {
    it(`proposals: ${name}`, () => assert.deepEqual(take(marked), { labels, text }));
  }

  it('proposalsAt and subjectAt: never throw for any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (text, at) => {
        const offset = Math.min(at, text.length);
        proposalsAt(text, offset, knowledge);
        subjectAt(text, offset);
        providerKeys(text);
      }),
    );
  });
});

describe('subjects in a configuration file', () => {
  const text = '{"model": "p/a/b", "provider": {"p": {"models": {"a/b": {"limit": {"context": 5}}}}}}';
  const at = (needle: string) => subjectAt(text, text.indexOf(needle) + 1);

  it('subjectAt: a provider at its key', () =>
    assert.deepEqual(at('"p":'), {
      kind: 'provider',
      provider: 'p',
      span: { offset: text.indexOf('"p":'), length: 3 },
    }));
  it('subjectAt: a model at its key', () => assert.equal(at('"a/b":')?.kind, 'model'));
  it('subjectAt: a model at its reference, split at the first slash', () => {
    const subject = at('"p/a/b"');
    assert.deepEqual(subject?.kind === 'model' && [subject.provider, subject.model], ['p', 'a/b']);
  });
  it('subjectAt: a value at other positions', () => {
    const subject = subjectAt(text, text.indexOf('5'));
    assert.deepEqual(subject?.kind === 'value' && subject.path, ['provider', 'p', 'models', 'a/b', 'limit', 'context']);
  });
  it('subjectAt: a value in a list of a file with a later syntax error', () => {
    const broken = '{"a": [1, {"b": "\\""}';
    const subject = subjectAt(broken, broken.indexOf('\\') + 2);
    assert.deepEqual(subject?.kind === 'value' && subject.path, ['a', '1', 'b']);
  });
  it('providerKeys: returns the position of each provider', () => {
    assert.deepEqual(
      providerKeys(text).map((each) => each.provider),
      ['p'],
    );
  });
});
