import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ParseError, parse, parseTree } from 'jsonc-parser';
import { ConfigText, UnreadableFile } from '../../src/config/editing/config-text.ts';
import { withoutProvider, withProvider } from '../../src/config/editing/edit-providers.ts';
import { EMPTY_FORM, type ProviderForm } from '../../src/config/provider-form/provider-form.ts';
import { assertLinear } from '../linear-time.ts';

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
  it('withProvider: the window of Ollama is written, and stays when the provider is edited', () => {
    const text = withProvider('{}', { ...FORM, window: 16_384 });
    const options = { baseURL: 'https://acme.example/v1', num_ctx: 16_384 };
    assert.deepEqual(read(text), { provider: { acme: { ...WRITTEN, options } } });
    assert.deepEqual(read(withProvider(text, FORM)), { provider: { acme: { ...WRITTEN, options } } });
  });

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

  it('withProvider: a new id of a provider or a model changes only the key', () => {
    const text = `{
  "provider": {
    // in the cellar
    "old": {
      "npm": "@ai-sdk/openai-compatible", // required
      "options": { "baseURL": "https://acme.example/v1" /* the proxy */ },
      "name": "Acme",
      "models": {
        "m1": { "name": "One" },
        // the best one
        "m2": { "limit": { "context": 1000 /* measured */ } }
      }
    },
    "other": {}
  }
}
`;
    const models = [
      { id: 'm1', name: 'One', was: 'm1' },
      { id: 'm3', name: '', was: 'm2' },
    ];
    const expected = text.replace('"old"', '"acme"').replace('"m2"', '"m3"');
    assert.equal(withProvider(text, { ...FORM, models }, 'old'), expected);
  });

  const renamed: readonly [what: string, rows: readonly [was: string, id: string][], models: string][] = [
    [
      'two models that swap their ids',
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
      '{ "b": { "id": "1" }, "a": { "id": "2" }, "c": null }',
    ],
    ['the id of a removed model', [['a', 'b']], '{ "b": { "id": "1" }, "c": null }'],
    [
      'the id of a hidden model',
      [
        ['a', 'c'],
        ['b', 'b'],
      ],
      '{ "c": { "id": "1" }, "b": { "id": "2" } }',
    ],
    [
      'an id of a model that is renamed too',
      [
        ['a', 'b'],
        ['b', 'x'],
      ],
      '{ "b": { "id": "1" }, "x": { "id": "2" }, "c": null }',
    ],
  ];
  for (const [what, rows, models] of renamed) {
    it(`withProvider: renames models with ${what}`, () => {
      const head = `{ "provider": { "acme": { "name": "Acme", "npm": "${WRITTEN.npm}", "options": { "baseURL": "${FORM.baseURL}" }, "models": `;
      const text = `${head}{ "a": { "id": "1" }, "b": { "id": "2" }, "c": null } } } }`;
      const form = { ...FORM, models: rows.map(([was, id]) => ({ id, was, name: '' })) };
      assert.equal(withProvider(text, form, 'acme'), `${head}${models} } } }`);
    });
  }

  it('withProvider: saving many models without a change takes linear time', async () => {
    const names = (size: number) => Array.from({ length: size }, (_, index) => `vendor/model-${index}`);
    const make = (size: number) => {
      const models = names(size).map((id) => ({ id, was: id, name: `Name of ${id}` }));
      const form = { ...FORM, models };
      return { form, text: withProvider('{}', form) };
    };
    await assertLinear(200, make, ({ form, text }) => assert.equal(withProvider(text, form, 'acme'), text));
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

  for (const [text, expected] of [
    ['{"a":{"npm":"1"},"b":{},"a":{"npm":"2"}}', '{"b":{}}'],
    ['{"b":{},"a":1,"a":2}', '{"b":{}}'],
    ['{"a":1,"a":2}', '{}'],
    ['{"a":1,"a":2,}', '{}'],
    ['{\n  "a": 1,\n  // b\n  "b": {},\n  "a": 2 // last\n}\n', '{\n  // b\n  "b": {}\n  // last\n}\n'],
  ] as const) {
    it(`ConfigText: removes all properties with a key from ${JSON.stringify(text)}`, () => {
      assert.equal(new ConfigText(text).set(['a'], undefined).toString(), expected);
    });
  }

  it('withoutProvider: removes all providers with the id', () => {
    const text = '{"provider":{"a":{"npm":"1"},"b":{},"a":{"npm":"2"}}}';
    assert.equal(withoutProvider(text, 'a'), '{"provider":{"b":{}}}');
  });

  const renames: readonly [names: Record<string, string>, text: string, expected: string][] = [
    [{ a: 'c' }, '{ /* a */ "a" /* key */ : 1, "b": 2 }', '{ /* a */ "c" /* key */ : 1, "b": 2 }'],
    [{ a: 'b' }, '{ "a": 1, "b": 2 }', '{ "b": 1 }'],
    [{ a: 'b', b: 'a' }, '{ "a": 1, "b": 2 }', '{ "b": 1, "a": 2 }'],
    [{ a: 'c' }, '{ "a": 1, "b": 2, "a": 3 }', '{ "c": 1, "b": 2, "c": 3 }'],
    [{ x: 'b' }, '{ "a": 1, "b": 2 }', '{ "a": 1, "b": 2 }'],
    [{ a: '"\n' }, '{ "a": 1 }', '{ "\\"\\n": 1 }'],
  ];
  for (const [names, text, expected] of renames) {
    it(`ConfigText: renames keys by ${JSON.stringify(names)} in ${text}`, () => {
      assert.equal(new ConfigText(text).rename([], new Map(Object.entries(names))).toString(), expected);
    });
  }

  for (const text of ['{ "provider": ', '[]', '"text"', '{ provider: {} }']) {
    it(`withProvider: rejects ${text}`, () => assert.throws(() => withProvider(text, FORM), UnreadableFile));
  }

  it('ConfigText: removing and renaming duplicate keys changes only these keys, for any text', () => {
    const comma = fc.constantFrom(', ', ',', ' /* c */, ', ', // d\n', ',\n  ');
    const members = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(), comma), { maxLength: 6 });
    fc.assert(
      fc.property(members, fc.boolean(), (all, trailing) => {
        const written = all.map(([key, value, after], index) => {
          const last = index === all.length - 1 && !trailing;
          return `"${key}": ${value}${last ? '' : after}`;
        });
        const text = `{ ${written.join('')} }`;
        const without = all.filter(([key]) => key !== 'a').map(([key, value]) => [key, value]);
        const removed = new ConfigText(text).set(['a'], undefined);
        assert.deepEqual(membersOf(removed.toString()), without);
        const renamed = new ConfigText(text).rename([], new Map([['a', 'x']]));
        assert.equal(renamed.toString(), text.replaceAll('"a"', '"x"'));
      }),
    );
  });

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

/** The keys and values of an object, with duplicate keys. Fails if the text is not valid. */
function membersOf(text: string): unknown[] {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  assert.deepEqual(errors, [], text);
  return (root?.children ?? []).map(({ children }) => children?.map(({ value }): unknown => value));
}

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
