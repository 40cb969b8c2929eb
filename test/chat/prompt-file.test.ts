import assert from 'node:assert/strict';
import { readFrontMatter, textList } from '../../src/chat/prompts/front-matter.ts';
import { expandPrompt, readPromptFile } from '../../src/chat/prompts/prompt-file.ts';
import { toolsFor } from '../../src/chat/session/answer-options.ts';
import { assertLinear } from '../linear-time.ts';
import { toolNamed } from './test-session.ts';

describe('front matter', () => {
  for (const [name, text, fields, body] of [
    ['none', '# Title\n\nText', {}, '# Title\n\nText'],
    ['fields', '---\napplyTo: "**/*.ts"\n---\nText\n', { applyTo: '**/*.ts' }, 'Text'],
    ['line ends of Windows and a byte order mark', '\ufeff---\r\na: 1\r\n---\r\nx\r\ny', { a: 1 }, 'x\ny'],
    ['no end', '---\na: 1\ntext', {}, '---\na: 1\ntext'],
    ['not YAML', '---\na: [1\n---\nText', {}, 'Text'],
    ['a list instead of fields', '---\n- a\n---\nText', {}, 'Text'],
    ['aliases that grow', '---\na: &a [x]\nb: [*a, *a]\n---\nText', {}, 'Text'],
    ['a pattern without quotes', '---\napplyTo: **/*.ts\non: true\n---\nx', { applyTo: '**/*.ts', on: true }, 'x'],
    ['patterns without quotes', '---\nglobs:\n  - *.ts\n  - src/**\n---\nx', { globs: ['*.ts', 'src/**'] }, 'x'],
    ['a colon in a text', '---\ndescription: Use it: always\n---\nx', { description: 'Use it: always' }, 'x'],
    ['a date', '---\nfrom: 2026-01-01\n---\nx', { from: '2026-01-01' }, 'x'],
    ['a rule below is not an end', '---\na: 1\n---\nText\n---\nMore', { a: 1 }, 'Text\n---\nMore'],
  ] as const) {
    it(`front matter: ${name}`, async () => {
      assert.deepEqual(await readFrontMatter(text), { fields, body });
    });
  }

  it('front matter: lists are texts with commas or lists, and braces keep their commas', () => {
    assert.deepEqual(textList('**/*.{ts,tsx}, src/**'), ['**/*.{ts,tsx}', 'src/**']);
    assert.deepEqual(textList(['a', 1, 'b']), ['a', 'b']);
    assert.equal(textList(undefined), undefined);
  });

  it('front matter: a long file takes linear time', () =>
    assertLinear(
      100_000,
      (size) => `---\n${'\n--'.repeat(size)}`,
      (text) => readFrontMatter(text),
    ));
});

describe('prompt files', () => {
  it('prompt file: reads description, model, tools and mode', async () => {
    const file = await readPromptFile(
      '---\ndescription: Review it\nmodel: Large (copilot)\ntools: [search, git_diff]\nmode: plan\n---\nReview ${file}.',
    );
    assert.deepEqual(file, {
      description: 'Review it',
      options: { model: 'Large', tools: ['search', 'git_diff'], plan: true },
      body: 'Review ${file}.',
    });
    assert.deepEqual((await readPromptFile('---\nagent: ask\n---\nx')).options, { readOnly: true });
    assert.deepEqual((await readPromptFile('x')).options, {});
  });

  it('prompt file: fills in variables, asks for each input once, and keeps unknown ones', async () => {
    const asked: string[] = [];
    const text = await expandPrompt(
      'Review ${file} (${fileBasename}): ${selection}. ${input:goal:What for?} ${input:goal} ${unknown} $HOME ${}',
      { file: 'src/a.ts', selection: 'let a;' },
      async (name, placeholder) => {
        asked.push(`${name}/${placeholder}`);
        return '${file}';
      },
    );
    assert.equal(text, 'Review src/a.ts (a.ts): let a;. ${file} ${file} ${unknown} $HOME ${}');
    assert.deepEqual(asked, ['goal/What for?']);
  });

  it('prompt file: a cancelled input cancels the prompt', async () => {
    assert.equal(await expandPrompt('${input:a}', {}, async () => undefined), undefined);
  });

  for (const [name, options, expected] of [
    ['no options', undefined, ['read_file', 'search_text', 'edit_file']],
    ['a plan', { plan: true }, ['read_file', 'search_text']],
    ['questions only', { readOnly: true }, ['read_file', 'search_text']],
    ['named tools', { tools: ['edit_file'] }, ['edit_file']],
    ['names of VS Code', { tools: ['search/codebase', 'edit/editFiles'] }, ['read_file', 'search_text', 'edit_file']],
    ['no tools', { tools: [] }, []],
    ['unknown names', { tools: ['constructor', 'nothing'] }, []],
  ] as const) {
    it(`tools of a message: ${name}`, () => {
      const tools = [toolNamed('read_file'), toolNamed('search_text'), toolNamed('edit_file', { changes: true })];
      assert.deepEqual(
        toolsFor(tools, options).map((tool) => tool.name),
        expected,
      );
    });
  }
});
