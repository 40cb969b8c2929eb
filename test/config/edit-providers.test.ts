import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { ConfigText, UnreadableFile } from '../../src/config/editing/config-text.ts';
import { withoutProvider, withProvider } from '../../src/config/editing/edit-providers.ts';
import { EMPTY_FORM, type ProviderForm } from '../../src/config/provider-form/provider-form.ts';

const FORM: ProviderForm = {
  ...EMPTY_FORM,
  id: 'acme',
  name: 'Acme',
  baseURL: 'https://acme.example/v1',
  models: [{ id: 'm1', name: 'One' }],
};
const WRITTEN = {
  name: 'Acme',
  npm: '@ai-sdk/openai-compatible',
  options: { baseURL: 'https://acme.example/v1' },
  models: { m1: { name: 'One' } },
};

const read = (text: string): unknown => parse(text.replace(/^\uFEFF/, ''), [], { allowTrailingComma: true });

const COMMENTED = `{
    // mine
    "provider": {
        // the first
        "one": { "name": "One", "options": { "baseURL": "https://one.example" } }, // stays on its line
    },
    /* the end */
}
`;

describe('changing a svc.jsonc', () => {
  it('withProvider: adds a provider after the existing ones without other changes', () => {
    const text = withProvider(COMMENTED, FORM);
    const added = text.split('\n').filter((line) => !COMMENTED.split('\n').includes(line));
    assert.equal(
      text
        .split('\n')
        .filter((line) => !added.includes(line))
        .join('\n'),
      `${COMMENTED.trimEnd()}\n`,
    );
    assert.match(text, /stays on its line\n {8}"acme": \{\n {12}"name": "Acme",/);
  });

  for (const [name, text] of Object.entries({
    'an empty file': '',
    'a file of comments': '// later\n',
    'an empty object': '{}',
    'an object on one line': '{"model":"a/b","provider":{"one":{}}}',
    'no trailing comma': '{\n\t"provider": {\n\t\t"one": {} // first\n\t}\n}\n',
    'a provider that is switched off': '{ "provider": { "acme": null } }',
    'Windows line ends': '{\r\n  "provider": {\r\n  }\r\n}\r\n',
    'a byte order mark': '\uFEFF{\n}\n',
  })) {
    it(`withProvider: writes into ${name}`, () => {
      const after = withProvider(text, FORM);
      const value = read(after);
      assert.deepEqual(value, { ...(read(text) as object), provider: { ...provider(read(text)), acme: WRITTEN } });
      assert.equal(after.startsWith('\uFEFF'), text.startsWith('\uFEFF'));
      if (text.includes('\r\n')) assert.equal(after.replaceAll('\r\n', '').includes('\n'), false);
      for (const comment of text.match(/\/\/.*/g) ?? []) assert.ok(after.includes(comment));
    });
  }

  it('withProvider: preserves settings that are not in the dialog', () => {
    const text = `{ "provider": { "acme": {
      "npm": "@ai-sdk/mistral",
      "whitelist": ["m*"],
      "options": { "timeout": 5, "apiKey": "{env:ACME}", "headers": { "X-Old": "1", "X-Kept": "2" } },
      "models": { "m1": { "limit": { "context": 9 } }, "old": {}, "hidden": null, "was": { "cost": { "input": 1 } } }
    } } }`;
    const form: ProviderForm = {
      ...FORM,
      key: { kind: 'kept' },
      headers: [
        { name: 'X-Kept', value: '', kept: true },
        { name: 'X-New', value: '3' },
      ],
      models: [
        { id: 'm1', name: '', was: 'm1' },
        { id: 'renamed', name: 'R', was: 'was' },
      ],
    };
    assert.deepEqual(provider(read(withProvider(text, form, 'acme'))).acme, {
      name: 'Acme',
      npm: '@ai-sdk/mistral',
      whitelist: ['m*'],
      options: {
        baseURL: FORM.baseURL,
        timeout: 5,
        apiKey: '{env:ACME}',
        headers: { 'X-Kept': '2', 'X-New': '3' },
      },
      models: { m1: { limit: { context: 9 } }, hidden: null, renamed: { cost: { input: 1 }, name: 'R' } },
    });
  });

  it('withProvider: writes and removes the format of next edits', () => {
    const form = { ...EMPTY_FORM, id: 'local', baseURL: 'http://127.0.0.1:1/v1' };
    const written = withProvider('{}', { ...form, edit: 'sweep-1' });
    assert.match(written, /"edit": "sweep-1"/);
    assert.doesNotMatch(withProvider(written, form), /sweep-1/);
  });

  it('withProvider: a new id keeps all settings of the provider', () => {
    const text = '{ "provider": { "old": { "whitelist": ["a"] } } }';
    assert.deepEqual(read(withProvider(text, FORM, 'old')), {
      provider: { acme: { whitelist: ['a'], ...WRITTEN } },
    });
  });

  it('withProvider: never writes a typed key, and removes one from the file', () => {
    const typed = withProvider('{}', { ...FORM, key: { kind: 'typed', value: 'sk-secret' } });
    assert.ok(!typed.includes('sk-secret') && !typed.includes('apiKey'));
    const before = '{ "provider": { "acme": { "options": { "apiKey": "sk-in-file" } } } }';
    assert.ok(!withProvider(before, { ...FORM, key: { kind: 'typed', value: 'x' } }, 'acme').includes('sk-in-file'));
    assert.match(withProvider('{}', { ...FORM, key: { kind: 'env', name: 'ACME' } }), /"apiKey": "\{env:ACME\}"/);
  });

  it('withoutProvider: restores the text before withProvider', () => {
    assert.equal(withoutProvider(withProvider(COMMENTED, FORM), 'acme'), COMMENTED);
  });

  it('withProvider: a second identical edit does not change the text', () => {
    const once = withProvider(COMMENTED, FORM);
    assert.equal(withProvider(once, FORM, 'acme'), once);
  });

  it('ConfigText: changes the last of duplicate keys', () => {
    const text = '{ "model": "a/a", "model": "b/b" }';
    assert.equal(new ConfigText(text).set(['model'], 'c/c').toString(), '{ "model": "a/a", "model": "c/c" }');
  });

  for (const text of ['{ "provider": ', '[]', '"text"', '{ provider: {} }']) {
    it(`withProvider: rejects ${text}`, () => assert.throws(() => withProvider(text, FORM), UnreadableFile));
  }

  it('ConfigText: an edit of the text equals an edit of the value for any object, path and value', () => {
    const keys = fc.constantFrom('a', 'b', '__proto__x', 'c d', '"');
    const value = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        fc.integer(),
        fc.string(),
        fc.dictionary(keys, tie('tree'), { noNullPrototype: true }),
      ),
    })).tree;
    const layout = fc.constantFrom<number | undefined>(undefined, 2, 4);
    fc.assert(
      fc.property(
        fc.dictionary(keys, value, { noNullPrototype: true }),
        fc.array(keys, { minLength: 1, maxLength: 3 }),
        fc.option(value, { nil: undefined }),
        layout,
        (before, path, wanted, indent) => {
          const after = new ConfigText(JSON.stringify(before, null, indent)).set(path, wanted);
          assert.equal(JSON.stringify(after.get(path)), JSON.stringify(wanted));
          assert.deepEqual(read(after.toString()), changed(before, path, wanted));
        },
      ),
    );
  });
});

function provider(value: unknown): Record<string, unknown> {
  const all = typeof value === 'object' && value !== null && 'provider' in value ? value.provider : {};
  return { ...(all as object) };
}

function changed(value: unknown, [key = '', ...rest]: readonly string[], wanted: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null;
  if (wanted === undefined && !(isObject && key in value)) return value;
  const copy: Record<string, unknown> = isObject ? { ...value } : {};
  if (rest.length > 0) copy[key] = changed(copy[key], rest, wanted);
  else if (wanted === undefined) delete copy[key];
  else copy[key] = wanted;
  return copy;
}
