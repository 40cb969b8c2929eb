import assert from 'node:assert/strict';
import fc from 'fast-check';
import { getLocation } from 'jsonc-parser';
import { type Knowledge, proposalsAt, providerKeys, subjectAt } from '../../src/config/assist.ts';
import { locate } from '../../src/config/locate.ts';

const knowledge: Knowledge = {
  providers: () => [
    { id: 'mistral', name: 'Mistral' },
    { id: 'openai', name: 'OpenAI' },
  ],
  models: (provider) => (provider === 'mistral' ? [{ key: 'codestral-latest', name: 'Codestral' }] : []),
  refs: (fim) => (fim ? ['mistral/codestral-latest'] : ['openai/gpt-5', 'mistral/codestral-latest']),
  variants: () => ['high', 'low'],
  environment: () => ['MISTRAL_API_KEY', 'HOME'],
};

/** Proposals where the text has a `|`, as the text would be with the first one taken. */
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
      name: 'nothing where nothing is known',
      marked: '{"provider": {"mistral": {"name": "|"}}}',
      labels: [],
      text: undefined,
    },
  ];
  for (const { name, marked, labels, text } of cases) {
    it(`are ${name}`, () => assert.deepEqual(take(marked), { labels, text }));
  }

  it('never throw, whatever the text is', () => {
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

  it('are a provider at its key', () =>
    assert.deepEqual(at('"p":'), {
      kind: 'provider',
      provider: 'p',
      span: { offset: text.indexOf('"p":'), length: 3 },
    }));
  it('are a model at its key', () => assert.equal(at('"a/b":')?.kind, 'model'));
  it('are a model where it is chosen, split at the first slash', () => {
    const subject = at('"p/a/b"');
    assert.deepEqual(subject?.kind === 'model' && [subject.provider, subject.model], ['p', 'a/b']);
  });
  it('are a value elsewhere', () => {
    const subject = subjectAt(text, text.indexOf('5'));
    assert.deepEqual(subject?.kind === 'value' && subject.path, ['provider', 'p', 'models', 'a/b', 'limit', 'context']);
  });
  it('know where each provider stands', () => {
    assert.deepEqual(
      providerKeys(text).map((each) => each.provider),
      ['p'],
    );
  });
});

describe('where an offset of a configuration file lies', () => {
  it('is what the parser of VS Code says, at every offset of any file that is whole', () => {
    const json = fc.json({ maxDepth: 4 });
    fc.assert(
      fc.property(json, fc.constantFrom(0, 1, 2), (text, indent) => {
        const file = `{"provider": ${JSON.stringify(JSON.parse(text), null, indent)}, // end\n "model": "a/b"}`;
        for (let offset = 1; offset < file.length; offset += 1) {
          const before = file.slice(0, offset).trimEnd();
          // Behind a value and before its comma, and between a key and its colon, there is nothing to write.
          if (/[\]}:"\w/]$/.test(before) || before.includes('// end')) continue;
          const expected = getLocation(file, offset);
          const found = locate(file, offset);
          assert.deepEqual(found.path, expected.path.map(String), `${offset} of ${file}`);
          // In an array behind an object, that parser still says that it is at a key.
          if (!file.includes('[')) assert.equal(found.atKey, expected.isAtPropertyKey, `${offset} of ${file}`);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is found in a file that is broken behind it, and in one that is being typed', () => {
    const at = (marked: string) => locate(marked.replace('|', ''), marked.indexOf('|'));
    assert.deepEqual(at('{"provider": {"mi|\n "x": {}').path, ['provider', 'mi']);
    assert.deepEqual(at('{"provider": {"a": {"options": {"apiKey": "{env:|').path, [
      'provider',
      'a',
      'options',
      'apiKey',
    ]);
    assert.deepEqual(at('{"a": [1, {"b": "\\"|"}').path, ['a', '1', 'b']);
    assert.deepEqual(at('{/* "x": { */ "a": |').path, ['a']);
    assert.equal(at('{"a": tr|ue').token?.length, 4);
  });
});
