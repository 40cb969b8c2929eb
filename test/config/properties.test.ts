import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type JSONScanner, printParseErrorCode, visit } from 'jsonc-parser';
import { runAtOnce } from '../../src/base/time-slices.ts';
import { decode, parse } from '../../src/config/load/parse.ts';
import { applySourceRules } from '../../src/config/load/source-rules.ts';
import { TextReader, type TextVisitor } from '../../src/config/load/text-reader.ts';
import { validate } from '../../src/config/schema/validate.ts';
import { buildSettings } from '../../src/config/settings/build.ts';
import type { Source } from '../../src/config/settings/origin.ts';
import { mergeTrees, type ObjectTree, plain, type Tree, toTree } from '../../src/config/settings/tree.ts';

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
  const tree = toTree(value, PLACE);
  assert.ok(tree?.type === 'object');
  return tree;
}

/** Independent of insertion order and positions. */
function content(tree: Tree): unknown {
  if (tree.type === 'scalar') return tree.value;
  if (tree.type === 'array') return tree.items.map(content);
  return [...tree.entries].map(([key, { value }]) => [key, content(value)]).sort();
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

function readEvents(text: string): readonly unknown[] {
  const events: unknown[] = [];
  const note =
    (...what: readonly unknown[]) =>
    (at: JSONScanner) =>
      events.push([...what, at.getTokenLength(), at.getTokenStartLine(), at.getTokenStartCharacter()]);
  const visitor: TextVisitor = {
    open: (type, at) => note('open', type)(at),
    key: (name, at) => note('key', name)(at),
    scalar: (value, at) => note('scalar', value)(at),
    close: () => events.push('close'),
    error: (error, at) => note('error', error)(at),
    done: false,
  };
  runAtOnce(new TextReader(text, visitor).read());
  return events;
}

function visitEvents(text: string): readonly unknown[] {
  const events: unknown[] = [];
  const place = (length: number, line: number, character: number) => [length, line, character];
  visit(
    text,
    {
      onObjectBegin: (_, ...at) => void events.push(['open', 'object', ...at.slice(0, 3)]),
      onArrayBegin: (_, ...at) => void events.push(['open', 'array', ...at.slice(0, 3)]),
      onObjectProperty: (name, _, ...at) => events.push(['key', name, ...at.slice(0, 3)]),
      onLiteralValue: (value, _, ...at) => events.push(['scalar', value, ...at.slice(0, 3)]),
      onObjectEnd: () => events.push('close'),
      onArrayEnd: () => events.push('close'),
      onError: (error, _, ...at) => events.push(['error', printParseErrorCode(error), ...place(...at)]),
    },
    { allowTrailingComma: true, allowEmptyContent: true },
  );
  return events;
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

describe('configuration with random input', () => {
  it('merge: is associative if files agree on which values are objects', () => {
    fc.assert(
      fc.property(layer, layer, layer, (x, y, z) => {
        const [a, b, c] = [objectTree(x), objectTree(y), objectTree(z)];
        assert.deepEqual(content(mergeTrees(mergeTrees(a, b), c)), content(mergeTrees(a, mergeTrees(b, c))));
      }),
    );
  });

  it('merge: with itself or with nothing changes nothing', () => {
    fc.assert(
      fc.property(layer, (x) => {
        const tree = objectTree(x);
        assert.deepEqual(content(mergeTrees(tree, tree)), content(tree));
        assert.deepEqual(content(mergeTrees(tree, objectTree({}))), content(tree));
        assert.deepEqual(content(mergeTrees(objectTree({}), tree)), content(tree));
      }),
    );
  });

  it('loading: any bytes are read or rejected with a position, without an exception', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), readAll), { numRuns: 500 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => readAll(Buffer.from(text))),
      { numRuns: 500 },
    );
  });

  it('loading: any JSON value at any position is read or rejected with a position', () => {
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

  it('loading: 10,000 mutations of a real file are read or rejected with a position', () => {
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

  it('TextReader: reports the same as visit of jsonc-parser for any text', () => {
    const tokens = [
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        ',',
        '"a"',
        '"b"',
        '"\\u00e9\\n"',
        '"\\u00',
        '"\\x"',
        '"\\',
        '"',
        '1',
        '-',
        '1e',
      ],
      ...[
        '-0.5e3',
        '01',
        'true',
        'truex',
        'null',
        ' ',
        '\n',
        '\r\n',
        '\r',
        '\t',
        '// x\n',
        '/* y\n*/',
        '//',
        '/*',
        '/',
      ],
      ...['\u00a0', '"\t"', '{"a":', '"__proto__":', '"k": [1, 2,],'],
    ];
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...tokens)).map((parts) => parts.join('')),
      fc.json().map((json) => `{"k":${json}}`),
      fc.array(fc.constantFrom(...tokens)).map((parts) => `{"k": [${parts.join('')}], // end\n}`),
    );
    fc.assert(
      fc.property(texts, (text) => assert.deepEqual(readEvents(text), visitEvents(text))),
      { numRuns: 10_000 },
    );
  });

  it('loading: the unmodified file has no diagnostics', () => {
    const parsed = parse(REAL, SOURCE);
    assert.ok(parsed.tree !== undefined);
    assert.deepEqual(validate(parsed.tree).diagnostics, []);
  });

  it('loading: megabytes on one line, in one string or without a string are read', () => {
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
    // A string that is open to a line's end.
    assert.ok(parse('{"a\n'.repeat(100_000) + '//x\n'.repeat(100), SOURCE).diagnostics.length > 0);
  });
});
