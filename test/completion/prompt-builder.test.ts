import assert from 'node:assert/strict';
import type { Snippet } from '../../src/completion/prompt/context.ts';
import { buildPrompt } from '../../src/completion/prompt/prompt-builder.ts';
import { writeFimRequest } from '../../src/wire/fim/fim-http-request.ts';
import type { FimDialect } from '../../src/wire/fim/fim-request.ts';
import { EditorFile } from './editor-harness.ts';

const KEY = 'AKIAIOSFODNN7EXAMPL3';
const SNIPPETS: readonly Snippet[] = [
  { kind: 'declaration', path: 'src/b.ts', line: 3, text: 'class B {\n  m(): void\n}' },
  { kind: 'declaration', path: 'src/b.ts', line: 9, text: 'const C = 1' },
  { kind: 'open-tab', path: 'src/k.ts', line: 0, text: `const key = '${KEY}';` },
];

function build(text: string, contextPlace: 'prefix' | 'context' | 'context-and-path', snippets = SNIPPETS) {
  const file = new EditorFile(text);
  const model = { ref: 'p/m', contextTokens: 8_192, contextPlace };
  const prompt = buildPrompt(file.document, file.position, snippets, { model, maxLines: 12 });
  assert.ok(prompt !== undefined);
  return prompt;
}

function send(dialect: FimDialect, text: string, place: 'prefix' | 'context' | 'context-and-path'): string {
  const { fimRequest } = build(text, place);
  return JSON.stringify(writeFimRequest(dialect, { ...fimRequest, model: 'm' }, true).body);
}

describe('prompt builder', () => {
  it('prompt builder: pieces of one file are one file, masked, with the path of the document', () => {
    const { fimRequest, secrets } = build('const a = |;\n', 'context-and-path');
    assert.deepEqual(fimRequest.path, 'a.ts');
    assert.equal(fimRequest.prefix, 'const a = ');
    assert.deepEqual(fimRequest.context?.[0], { path: 'src/b.ts', text: 'class B {\n  m(): void\n}\nconst C = 1' });
    assert.equal(fimRequest.context?.[1]?.path, 'src/k.ts');
    assert.equal(secrets.size, 1);
    assert.ok(!JSON.stringify(fimRequest).includes(KEY));
  });

  it('prompt builder: llama.cpp gets files beside the prefix, and the path of the document in it', () => {
    const { fimRequest } = build('const a = |;\n', 'context');
    assert.equal(fimRequest.path, undefined);
    assert.equal(fimRequest.prefix, '// Path: a.ts\nconst a = ');
    assert.equal(fimRequest.context?.length, 2);
  });

  it('prompt builder: a secret has one stand-in in all files and the text', () => {
    const { fimRequest, secrets } = build(`const own = '${KEY}';\nconst b = |;\n`, 'context-and-path');
    const [standIn = ''] = secrets.keys();
    assert.equal(secrets.size, 1);
    assert.ok(fimRequest.prefix.includes(standIn) && fimRequest.context?.[1]?.text.includes(standIn));
  });

  it('prompt builder: cells of a notebook stay before the text', () => {
    const cell: Snippet = { kind: 'cell', path: 'n.ipynb', line: 0, text: 'import math', languageId: 'typescript' };
    const { fimRequest } = build('x = |', 'context-and-path', [...SNIPPETS, cell]);
    assert.deepEqual([fimRequest.path, fimRequest.prefix], ['n.ipynb', 'import math\n\nx = ']);
  });

  const NOTES: readonly Snippet[] = [
    { kind: 'recent-edit', note: 'Changed', path: 'src/b.ts', line: 3, text: '@@ -1,1 +1,1 @@\n-old();\n+new();\n' },
    { kind: 'problem', note: 'Problem', path: 'a.ts', line: 7, text: `line 8: no such name ${KEY}\nfix: Add import` },
  ];

  it('prompt builder: diffs and problems are comments in a prefix, masked', () => {
    const { fimRequest } = build('x = |', 'prefix', [SNIPPETS[1] as Snippet, ...NOTES]);
    const { prefix } = fimRequest;
    assert.equal(
      prefix.replace(/name \S+/, 'name KEY'),
      '// Path: src/b.ts\nconst C = 1\n\n// Changed: src/b.ts\n// @@ -1,1 +1,1 @@\n// -old();\n// +new();\n\n' +
        '// Problem: a.ts\n// line 8: no such name KEY\n// fix: Add import\n\n// Path: a.ts\nx = ',
    );
    assert.ok(!prefix.includes(KEY));
  });

  it('prompt builder: diffs and problems are files of their own in a repository format', () => {
    const { fimRequest } = build('x = |', 'context-and-path', NOTES);
    assert.deepEqual(
      fimRequest.context?.map(({ path }) => path),
      ['Changed: src/b.ts', 'Problem: a.ts'],
    );
    assert.ok(!JSON.stringify(fimRequest).includes(KEY));
  });

  it('prompt builder: without context, a repository format has only the path', () => {
    const { fimRequest } = build('x = |', 'context-and-path', []);
    assert.deepEqual([fimRequest.path, fimRequest.context], ['a.ts', undefined]);
  });

  const ORDERS: readonly (readonly [FimDialect, 'prefix' | 'context' | 'context-and-path'])[] = [
    ['llamacpp-infill', 'context'],
    ['template-qwen', 'context-and-path'],
    ['template-starcoder2', 'context-and-path'],
    ['template-granite', 'context-and-path'],
    ['mistral', 'context-and-path'],
    ['chat', 'context'],
    ['openai-completions', 'prefix'],
  ];
  for (const [dialect, place] of ORDERS) {
    it(`prompt builder: after a key, a request of ${dialect} begins with the same text up to the cursor`, () => {
      const before = `function f() {\n${'  work();\n'.repeat(60)}  const a = `;
      const [first, second] = [`${before}|`, `${before}b|`].map((text) => send(dialect, text, place));
      const shared = [...(first ?? '')].findIndex((character, at) => character !== second?.[at]);
      const text = 'const a = ';
      assert.equal(shared, (first?.indexOf(text) ?? 0) + text.length);
    });
  }

  it('prompt builder: prompt and answer fit into the smallest window of the families, 8,192 tokens', () => {
    const long = `${'const value = compute(first, second);\n'.repeat(2_000)}|\n${'more();\n'.repeat(2_000)}`;
    const room = Array.from(
      { length: 40 },
      (_, at): Snippet => ({ ...SNIPPETS[1], line: at, text: 'y'.repeat(90) }) as Snippet,
    );
    const { fimRequest } = build(long, 'context-and-path', room);
    const body = writeFimRequest('template-codegemma', { ...fimRequest, model: 'm' }, true);
    const context = fimRequest.context?.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
    const tokens = (String(body.body.prompt).length + context) / 3 + fimRequest.maxTokens;
    assert.ok(tokens < 8_192, `${tokens} tokens`);
  });
});
