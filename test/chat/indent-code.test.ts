import assert from 'node:assert/strict';
import { indentCode } from '../../src/chat/review/indent-code.ts';

/** The indentation of the place, the code of the model, and what is written. */
const CASES: Readonly<Record<string, readonly [lead: string, code: string, written: string]>> = {
  'statements at the margin': ['  ', 'const a = 1;\nreturn a;', '  const a = 1;\n  return a;'],
  'a block at the margin': ['    ', 'if (a) {\n  b();\n}', '    if (a) {\n      b();\n    }'],
  'blank lines stay empty': ['  ', 'a();\n\nb();', '  a();\n\n  b();'],
  tabs: ['\t', 'a {\n\tb\n}', '\ta {\n\t\tb\n\t}'],
  'only the first line at the margin': ['  ', 'a();\n  b();', '  a();\n  b();'],
  'a block of which only the first line is at the margin': [
    '    ',
    'if (a) {\n      b();\n    }',
    '    if (a) {\n      b();\n    }',
  ],
  'a block by indentation at the margin': ['    ', 'if a:\n    b()', '    if a:\n        b()'],
  'a block by indentation of which only the first line is at the margin': [
    '    ',
    'if a:\n        b()',
    '    if a:\n        b()',
  ],
  'one line': ['\t\t', 'a();', '\t\ta();'],
  'code with its indentation': ['  ', '  a();\n  b();', '  a();\n  b();'],
  'code that is deeper or less deep on purpose': ['    ', '  a:\n    b: 1', '  a:\n    b: 1'],
  'a place at the margin': ['', 'a();\n  b();', 'a();\n  b();'],
  'a blank first line': ['  ', '\n  a();', '\n  a();'],
  nothing: ['  ', '', ''],
};

describe('indentCode', () => {
  for (const [name, [lead, code, written]] of Object.entries(CASES)) {
    it(`indentCode: ${name}`, () => assert.equal(indentCode(code, lead), written));
  }
});
