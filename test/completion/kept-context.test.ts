import assert from 'node:assert/strict';
import { type ContextSource, chooseSnippets, type Snippet } from '../../src/completion/prompt/context.ts';
import { EditorFile, EditorHarness } from './editor-harness.ts';

const BODY = 'function run(a: A) {\n  |\n}\nfunction stop() {\n  b();\n}\n';

const piece = (text: string, more: Partial<Snippet> = {}): Snippet => ({
  ...{ kind: 'declaration', path: `${text}.ts`, line: 0, text: `of ${text}`, score: 2 },
  ...more,
});

/** The context of a request, in its order. */
const sent = (editor: EditorHarness, index = -1): string => {
  const prefix = editor.requests.at(index)?.fimRequest.prefix ?? '';
  return [...prefix.matchAll(/^of (\w+)/gm)].map(([, name]) => name).join(' ');
};

function harness(context: (editor: EditorHarness) => ContextSource, text = BODY): EditorHarness {
  const editor: EditorHarness = new EditorHarness(text, { context: (...place) => context(editor)(...place) });
  editor.answers = () => ['¤'];
  return editor;
}

describe('context of requests', () => {
  it('context: what was gathered while the cursor rested is in the first request, which does not wait', async () => {
    const editor = harness((each) => async () => {
      await each.clock.sleep(900);
      return [piece('slow')];
    });
    editor.suggester.prepare(editor.file.document, editor.file.position);
    await editor.clock.pass(1_000);
    const start = editor.clock.now();
    editor.edit('x');
    while (editor.requests.length === 0) await editor.clock.pass(1);
    assert.ok(editor.clock.now() - start < 5);
    assert.equal(sent(editor), 'slow');
  });

  it('context: what is known first is used until the language has answered', async () => {
    const editor = harness((each) => async (_, __, ___, report) => {
      report([piece('path')]);
      await each.clock.sleep(400);
      return [piece('path'), piece('type')];
    });
    editor.edit('x');
    await editor.clock.pass(60);
    assert.equal(sent(editor), 'path');
    await editor.clock.pass(1_000);
    editor.edit(' = ');
    await editor.clock.pass(100);
    assert.equal(sent(editor), 'path type');
  });

  it('context: a source that hangs delays each request by 30 ms at most, and runs once at a time', async () => {
    let running = 0;
    let most = 0;
    const editor = harness(() => (_, __, signal) => {
      running += 1;
      most = Math.max(most, running);
      signal.addEventListener('abort', () => (running -= 1));
      return new Promise(() => undefined);
    });
    editor.suggester.prepare(editor.file.document, editor.file.position);
    for (let key = 1; key <= 60; key += 1) {
      editor.edit(`x${key} = y;\n  `);
      await editor.clock.pass(400);
      assert.equal(editor.requests.length, key);
    }
    assert.equal(most, 1);
  });

  it('context: a source that ends late is used for what it found', async () => {
    const editor = harness((each) => async (_, __, signal) => {
      while (!signal.aborted) await each.clock.sleep(100);
      return [piece('part')];
    });
    editor.suggester.prepare(editor.file.document, editor.file.position);
    await editor.clock.pass(6_000);
    editor.edit('x');
    await editor.clock.pass(100);
    assert.equal(sent(editor), 'part');
  });

  it('context: keeps its order in a function while it grows, so that the model can use its cache', async () => {
    let round = 0;
    const editor = harness(() => async () => [
      piece('b'),
      piece('c'),
      ...(round++ > 2 ? [piece('a', { score: 4 })] : []),
    ]);
    for (let line = 0; line < 6; line += 1) {
      editor.edit(`call${line}();\n  `);
      await editor.clock.pass(1_500);
    }
    assert.deepEqual([sent(editor, 0), sent(editor)], ['b c', 'b c a']);
    const prefixes = editor.requests.map(({ fimRequest }) => fimRequest.prefix);
    const moved = prefixes.filter((prefix, index) => index > 0 && !prefix.startsWith(prefixes[index - 1] ?? ''));
    assert.equal(moved.length, 1);
  });

  it('context: another function has its own', async () => {
    const editor = harness(() => async ({ document, position }) => {
      const line = document.lineAt(position.line - 1);
      return [piece(line.includes('stop') ? 'stop' : 'run')];
    });
    editor.edit('x');
    await editor.clock.pass(1_000);
    assert.equal(sent(editor), 'run');
    const { version } = editor.file;
    editor.file = new EditorFile('function run(a: A) {\n  x\n}\nfunction stop() {\n  |\n}\n');
    editor.file.version = version;
    editor.edit('y');
    await editor.clock.pass(1_000);
    assert.equal(sent(editor), 'stop');
  });

  it('context: nothing is gathered where nothing may be sent', async () => {
    let asked = 0;
    const editor = new EditorHarness(BODY, {
      context: async () => {
        asked += 1;
        return [];
      },
      excluded: (uri) => (uri.endsWith('a.ts') ? 'gitignored' : undefined),
    });
    editor.suggester.prepare(editor.file.document, editor.file.position);
    await editor.clock.pass(1_000);
    assert.equal(asked, 0);
  });

  it('notebook: the other cells are directly before the text, in order, after one line with the path', async () => {
    const cell = (line: number, text: string, languageId = 'python'): Snippet => ({
      ...{ kind: 'cell', path: 'nb.ipynb', score: 10, languageId },
      ...{ line, text },
    });
    const editor = harness(
      () => async () => [
        cell(2, 'y = 2\n'),
        cell(1, 'select 1', 'sql'),
        cell(0, 'x = 1'),
        piece('lib', { path: 'lib.py', kind: 'open-tab' }),
      ],
      'z = |',
    );
    editor.file.languageId = 'python';
    editor.edit('x');
    await editor.clock.pass(1_000);
    assert.equal(
      editor.requests[0]?.fimRequest.prefix,
      '# Path: lib.py\nof lib\n\n# Path: nb.ipynb\nx = 1\n\n# sql\n# select 1\n\ny = 2\n\nz = x',
    );
  });

  it('notebook: deleted cells are not sent, and a cell that is added keeps the order', async () => {
    const cells = (...texts: readonly string[]): readonly Snippet[] =>
      texts.map((text, line) => ({ kind: 'cell', path: 'nb.ipynb', line, text, score: 10, languageId: 'python' }));
    let found = cells('a = 1', 'b = 2', 'c = 3');
    const editor = harness(() => async () => found, 'z = |');
    editor.file.languageId = 'python';
    const prompts: string[] = [];
    for (const next of [found, cells('b = 2', 'c = 3'), cells('b = 2', 'new = 1', 'c = 3')]) {
      found = next;
      editor.edit('x');
      await editor.clock.pass(2_000);
      editor.edit('¤');
      await editor.clock.pass(2_000);
      prompts.push(editor.requests.at(-1)?.fimRequest.prefix.split('z =')[0] ?? '');
    }
    assert.deepEqual(prompts, [
      '# Path: nb.ipynb\na = 1\n\nb = 2\n\nc = 3\n\n',
      '# Path: nb.ipynb\nb = 2\n\nc = 3\n\n',
      '# Path: nb.ipynb\nb = 2\n\nnew = 1\n\nc = 3\n\n',
    ]);
  });

  it('context: the pieces of one file have one line with its path', async () => {
    const editor = harness(() => async () => [
      piece('one', { path: 'a/b.ts', line: 3 }),
      piece('two', { path: 'a/b.ts', line: 9 }),
      piece('three', { path: 'c.ts' }),
    ]);
    editor.edit('x');
    await editor.clock.pass(1_000);
    const { prefix = '' } = editor.requests[0]?.fimRequest ?? {};
    const start = '// Path: a/b.ts\nof one\nof two\n\n// Path: c.ts\nof three\n\n// Path: a.ts\nfunction run';
    assert.equal(prefix.slice(0, start.length), start);
  });

  const note = (text: string, line = 0): Snippet => piece(text, { kind: 'problem', note: 'Problem', line, score: 3 });

  it('context: a problem that is solved is not repeated, and what is before it keeps its place', async () => {
    let found = [piece('one'), piece('two'), note('broken')];
    const editor = harness(() => async () => found);
    const prompts: string[] = [];
    for (const next of [[...found], [piece('two'), piece('one')], [piece('one'), piece('two'), note('other', 4)]]) {
      found = next;
      editor.edit('x\n  ');
      await editor.clock.pass(1_500);
      editor.edit('y');
      await editor.clock.pass(1_500);
      prompts.push(editor.requests.at(-1)?.fimRequest.prefix ?? '');
    }
    const start = '// Path: one.ts\nof one\n\n// Path: two.ts\nof two\n\n';
    for (const prompt of prompts) assert.ok(prompt.startsWith(start), prompt);
    assert.deepEqual(
      prompts.map((prompt) => [...prompt.matchAll(/^\/\/ of (\w+)/gm)].map(([, name]) => name)),
      [['broken'], [], ['other']],
    );
  });

  it('context: notes come after all code, also after code that is found later', () => {
    const first = chooseSnippets([note('n'), piece('a')], 1_000);
    assert.deepEqual(
      first.map(({ text }) => text),
      ['of a', 'of n'],
    );
    const second = chooseSnippets([note('n'), piece('a'), piece('b')], 1_000, first);
    assert.deepEqual(
      second.map(({ text }) => text),
      ['of a', 'of b', 'of n'],
    );
  });

  it('context: a note of an excluded file is not sent', async () => {
    const editor: EditorHarness = new EditorHarness(BODY, {
      context: async () => [note('secret'), piece('open')],
      excluded: (path) => (path === 'secret.ts' ? 'secret-kind' : undefined),
    });
    editor.edit('x');
    await editor.clock.pass(500);
    assert.equal(sent(editor), 'open');
    assert.ok(!editor.requests[0]?.fimRequest.prefix.includes('secret'));
  });
});
