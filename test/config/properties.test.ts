import assert from 'node:assert/strict';
import fc from 'fast-check';
import { buildSettings } from '../../src/config/build.ts';
import { readByEngine, readJson } from '../../src/config/json-document.ts';
import { merge } from '../../src/config/merge.ts';
import type { Source } from '../../src/config/origin.ts';
import { decode, MAX_DEPTH, parse, parseTolerantly } from '../../src/config/parse.ts';
import { applySourceRules } from '../../src/config/source-rules.ts';
import { type ObjectTree, type Place, plain, type Tree, treeOf } from '../../src/config/tree.ts';
import { validate } from '../../src/config/validate.ts';
import { readWellFormed } from '../../src/config/well-formed.ts';

const SOURCE: Source = { kind: 'global', path: '/x/svc.jsonc', trusted: true, status: 'loaded' };
const PLACE = { source: SOURCE, line: 1, column: 1, length: 1 };

/** Objects that agree on what is an object at each key, as real files do. */
const layer = fc.record(
  {
    model: fc.constantFrom('a/b', 'c/d'),
    provider: fc.dictionary(
      fc.constantFrom('p', 'q', '__proto__', 'constructor'),
      fc.record(
        {
          name: fc.string(),
          whitelist: fc.array(fc.string()),
          options: fc.dictionary(fc.constantFrom('apiKey', 'baseURL', 'x'), fc.string()),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
);

function objectTree(value: unknown): ObjectTree {
  const tree = treeOf(value, PLACE);
  assert.ok(tree?.type === 'object');
  return tree;
}

/** Independent of insertion order and of places. */
function content(tree: Tree): unknown {
  if (tree.type === 'scalar') return tree.value;
  if (tree.type === 'array') return tree.items.map(content);
  return [...tree.entries].map(([key, { value }]) => [key, content(value)]).sort();
}

/** A tree with the places of its nodes and keys, in its order. */
function everything(tree: Tree): unknown {
  const at = ({ source, line, column, length }: Place) => [source.path, line, column, length];
  if (tree.type === 'scalar') return [at(tree.place), tree.value];
  if (tree.type === 'array') return [at(tree.place), tree.items.map(everything)];
  return [at(tree.place), [...tree.entries].map(([key, entry]) => [key, at(entry.key), everything(entry.value)])];
}

function readAll(bytes: Uint8Array): void {
  const decoded = decode(bytes);
  if (!('text' in decoded)) {
    assert.ok(decoded.problem.length > 0);
    return;
  }
  const parsed = parse(decoded.text, SOURCE);
  const lines = decoded.text.split(/\r\n|\r|\n/).length;
  for (const { line, column, severity, message } of parsed.diagnostics) {
    assert.ok(line >= 1 && line <= lines && column >= 1, `${line}:${column} of ${lines}`);
    assert.ok(message.length > 0 && (severity === 'error' || severity === 'warning'));
  }
  if (parsed.tree === undefined) {
    assert.ok(parsed.diagnostics.some(({ severity }) => severity === 'error'));
    return;
  }
  const { tree } = applySourceRules(validate(parsed.tree).tree, false);
  buildSettings({ all: tree, trusted: tree, untrusted: tree, trustedWorkspace: true });
}

const REAL = `// my settings
{
  "$schema": "https://example.com/svc.schema.json",
  "model": "mistral/codestral-latest", /* chat */
  "provider": {
    "mistral": { "options": { "apiKey": "{env:MISTRAL_API_KEY}", "timeout": false, "headers": { "x-a": "1" } } },
    "local": { "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": "http://127.0.0.1:1234/v1" },
      "models": { "m": { "limit": { "context": 8192, "output": 1024 }, "modalities": { "input": ["text"], "output": ["text"] },
        "variants": { "high": { "a": 1 }, "off": { "disabled": true } }, "cost": { "input": 0.1 } }, "n": null } },
  },
  "gateway": { "listen": { "port": 4180 }, "organizations": { "a": { "policy": { "deny": ["x/*"] }, "byok": { "p": "k" } } } },
}
`;

describe('properties of the configuration', () => {
  it('merging is associative where files agree on what is an object', () => {
    fc.assert(
      fc.property(layer, layer, layer, (x, y, z) => {
        const [a, b, c] = [objectTree(x), objectTree(y), objectTree(z)];
        assert.deepEqual(content(merge(merge(a, b), c)), content(merge(a, merge(b, c))));
      }),
    );
  });

  it('merging with itself or with nothing changes nothing', () => {
    fc.assert(
      fc.property(layer, (x) => {
        const tree = objectTree(x);
        assert.deepEqual(content(merge(tree, tree)), content(tree));
        assert.deepEqual(content(merge(tree, objectTree({}))), content(tree));
        assert.deepEqual(content(merge(objectTree({}), tree)), content(tree));
      }),
    );
  });

  it('any bytes are read or refused with a place, never thrown at', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), readAll), { numRuns: 500 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => readAll(Buffer.from(text))),
      { numRuns: 500 },
    );
  });

  it('any JSON value in any place is read or refused with a place', () => {
    const value = fc.jsonValue();
    const config = fc.record({
      model: value,
      provider: fc.oneof(value, fc.dictionary(fc.string(), value)),
      gateway: value,
      catalog: value,
    });
    fc.assert(
      fc.property(config, (each) => readAll(Buffer.from(JSON.stringify(each)))),
      { numRuns: 500 },
    );
  });

  it('10,000 mutations of a real file are read or refused with a place', () => {
    const bytes = Buffer.from(REAL);
    const position = fc.nat({ max: bytes.length - 1 });
    const tokens = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '\u0000',
      '\ud800',
      '\r',
      '//',
      '/*',
      '__proto__',
      '{env:X}',
      'null',
      '\ufeff',
      '1e999',
    ];
    const edit = fc.record({
      at: position,
      cut: fc.nat({ max: 40 }),
      text: fc.oneof(fc.constantFrom(...tokens), fc.string({ maxLength: 5 })),
    });
    const mutations = fc.array(edit, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(mutations, (edits) => {
        let mutated: Buffer = bytes;
        for (const { at, cut, text } of edits) {
          mutated = Buffer.concat([mutated.subarray(0, at), Buffer.from(text), mutated.subarray(at + cut)]);
        }
        readAll(mutated);
      }),
      { numRuns: 10_000 },
    );
  });

  it('the fast reader and the tolerant one give the same tree, or the fast one leaves the text alone', () => {
    const source = { kind: 'global', path: '/x', trusted: true, status: 'loaded' } as const;
    const token = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"a"',
        '"b"',
        '"\\u00e9\\n"',
        '"\\',
        '"',
        '1',
        '-0.5e3',
        '01',
        'true',
        'truex',
        'null',
      ],
      ...[
        ' ',
        '\n',
        '\r\n',
        '\r',
        '\t',
        '// x\n',
        '/* y\n*/',
        '//',
        '/*',
        '\u00a0',
        '"\t"',
        '{"a":',
        '"__proto__":',
        '"k": [1, 2,],',
      ],
    );
    const texts = fc.oneof(
      fc.array(token).map((tokens) => tokens.join('')),
      fc.json().map((json) => `{"k":${json}}`),
      fc.array(token).map((tokens) => `{"k": [${tokens.join('')}], // end\n}`),
    );
    let read = 0;
    fc.assert(
      fc.property(texts, (text) => {
        const tree = readWellFormed(text, source, MAX_DEPTH);
        if (tree === undefined) return;
        read += 1;
        assert.deepEqual({ tree, diagnostics: [] }, parseTolerantly(text, source));
      }),
      { numRuns: 10_000 },
    );
    assert.ok(read > 2_000, String(read));
  });

  it('the engine’s own parser and the tolerant one give the same tree at the same places, or the first leaves it alone', () => {
    // Also what it must leave alone: keys that are written twice or would be put in order, colons in disguise, and
    // comments and commas where none may be or that are none.
    const key = fc.constantFrom('"a"', '"b"', '"c:d"', '":"', '"2"', '"10"', '"__proto__"', '"\\u003a"', '"e\\n"');
    const scalar = fc.constantFrom(
      ...['1', '-0.5e3', 'true', 'null', '"x"', '"https://x"', '"\\u003A"', '"\\":"', '""', '"\\\\"', '"/* ,] */"'],
      ...['"a,}"', '"// \\""'],
    );
    const space = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('', ' ', '\n', '\r\n  ', '\t') },
      fc.constantFrom(
        '// "a": {\n',
        '//\r\n',
        '/* "b", */',
        '/*"*/',
        '/**/',
        '/*/ ]*/',
        '// it\'s "\n',
        '// \r1\n',
        '/* \n " */',
        '/',
        '\r',
      ),
    );
    const gap = fc.oneof({ weight: 12, arbitrary: fc.constant('') }, fc.constantFrom(' ', '\n', '/**/'));
    const tail = fc.constantFrom('', '', '', ',', ' ,', ',,');
    const { object } = fc.letrec<{ readonly value: string; readonly object: string }>((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, scalar, tie('object'), list(tie('value'))),
      object: fc
        .tuple(fc.array(fc.tuple(space, key, gap, space, tie('value')), { maxLength: 4 }), tail, space)
        .map(([members, ...end]) => {
          const written = members.map((parts) => parts.toSpliced(3, 0, ':').join(''));
          return `{${written}${end.join('')}}`;
        }),
    }));
    function list(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
      return fc
        .tuple(fc.array(fc.tuple(space, value), { maxLength: 3 }), tail, space)
        .map(([items, ...end]) => `[${items.map((each) => each.join(''))}${end.join('')}]`);
    }
    let read = 0;
    let commented = 0;
    fc.assert(
      fc.property(fc.tuple(space, object, space), (parts) => {
        const text = parts.join('');
        const tolerant = parseTolerantly(text, SOURCE);
        const tree = readJson(readByEngine(text), SOURCE, MAX_DEPTH, () => tolerant.tree);
        if (tree === undefined) return;
        read += 1;
        assert.deepEqual(tolerant.diagnostics, []);
        assert.ok(tolerant.tree !== undefined);
        assert.deepEqual(everything(tree), everything(tolerant.tree));
        assert.deepEqual(plain(tree), plain(tolerant.tree));
        if (text.includes('/')) commented += 1;
      }),
      { numRuns: 12_000 },
    );
    assert.ok(read > 1_000 && commented > 200, `${read} ${commented}`);
  });

  it('the engine’s own parser is believed wherever in a large text a key ends, and a key written twice is seen', () => {
    const read = (text: string) => readJson(readByEngine(text), SOURCE, MAX_DEPTH, () => undefined);
    for (let length = 16_360; length < 16_400; length += 1) {
      const long = 'x'.repeat(length);
      assert.ok(read(`{"${long}":1,"b":2}`) !== undefined, String(length));
      assert.equal(read(`{"b":1,"${long}":1,"b":2}`), undefined, String(length));
    }
  });

  it('the unchanged file is read without a complaint', () => {
    const parsed = parse(REAL, SOURCE);
    assert.ok(parsed.tree !== undefined);
    assert.deepEqual(validate(parsed.tree).diagnostics, []);
  });

  it('megabytes on one line, in one string or without a string are read like others', () => {
    const urls = Array.from({ length: 100_000 }, (_, n) => `"https://example.com/${n}"`).join(',');
    const texts = [
      `{"a":[${urls},]}`,
      `{"a":"${'//x'.repeat(500_000)}",}`,
      `${'// no string in here\n'.repeat(100_000)}{"a":1,}`,
      `{"a":"${'\\\\'.repeat(500_000)}//",}`,
    ];
    for (const text of texts) {
      const { tree } = parse(text, SOURCE);
      assert.ok(tree && 'a' in plain(tree));
    }
    // Read character by character, as the ones before were not: a string that is open to a line's end.
    assert.ok(parse('{"a\n'.repeat(100_000) + '//x\n'.repeat(100), SOURCE).diagnostics.length > 0);
  });
});
