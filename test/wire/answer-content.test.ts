import assert from 'node:assert/strict';
import { codeOfAnswer, onlyBlock, textOfAnswer } from '../../src/wire/answer-content.ts';

const OLD = 'export function add(a, b) {\n  return a - b;\n}';
const NEW = 'export function add(a, b) {\n  return a + b;\n}';
const FENCED = `\`\`\`ts\n${NEW}\n\`\`\``;
const TREE = '# Title\n\nFiles:\n\n```\nsrc/\n```\n\nThe end.';
const MARKDOWN = '# Title\n\n```sh\nnpm i\n```\n\nThe end.';

describe('the code of an answer', () => {
  const cases: readonly (readonly [name: string, answer: string, expected: string | undefined, replaced?: string])[] = [
    ['bare code', NEW, NEW],
    ['a fence alone', FENCED, NEW],
    ['a fence with blank lines around', `\n\n${FENCED}\n\n`, NEW],
    ['a sentence before', `Here is the fixed function:\n\n${FENCED}`, NEW],
    ['a sentence behind', `${FENCED}\n\nI replaced - by +.`, NEW],
    ['sentences before and behind', `Here is the fixed function:\n${FENCED}\nI replaced - by +.`, NEW],
    ['tildes', `~~~\n${NEW}\n~~~`, NEW],
    ['four backticks', `\`\`\`\`ts\n${NEW}\n\`\`\`\``, NEW],
    ['a fence without an end', `Here:\n\`\`\`ts\n${NEW}`, NEW],
    ['a fence that is indented', `  \`\`\`ts\n  a();\n    b();\n  \`\`\``, 'a();\n  b();'],
    ['CRLF', FENCED.replaceAll('\n', '\r\n'), NEW],
    ['a sentence before bare code', `Here is the fixed function:\n\n${NEW}`, NEW],
    ['a sentence behind bare code', `${NEW}\n\nI replaced the minus by a plus.`, NEW],
    ['no code', 'The function is already right; nothing to change.', undefined],
    ['no code in two sentences', 'The function is right.\n\nNothing needs to be changed here.', undefined],
    ['several blocks', `${FENCED}\n\nOr this:\n\n${FENCED}`, undefined],
    ['an empty answer for code', '', undefined],
    ['a whole Markdown file', `Here it is:\n\n\`\`\`markdown\n${MARKDOWN}\n\`\`\``, MARKDOWN, '# Old\n'],
    ['a Markdown file with a bare fence', `\`\`\`md\n${TREE}\n\`\`\`\n\nSave it.`, TREE, '# Old\n'],
    ['a bare Markdown file', MARKDOWN, MARKDOWN, '# Old\n\n```sh\nls\n```\n'],
    ['a Markdown file in a fence for one with fences', `\`\`\`md\n${MARKDOWN}\n\`\`\``, MARKDOWN, '```sh\nls\n```'],
    [
      'a text that replaces a text',
      'This is the better sentence.',
      'This is the better sentence.',
      'This is a sentence.',
    ],
    ['a comment', '// The sum of both numbers.', '// The sum of both numbers.', '// The sum.'],
    ['a query', 'SELECT name FROM users', 'SELECT name FROM users', 'SELECT id FROM users;'],
    ['a sentence in a comment block', '/*\n * Adds both numbers.\n */', '/*\n * Adds both numbers.\n */', '/* x */'],
  ];
  for (const [name, answer, expected, replaced = OLD] of cases) {
    it(`code of an answer: ${name}`, () => assert.equal(codeOfAnswer(answer, replaced), expected));
  }

  it('code of an answer: the only block must be closed where an answer may be cut off', () => {
    assert.equal(onlyBlock(FENCED), NEW);
    assert.equal(onlyBlock(`Text.\n${FENCED}\nText.`), NEW);
    assert.equal(onlyBlock(`\`\`\`ts\n${NEW}`), undefined);
    assert.equal(onlyBlock(`${FENCED}\n${FENCED}`), undefined);
  });
});

describe('the text of an answer', () => {
  const cases: readonly (readonly [answer: string, expected: string])[] = [
    ['feat: add y', 'feat: add y'],
    ['```\nfeat: add y\n```', 'feat: add y'],
    ['Here is a commit message:\n\n```\nfeat: add y\n\nIt is used.\n```', 'feat: add y\n\nIt is used.'],
    ['Here is a commit message:\n\n```text\nfeat: add y\n```\n\nIt says what changed.', 'feat: add y'],
    ['Here is the commit message:\n\nfeat: add y', 'feat: add y'],
    ['"feat: add y"', 'feat: add y'],
    ['“feat: add y”', 'feat: add y'],
    ['`feat: add y`', 'feat: add y'],
    ['**feat: add y**', 'feat: add y'],
    ['**"feat: add y"**', 'feat: add y'],
    ['**feat: add y**\n\nIt is **used**.', 'feat: add y\n\nIt is **used**.'],
    ['Commit message: feat: add y', 'feat: add y'],
    ['**Commit message:** feat: add y', 'feat: add y'],
    ['fix: the "a" and the "b"', 'fix: the "a" and the "b"'],
    ['"a" is now "b"', '"a" is now "b"'],
    ['`a` calls `b`', '`a` calls `b`'],
    ['docs: how to run\n\n```sh\nnpm i\n```\n\n- one\n- two', 'docs: how to run\n\n```sh\nnpm i\n```\n\n- one\n- two'],
    ['title: a new field', 'title: a new field'],
  ];
  for (const [answer, expected] of cases) {
    it(`text of an answer: ${JSON.stringify(answer)}`, () => assert.equal(textOfAnswer(answer), expected));
  }
});
