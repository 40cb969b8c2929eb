import assert from 'node:assert/strict';
import { indentCode } from '../../src/chat/review/indent-code.ts';

/** The indentation of the place, the code of the model, and what is written. */
type Case = readonly [lead: string, code: string, written: string];

const BLOCKS: Readonly<Record<string, Case>> = {
  'statements at the margin': ['  ', 'const a = 1;\nreturn a;', '  const a = 1;\n  return a;'],
  'a block at the margin': ['    ', 'if (a) {\n  b();\n}', '    if (a) {\n      b();\n    }'],
  'blank lines stay empty': ['  ', 'a();\n\nb();', '  a();\n\n  b();'],
  tabs: ['\t', 'a {\n\tb\n}', '\ta {\n\t\tb\n\t}'],
  'an item at the margin': ['  ', '- name: b\n  image: c', '  - name: b\n    image: c'],
  'a chain at the margin': ['  ', 'return items\n  .filter(a);', '  return items\n    .filter(a);'],
  'one line': ['\t\t', 'a();', '\t\ta();'],
  'code with its indentation': ['  ', '  a();\n  b();', '  a();\n  b();'],
  'code that is deeper or less deep on purpose': ['    ', '  a:\n    b: 1', '  a:\n    b: 1'],
  'a place at the margin': ['', 'a();\n  b();', 'a();\n  b();'],
  'a blank first line': ['  ', '\na();\nb();', '\n  a();\n  b();'],
  nothing: ['  ', '', ''],
};

/** Answers that were trimmed at their beginning, and those that are at the margin as a whole. */
const ANSWERS: Readonly<Record<string, Case>> = {
  'statements after a first line without indentation': ['  ', 'a();\n  b();', '  a();\n  b();'],
  'a block after a first line without indentation': [
    '    ',
    'if (a) {\n      b();\n    }',
    '    if (a) {\n      b();\n    }',
  ],
  'a Python block after one': ['    ', 'if a:\n        b()', '    if a:\n        b()'],
  'items after one': ['  ', '- a\n  - b', '  - a\n  - b'],
  'a block at the margin': ['    ', 'if (a) {\n  b();\n}', '    if (a) {\n      b();\n    }'],
  'a Python block at the margin': ['    ', 'if a:\n    b()', '    if a:\n        b()'],
  'a Python block with a comment at the margin': [
    '    ',
    'for x in y:  # all\n    b()',
    '    for x in y:  # all\n        b()',
  ],
  'a Python block in a file with tabs': ['\t', 'if a:\n    b()', '\tif a:\n\t    b()'],
  'an item at the margin': ['  ', '- name: b\n  image: c', '  - name: b\n    image: c'],
  'a chain at the margin': ['  ', 'return items\n  .filter(a);', '  return items\n    .filter(a);'],
  'a long assignment at the margin': ['  ', 'const x =\n  foo;', '  const x =\n    foo;'],
};

describe('indentCode', () => {
  it('indentCode: an answer may have more lines than the stack holds', () => {
    const lines = 300_000;
    assert.equal(indentCode(`a();\n${'  b();\n'.repeat(lines)}`, '  ', true).length, 7 + 7 * lines);
  });
  for (const [name, [lead, code, written]] of Object.entries(BLOCKS)) {
    it(`indentCode: ${name}`, () => assert.equal(indentCode(code, lead), written));
  }
  for (const [name, [lead, code, written]] of Object.entries(ANSWERS)) {
    it(`indentCode: an answer without a fence: ${name}`, () => assert.equal(indentCode(code, lead, true), written));
  }
});
